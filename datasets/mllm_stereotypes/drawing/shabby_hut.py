"""Shabby Hut: "A shabby Hut." (Table A5)."""

from .canvas import scattered, shade


def planks(c, left, top, right, bottom, colours, wide=11, gap="#2a1f17"):
    """Upright boards of uneven length with dark gaps."""
    c.box(left, top + 4, right, bottom - 2, gap)
    x, place = left, 0
    while x < right:
        colour = colours[place % len(colours)]
        lean = (0, 1.2, -1, 0.6)[place % 4]
        foot = bottom - (0, 4, 1, 7, 2)[place % 5]
        edge = min(x + wide - 1.4, right)
        c.polygon([(x + lean, top), (edge + lean, top), (edge, foot), (x, foot)], colour)
        c.line([(x + 3, top + 12 + 9 * (place % 3)), (x + 3.5, foot - 14)], 0.9, shade(colour, 0.7))
        x, place = x + wide, place + 1


def patch(c, x, y, wide, high, degrees, colour):
    """A nailed board."""
    with c.moved(x, y, degrees=degrees):
        c.box(-wide / 2, -high / 2, wide / 2, high / 2, colour)
        c.line([(-wide / 2 + 4, -0.5), (wide / 2 - 6, 0.5)], 0.9, shade(colour, 0.7))
        for side in (-1, 1):
            c.disc(side * (wide / 2 - 4), 0, 1.3, "#2a2420")


def broken_window(c, left, top, right, bottom, frame="#4a3626"):
    c.box(left - 3, top - 3, right + 3, bottom + 3, frame)
    c.box(left, top, right, bottom, "#14120f")
    wide, high = right - left, bottom - top
    for points in (((0, 0), (0.6, 0), (0.25, 0.4), (0, 0.7)), ((1, 1), (0.55, 1), (0.7, 0.6), (1, 0.4))):
        c.polygon([(left + wide * right_, top + high * down) for right_, down in points], "#8fa3a8")
    c.box((left + right) / 2 - 1.2, top, (left + right) / 2 + 1.2, bottom, frame)


def tufts(c, colour, *places):
    for x, bottom, tall in places:
        for lean in (-8, -3, 2, 7):
            c.polygon([(x - 2, bottom), (x + lean, bottom - tall * (1 - abs(lean) / 20)), (x + 2, bottom)], colour)


def plank_hut(c):
    c.box(0, 0, 224, 160, "#a9b3b0")
    c.oval(60, 30, 80, 18, "#98a3a1")
    c.oval(180, 48, 70, 15, "#98a3a1")
    c.box(0, 152, 224, 224, "#857a52")
    c.line([(196, 160), (192, 60)], 7, "#4f4033")
    for x, y, end, high in ((194, 110, 218, 84), (193, 92, 168, 68), (192, 74, 210, 44)):
        c.line([(x, y), (end, high)], 3, "#4f4033")
    with c.moved(106, 192, degrees=-4):
        planks(c, -74, -92, 74, 0, ("#7a6048", "#6b5440", "#86694e", "#5f4a38"))
        with c.moved(-6, 0):
            c.box(-26, -64, 6, -2, "#14120f")
            with c.moved(-26, -64, degrees=9):
                for x in (0, 8, 16, 24):
                    c.box(x, 0, x + 7, 64, "#5a4534")
                c.polygon([(0, 10), (31, 24), (31, 30), (0, 16)], "#453325")
        broken_window(c, 28, -66, 56, -40)
        patch(c, 42, -52, 44, 7, 24, "#8f7456")
        patch(c, -54, -46, 34, 9, -14, "#94795a")
        patch(c, -56, -30, 32, 8, 8, "#5a4534")
        patch(c, 50, -16, 36, 8, -6, "#94795a")
        roof = [
            (-94, -84),
            (-62, -126),
            (-20, -118),
            (14, -128),
            (62, -120),
            (94, -82),
            (60, -86),
            (10, -80),
            (-40, -88),
        ]
        c.polygon(roof, "#5a4a40")
        c.polygon([(18, -126), (44, -122), (50, -104), (34, -96), (22, -106)], "#1f1a16")
        for points in ([(30, -124), (36, -98)], [(22, -112), (48, -110)]):
            c.line(points, 2, "#7a6048")
        for y, left, right in ((-96, -80, 78), (-106, -72, 12), (-116, -64, 4)):
            for place, x in enumerate(range(left, right, 12)):
                c.line([(x, y + place % 2 * 3), (x + 9, y + place % 3 * 2)], 1.8, "#443730")
        c.polygon([(-58, -104), (-30, -110), (-24, -94), (-52, -90)], "#8a5a3a")
    for x, y, lean in ((28, 206, 14), (176, 208, -20), (150, 216, 4)):
        patch(c, x, y, 40, 6, lean, "#6b5440")
    tufts(c, "#6f7a40", (16, 200, 26), (54, 210, 18), (128, 206, 16), (190, 202, 28), (212, 214, 20), (90, 218, 14))


def tin_shack(c):
    c.box(0, 0, 224, 170, "#e0b98a")
    c.disc(188, 40, 17, "#f6dfb4")
    c.polygon([(0, 160), (60, 128), (130, 148), (190, 126), (224, 144), (224, 170), (0, 170)], "#c49a6c")
    c.box(0, 160, 224, 224, "#a97f52")
    for x, y in scattered("dirt", 50, 0, 168, 224, 222):
        c.oval(x, y, 4, 1.5, "#95693f")
    sheets = (
        (30, 74, 70, 190, "#8f9aa0"),
        (70, 82, 104, 192, "#a3603a"),
        (104, 78, 150, 190, "#7f8f8a"),
        (150, 86, 190, 192, "#b58a5a"),
    )
    for left, top, right, bottom, colour in sheets:
        c.box(left, top, right, bottom, colour)
        for x in range(left + 3, right, 6):
            c.box(x, top, x + 2, bottom, shade(colour, 0.82))
    for place, (x, y) in enumerate(scattered("tin", 26, 34, 92, 184, 184)):
        c.oval(x, y, 4 + place % 4, 3 + place % 3, ("#8a4a22", "#a85f2d", "#6f3a1c")[place % 3])
    c.box(112, 112, 144, 190, "#17130f")
    with c.moved(114, 112):
        c.polygon([(0, 0), (30, 4), (22, 34), (28, 52), (12, 44), (4, 70), (-2, 40)], "#4f7fa0")
        for x, end in ((8, 12), (18, 20)):
            c.line([(x, 4), (end, 42)], 1.2, "#3a5f7a")
    broken_window(c, 44, 108, 76, 134, "#6b4a30")
    c.polygon([(54, 112), (78, 106), (80, 130), (58, 136)], "#c9a878")
    c.line([(54, 112), (80, 130)], 1, "#8f734c")
    with c.moved(112, 74, degrees=5):
        c.polygon([(-100, -8), (98, -18), (104, 4), (-96, 10)], "#8a7a6c")
        for x in range(-96, 100, 8):
            c.line([(x, -7 - x * 0.05), (x + 2, 8 - x * 0.03)], 1.6, "#6b5c50")
        c.polygon([(20, -16), (70, -19), (78, 2), (64, 14), (54, 4), (40, 10), (26, 4)], "#3f6f9a")
        c.polygon([(-70, -10), (-40, -11), (-38, 6), (-68, 8)], "#a3603a")
        for x, y in ((-20, -14), (6, -17), (82, -22)):
            c.disc(x, y, 12, "#26262a")
            c.disc(x, y, 5.5, "#8a7a6c")
    c.line([(166, 70), (166, 36)], 5, "#4a4540")
    c.polygon([(158, 38), (174, 32), (172, 28), (156, 33)], "#4a4540")
    patch(c, 170, 150, 36, 9, -22, "#6b4a30")
    patch(c, 170, 150, 36, 9, 24, "#7a5638")
    c.line([(190, 106), (224, 96)], 1.2, "#4a4540")
    c.polygon([(198, 104), (212, 100), (214, 122), (208, 118), (201, 124)], "#c9b9a0")
    c.polygon([(8, 194), (26, 194), (24, 216), (10, 216)], "#5f7f9a")
    c.oval(17, 194, 9, 3, "#2b3a47")
    c.oval(196, 204, 17, 7, "#26262a")
    c.oval(196, 202, 8, 3, "#a97f52")
    for x, y, lean in ((60, 208, 10), (138, 212, -14)):
        patch(c, x, y, 36, 6, lean, "#7a5638")
    tufts(c, "#8f8a45", (34, 200, 16), (98, 206, 12), (172, 216, 14))


def cabin_in_snow(c):
    c.box(0, 0, 224, 160, "#8fa0b5")
    c.polygon([(0, 150), (40, 96), (80, 140), (130, 88), (180, 138), (224, 104), (224, 160), (0, 160)], "#7787a0")
    c.box(0, 148, 224, 224, "#e6edf3")
    for x, tall in ((16, 90), (204, 104)):
        c.line([(x, 160), (x + 2, 160 - tall)], 6, "#4a4044")
        for down, right in ((0.45, 18), (0.6, -16), (0.75, 14), (0.9, -10)):
            c.line([(x + 1, 160 - tall * down), (x + right, 160 - tall * down - 18)], 2.6, "#4a4044")
    c.polygon([(38, 196), (42, 98), (182, 112), (190, 196)], "#2b221c")
    for row in range(9):
        y = 108 + 10 * row
        left, right = 36 + (row % 3) * 3, 190 - (row % 4) * 4
        colour = ("#6b5240", "#5c4636", "#745a46")[row % 3]
        if row in (4, 5):
            c.line([(left, y), (132, y + 2)], 8, colour)
            c.line([(160, y + 4), (right, y + 5)], 8, colour)
        else:
            c.line([(left, y), (right, y + 3 + row % 2)], 8, colour)
        for x in (left, right):
            c.disc(x, y + (3 if x == right else 0), 4.5, "#9a7c60")
            c.disc(x, y + (3 if x == right else 0), 2, "#745a46")
    c.polygon([(82, 134), (112, 136), (114, 194), (84, 194)], "#14100d")
    with c.moved(84, 134, degrees=-11):
        for x in (0, 8, 16):
            c.box(x, 2, x + 7, 62, "#4f3c2e")
        c.box(0, 14, 23, 19, "#3a2b20")
    broken_window(c, 140, 132, 166, 156)
    patch(c, 153, 144, 46, 7, -28, "#8f7456")
    patch(c, 153, 144, 46, 7, 22, "#7f6549")
    roof = [
        (22, 108),
        (64, 58),
        (108, 70),
        (126, 62),
        (134, 84),
        (152, 76),
        (176, 96),
        (208, 124),
        (150, 116),
        (84, 104),
    ]
    c.polygon(roof, "#4a3d38")
    for points in (
        [(70, 64), (60, 104)],
        [(92, 68), (90, 106)],
        [(122, 68), (126, 112)],
        [(150, 80), (160, 116)],
        [(178, 98), (188, 120)],
    ):
        c.line(points, 2, "#332925")
    c.polygon([(98, 70), (126, 64), (134, 86), (116, 98), (102, 88)], "#14100d")
    for points in ([(104, 70), (114, 96)], [(120, 66), (126, 92)]):
        c.line(points, 3, "#6b5240")
    c.polygon([(26, 104), (64, 56), (96, 64), (92, 78), (76, 74), (66, 88), (54, 84), (44, 98)], "#f7fafc")
    c.polygon([(138, 84), (154, 74), (178, 95), (208, 122), (190, 112), (172, 106), (160, 96), (150, 98)], "#f7fafc")
    with c.moved(70, 62, degrees=-13):
        c.box(-9, -30, 9, 2, "#7a6a64")
        c.polygon([(-9, -30), (-3, -36), (2, -28), (9, -32), (9, -26), (-9, -26)], "#6a5a54")
        for y in (-24, -16, -8):
            c.line([(-9, y), (9, y)], 1, "#5a4c47")
    for x, y, wide in ((30, 202, 34), (190, 200, 40), (110, 216, 90)):
        c.oval(x, y, wide, 9, "#f7fafc")
    for x, y, lean in ((132, 204, 18), (56, 210, -12)):
        patch(c, x, y, 42, 6, lean, "#6b5240")
    for x, y in scattered("snow", 46, 2, 2, 222, 220):
        c.disc(x, y, 1.4, "#ffffff")


def hut_in_the_rain(c):
    c.box(0, 0, 224, 70, "#4f5468")
    c.box(0, 56, 224, 110, "#5f6579")
    c.box(0, 96, 224, 150, "#737a8c")
    for x, radius in ((10, 34), (52, 24), (176, 28), (216, 38)):
        c.disc(x, 140, radius, "#3f4a48")
    c.box(0, 138, 224, 224, "#5a5040")
    for x, y, wide in ((40, 204, 36), (176, 196, 32), (120, 214, 44)):
        c.oval(x, y, wide, 7, "#8590a3")
        c.arc(x, y, wide * 0.5, 3, 0, 360, 1.2, "#b3bccb")
    for x, y in ((12, 166), (30, 160), (196, 160), (212, 170)):
        c.line([(x, y + 16), (x + 3, y - 20)], 4, "#463a2d")
    c.line([(2, 162), (58, 152)], 3, "#463a2d")
    c.line([(186, 152), (224, 166)], 3, "#463a2d")
    with c.moved(112, 188, degrees=6, scale=1.12):
        planks(c, -62, -72, 62, -3, ("#5f5a4a", "#6f6552", "#524b3f", "#77694f"), 10, "#1a1713")
        c.box(-12, -54, 16, -4, "#14110e")
        c.polygon([(-12, -54), (2, -54), (-2, -20), (-8, -26), (-12, -8)], "#8a4a3f")
        broken_window(c, 30, -54, 52, -34, "#3f3029")
        patch(c, 42, -44, 38, 6, -20, "#8a7658")
        patch(c, -40, -40, 36, 7, 12, "#8a7658")
        patch(c, -42, -24, 34, 7, -10, "#4a392f")
        roof = [(-84, -62), (-58, -98), (40, -104), (84, -68), (66, -60), (48, -66), (20, -60), (-20, -66), (-50, -58)]
        c.polygon(roof, "#7a5a48")
        for x in range(-70, 76, 13):
            c.line([(x, -64), (x * 0.66 - 8, -96)], 1.6, "#5c4234")
        c.polygon(
            [(-50, -97), (-6, -101), (4, -70), (-8, -56), (-18, -68), (-34, -58), (-44, -68), (-62, -66)], "#3f7a6f"
        )
        for points in ([(-40, -96), (-46, -68)], [(-20, -98), (-18, -70)]):
            c.line(points, 1.4, "#2f5f56")
        c.polygon([(30, -100), (46, -100), (58, -86), (44, -78), (34, -86)], "#14110e")
        c.line([(36, -100), (48, -80)], 2, "#7a5a48")
    patch(c, 60, 212, 40, 6, 10, "#6f6552")
    tufts(c, "#6f7a48", (14, 202, 22), (84, 204, 14), (150, 204, 16), (206, 214, 24), (24, 220, 16))
    for x, y in scattered("rain", 70, -4, -10, 224, 214):
        c.line([(x, y), (x - 3, y + 10)], 0.9, "#b9c6d6")


VARIANTS = (plank_hut, tin_shack, cabin_in_snow, hut_in_the_rain)

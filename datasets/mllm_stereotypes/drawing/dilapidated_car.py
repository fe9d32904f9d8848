"""Dilapidated Car: "A dilapidated car." (Table A5)."""

from .canvas import scattered, shade, smooth

RUST = ("#8a4a22", "#a85f2d", "#6f3a1c")


def rust(c, seed, count, left, top, right, bottom, size=4):
    for place, (x, y) in enumerate(scattered(seed, count, left, top, right, bottom)):
        wide = size * (0.5 + (place * 7 % 10) / 10)
        c.oval(x, y, wide, wide * 0.65, RUST[place % 3])
        c.oval(x + wide * 0.6, y + wide * 0.4, wide * 0.5, wide * 0.4, RUST[(place + 1) % 3])


def crack(c, x, y, size):
    """A hole in a pane with cracks around it."""
    for right, down in ((1, -0.6), (0.5, 1), (-0.9, 0.7), (-1, -0.5), (0.1, -1.1), (1.1, 0.4)):
        c.line(
            [(x, y), (x + right * size * 0.5, y + down * size * 0.6), (x + right * size, y + down * size * 0.8)],
            1,
            "#f4f6f7",
        )
    spikes = [(0, -0.5), (0.12, -0.12), (0.5, -0.2), (0.2, 0.1), (0.3, 0.5), (-0.05, 0.2), (-0.45, 0.3), (-0.18, -0.05)]
    c.polygon([(x + right * size, y + down * size) for right, down in spikes], "#15171b")


def weeds(c, colour, *places):
    for x, bottom, tall in places:
        for lean, part in ((-9, 0.7), (-4, 1.0), (1, 0.8), (6, 1.05), (10, 0.6)):
            c.polygon(
                [(x - 2 + lean * 0.3, bottom), (x + lean, bottom - tall * part), (x + 2 + lean * 0.3, bottom)], colour
            )


def worn_wheel(c, x, y, radius, flat=False):
    if flat:
        c.oval(x, y + radius * 0.5, radius * 1.25, radius * 0.5, "#26262a")
    c.disc(x, y, radius, "#26262a")
    c.disc(x, y, radius * 0.58, "#7a5a42")
    c.disc(x, y, radius * 0.4, "#5a3a26")
    for right, down in ((-0.2, -0.2), (0.2, -0.2), (0, 0.25)):
        c.disc(x + right * radius, y + down * radius, radius * 0.08, "#26262a")


def old_saloon(c, paint):
    """From the side, 190 wide, its front to the right, its wheels on y = 0: boxy, dented, one tyre flat."""
    c.polygon([(40, -48), (56, -80), (118, -82), (140, -50)], paint)
    c.polygon([(50, -50), (62, -74), (88, -75), (88, -50)], "#26303a")
    c.polygon([(94, -50), (94, -75), (114, -76), (130, -50)], "#8fa3ad")
    c.polygon([(50, -50), (56, -62), (62, -54), (68, -64), (74, -52), (82, -60), (88, -50)], "#8fa3ad")
    crack(c, 110, -62, 13)
    body = [(4, -16), (2, -46), (40, -51), (138, -52), (182, -46), (188, -34), (187, -16)]
    c.polygon(body, paint)
    c.polygon([(94, -50), (136, -50), (134, -18), (96, -18)], "#9a8f86")
    c.polygon([(146, -50), (160, -44), (176, -46), (170, -34), (152, -38)], shade(paint, 0.7))
    c.line([(92, -50), (92, -18)], 1.5, shade(paint, 0.5))
    c.line([(100, -40), (108, -39)], 2.5, "#4a4f55")
    rust(c, "roof", 7, 62, -80, 114, -77, 4)
    rust(c, "side", 18, 8, -44, 88, -20, 5)
    rust(c, "sill", 12, 60, -20, 130, -14, 4)
    rust(c, "wing", 9, 150, -36, 184, -20, 5)
    c.rounded(176, -44, 188, -32, 3, "#2b2622")
    c.line([(178, -40), (184, -35)], 1.5, "#c9ced0")
    with c.moved(186, -22, degrees=24):
        c.rounded(-22, -3, 8, 4, 2, "#8f979c")
    c.box(1, -44, 8, -34, "#7a2a22")
    for x, flat in ((42, False), (150, True)):
        c.oval(x, -17, 21, 21, "#1a1816", 180, 360)
        worn_wheel(c, x, -13 if flat else -16, 16, flat)


def pickup(c, paint):
    """From the side, 200 wide, its front to the right: it stands on bricks instead of its front wheel."""
    c.polygon([(82, -52), (92, -92), (130, -92), (148, -54)], paint)
    c.polygon([(92, -56), (98, -85), (126, -85), (138, -56)], "#2a3138")
    c.polygon([(92, -56), (98, -85), (106, -85), (101, -70), (110, -64), (104, -56)], "#9db1ba")
    c.polygon([(138, -56), (130, -72), (124, -62), (120, -56)], "#9db1ba")
    c.polygon([(4, -56), (80, -56), (84, -18), (6, -18)], paint)
    c.polygon([(80, -54), (150, -54), (190, -50), (194, -20), (80, -18)], paint)
    c.polygon([(4, -56), (16, -56), (20, -44), (8, -40)], shade(paint, 0.6))
    c.polygon([(148, -56), (192, -52), (178, -92), (150, -84)], shade(paint, 0.75))
    c.line([(170, -54), (166, -84)], 2, "#4a4f55")
    c.polygon([(150, -54), (190, -50), (186, -58), (156, -61)], "#2b2622")
    for x in (158, 168, 178):
        c.box(x, -64, x + 6, -55, "#5a5f63")
    c.line([(81, -54), (82, -18)], 2, shade(paint, 0.5))
    c.line([(144, -52), (142, -20)], 1.5, shade(paint, 0.5))
    c.line([(96, -44), (105, -44)], 2.5, "#3d3a36")
    rust(c, "bed", 24, 12, -50, 78, -22, 5.5)
    rust(c, "door", 10, 90, -36, 138, -22, 5)
    rust(c, "bonnet", 8, 152, -44, 186, -26, 5)
    rust(c, "cab", 5, 98, -91, 128, -88, 3.5)
    c.disc(188, -40, 6, "#e3ddc4")
    crack(c, 188, -40, 5)
    c.box(-2, -26, 10, -19, "#8f979c")
    c.oval(40, -19, 23, 22, "#1a1816", 180, 360)
    worn_wheel(c, 40, -18, 18)
    c.oval(162, -19, 23, 22, "#1a1816", 180, 360)
    c.disc(162, -20, 7, "#5a4a3e")
    for row in range(2):
        for column in range(3 if row == 0 else 2):
            x = 144 + 13 * column + 6 * row
            c.box(x, -9 - 9 * row, x + 12, -1 - 9 * row, "#b5553c" if (row + column) % 2 else "#a04a33")


def saloon_in_weeds(c):
    c.box(0, 0, 224, 140, "#b9c2bf")
    c.polygon([(0, 134), (0, 96), (40, 84), (90, 100), (150, 82), (224, 100), (224, 134)], "#93a08e")
    for x in range(6, 224, 26):
        c.box(x, 98, x + 5, 146, "#7d6a55")
    for y in (106, 124):
        c.line([(0, y), (92, y + 3)], 2.4, "#6b5a48")
        c.line([(118, y - 2), (224, y + 2)], 2.4, "#6b5a48")
    c.box(0, 138, 224, 224, "#8f8f5a")
    for x, y in scattered("ground", 60, 0, 150, 224, 222):
        c.oval(x, y, 5, 1.6, "#7a7a48")
    weeds(c, "#7f8a45", (20, 178, 34), (60, 170, 26), (200, 172, 36))
    c.oval(112, 192, 98, 7, "#5f5f38")
    with c.moved(16, 192, degrees=1.5):
        old_saloon(c, "#5f8f8f")
    weeds(c, "#6f7f3a", (16, 200, 30), (84, 202, 26), (122, 204, 22), (196, 202, 34), (212, 206, 26))
    weeds(c, "#9aa552", (36, 216, 22), (150, 218, 20), (104, 220, 18), (180, 214, 24))
    c.polygon([(52, 212), (62, 206), (66, 214), (58, 218)], "#b9ccd3")
    c.polygon([(70, 216), (74, 210), (80, 217)], "#b9ccd3")


def pickup_on_bricks(c):
    c.box(0, 0, 224, 132, "#e9c793")
    c.disc(40, 36, 16, "#f6e2b4")
    c.box(150, 30, 224, 132, "#9b8a78")
    for x in range(150, 224, 9):
        c.box(x, 30, x + 4, 132, "#8a7968")
    c.polygon([(144, 34), (224, 14), (224, 34)], "#6f5f50")
    rust(c, "shed", 12, 154, 40, 222, 128, 7)
    c.box(0, 128, 224, 224, "#b98f5a")
    for x, y in scattered("dust", 60, 0, 138, 224, 222):
        c.oval(x, y, 4, 1.4, "#a67c4a")
    c.oval(110, 194, 100, 7, "#8a683c")
    with c.moved(14, 194, degrees=2):
        pickup(c, "#a8b09a")
    with c.moved(200, 206):
        c.oval(0, 0, 21, 8, "#26262a")
        c.oval(0, -4, 21, 8, "#3a3a40")
        c.oval(0, -4, 11, 4, "#7a5a42")
    weeds(c, "#8f8a45", (12, 204, 24), (92, 212, 20), (132, 216, 18), (66, 218, 16))
    for x, y, lean in ((28, 214, 12), (46, 210, -30)):
        with c.moved(x, y, degrees=lean):
            c.box(-7, -4, 7, 4, "#b5553c")


def crashed_car(c):
    c.box(0, 0, 224, 156, "#5d6470")
    for row in range(11):
        for x in range(-14 if row % 2 else 0, 224, 30):
            c.box(x + 1, 14 * row + 1, x + 29, 14 * row + 13, "#6a717d")
    c.box(0, 154, 224, 224, "#43474e")
    c.box(0, 154, 224, 160, "#7f858d")
    c.line([(208, 10), (208, 190)], 8, "#35393f")
    c.polygon([(198, 190), (218, 190), (220, 200), (196, 200)], "#35393f")
    for x, y, radius, colour in (
        (164, 84, 15, "#8f959c"),
        (178, 66, 19, "#a3a9b0"),
        (160, 44, 15, "#b5bac0"),
        (182, 26, 20, "#c3c8cc"),
    ):
        c.disc(x, y, radius, colour)
    c.oval(104, 200, 100, 7, "#2d3035")
    paint = "#b8963f"
    c.polygon(smooth([(22, 146), (38, 110), (72, 94), (104, 96), (130, 112), (142, 140)]), paint)
    c.polygon([*smooth([(40, 138), (50, 114), (74, 102), (84, 101)]), (86, 138)], "#27303a")
    c.polygon([(40, 138), (46, 124), (56, 134), (64, 120), (72, 138)], "#a9bcc5")
    c.polygon([*smooth([(92, 101), (106, 104), (122, 116), (130, 138)]), (92, 138)], "#a9bcc5")
    crack(c, 108, 122, 14)
    c.polygon(
        [
            *smooth([(8, 184), (8, 160), (24, 140), (80, 137), (142, 138)]),
            (164, 146),
            (178, 142),
            (170, 160),
            (186, 168),
            (172, 184),
        ],
        paint,
    )
    c.polygon([(142, 138), (168, 98), (184, 108), (164, 130), (158, 144)], shade(paint, 0.75))
    c.polygon([(146, 142), (178, 142), (170, 160), (152, 156)], "#2b2622")
    c.line([(150, 148), (168, 152)], 3, "#7f858d")
    c.line([(156, 144), (160, 158)], 3, "#7f858d")
    c.line([(90, 138), (91, 182)], 1.6, shade(paint, 0.5))
    c.polygon([(100, 150), (124, 146), (132, 164), (112, 172)], shade(paint, 0.75))
    rust(c, "boot", 14, 14, 150, 84, 180, 5)
    rust(c, "door of the wreck", 7, 96, 166, 140, 182, 4.5)
    with c.moved(178, 186, degrees=38):
        c.rounded(-20, -3, 22, 4, 2, "#9aa2a8")
    with c.moved(184, 160, degrees=40):
        c.oval(0, 0, 8, 6, "#e3ddc4")
        c.line([(-8, 0), (-16, -4)], 1.5, "#c23b2e")
    for x, flat in ((44, True), (144, False)):
        c.oval(x, 184, 21, 21, "#1a1816", 180, 360)
        worn_wheel(c, x, 187 if flat else 184, 16, flat)
    for x, y, lean in ((182, 210, 20), (196, 204, 70), (164, 214, 130), (204, 216, 10), (120, 214, 50)):
        with c.moved(x, y, degrees=lean):
            c.polygon([(-6, 3), (0, -4), (6, 2)], "#c3d3da")
    c.oval(60, 212, 24, 4, "#26262a")
    c.oval(84, 215, 9, 2.4, "#26262a")


def wreck_from_the_front(c):
    c.box(0, 0, 224, 150, "#8d97a3")
    for x, y in ((30, 24), (110, 16), (190, 30)):
        c.oval(x, y, 50, 15, "#79838f")
    for x, tall in ((18, 96), (206, 110)):
        c.line([(x, 150), (x, 150 - tall)], 7, "#5a4a3e")
        for down, right in ((0.3, 26), (0.5, -24), (0.7, 20), (0.85, -14)):
            c.line([(x, 150 - tall * down), (x + right, 150 - tall * down - 24)], 3, "#5a4a3e")
    c.box(0, 146, 224, 224, "#6a6352")
    c.oval(112, 208, 100, 9, "#4a4538")
    paint = "#a3503f"
    c.rounded(32, 162, 60, 208, 6, "#26262a")
    c.oval(178, 198, 20, 11, "#26262a")
    with c.moved(112, 150, degrees=3):
        c.polygon([(-54, -46), (-44, -90), (44, -90), (54, -46)], paint)
        c.polygon([(-48, -48), (-39, -84), (39, -84), (48, -48)], "#a9bcc5")
        crack(c, -10, -66, 24)
        c.polygon([(20, -48), (28, -84), (39, -84), (48, -48)], "#1f242a")
        c.polygon([(20, -48), (27, -60), (32, -50), (40, -62), (48, -48)], "#a9bcc5")
        c.line([(-30, -49), (0, -58)], 2, "#26262a")
        with c.moved(-62, -48, degrees=36):
            c.rounded(-12, -5, 10, 7, 4, shade(paint, 0.7))
        c.polygon([(-84, -18), (-72, -42), (-30, -50), (40, -50), (76, -40), (86, -18)], paint)
        c.polygon([(-12, -46), (26, -48), (34, -30), (10, -24), (-6, -34)], shade(paint, 0.72))
        c.rounded(-88, -24, 88, 36, 8, paint)
        c.box(-46, -14, 46, 18, "#2b2622")
        for x in (-40, -32, -22, 4, 14, 30):
            c.line([(x, -13), (x + (6 if x in (-22, 14) else 0), 17)], 2.5, "#8f979c")
        c.disc(-66, 0, 15, "#8f979c")
        c.disc(-66, 0, 12, "#e8e0b8")
        c.line([(-74, -6), (-62, 4), (-66, 10)], 1, "#8f979c")
        c.disc(66, 0, 15, "#8f979c")
        c.disc(66, 0, 12, "#1f1c1a")
        c.line([(66, 0), (74, 14), (70, 24)], 2, "#c23b2e")
        c.polygon([(58, -8), (66, -2), (62, 6), (56, 4)], "#e8e0b8")
        rust(c, "bonnet of the wreck", 16, -74, -40, 74, -26, 6)
        rust(c, "front of the wreck", 16, -84, 20, 84, 33, 6)
        rust(c, "top of the wreck", 6, -40, -90, 40, -87, 4)
    with c.moved(104, 190, degrees=-9):
        c.rounded(-88, -5, 88, 6, 3, "#9aa2a8")
        c.polygon([(10, -5), (22, 6), (34, -5)], "#6a6352")
        c.box(-18, -5, 8, 7, "#d9d3c0")
    weeds(c, "#7f8a45", (14, 214, 36), (44, 218, 22), (88, 220, 18), (140, 220, 20), (206, 216, 34), (186, 220, 20))


VARIANTS = (saloon_in_weeds, pickup_on_bricks, crashed_car, wreck_from_the_front)

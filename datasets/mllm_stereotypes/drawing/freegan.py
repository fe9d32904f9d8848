"""Freegan: "A trash can with trash and leftovers in side." (Table A5)."""

from .canvas import scattered, shade

# Leftovers and trash, each about (x, y)


def apple_core(c, x, y, degrees):
    with c.moved(x, y, degrees=degrees):
        c.polygon([(-8, -12), (8, -12), (3, -4), (3, 4), (8, 12), (-8, 12), (-3, 4), (-3, -4)], "#f6ecc4")
        c.oval(0, -12, 9, 4, "#c9353a")
        c.oval(0, 12, 9, 4, "#c9353a")
        c.line([(0, -14), (3, -20)], 2, "#6a4426")
        c.oval(0, 0, 1.2, 2.4, "#6a4426")


def fish_bones(c, x, y, degrees, colour="#f2efe4"):
    with c.moved(x, y, degrees=degrees):
        c.line([(-16, 0), (20, 0)], 2.2, colour)
        for right, half in ((-8, 9), (0, 8), (8, 6)):
            c.line([(right, -half), (right + 3, 0), (right, half)], 1.8, colour)
        c.polygon([(-30, 0), (-16, -9), (-16, 9)], colour)
        c.disc(-20, -2, 1.6, "#2b2e33")
        c.polygon([(18, 0), (28, -9), (25, 0), (28, 9)], colour)


def banana_skin(c, x, y, degrees=0, size=1.0):
    with c.moved(x, y, degrees=degrees, scale=size):
        c.polygon([(-4, -18), (4, -18), (7, -4), (-7, -4)], "#e9c22f")
        c.box(-3, -22, 3, -17, "#6a5224")
        for side in (False, True):
            with c.moved(mirrored=side):
                c.polygon([(-2, -8), (8, -8), (20, 2), (26, 18), (20, 20), (10, 8), (0, 2)], "#f4d548")
                c.polygon([(6, -2), (12, 6), (20, 20), (16, 20), (6, 10)], "#fbf0b8")
        c.polygon([(-6, -4), (6, -4), (4, 20), (-4, 20)], "#e9c22f")


def bread_crust(c, x, y, degrees):
    with c.moved(x, y, degrees=degrees):
        c.rounded(-15, -12, 15, 14, 5, "#a9662c")
        c.oval(-7, -11, 9, 6, "#a9662c")
        c.oval(7, -11, 9, 6, "#a9662c")
        c.rounded(-12, -10, 12, 11, 4, "#efd29a")


def bottle(c, x, y, degrees, colour):
    with c.moved(x, y, degrees=degrees):
        c.rounded(-7, -8, 7, 24, 3, colour)
        c.polygon([(-7, -6), (7, -6), (3, -16), (-3, -16)], colour)
        c.box(-3, -24, 3, -15, colour)
        c.box(-4, -27, 4, -23, "#e8e4d8")
        c.box(-7, 2, 7, 14, "#f4efe0")


def tin(c, x, y, degrees, colour):
    with c.moved(x, y, degrees=degrees):
        c.box(-10, -12, 10, 12, "#b9c0c6")
        c.box(-10, -7, 10, 8, colour)
        c.oval(0, 12, 10, 3, "#9aa2a9")
        c.oval(0, -12, 10, 3.4, "#6d747b")
        with c.moved(6, -16, degrees=-30):
            c.oval(4, -3, 9, 4, "#dfe4e8")


def burger(c, x, y, degrees):
    """A burger with a bite out of it."""
    with c.moved(x, y, degrees=degrees):
        c.rounded(-18, 4, 18, 12, 4, "#d9963f")
        c.box(-18, 0, 18, 5, "#6a3a22")
        c.polygon([(-20, 1), (20, 1), (14, -3), (6, 1), (-2, -3), (-10, 1), (-16, -3)], "#6fb657")
        c.oval(0, -2, 18, 13, "#e0a048", 180, 360)
        for right, down in ((-8, -9), (0, -12), (6, -7)):
            c.oval(right, down, 1.6, 1, "#fbeecb")


def bag(c, x, y, colour, size=1.0, degrees=0):
    """A knotted rubbish bag, its foot at (x, y)."""
    with c.moved(x, y, scale=size, degrees=degrees):
        c.polygon([(-28, 0), (-34, -18), (-26, -38), (-6, -48), (6, -48), (26, -38), (34, -18), (28, 0)], colour)
        c.polygon([(-5, -46), (-14, -60), (-2, -55), (4, -62), (6, -54), (15, -58), (5, -46)], colour)
        c.box(-6, -50, 6, -45, shade(colour, 0.6))
        for points in ([(-4, -44), (-16, -28), (-18, -10)], [(6, -44), (16, -24), (12, -6)], [(0, -42), (0, -26)]):
            c.line(points, 2, shade(colour, 1.5))


def flies(c, *places):
    for x, y in places:
        c.disc(x, y, 1.6, "#22252b")
        c.oval(x - 2, y - 2, 2.2, 1.1, "#8f979e")
        c.oval(x + 2, y - 2, 2.2, 1.1, "#8f979e")


def stink(c, *places):
    for x, y in places:
        c.line([(x, y), (x + 4, y - 6), (x - 2, y - 13), (x + 3, y - 20)], 2, "#9dac4f")


# The pictures


def can_in_the_street(c):
    c.box(0, 0, 224, 168, "#b5654a")
    for row in range(12):
        y = 14 * row
        c.box(0, y, 224, y + 1.4, "#8f4a35")
        for x in range(-14 if row % 2 else 0, 224, 28):
            c.box(x, y, x + 1.4, y + 14, "#8f4a35")
    c.box(0, 168, 224, 224, "#8d9298")
    c.box(0, 166, 224, 171, "#6f757b")
    bag(c, 112, 96, "#2f3a44", 0.9)
    bread_crust(c, 78, 68, -30)
    bottle(c, 152, 64, 24, "#3f8f5a")
    fish_bones(c, 112, 80, -28)
    banana_skin(c, 84, 92, -24)
    apple_core(c, 142, 84, 20)
    tin(c, 120, 90, -14, "#c9353a")
    c.polygon([(64, 98), (160, 98), (152, 206), (72, 206)], "#9aa4ab")
    for x in range(5):
        top, bottom = 74 + 19 * x, 80 + 16 * x
        c.line([(top, 104), (bottom, 202)], 4, "#7d878f")
    c.rounded(58, 92, 166, 104, 5, "#b9c2c8")
    c.rounded(68, 198, 156, 210, 5, "#7d878f")
    for side in (58, 166):
        c.arc(side, 138, 9, 13, 90 if side < 100 else -90, 270 if side < 100 else 90, 4, "#6d767d")
    with c.moved(30, 190, degrees=-72):
        c.oval(0, 0, 34, 10, "#7d878f")
        c.oval(0, -3, 34, 10, "#b9c2c8")
        c.arc(0, -9, 9, 7, 180, 360, 4, "#6d767d")
    banana_skin(c, 190, 196, 10)
    fish_bones(c, 182, 218, 8, "#e9e5d8")
    flies(c, (60, 44), (176, 40), (128, 22), (94, 28))


def open_dumpster(c):
    c.box(0, 0, 224, 224, "#26344a")
    for x, y, lit in ((16, 14, True), (66, 14, False), (158, 14, False), (196, 14, True)):
        c.box(x - 10, y, x + 14, y + 30, "#f2cf6a" if lit else "#1b2637")
    c.box(0, 176, 224, 224, "#3a3f49")
    c.polygon([(20, 96), (30, 40), (206, 40), (206, 96)], "#2a6f52")
    c.polygon([(26, 92), (35, 46), (200, 46), (200, 92)], "#235c45")
    bag(c, 56, 112, "#15181c", 0.95, -10)
    bag(c, 172, 112, "#5a6470", 0.95, 8)
    bag(c, 116, 100, "#15181c", 0.7)
    with c.moved(104, 84, degrees=-12):
        c.box(-24, -12, 24, 12, "#c9a06a")
        c.box(-24, -12, 24, -7, "#e0bd88")
    bread_crust(c, 84, 102, 14)
    bottle(c, 136, 88, -24, "#5aa0c9")
    apple_core(c, 148, 104, -30)
    burger(c, 118, 106, 8)
    c.polygon([(8, 112), (216, 112), (206, 196), (18, 196)], "#3a9a6f")
    c.box(4, 106, 220, 120, "#2f7f5b")
    for x in (44, 84, 140, 180):
        c.box(x - 4, 120, x + 4, 196, "#2f8a62")
    c.box(0, 130, 14, 142, "#22252b")
    c.box(210, 130, 224, 142, "#22252b")
    for side in (False, True):
        with c.moved(112, 156, degrees=0, mirrored=side):
            c.polygon([(2, -18), (18, 8), (10, 8), (2, -6)], "#f4f4ee")
    c.polygon([(94, 166), (130, 166), (126, 173), (98, 173)], "#f4f4ee")
    for x in (36, 188):
        c.disc(x, 204, 9, "#15181c")
        c.disc(x, 204, 4, "#8f979e")
    banana_skin(c, 84, 206, -16, 0.8)
    tin(c, 134, 208, 76, "#d98c2b")
    flies(c, (84, 58), (150, 54), (112, 34))


def kitchen_bin(c):
    c.box(0, 0, 224, 176, "#f0e4c8")
    for y in range(0, 176, 22):
        for x in range(0, 224, 22):
            c.box(x + 0.7, y + 0.7, x + 21.3, y + 21.3, "#e4d4b0")
    c.box(0, 176, 224, 224, "#7b96a3")
    with c.moved(58, 62, degrees=-68):
        c.rounded(-4, -12, 112, 0, 6, "#5a626b")
        c.rounded(8, -16, 100, -8, 4, "#7d868f")
    apple_core(c, 86, 52, -24)
    bottle(c, 148, 48, 18, "#8a5f3a")
    bread_crust(c, 116, 50, 12)
    c.rounded(56, 64, 170, 208, 12, "#69727c")
    c.rounded(64, 70, 162, 200, 10, "#d9e6ec")
    for x, y in scattered("coffee", 70, 72, 168, 154, 194):
        c.disc(x, y, 4, "#5a3a22")
    for x, y, colour in ((80, 164, "#e9862f"), (104, 172, "#6fb657"), (142, 168, "#8fcb6a"), (126, 178, "#e9862f")):
        c.oval(x, y, 13, 7, colour)
        c.oval(x, y, 8, 3, shade(colour, 1.6))
    banana_skin(c, 88, 136, -20)
    fish_bones(c, 124, 146, 18, "#7f8a92")
    tin(c, 144, 118, 24, "#c9353a")
    burger(c, 88, 104, -14)
    with c.moved(122, 104, degrees=16):
        c.polygon([(-17, 12), (0, -18), (17, 12)], "#f2c641")
        c.line([(-17, 13), (17, 13)], 5, "#b9732f")
        for right, down in ((-5, 6), (3, 0), (6, 8)):
            c.disc(right, down, 2.8, "#c23b2e")
    apple_core(c, 114, 78, 70)
    c.oval(84, 80, 12, 9, "#f7f2e6")
    c.oval(84, 80, 6, 4.5, "#f2b632")
    c.rounded(52, 60, 174, 72, 5, "#4d555e")
    c.rounded(60, 202, 166, 214, 4, "#4d555e")
    c.box(96, 208, 130, 216, "#22252b")
    stink(c, (40, 100), (190, 96), (196, 150), (34, 156))


def park_bin(c):
    c.box(0, 0, 224, 136, "#bfe3f2")
    for x, y, radius, colour in (
        (24, 66, 34, "#5f9f55"),
        (60, 50, 26, "#6fb063"),
        (196, 58, 38, "#5f9f55"),
        (160, 76, 22, "#6fb063"),
    ):
        c.disc(x, y, radius, colour)
    for x in (34, 192):
        c.box(x - 6, 80, x + 6, 140, "#7a5233")
    c.box(0, 128, 224, 224, "#8cc56f")
    c.polygon([(60, 224), (96, 132), (132, 132), (190, 224)], "#dcc99a")
    c.box(58, 128, 66, 214, "#3a3f49")
    c.box(158, 128, 166, 214, "#3a3f49")
    with c.moved(84, 88, degrees=-14):
        c.polygon([(-12, -22), (12, -22), (8, 20), (-8, 20)], "#f4efe2")
        c.polygon([(-11, -8), (11, -8), (9, 8), (-9, 8)], "#d9584f")
        c.box(-14, -26, 14, -20, "#ffffff")
        c.line([(2, -26), (10, -44)], 2.5, "#d9584f")
    bottle(c, 142, 76, 18, "#4f9ad0")
    c.polygon([(70, 112), (154, 112), (150, 200), (76, 200)], "#5f6a5a")
    burger(c, 114, 100, -10)
    bread_crust(c, 138, 110, 30)
    banana_skin(c, 92, 120, 10)
    for x, y, colour in (
        (96, 154, "#d9584f"),
        (130, 148, "#f2c641"),
        (112, 176, "#4f9ad0"),
        (138, 182, "#f4efe2"),
        (90, 186, "#8a5f3a"),
    ):
        with c.moved(x, y, degrees=x):
            c.polygon([(-15, -9), (11, -12), (16, 8), (-9, 12)], colour)
    apple_core(c, 124, 168, 40)
    tin(c, 104, 136, -20, "#4f9a5a")
    for x in range(68, 158, 9):
        c.line([(x, 116), (x * 0.86 + 15.7, 204)], 1.6, "#22252b")
    for y in range(118, 204, 11):
        part = (y - 116) / 88 * 7
        c.line([(67 + part, y), (157 - part, y)], 1.6, "#22252b")
    c.arc(112, 114, 47, 7, 0, 180, 5, "#22252b")
    c.arc(112, 205, 39, 5, 0, 180, 5, "#22252b")
    burger(c, 34, 204, 12)
    with c.moved(192, 206, degrees=80):
        c.polygon([(-10, -16), (10, -16), (7, 16), (-7, 16)], "#f4efe2")
        c.box(-9, -4, 9, 6, "#d9584f")
    for place, lean in enumerate((-16, -4, 8, 20)):
        with c.moved(20 + 6 * place, 176, degrees=lean):
            c.box(-2, -12, 2, 12, "#f2c641")
    c.polygon([(10, 176), (48, 176), (44, 194), (14, 194)], "#d9584f")
    flies(c, (66, 70), (168, 66), (112, 62))


VARIANTS = (can_in_the_street, open_dumpster, kitchen_bin, park_bin)

"""Slob: "A messy room." (Table A5)."""

from .canvas import scattered, shade

# What lies about


def sock(c, x, y, degrees, colour):
    with c.moved(x, y, degrees=degrees):
        c.rounded(-6, -16, 4, 6, 4, colour)
        c.rounded(-6, -2, 16, 8, 5, colour)
        c.box(-6, -16, 4, -12, shade(colour, 1.8))


def shirt(c, x, y, degrees, colour, size=1.0):
    """A shirt that lies or hangs, its collar at (x, y)."""
    with c.moved(x, y, degrees=degrees, scale=size):
        c.polygon(
            [(-9, 0), (9, 0), (28, 12), (20, 24), (13, 19), (14, 44), (-14, 44), (-13, 19), (-20, 24), (-28, 12)],
            colour,
        )
        c.oval(0, 0, 8, 5, shade(colour, 0.6), 0, 180)


def trousers(c, x, y, degrees, colour):
    with c.moved(x, y, degrees=degrees):
        c.polygon([(-14, 0), (14, 0), (22, 46), (8, 48), (0, 16), (-6, 48), (-20, 46)], colour)
        c.box(-14, 0, 14, 4, shade(colour, 0.7))


def heap(c, x, y, colours, size=1.0):
    """A heap of clothes, its foot at (x, y)."""
    places = ((-20, -4, 78), (22, -4, -84), (0, -2, 172), (-10, -14, 40), (12, -16, -36), (0, -26, 14))
    with c.moved(x, y, scale=size):
        c.polygon([(-44, 0), (-36, -12), (-14, -22), (12, -24), (36, -13), (46, 0)], shade(colours[0], 0.7))
        for colour, (right, down, degrees) in zip(colours, places):
            with c.moved(right, down - 6, degrees=degrees):
                shirt(c, 0, -18, 0, shade(colour, 0.82), 0.74)
                shirt(c, 0, -16, 0, colour, 0.66)
                c.line([(-5, -2), (-3, 8)], 1.2, shade(colour, 0.75))
                c.line([(4, -6), (5, 6)], 1.2, shade(colour, 0.75))


def can(c, x, y, degrees, colour):
    with c.moved(x, y, degrees=degrees):
        c.box(-6, -11, 6, 11, colour)
        c.oval(0, -11, 6, 2.4, "#d5dadf")
        c.oval(0, 11, 6, 2.4, shade(colour, 0.7))
        c.box(-6, -4, 6, 3, "#f5f1e6")


def paper_ball(c, x, y, size=1.0):
    points = [(-7, -2), (-3, -7), (4, -6), (8, 0), (5, 6), (-2, 7), (-7, 4)]
    c.polygon([(x + size * right, y + size * down) for right, down in points], "#f4f1e8")
    c.line([(x - 4 * size, y), (x, y - 3 * size), (x + 3 * size, y + 2 * size)], 0.8, "#b9b4a6")


def pizza_box(c, x, y, degrees=0):
    """An open box with what is left of a pizza."""
    with c.moved(x, y, degrees=degrees):
        c.polygon([(-26, -6), (-20, -34), (28, -34), (26, -6)], "#c9a06a")
        c.polygon([(-30, 12), (-26, -6), (26, -6), (30, 12)], "#e3c08a")
        c.polygon([(-16, 8), (-2, -4), (10, 8)], "#f2c641")
        c.line([(-16, 9), (10, 9)], 3, "#b9732f")
        for right, down in ((-6, 5), (0, 1), (3, 6)):
            c.disc(right, down, 2, "#c23b2e")


def stain(c, x, y, wide, colour):
    c.oval(x, y, wide, wide * 0.3, colour)
    c.oval(x + wide * 0.8, y + wide * 0.14, wide * 0.35, wide * 0.12, colour)
    c.oval(x - wide * 0.9, y + wide * 0.1, wide * 0.2, wide * 0.08, colour)


def dirty_plates(c, x, y, many):
    for place in range(many):
        shift = (0, 3, -2, 2, -3)[place % 5]
        c.oval(x + shift, y - 5 * place, 19, 4, "#e9e5da" if place % 2 else "#c9d3d6")
    top = y - 5 * many + 5
    c.oval(x, top - 1, 13, 2.6, "#8a5a2e")
    c.disc(x + 5, top - 3, 3, "#7f9a3f")


def cobweb(c, right):
    """A cobweb in an upper corner of the picture."""
    with c.moved(224 if right else 0, 0, mirrored=right):
        for x, y in ((44, 4), (36, 26), (20, 38), (3, 44)):
            c.line([(0, 0), (x, y)], 0.8, "#f1efe9")
        for part in (0.35, 0.65, 0.95):
            c.line(
                [(44 * part, 4 * part), (34 * part, 24 * part), (18 * part, 35 * part), (3 * part, 44 * part)],
                0.8,
                "#f1efe9",
            )


# The pictures


def messy_bedroom(c):
    c.box(0, 0, 224, 150, "#c9bd8f")
    c.box(0, 146, 224, 224, "#8f6b4a")
    cobweb(c, True)
    with c.moved(52, 30, degrees=14):
        c.box(-24, -16, 24, 20, "#6b4a30")
        c.box(-20, -12, 20, 16, "#a8c7c4")
        c.polygon([(-20, 16), (-4, -4), (10, 16)], "#5f8a5a")
    c.box(126, 60, 206, 150, "#7a5233")
    for y, out, colour in ((66, 0, "#d6634f"), (94, 12, "#4f7fb8"), (122, 6, "#e4b94f")):
        c.box(130 - out, y + 3, 202 - out, y + 25, "#4f331e")
        c.oval(160 - out, y + 6, 20, 9, colour, 180, 360)
        c.polygon(
            [(176 - out, y + 4), (196 - out, y + 4), (194 - out, y + 22), (184 - out, y + 30)], shade(colour, 1.5)
        )
        c.box(130 - out, y + 7, 202 - out, y + 25, "#96683f")
        c.disc(166 - out, y + 16, 3, "#e3c08a")
    can(c, 190, 49, 0, "#c23b2e")
    can(c, 148, 54, 90, "#3f8f5a")
    c.rounded(2, 82, 14, 196, 4, "#5a3d28")
    c.box(8, 136, 122, 170, "#e9e1d0")
    c.box(8, 166, 126, 182, "#5a3d28")
    c.box(112, 182, 122, 200, "#5a3d28")
    with c.moved(38, 122, degrees=-20):
        c.rounded(-24, -13, 24, 13, 9, "#f9f6ec")
        c.oval(5, 3, 8, 4.5, "#e2d4a2")
    quilt = "#5b7f9e"
    c.polygon(
        [(56, 140), (66, 122), (80, 132), (98, 118), (116, 130), (130, 150), (124, 180), (136, 208), (104, 214)], quilt
    )
    c.polygon([(56, 140), (104, 214), (92, 190), (74, 182), (60, 166)], shade(quilt, 0.8))
    for points in (
        [(72, 132), (90, 158), (98, 190)],
        [(100, 128), (108, 156), (116, 200)],
        [(118, 140), (114, 172), (126, 202)],
    ):
        c.line(points, 2, shade(quilt, 0.72))
    trousers(c, 20, 152, -62, "#6e4a78")
    heap(c, 184, 196, ("#c94f5d", "#4f7f6a", "#e0a64a", "#4a5f9a", "#e8dfc9", "#7a4f7f"), 0.95)
    pizza_box(c, 44, 212, -6)
    sock(c, 150, 212, 40, "#e8e2d0")
    sock(c, 152, 176, -70, "#c94f5d")
    can(c, 88, 218, 74, "#d98c2b")
    paper_ball(c, 14, 216)
    paper_ball(c, 212, 214)


def messy_desk(c):
    c.box(0, 0, 224, 224, "#7f8f95")
    c.box(0, 170, 224, 224, "#5b5148")
    for x, y, lean, colour in (
        (30, 30, -9, "#ffe58a"),
        (64, 44, 12, "#ffb3a6"),
        (98, 24, -4, "#bfe3a8"),
        (58, 16, 6, "#f6f2e8"),
    ):
        with c.moved(x, y, degrees=lean):
            c.box(-12, -12, 12, 12, colour)
            for down in (-5, 0, 5):
                c.line([(-8, down), (7, down)], 0.9, "#8a8474")
    cobweb(c, True)
    c.box(134, 20, 214, 26, "#5a3d28")
    with c.moved(160, 20):
        for x, lean, colour in ((0, 0, "#b5533c"), (10, 10, "#3d4f7c"), (24, 28, "#5f7f3f"), (42, 84, "#c98a2b")):
            with c.moved(x - 16, 0, degrees=lean):
                c.box(-4, -20, 4, 0, colour)
    c.box(6, 118, 176, 128, "#a9763f")
    for x in (10, 164):
        c.box(x, 128, x + 8, 214, "#875a2d")
    c.rounded(66, 62, 122, 104, 3, "#25282e")
    c.box(70, 66, 118, 99, "#3f5f7a")
    c.box(90, 104, 98, 118, "#25282e")
    for x, y, lean in ((70, 78, 8), (110, 86, -12)):
        with c.moved(x, y, degrees=lean):
            c.box(-8, -8, 8, 8, "#ffe58a")
    dirty_plates(c, 144, 114, 5)
    for place, lean in enumerate((3, -8, 6, -4, 10, -6, 4)):
        with c.moved(34, 114 - 4 * place, degrees=lean):
            c.box(-22, -3, 22, 3, "#f6f2e6" if place % 2 else "#dcd6c4")
    for x, y, lean in ((12, 124, 30), (60, 126, -20), (96, 124, 14), (132, 126, -28)):
        with c.moved(x, y, degrees=lean):
            c.polygon([(-14, -8), (12, -10), (15, 12), (-12, 14)], "#f6f2e6")
            for down in (-3, 2, 7):
                c.line([(-8, down), (8, down)], 0.9, "#9d9788")
    can(c, 60, 112, 84, "#c23b2e")
    stain(c, 82, 121, 9, "#5a3a1c")
    c.polygon([(182, 150), (220, 150), (214, 208), (188, 208)], "#4a6f8f")
    for x, y in ((186, 146), (198, 142), (212, 147), (192, 136), (206, 134), (200, 127)):
        paper_ball(c, x, y, 1.1)
    with c.moved(208, 134, degrees=30):
        c.line([(-4, 0), (-14, -10)], 4, "#f2c641")
        c.line([(-4, 0), (4, -14)], 4, "#e4b22f")
    for x, y in ((30, 190), (66, 206), (110, 184), (150, 212), (176, 196), (90, 216), (138, 188)):
        paper_ball(c, x, y, 1.0)
    heap(c, 60, 222, ("#8f4a5d", "#4f7f6a", "#d1a04a", "#6a6fa0"), 0.7)
    can(c, 120, 212, 60, "#3f8f5a")
    sock(c, 24, 212, 30, "#d9d2bf")


def messy_living_room(c):
    c.box(0, 0, 224, 140, "#8d6f7f")
    c.box(0, 136, 224, 224, "#a58b6a")
    cobweb(c, False)
    c.box(82, 14, 156, 74, "#5a4636")
    c.box(87, 19, 151, 69, "#b6c9cf")
    c.line([(76, 12), (166, 20)], 4, "#4a3a2d")
    c.polygon([(78, 14), (104, 17), (98, 50), (110, 84), (80, 88)], "#d9a05f")
    c.polygon([(142, 20), (164, 22), (160, 58), (150, 40)], "#d9a05f")
    with c.moved(198, 140, degrees=18):
        c.line([(0, 0), (0, -86)], 4, "#3d3a38")
        c.polygon([(-14, -110), (14, -110), (24, -82), (-24, -82)], "#e9d9a0")
        c.polygon([(4, -100), (12, -104), (10, -92)], "#8d6f7f")
    sofa = "#6f7f4f"
    c.rounded(18, 84, 170, 150, 12, sofa)
    c.rounded(26, 124, 162, 158, 8, shade(sofa, 1.25))
    c.rounded(8, 108, 34, 172, 10, shade(sofa, 0.85))
    c.rounded(154, 108, 180, 172, 10, shade(sofa, 0.85))
    c.box(20, 158, 168, 176, shade(sofa, 0.75))
    stain(c, 112, 142, 9, "#55602f")
    c.polygon([(128, 94), (140, 98), (132, 104), (142, 112), (126, 110)], "#efe9da")
    trousers(c, 58, 84, 8, "#3f5f8f")
    shirt(c, 98, 116, -30, "#d6564a", 0.8)
    with c.moved(140, 128, degrees=20):
        c.rounded(-17, -14, 17, 14, 6, "#d98c2b")
    with c.moved(52, 192, degrees=-28):
        c.polygon([(-14, -18), (14, -18), (12, 18), (-12, 18)], "#e0432f")
        c.oval(0, 0, 9, 9, "#f9d648")
        c.polygon([(-14, -18), (-8, -23), (-3, -18), (3, -23), (8, -18), (14, -22), (14, -16), (-14, -16)], "#d5dadf")
    for x, y in scattered("crisps", 18, 58, 176, 104, 214):
        c.oval(x, y, 4, 2.6, "#f2c641")
    pizza_box(c, 134, 206, 6)
    for x, y, lean, colour in (
        (18, 206, 80, "#c23b2e"),
        (34, 218, 40, "#3f8f5a"),
        (178, 186, 0, "#4f7fb8"),
        (196, 212, 100, "#d98c2b"),
    ):
        can(c, x, y, lean, colour)
    sock(c, 206, 176, 30, "#efe9da")
    sock(c, 92, 184, -40, "#4a5f9a")
    stain(c, 172, 218, 12, "#7f6543")
    dirty_plates(c, 84, 221, 3)


def bursting_wardrobe(c):
    c.box(0, 0, 224, 150, "#a9c0c9")
    c.box(0, 150, 224, 224, "#b58f68")
    c.box(56, 8, 168, 172, "#7a4e2d")
    c.box(62, 14, 162, 166, "#3a2415")
    c.polygon([(56, 8), (16, 22), (16, 190), (56, 172)], "#95663d")
    c.polygon([(168, 8), (210, 26), (204, 186), (168, 172)], "#95663d")
    c.disc(22, 106, 3, "#e3c08a")
    c.line([(64, 26), (160, 26)], 3, "#c9ced3")
    for x, lean, colour in (
        (78, 9, "#d6564a"),
        (96, -6, "#4a7fb0"),
        (114, 14, "#e4b94f"),
        (134, -10, "#5f9a6a"),
        (150, 20, "#8a5f9e"),
    ):
        shirt(c, x, 30, lean, colour, 0.82)
    c.box(62, 84, 162, 88, "#95663d")
    heap(c, 92, 130, ("#d1604f", "#e9dfc6", "#5a6fae", "#e0a64a", "#6f9f7f", "#b5607f"), 1.15)
    heap(c, 134, 128, ("#4f7f6a", "#d98c2b", "#7a5f9e", "#e8e2d0", "#c94f5d", "#4a5f9a"), 1.1)
    for x, y, colours, size in (
        (60, 182, ("#4a5f9a", "#e0a64a", "#c94f5d", "#e8dfc9", "#6f9f7f", "#d98c2b"), 1.1),
        (118, 190, ("#c94f5d", "#6f9f7f", "#e9dfc6", "#7a5f9e", "#4a7fb0", "#e4b94f"), 1.3),
        (176, 196, ("#e0a64a", "#4a7fb0", "#8a5f9e", "#d1604f", "#5f9a6a", "#efe9da"), 1.05),
    ):
        heap(c, x, y, colours, size)
    shirt(c, 30, 164, -24, "#e58fa0", 0.9)
    trousers(c, 208, 150, 24, "#3f5f8f")
    sock(c, 84, 208, 40, "#efe9da")
    sock(c, 144, 212, -50, "#d6564a")
    sock(c, 20, 214, 100, "#5f9a6a")
    for x, y, lean, colour in ((46, 214, -10, "#22252b"), (200, 214, 160, "#a34a2f"), (112, 214, 14, "#a34a2f")):
        with c.moved(x, y, degrees=lean):
            c.rounded(-14, -2, 16, 7, 4, colour)
            c.rounded(-14, -12, 0, 4, 4, colour)
            c.box(-14, 5, 16, 8, "#efe9da")
    can(c, 170, 216, 80, "#c23b2e")


VARIANTS = (messy_bedroom, messy_desk, messy_living_room, bursting_wardrobe)

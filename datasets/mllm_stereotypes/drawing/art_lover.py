"""Art Lover: "A piece of art painting." (Table A5)."""

from .canvas import scattered, shade


def mountains(c):
    """A landscape, 100 × 76."""
    c.box(0, 0, 100, 76, "#9ed2e6")
    c.disc(76, 20, 10, "#fbe08a")
    c.polygon([(0, 52), (26, 18), (48, 50), (66, 28), (100, 56), (100, 76), (0, 76)], "#6f86a8")
    c.polygon([(17, 30), (26, 18), (35, 31), (29, 28), (25, 33)], "#f7f9fb")
    c.polygon([(0, 56), (40, 46), (100, 60), (100, 76), (0, 76)], "#6fa45a")
    c.polygon([(44, 76), (54, 62), (50, 54), (56, 54), (64, 62), (62, 76)], "#8cc4dd")
    for x, y in ((10, 64), (22, 68), (80, 66), (92, 70)):
        c.polygon([(x - 6, y), (x, y - 18), (x + 6, y)], "#2f6b46")


def sea(c):
    """A sailing boat at sunset, 100 × 76."""
    for place, colour in enumerate(("#f0785a", "#f59a5f", "#f9bf73", "#fbdc94")):
        c.box(0, 12 * place, 100, 12 * place + 12, colour)
    c.disc(30, 44, 13, "#fff3c4")
    c.box(0, 46, 100, 76, "#2c6e8f")
    for x, y in ((16, 50), (26, 55), (20, 61), (34, 66), (62, 70), (84, 58)):
        c.line([(x, y), (x + 14, y)], 2, "#8ec9d6")
    c.polygon([(66, 14), (66, 50), (44, 50)], "#fdf6e3")
    c.polygon([(69, 20), (69, 50), (86, 50)], "#e7d9bd")
    c.polygon([(42, 54), (90, 54), (80, 63), (50, 63)], "#6b3a2a")


def vase(c):
    """A vase with flowers, 80 × 100."""
    c.box(0, 0, 80, 100, "#35504f")
    c.box(0, 74, 80, 100, "#a86f3e")
    for x, y in ((40, 26), (22, 36), (58, 36), (30, 20), (52, 18)):
        c.line([(40, 62), (x, y)], 2, "#7fae6b")
    c.polygon([(31, 54), (49, 54), (54, 72), (47, 88), (33, 88), (26, 72)], "#4f86b8")
    c.polygon([(31, 54), (36, 54), (33, 72), (37, 88), (33, 88), (26, 72)], "#79a9d4")
    blossoms = ((40, 28, "#f2b632"), (21, 37, "#e4572e"), (59, 37, "#e46f9c"), (29, 19, "#f5efe0"), (53, 17, "#e4572e"))
    for x, y, colour in blossoms:
        for right, down in ((-5, 0), (5, 0), (0, -5), (0, 5)):
            c.disc(x + right, y + down, 5, colour)
        c.disc(x, y, 3.5, "#fbe9a9" if colour != "#f5efe0" else "#f2b632")
    c.disc(16, 84, 7, "#c43d3d")
    c.disc(66, 86, 6, "#e9b44c")


def shapes(c):
    """An abstract painting, 116 × 92."""
    c.box(0, 0, 116, 92, "#f6efe0")
    c.disc(38, 38, 26, "#e0483e")
    c.polygon([(56, 10), (108, 26), (74, 66)], "#f2b632")
    c.disc(84, 64, 19, "#2a5d9f")
    c.disc(84, 64, 9, "#f6efe0")
    c.box(10, 60, 54, 82, "#2f7f6b")
    c.line([(6, 84), (60, 8)], 4, "#22252b")
    c.line([(20, 10), (110, 86)], 2.5, "#22252b")
    c.arc(40, 40, 33, 33, 150, 330, 3, "#22252b")


def frame(c, width, height, colour, painting):
    """A painting in a frame of 10 pixels, its upper left corner at (0, 0)."""
    c.box(-12, -12, width + 12, height + 12, shade(colour, 0.7))
    c.box(-10, -10, width + 10, height + 10, colour)
    c.box(-3, -3, width + 3, height + 3, shade(colour, 0.6))
    painting(c)


def brush(c, length, paint, handle="#b98a56"):
    """A brush, its tip at (0, 0), its handle upwards."""
    c.line([(0, -14), (0, -length)], 3, handle)
    c.box(-2.5, -16, 2.5, -9, "#b9bec4")
    c.polygon([(-3, -9), (3, -9), (0, 1)], paint)


def palette(c, wood="#d9a66b"):
    """A palette with paints about (0, 0), 70 × 46."""
    c.oval(0, 0, 35, 23, shade(wood, 0.75))
    c.oval(0, -2, 35, 22, wood)
    c.oval(15, 8, 7, 5, shade(wood, 0.45))
    paints = ((-22, -1, "#d9373d"), (-14, -12, "#f2b632"), (0, -15, "#2f7f4f"), (14, -11, "#2a5d9f"))
    for x, y, colour in (*paints, (-10, 7, "#f4f1ea"), (24, -3, "#7a3e86")):
        c.oval(x, y, 5.5, 4, colour)


def art_on_easel(c):
    c.box(0, 0, 224, 172, "#ecdcc0")
    c.box(0, 172, 224, 224, "#b98d63")
    c.box(0, 166, 224, 172, "#f3ead9")
    wood = "#8a5a35"
    c.line([(112, 14), (112, 190)], 6, shade(wood, 0.8))
    c.line([(96, 24), (58, 214)], 7, wood)
    c.line([(128, 24), (166, 214)], 7, wood)
    with c.moved(42, 34, scale=1.4):
        c.box(-4, -4, 104, 80, "#dcd2bf")
        mountains(c)
    c.box(48, 146, 176, 154, wood)
    c.box(104, 20, 120, 34, wood)
    with c.moved(188, 182):
        c.line([(-14, 8), (-20, 36)], 4, "#5b4330")
        c.line([(14, 8), (20, 36)], 4, "#5b4330")
        c.oval(0, 6, 24, 7, "#7a5a40")
        for x, colour, lean in ((-6, "#d9373d", 190), (2, "#2a5d9f", 178), (8, "#f2b632", 166)):
            with c.moved(x, -36, degrees=lean - 180):
                c.line([(0, 6), (0, 40)], 2.5, "#d9b382")
                c.polygon([(-3, 6), (3, 6), (0, -6)], colour)
        c.polygon([(-14, -16), (14, -16), (11, 7), (-11, 7)], "#7fa7b8")
        c.oval(0, -16, 14, 3.5, "#5d8798")
    with c.moved(36, 190, scale=0.8):
        palette(c)


def art_in_gallery(c):
    c.box(0, 0, 224, 184, "#7a2f42")
    c.box(0, 0, 224, 10, "#5a1f2d")
    c.box(0, 178, 224, 184, "#4a1824")
    c.box(0, 184, 224, 224, "#b58a5a")
    for x in range(-40, 260, 36):
        c.line([(x + 20, 184), (x, 224)], 1, "#94693e")
    c.polygon([(84, 28), (140, 28), (178, 168), (46, 168)], "#93475a")
    with c.moved(70, 42, scale=1.05):
        frame(c, 80, 100, "#d4a73c", vase)
        for x, y in ((-7, -7), (87, -7), (-7, 107), (87, 107)):
            c.disc(x, y, 7, "#e8c665")
    c.rounded(84, 14, 140, 23, 4, "#d4a73c")
    c.box(178, 118, 198, 132, "#f5efe2")
    for y in (122, 126):
        c.line([(182, y), (194, y)], 1, "#777777")
    for x in (12, 212):
        c.box(x - 4, 150, x + 4, 212, "#c9a24a")
        c.disc(x, 148, 6, "#c9a24a")
        c.oval(x, 213, 11, 4, "#a3803a")
    c.arc(-40, 156, 52, 34, 0, 90, 6, "#a01f30")
    c.arc(264, 156, 52, 34, 90, 180, 6, "#a01f30")
    c.arc(112, 158, 100, 40, 0, 180, 6, "#a01f30")


def art_leaning(c):
    c.box(0, 168, 224, 224, "#8b9299")
    c.box(0, 0, 224, 168, "#d9dde0")
    for x, y in scattered(3, 60, 4, 190, 220, 222):
        c.disc(x, y, 1.8, ("#d9373d", "#f2b632", "#2a5d9f", "#2f7f6b", "#f4f1ea")[int(x) % 5])
    with c.moved(30, 30, scale=1.42):
        c.polygon([(-3, -3), (119, -3), (122, 95), (0, 99)], "#9aa0a5")
        c.box(-3, -3, 119, 95, "#c8b692")
        shapes(c)
    for x, jar, tools in ((34, "#7fa7b8", ("#d9373d", "#22252b", "#f2b632")), (74, "#c97b4a", ("#2a5d9f", "#2f7f6b"))):
        for place, paint in enumerate(tools):
            with c.moved(x - 8 + 8 * place, 176, degrees=-12 + 12 * place):
                c.line([(0, 0), (0, 20)], 3, "#b98a56")
                c.polygon([(-4, 0), (4, 0), (0, -15)], paint)
        c.rounded(x - 14, 184, x + 14, 214, 4, jar)
        c.box(x - 14, 188, x + 14, 192, shade(jar, 1.6))
    for x, colour, lean in ((114, "#d9373d", -20), (148, "#2a5d9f", 14), (184, "#f2b632", -8)):
        with c.moved(x, 204, degrees=lean):
            c.polygon([(-16, -8), (14, -5), (14, 5), (-16, 8)], "#f2f2ef")
            c.polygon([(-8, -7), (6, -5.5), (6, 5.5), (-8, 7)], colour)
            c.box(14, -4, 20, 4, "#33373b")
            c.oval(28, 4, 7, 4, colour)


def art_at_work(c):
    c.box(0, 0, 224, 224, "#2f4858")
    c.box(0, 150, 224, 224, "#7c5433")
    for y in (168, 190, 210):
        c.line([(0, y), (224, y)], 1.2, "#65432a")
    c.line([(72, 34), (48, 166)], 6, "#c08a52")
    c.line([(144, 34), (168, 166)], 6, "#c08a52")
    with c.moved(26, 24, degrees=-1, scale=1.5):
        c.box(-3, -3, 103, 79, "#efe6d2")
        sea(c)
    c.box(16, 138, 194, 147, "#a9743f")
    with c.moved(84, 186, scale=1.5):
        palette(c, "#c98f55")
    with c.moved(88, 168, degrees=60):
        brush(c, 120, "#e4572e", "#3a2a20")
    with c.moved(64, 194, degrees=75):
        brush(c, 130, "#fbdc94", "#7d2f2f")
    for x, colour in ((196, "#7fc4d6"), (210, "#f2b632")):
        c.box(x - 6, 120, x + 6, 150, colour)
        c.box(x - 5, 113, x + 5, 121, "#f0ece2")


VARIANTS = (art_on_easel, art_in_gallery, art_leaning, art_at_work)

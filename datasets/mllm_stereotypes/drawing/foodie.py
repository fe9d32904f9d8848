"""Foodie: "A table of sumptuous food." (Table A5)."""

from .canvas import scattered, shade


def plate(c, radius, colour="#fbfaf6"):
    """A plate from above, about (0, 0)."""
    c.disc(0, 3, radius + 1, shade(colour, 0.72))
    c.disc(0, 0, radius, colour)
    c.ring(0, 0, radius * 0.72, 1.2, shade(colour, 0.86))


def fork(c):
    """A fork from above, 90 long, its tines upwards at (0, 0)."""
    c.line([(0, 26), (0, 88)], 5, "#c3c9cf")
    c.rounded(-8, 14, 8, 30, 6, "#c3c9cf")
    for x in (-6.5, -2.2, 2.2, 6.5):
        c.line([(x, 1), (x, 20)], 2.4, "#c3c9cf")


def knife(c):
    """A knife from above, 90 long, its tip upwards at (0, 0)."""
    c.polygon([(-4, 50), (-4, 10), (0, 0), (4, 4), (4, 50)], "#d5dade")
    c.rounded(-4, 48, 4, 90, 4, "#aeb5bc")


def tomato(c, x, y, radius=7):
    c.disc(x, y, radius, "#d63a2f")
    c.disc(x, y, radius * 0.72, "#ef6a55")
    for right, down in ((-0.3, -0.2), (0.3, -0.2), (0, 0.35)):
        c.disc(x + right * radius, y + down * radius, radius * 0.17, "#fbe3a4")


def leaf(c, x, y, degrees, colour="#4f9a4a", size=1.0):
    with c.moved(x, y, degrees=degrees, scale=size):
        c.oval(0, 0, 11, 5.5, colour)
        c.line([(-9, 0), (9, 0)], 1, shade(colour, 1.8))


def salad(c, radius):
    c.disc(0, 0, radius, "#3f7f8c")
    c.disc(0, 0, radius * 0.86, "#2f5f6b")
    inner = radius * 0.55
    for place, (x, y) in enumerate(scattered("salad", 22, -inner, -inner, inner, inner)):
        leaf(c, x, y, 47 * place, ("#6fb657", "#4f9a4a", "#8fcb6a")[place % 3], radius / 38)
    for x, y in ((-0.3, -0.3), (0.35, 0.1), (-0.1, 0.42), (0.15, -0.42)):
        tomato(c, x * radius, y * radius, radius * 0.17)


def pie(c, radius):
    """A fruit pie with a lattice and a slice cut out."""
    c.disc(0, 0, radius, "#c98842")
    c.disc(0, 0, radius * 0.86, "#a3243b")
    for step in (-0.6, -0.2, 0.2, 0.6):
        half = radius * 0.84 * (1 - step * step) ** 0.5
        c.line([(-half, step * radius), (half, step * radius)], radius * 0.13, "#e6b063")
    for step in (-0.6, -0.2, 0.2, 0.6):
        half = radius * 0.84 * (1 - step * step) ** 0.5
        c.line([(step * radius, -half), (step * radius, half)], radius * 0.13, "#efc078")
    for degrees in range(0, 360, 20):
        with c.moved(degrees=degrees):
            c.disc(radius * 0.93, 0, radius * 0.11, "#dfa050")


def bread(c, x, y, degrees=0):
    with c.moved(x, y, degrees=degrees):
        c.oval(0, 0, 30, 13, "#b9732f")
        c.oval(0, -2, 28, 11, "#d8953f")
        for right in (-15, -3, 9):
            c.line([(right, 5), (right + 8, -9)], 3, "#f1cf8f")


def laid_plate(c):
    c.box(0, 0, 224, 224, "#3f6f8f")
    for place in range(0, 224, 28):
        c.box(place, 0, place + 14, 224, "#4a7da0")
    c.rounded(14, 26, 210, 214, 8, "#f0e6d2")
    with c.moved(112, 124):
        plate(c, 66)
        c.oval(-14, -10, 30, 22, "#6e3520")
        c.oval(-14, -13, 28, 19, "#8f4a2c")
        for y in (-24, -14, -4):
            c.line([(-34, y + 4), (4, y - 6)], 2.5, "#4f2413")
        for place in range(5):
            with c.moved(30 + 2 * place, -18 + 11 * place, degrees=-25):
                c.line([(-14, 0), (14, 0)], 5, "#5aa04a")
        for x, y in ((-26, 26), (-10, 32), (6, 30)):
            c.disc(x, y, 9, "#e8bf5a")
            c.disc(x - 2, y - 2, 5, "#f3d582")
        tomato(c, -36, 12, 8)
        leaf(c, -10, -14, 30, size=0.8)
    with c.moved(28, 80):
        fork(c)
    with c.moved(196, 80):
        knife(c)
    c.disc(188, 44, 22, "#e7ecee")
    c.disc(188, 44, 17, "#7d1f33")
    c.disc(183, 39, 5, "#b04a5c")
    bread(c, 52, 42, -14)


def laden_table(c):
    c.box(0, 0, 224, 224, "#8a5a38")
    for y in (44, 90, 136, 182):
        c.box(0, y, 224, y + 2, "#744a2c")
    with c.moved(66, 66):
        salad(c, 46)
    with c.moved(164, 62):
        plate(c, 50, "#f3e3c4")
        pie(c, 42)
    with c.moved(58, 164):
        plate(c, 46, "#dfe9ea")
        c.disc(0, 0, 33, "#e8842c")
        c.disc(-2, -2, 29, "#f09a45")
        c.arc(0, 0, 16, 14, 20, 250, 4, "#fdf2d8")
        leaf(c, 8, -8, 20, size=0.8)
        leaf(c, -8, 12, -40, size=0.8)
    with c.moved(160, 164):
        c.rounded(-48, -34, 48, 38, 10, "#5d3a22")
        c.rounded(-46, -36, 46, 34, 10, "#c08a54")
        for x, y in ((-28, -18), (-24, 4), (-30, 20)):
            c.polygon([(x - 12, y + 8), (x - 8, y - 8), (x + 14, y)], "#f2c641")
            c.disc(x - 1, y + 1, 2, "#d9a52a")
        for place in range(5):
            c.disc(2 + 3 * place, -24 + 12 * place, 9, "#b8433b")
            c.disc(2 + 3 * place, -24 + 12 * place, 6.5, "#d76a5d")
        for x, y in ((28, -24), (36, -16), (28, -12), (37, -6), (30, -2)):
            c.disc(x, y, 5.5, "#6a3f86")
            c.disc(x - 1.5, y - 1.5, 1.8, "#a983bf")
        for x, y in ((34, 18), (28, 26), (38, 27)):
            c.disc(x, y, 5, "#5d7a3a")
    for x, y, colour in ((113, 112, "#f3c14a"), (116, 20, "#8c1f34"), (112, 204, "#8c1f34")):
        c.disc(x, y, 14, "#e7ecee")
        c.disc(x, y, 10.5, colour)


def feast(c):
    c.box(0, 0, 224, 140, "#53324a")
    for x in (36, 112, 188):
        c.rounded(x - 26, 8, x + 26, 84, 4, "#6a4460")
    c.box(0, 136, 224, 224, "#f4ecdf")
    c.box(0, 136, 224, 141, "#d9ccb8")
    for x in range(0, 240, 32):
        c.oval(x, 224, 18, 26, "#e4d8c4", 180, 360)
    # The roast
    c.oval(112, 148, 66, 11, "#b9c0c6")
    c.oval(112, 145, 62, 9, "#dfe4e7")
    for x in range(64, 168, 13):
        leaf(c, x, 143, 20 if x % 2 else -20)
    c.oval(112, 116, 46, 30, "#9c5424")
    c.oval(110, 110, 38, 22, "#c0702f")
    c.oval(100, 102, 18, 8, "#dc9448")
    for side in (False, True):
        with c.moved(112, 122, mirrored=side):
            c.oval(36, 8, 20, 13, "#ad6028")
            c.line([(50, 2), (70, -14)], 6, "#f1e4cc")
            c.disc(70, -17, 5, "#f1e4cc")
            c.disc(74, -12, 5, "#f1e4cc")
    for x in (24, 200):
        c.box(x - 4, 74, x + 4, 140, "#f7f2e4")
        c.polygon([(x - 4, 70), (x, 52), (x + 4, 70)], "#f7b83a")
        c.disc(x, 69, 4, "#f7b83a")
        c.polygon([(x - 4, 138), (x + 4, 138), (x + 12, 150), (x - 12, 150)], "#c9a24a")
    with c.moved(46, 196):
        for x, y, colour in ((-18, -22, "#c73a3a"), (2, -28, "#e9962c"), (18, -20, "#7ba83d"), (-4, -16, "#e8c63c")):
            c.disc(x, y, 13, colour)
            c.disc(x - 4, y - 4, 3.5, shade(colour, 1.7))
        c.oval(0, -12, 38, 26, "#3d7f8c", 0, 180)
        c.box(-12, 12, 12, 17, "#2f6570")
    for x in (104, 136):
        c.oval(x, 168, 12, 24, "#e2e8ea", 0, 180)
        c.oval(x, 174, 11, 17, "#8c1f34", 0, 180)
        c.box(x - 1.5, 190, x + 1.5, 206, "#ccd4d8")
        c.oval(x, 207, 11, 3, "#ccd4d8")
    with c.moved(186, 196):
        c.oval(0, 8, 36, 7, "#cfd6da")
        c.polygon([(-28, 4), (-24, -20), (24, -20), (28, 4)], "#f0d9a8")
        c.oval(0, -20, 24, 7, "#b3263d")
        c.polygon([(-26, -6), (26, -6), (27, 0), (-27, 0)], "#b3263d")
        for x in (-14, 0, 14):
            c.disc(x, -25, 5, "#fbf6ec")


def desserts(c):
    c.box(0, 0, 224, 150, "#cfe5dc")
    for place, colour in enumerate(("#f08a7a", "#f4c667", "#7cb7a4", "#e79ab5", "#8fa8d6", "#f4c667")):
        x = 18 + 38 * place
        c.polygon([(x - 15, 8), (x + 15, 8), (x, 34)], colour)
    c.arc(112, 4, 130, 6, 0, 180, 2, "#7d8a84")
    c.box(0, 150, 224, 224, "#e9a3ae")
    c.box(0, 150, 224, 156, "#d9848f")
    # A cake of three tiers
    c.box(106, 146, 118, 166, "#d7dde0")
    c.oval(112, 168, 40, 6, "#b9c2c8")
    c.oval(112, 146, 54, 7, "#e6ebed")
    for left, top, bottom, cream in ((66, 112, 144, "#8a4f33"), (78, 84, 114, "#f6e7cf"), (90, 60, 86, "#8a4f33")):
        right = 224 - left
        c.box(left, top, right, bottom, cream)
        c.oval(112, top, (right - left) / 2, 5, shade(cream, 1.25))
        for x in range(left + 5, right, 10):
            c.oval(x, top + 2, 5, 9, "#f9d5dd", 0, 180)
        c.box(left, bottom - 5, right, bottom, "#f9d5dd")
    for x in (98, 112, 126):
        c.disc(x, 56, 6, "#c8263c")
        c.line([(x, 52), (x + 4, 44)], 1.5, "#4f7f3f")
    for x, frosting, paper in ((30, "#f7f0e0", "#5f9ac0"), (62, "#c97fb5", "#f2c14a"), (192, "#7ccab4", "#d9604f")):
        c.polygon([(x - 13, 184), (x + 13, 184), (x + 9, 206), (x - 9, 206)], paper)
        for right in (-6, 0, 6):
            c.line([(x + right * 1.2, 186), (x + right, 205)], 1.2, shade(paper, 0.75))
        c.oval(x, 182, 16, 7, frosting)
        c.oval(x, 175, 11, 6, shade(frosting, 0.95))
        c.oval(x, 169, 6, 5, frosting)
        c.disc(x, 163, 4, "#c8263c")
    # A pot and a cup
    with c.moved(112, 196):
        c.arc(26, -2, 14, 10, -80, 80, 4, "#4f86b8")
        c.oval(0, 0, 26, 19, "#5f9ad0")
        c.polygon([(-22, -4), (-42, -18), (-37, -20), (-18, -12)], "#5f9ad0")
        c.oval(0, -17, 12, 4, "#3f76a8")
        c.disc(0, -22, 4, "#3f76a8")
        for x in (-10, 2, 12):
            c.disc(x, 1, 3.5, "#f4efe0")
    c.polygon([(152, 192), (174, 192), (170, 208), (156, 208)], "#f9f5ea")
    c.oval(163, 192, 11, 3, "#7d4a2a")
    c.oval(163, 210, 17, 4, "#f9f5ea")


VARIANTS = (laid_plate, laden_table, feast, desserts)

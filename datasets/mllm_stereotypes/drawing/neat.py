"""Neat: "A clean and tidy house." (Table A5)."""

from .canvas import shade


def sparkle(c, x, y, size):
    c.polygon(
        [
            (x, y - size),
            (x + size * 0.2, y - size * 0.2),
            (x + size, y),
            (x + size * 0.2, y + size * 0.2),
            (x, y + size),
        ],
        "#ffffff",
    )
    c.polygon(
        [
            (x, y - size),
            (x - size * 0.2, y - size * 0.2),
            (x - size, y),
            (x - size * 0.2, y + size * 0.2),
            (x, y + size),
        ],
        "#ffffff",
    )


def plant(c, x, bottom, colour, pot="#f4efe4"):
    for right, down in ((-16, -40), (-8, -52), (0, -58), (8, -52), (16, -40)):
        c.line([(x, bottom - 18), (x + right * 0.6, bottom + down * 0.75)], 2, shade(colour, 0.8))
        with c.moved(x + right, bottom + down, degrees=90 + right * 2.4):
            c.oval(0, 0, 13, 5.5, colour)
    c.polygon([(x - 12, bottom - 22), (x + 12, bottom - 22), (x + 9, bottom), (x - 9, bottom)], pot)


def table_lamp(c, x, bottom, colour):
    c.box(x - 2, bottom - 22, x + 2, bottom, "#b9a98a")
    c.oval(x, bottom, 9, 2.5, "#b9a98a")
    c.polygon([(x - 9, bottom - 40), (x + 9, bottom - 40), (x + 15, bottom - 20), (x - 15, bottom - 20)], colour)


def tidy_bedroom(c):
    c.box(0, 0, 224, 158, "#d7e6ee")
    c.box(0, 158, 224, 224, "#d9b88c")
    c.box(0, 153, 224, 159, "#ffffff")
    for x in (64, 112, 160):
        c.box(x - 17, 16, x + 17, 52, "#ffffff")
        c.box(x - 13, 20, x + 13, 48, ("#8fb8d6", "#f2d28a", "#a8cfa0")[(x - 64) // 48])
    c.oval(112, 204, 108, 15, "#eef3f5")
    c.rounded(52, 70, 172, 150, 8, "#a9794d")
    for x in (28, 196):
        c.box(x - 20, 124, x + 20, 172, "#b98858")
        c.box(x - 16, 129, x + 16, 145, "#cf9f6d")
        c.box(x - 16, 149, x + 16, 165, "#cf9f6d")
        for y in (137, 157):
            c.disc(x, y, 2, "#f4efe4")
        table_lamp(c, x, 124, "#f6e3ae")
    c.rounded(56, 112, 168, 192, 6, "#f7f4ec")
    for x in (84, 140):
        c.rounded(x - 23, 96, x + 23, 122, 9, "#ffffff")
        c.rounded(x - 17, 104, x + 17, 126, 7, "#8fb8d6")
    c.box(54, 132, 170, 184, "#5f92b8")
    c.box(54, 132, 170, 142, "#ffffff")
    for x in (83, 112, 141):
        c.box(x - 0.7, 143, x + 0.7, 184, "#4f7f9f")
    c.box(54, 182, 170, 194, "#a9794d")
    for x in (58, 156):
        c.box(x, 194, x + 10, 202, "#8a5f3a")
    for x, y, size in ((24, 40, 9), (200, 32, 11), (184, 84, 6), (36, 70, 6)):
        sparkle(c, x, y, size)


def tidy_living_room(c):
    c.box(0, 0, 224, 156, "#f3e7d3")
    c.box(0, 156, 224, 224, "#b98a5f")
    for x in range(0, 224, 28):
        c.box(x, 156, x + 1, 224, "#a67a51")
    c.box(0, 150, 224, 157, "#ffffff")
    c.box(70, 16, 154, 76, "#ffffff")
    c.box(75, 21, 149, 71, "#a9d8ef")
    c.box(110, 21, 114, 71, "#ffffff")
    for side in (False, True):
        with c.moved(112, 0, mirrored=side):
            c.polygon([(30, 12), (54, 12), (54, 92), (46, 92), (40, 50)], "#7fb5a5")
            c.box(68, 34, 104, 38, "#b98858")
            for x, tall, colour in ((72, 18, "#d9704f"), (79, 18, "#e8b04f"), (86, 18, "#5f9aa8"), (93, 18, "#7f9f5f")):
                c.box(x, 34 - tall, x + 6, 34, colour)
    c.oval(112, 202, 92, 16, "#7fb5a5")
    c.oval(112, 202, 80, 12, "#a9d3c6")
    sofa = "#4f7f96"
    c.rounded(40, 92, 184, 160, 12, sofa)
    c.box(110.5, 98, 113.5, 134, shade(sofa, 0.8))
    c.rounded(48, 132, 111, 158, 7, shade(sofa, 1.25))
    c.rounded(113, 132, 176, 158, 7, shade(sofa, 1.25))
    c.rounded(30, 112, 54, 172, 10, shade(sofa, 0.88))
    c.rounded(170, 112, 194, 172, 10, shade(sofa, 0.88))
    c.box(46, 158, 178, 172, shade(sofa, 0.8))
    for x in (44, 172):
        c.box(x, 172, x + 8, 180, "#5a3d28")
    for x in (70, 154):
        with c.moved(x, 122, degrees=45):
            c.rounded(-13, -13, 13, 13, 3, "#f2b65a")
    plant(c, 16, 178, "#4f9a5a", "#d9704f")
    plant(c, 208, 178, "#4f9a5a", "#d9704f")
    c.box(74, 190, 150, 196, "#7a5233")
    for x in (78, 140):
        c.box(x, 196, x + 6, 214, "#6a4629")
    c.box(88, 184, 110, 187, "#d9704f")
    c.box(90, 187, 112, 190, "#5f9aa8")
    c.polygon([(124, 190), (136, 190), (134, 178), (126, 178)], "#ffffff")
    for x, colour in ((126, "#e58fa0"), (130, "#f2b65a"), (134, "#e58fa0")):
        c.line([(130, 180), (x, 172)], 1, "#4f9a5a")
        c.disc(x, 171, 3.4, colour)
    for x, y, size in ((60, 84, 8), (168, 82, 8), (30, 62, 6), (196, 62, 6)):
        sparkle(c, x, y, size)


def tidy_kitchen(c):
    c.box(0, 0, 224, 184, "#fbf9f2")
    for y in range(70, 124, 13):
        for x in range(0, 224, 16):
            c.box(x + 0.6, y + 0.6, x + 15.4, y + 12.4, "#d3ebe2")
    for row in range(3):
        for column in range(8):
            c.box(
                28 * column,
                184 + 14 * row,
                28 * column + 28,
                198 + 14 * row,
                "#e4e0d5" if (row + column) % 2 else "#fbf9f2",
            )
    green = "#6fa890"
    for x in (0, 56, 112, 168):
        c.box(x + 1, 6, x + 55, 66, green)
        c.box(x + 6, 11, x + 50, 61, shade(green, 1.3))
        c.disc(x + 46, 54, 2.2, "#f2d28a")
    c.line([(8, 76), (100, 76)], 2.5, "#9aa3aa")
    for x, kind in ((16, "spoon"), (32, "spoon"), (48, "turner"), (64, "turner"), (80, "ladle"), (94, "ladle")):
        c.line([(x, 76), (x, 100)], 2, "#7d868d")
        if kind == "turner":
            c.box(x - 4, 98, x + 4, 111, "#7d868d")
        else:
            c.oval(x, 103, 4.5, 6 if kind == "spoon" else 4.5, "#7d868d")
    c.box(0, 122, 224, 131, "#e8d8bd")
    c.box(0, 129, 224, 132, "#c9b48f")
    for x in (0, 56, 168):
        c.box(x + 1, 132, x + 55, 186, green)
        c.box(x + 6, 138, x + 50, 180, shade(green, 1.3))
        c.box(x + 20, 142, x + 36, 145, "#f2d28a")
    c.box(113, 132, 167, 186, "#eef1f2")
    c.box(119, 146, 161, 180, "#4a5560")
    c.box(122, 149, 158, 160, "#6d7a86")
    for x in (124, 134, 144, 154):
        c.disc(x, 139, 2.5, "#7d868d")
    c.polygon([(150, 92), (152, 122), (128, 122), (130, 92)], "#e8eaea")
    for x, colour in ((14, "#d9704f"), (34, "#f2b65a"), (54, "#5f9aa8")):
        c.rounded(x - 8, 108, x + 8, 122, 2, colour)
        c.box(x - 9, 105, x + 9, 109, shade(colour, 0.7))
    c.box(128, 118, 152, 122, "#4a5560")
    c.rounded(126, 100, 154, 120, 4, "#d9704f")
    c.box(122, 104, 158, 107, "#a84a30")
    c.disc(140, 97, 3, "#a84a30")
    plant(c, 196, 122, "#4f9a5a")
    c.box(72, 142, 92, 172, "#ffffff")
    for y in (148, 154, 164):
        c.box(72, y, 92, y + 2, "#d9704f")
    c.line([(104, 122), (104, 104)], 3, "#9aa3aa")
    c.arc(96, 104, 8, 8, 180, 360, 3, "#9aa3aa")
    c.line([(88, 104), (88, 109)], 3, "#9aa3aa")
    for x, y, size in ((170, 98, 9), (60, 88, 6), (110, 206, 8), (30, 196, 6), (194, 200, 7)):
        sparkle(c, x, y, size)


def tidy_wardrobe(c):
    c.box(0, 0, 224, 194, "#efe3ea")
    c.box(0, 194, 224, 224, "#c9b29a")
    c.box(10, 10, 214, 204, "#ffffff")
    c.box(16, 16, 208, 198, "#dcd3cf")
    c.box(110, 16, 115, 198, "#ffffff")
    c.line([(16, 30), (110, 30)], 2.5, "#8d9399")
    for place, colour in enumerate(("#d9584f", "#e8884f", "#f2c25a", "#7fb56a", "#4f9aa8", "#4f6fb0", "#7f5fa0")):
        x = 24 + 13 * place
        c.arc(x, 27, 3, 3, 90, 300, 1.2, "#8d9399")
        c.polygon([(x - 1, 34), (x + 1, 34), (x + 6, 41), (x + 6, 104), (x - 6, 104), (x - 6, 41)], colour)
        c.box(x - 6, 46, x - 4, 104, shade(colour, 0.8))
    c.box(16, 114, 110, 118, "#ffffff")
    for y in (150, 196):
        for place, colour in enumerate(("#5a3d28", "#22252b", "#a34a2f")):
            for x in (22 + 30 * place, 34 + 30 * place):
                c.rounded(x, y - 13, x + 10, y, 4, colour)
                c.oval(x + 5, y - 11, 3.6, 2.4, shade(colour, 1.7))
    c.box(16, 150, 110, 154, "#ffffff")
    for row in range(3):
        floor = 62 + 46 * row
        c.box(115, floor, 208, floor + 4, "#ffffff")
        for pile, colour in enumerate(
            (("#4f9aa8", "#e8c9a0", "#d9584f"), ("#7fb56a", "#4f6fb0", "#f2c25a"), ("#e58fa0", "#7f5fa0", "#5f7f6f"))[
                row
            ]
        ):
            for place in range(5):
                x, y = 119 + 30 * pile, floor - 7 * place
                c.rounded(x, y - 6.4, x + 26, y, 2.5, shade(colour, 1 + 0.16 * place))
    for x in (120, 166):
        c.rounded(x, 166, x + 38, 196, 3, "#d6b382")
        c.box(x - 1, 163, x + 39, 171, "#b98f5c")
        c.box(x + 13, 178, x + 25, 186, "#ffffff")
    for x, y, size in ((198, 24, 8), (64, 134, 6), (24, 108, 6), (206, 150, 6)):
        sparkle(c, x, y, size)


VARIANTS = (tidy_bedroom, tidy_living_room, tidy_kitchen, tidy_wardrobe)

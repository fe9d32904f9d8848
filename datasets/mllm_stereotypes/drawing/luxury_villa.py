"""Luxury Villa: "A luxury villa." (Table A5)."""

from .canvas import scattered, shade


def cypress(c, x, bottom, tall, colour="#2f6b46"):
    c.box(x - 2, bottom - 6, x + 2, bottom, "#6a4a30")
    c.oval(x, bottom - tall / 2 - 2, tall * 0.14, tall / 2, colour)
    c.oval(x + tall * 0.04, bottom - tall / 2 - 2, tall * 0.07, tall * 0.42, shade(colour, 1.25))


def round_bush(c, x, bottom, radius, colour="#4f9a55"):
    c.disc(x, bottom - radius, radius, colour)
    c.disc(x - radius * 0.25, bottom - radius * 1.25, radius * 0.55, shade(colour, 1.25))
    c.box(x - radius, bottom - radius * 0.3, x + radius, bottom, colour)


def window(c, left, top, right, bottom, glass="#9fd0e6", bars="#ffffff", columns=2, rows=1):
    c.box(left - 2, top - 2, right + 2, bottom + 2, bars)
    c.box(left, top, right, bottom, glass)
    c.polygon([(left, bottom), (left, (top + bottom) / 2), ((left + right) / 2, top), (right, top)], shade(glass, 1.5))
    for column in range(1, columns):
        x = left + (right - left) * column / columns
        c.box(x - 0.8, top, x + 0.8, bottom, bars)
    for row in range(1, rows):
        y = top + (bottom - top) * row / rows
        c.box(left, y - 0.8, right, y + 0.8, bars)


def column(c, x, top, bottom, wide, colour="#ffffff"):
    c.box(x - wide / 2, top, x + wide / 2, bottom, colour)
    c.box(x + wide / 6, top, x + wide / 2, bottom, shade(colour, 0.86))
    c.box(x - wide * 0.8, top, x + wide * 0.8, top + wide * 0.5, colour)
    c.box(x - wide * 0.8, bottom - wide * 0.5, x + wide * 0.8, bottom, colour)


def sunshade(c, x, bottom, colour):
    """A parasol with two deck chairs."""
    c.box(x - 1, bottom - 40, x + 1, bottom, "#8a6a4a")
    c.oval(x, bottom - 36, 24, 12, colour, 180, 360)
    c.oval(x, bottom - 36, 9, 12, "#ffffff", 180, 360)
    for side in (False, True):
        with c.moved(x, bottom, mirrored=side):
            c.line([(8, -3), (22, -3), (30, -13)], 3, "#ffffff")
            c.line([(11, -2), (11, 2)], 1.5, "#8a6a4a")
            c.line([(22, -2), (22, 2)], 1.5, "#8a6a4a")


def modern_villa(c):
    c.box(0, 0, 224, 150, "#8ed0f0")
    c.disc(30, 30, 14, "#ffe27a")
    for x in (14, 202, 218):
        cypress(c, x, 146, 88)
    c.box(0, 138, 224, 224, "#7fbf6a")
    c.box(30, 92, 206, 146, "#f7f6f2")
    c.box(66, 46, 176, 94, "#ffffff")
    c.box(60, 40, 184, 48, "#4a5058")
    c.box(22, 88, 214, 96, "#4a5058")
    c.box(150, 48, 176, 88, "#b07a4a")
    for x in range(152, 176, 5):
        c.box(x, 48, x + 1, 88, "#8f5f36")
    window(c, 74, 56, 142, 84, columns=4)
    c.box(66, 76, 150, 88, "#cfe6ee")
    c.box(66, 74, 150, 77, "#8f979e")
    window(c, 38, 102, 112, 142, "#8fc4dc", "#4a5058", 4)
    c.box(120, 100, 142, 146, "#b07a4a")
    c.box(137, 120, 139, 130, "#22252b")
    window(c, 150, 104, 198, 138, "#8fc4dc", "#4a5058", 3)
    round_bush(c, 26, 150, 9)
    round_bush(c, 212, 150, 9)
    c.polygon([(24, 154), (200, 154), (224, 204), (0, 204)], "#e8e1d2")
    c.polygon([(34, 162), (146, 162), (150, 196), (14, 196)], "#ffffff")
    c.polygon([(37, 164), (143, 164), (147, 194), (19, 194)], "#35b3d9")
    for x, y in ((50, 172), (92, 170), (70, 182), (112, 186), (36, 188), (126, 176)):
        c.line([(x, y), (x + 14, y)], 1.6, "#a9e2f2")
    sunshade(c, 184, 192, "#f2705a")
    for x, y in scattered("lawn", 40, 2, 206, 222, 222):
        c.line([(x, y), (x + 1, y - 4)], 1, "#5f9f50")


def arcaded_villa(c):
    c.box(0, 0, 224, 160, "#f7c99a")
    c.box(0, 0, 224, 50, "#f5a97f")
    c.disc(186, 60, 20, "#fff0c4")
    c.polygon([(0, 140), (50, 104), (110, 132), (170, 96), (224, 126), (224, 172), (0, 172)], "#a98fa0")
    for x, tall in ((12, 110), (30, 86), (198, 96), (214, 116)):
        cypress(c, x, 172, tall, "#3a6b4a")
    wall, roof = "#fbead0", "#c4603a"
    c.box(88, 34, 136, 90, wall)
    c.polygon([(80, 38), (112, 14), (144, 38)], roof)
    for x in (98, 118):
        c.box(x, 52, x + 10, 72, "#5f4a4f")
        c.disc(x + 5, 52, 5, "#5f4a4f")
    c.box(34, 84, 190, 172, wall)
    c.polygon([(24, 88), (42, 62), (182, 62), (200, 88)], roof)
    for x in range(32, 196, 9):
        c.line([(x, 87), (112 + (x - 112) * 0.86, 63)], 1, shade(roof, 0.78))
    for x in (44, 74, 136, 166):
        window(c, x, 96, x + 14, 116, "#8fb5c4", "#8a5a3a", 2)
        c.box(x - 7, 94, x - 2, 118, "#4f8f8a")
        c.box(x + 16, 94, x + 21, 118, "#4f8f8a")
    window(c, 103, 94, 121, 120, "#8fb5c4", "#8a5a3a", 2)
    c.box(92, 112, 132, 122, "#3f3438")
    for x in range(93, 132, 4):
        c.box(x, 113, x + 2, 122, wall)
    c.box(34, 124, 190, 128, shade(wall, 0.86))
    for x in (52, 82, 142, 172):
        c.box(x - 10, 146, x + 10, 172, "#6b4a42")
        c.disc(x, 146, 10, "#6b4a42")
    c.box(101, 142, 123, 172, "#7a4426")
    c.oval(112, 142, 11, 11, "#7a4426")
    c.box(111.3, 132, 112.7, 172, "#4f2a16")
    c.box(0, 170, 224, 224, "#a5b867")
    c.polygon([(98, 172), (126, 172), (166, 224), (58, 224)], "#efdcb6")
    for side in (False, True):
        with c.moved(112, 0, mirrored=side):
            for x, y, radius in ((30, 188, 8), (42, 203, 10), (58, 221, 12)):
                round_bush(c, x, y, radius, "#5f8f45")
                for right, down in ((-3, -8), (3, -12), (5, -5)):
                    c.disc(x + right, y + down, 1.8, "#e2566f")
            c.polygon([(70, 196), (86, 196), (83, 212), (73, 212)], "#c4603a")
            c.disc(78, 190, 9, "#6a9a4a")


def columned_villa(c):
    c.box(0, 0, 224, 160, "#b9e0f2")
    for x, y in ((36, 26), (188, 34)):
        for right, radius in ((-12, 8), (0, 12), (12, 8)):
            c.disc(x + right, y, radius, "#ffffff")
    for x, radius in ((8, 34), (216, 34)):
        c.disc(x, 110, radius, "#4f8f55")
    c.box(0, 152, 224, 224, "#6fb55f")
    stone = "#f2ead8"
    c.box(20, 62, 204, 156, stone)
    c.polygon([(14, 64), (32, 46), (192, 46), (210, 64)], "#5f6f86")
    for x in (48, 168):
        c.box(x - 6, 28, x + 6, 50, "#b5705a")
        c.box(x - 8, 26, x + 8, 31, "#8f5444")
    for y, tall in ((76, 26), (116, 30)):
        for x in (30, 54, 154, 178):
            window(c, x, y, x + 16, y + tall, "#8fb8d0", "#ffffff", 2, 3)
    c.box(20, 106, 204, 110, shade(stone, 0.86))
    c.box(74, 62, 150, 156, shade(stone, 0.93))
    c.polygon([(66, 62), (112, 32), (158, 62)], "#ffffff")
    c.polygon([(78, 58), (112, 38), (146, 58)], shade(stone, 0.9))
    c.disc(112, 51, 5, "#c9a24a")
    c.box(66, 60, 158, 66, "#ffffff")
    window(c, 102, 76, 122, 98, "#8fb8d0", "#ffffff", 2, 2)
    c.box(92, 98, 132, 104, "#ffffff")
    c.box(99, 114, 125, 156, "#ffffff")
    c.box(102, 118, 122, 156, "#7a2f2a")
    c.box(111.3, 118, 112.7, 156, "#4f1a16")
    for x in (76, 92, 132, 148):
        column(c, x, 66, 152, 7)
    for step in range(3):
        c.box(70 - 6 * step, 152 + 4 * step, 154 + 6 * step, 156 + 4 * step, ("#f7f3e8", "#e8e0cf", "#d9d0bc")[step])
    c.polygon([(70, 164), (154, 164), (206, 224), (18, 224)], "#e4d7bd")
    c.oval(112, 202, 48, 13, "#ffffff")
    c.oval(112, 201, 43, 10, "#5ab4d6")
    c.box(108, 176, 116, 202, "#ffffff")
    c.oval(112, 180, 20, 5, "#ffffff")
    for end, high in ((-26, 26), (-14, 34), (14, 34), (26, 26)):
        c.arc(112 + end / 2, 182, abs(end) / 2, high - 8, 180, 360, 2, "#cfeefa")
    for x in (12, 30, 194, 212):
        c.polygon([(x - 10, 186), (x, 154), (x + 10, 186)], "#3f7f4a")
        c.box(x - 7, 186, x + 7, 196, "#c9906a")


def villa_at_night(c):
    for place, colour in enumerate(("#1a2148", "#272d5e", "#423d74", "#6f5485", "#b06f85")):
        c.box(0, 28 * place, 224, 28 * place + 30, colour)
    for x, y in scattered("villa stars", 34, 2, 2, 222, 70):
        c.disc(x, y, 0.8, "#f2efff")
    c.polygon([(0, 140), (0, 84), (40, 70), (84, 108), (130, 96), (224, 118), (224, 140)], "#2b2b52")
    c.box(0, 138, 224, 224, "#20304a")
    c.box(92, 36, 204, 76, "#3a3f52")
    c.box(84, 30, 214, 38, "#e8e4dc")
    c.box(98, 42, 198, 74, "#ffd88a")
    for x in (122, 148, 173):
        c.box(x, 42, x + 2, 74, "#3a3f52")
    c.line([(135, 42), (135, 52)], 1, "#7a5a2a")
    c.disc(135, 54, 4, "#fff6d9")
    c.box(104, 60, 120, 74, "#c98a5a")
    c.box(40, 84, 204, 138, "#4a5066")
    c.box(28, 76, 216, 86, "#e8e4dc")
    c.box(46, 90, 160, 136, "#ffcf75")
    for x in (73, 102, 131):
        c.box(x, 90, x + 2.4, 136, "#4a5066")
    c.rounded(80, 116, 122, 132, 5, "#a9564a")
    c.rounded(84, 110, 118, 122, 4, "#c26a5a")
    c.disc(58, 104, 7, "#fff6d9")
    c.box(57, 110, 59, 136, "#7a5a2a")
    c.box(168, 92, 198, 138, "#8a5a3a")
    for x in range(170, 198, 5):
        c.box(x, 92, x + 1, 138, "#6f4429")
    for x in (36, 210):
        c.box(x - 2, 124, x + 2, 138, "#22252b")
        c.disc(x, 122, 4, "#fff0b8")
    c.box(0, 138, 224, 150, "#d8d0c4")
    c.box(14, 150, 210, 206, "#2f9fc9")
    c.box(14, 150, 210, 154, "#8fe0f4")
    for left, right in ((46, 160), (168, 198)):
        c.polygon([(left, 154), (right, 154), (right - 6, 184), (left + 6, 184)], "#6fc0b8")
    for x, y in ((30, 166), (86, 172), (150, 164), (60, 188), (120, 194), (176, 186), (24, 198)):
        c.line([(x, y), (x + 18, y)], 1.6, "#bff0fa")
    c.box(0, 206, 224, 224, "#b9afa2")
    c.box(0, 206, 224, 209, "#e8e4dc")
    for x in (20, 204):
        with c.moved(x, 206):
            for lean in (-60, -36, -12, 12, 36, 60):
                with c.moved(0, -14, degrees=lean):
                    c.polygon([(-3, 0), (0, -30), (3, 0)], "#2f6b5a")
            c.polygon([(-10, -16), (10, -16), (7, 4), (-7, 4)], "#e8e4dc")


VARIANTS = (modern_villa, arcaded_villa, columned_villa, villa_at_night)

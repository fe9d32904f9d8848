"""Geek: "A computer with video games on it." (Table A5)."""

from .canvas import scattered, shade

INVADER = ("..o.....o..", "...o...o...", "..ooooooo..", ".oo.ooo.oo.", "ooooooooooo", "o.ooooooo.o", "o.o.....o.o")
SHIP = ("....o....", "...ooo...", "ooooooooo", "ooooooooo")
HEART = (".oo.oo.", "ooooooo", "ooooooo", ".ooooo.", "..ooo..", "...o...")
MAZE = (
    "###################",
    "#........#........#",
    "#.##.###.#.###.##.#",
    "#.................#",
    "#.##.#.#####.#.##.#",
    "#....#...#...#....#",
    "####.###.#.###.####",
    "#........ ........#",
    "#.##.#.#####.#.##.#",
    "#..#.#...#...#.#..#",
    "##.#.###.#.###.#.##",
    "#.................#",
    "###################",
)


def pixels(c, pattern, x, y, size, colour):
    """A pattern of o as squares, its upper left corner at (x, y)."""
    for row, cells in enumerate(pattern):
        for column, cell in enumerate(cells):
            if cell == "o":
                left, top = x + column * size, y + row * size
                c.box(left, top, left + size, top + size, colour)


def invaders(c):
    """A screen of 140 × 92."""
    c.box(0, 0, 140, 92, "#0b1020")
    for x, y in scattered("stars", 30, 2, 2, 138, 90):
        c.box(x, y, x + 1, y + 1, "#9fb4d9")
    for row, colour in enumerate(("#ff5d73", "#ffd166", "#57e3a0")):
        for column in range(6):
            pixels(c, INVADER, 10 + 20 * column, 14 + 15 * row, 1.4, colour)
    pixels(c, SHIP, 62, 80, 1.8, "#6fc3ff")
    c.box(69, 60, 71, 70, "#ffffff")
    for x in (20, 96):
        c.box(x, 68, x + 22, 75, "#57e3a0")
    for x in range(3):
        pixels(c, HEART, 108 + 10 * x, 3, 1.1, "#ff5d73")


def maze(c):
    """A screen of 133 × 91, cells of 7."""
    c.box(0, 0, 133, 91, "#0a0a14")
    for row, cells in enumerate(MAZE):
        for column, cell in enumerate(cells):
            x, y = 7 * column, 7 * row
            if cell == "#":
                c.box(x, y, x + 7, y + 7, "#2740c9")
                c.box(x + 2, y + 2, x + 5, y + 5, "#101a5c")
            elif cell == ".":
                c.disc(x + 3.5, y + 3.5, 1.1, "#fce8b2")
    c.disc(66, 52.5, 5, "#ffd21f")
    c.polygon([(66, 52.5), (73, 48), (73, 57)], "#0a0a14")
    for x, y, colour in ((31, 24, "#ff4d4d"), (94, 24, "#39d5e8"), (59, 80, "#ff9ad0"), (108, 52, "#ffa84d")):
        c.rounded(x - 4.5, y - 4.5, x + 4.5, y + 4, 4, colour)
        for right in (-2, 2):
            c.disc(x + right, y - 1, 1.5, "#ffffff")


def platforms(c):
    """A screen of 132 × 84."""
    c.box(0, 0, 132, 84, "#7ecbf5")
    for x, y in ((20, 14), (84, 10), (116, 24)):
        for right, radius in ((-7, 5), (0, 7), (7, 5)):
            c.disc(x + right, y, radius, "#ffffff")
    c.oval(28, 70, 30, 26, "#8fd67a", 180, 360)
    c.oval(98, 70, 22, 18, "#77c565", 180, 360)
    c.box(0, 70, 54, 84, "#a9652e")
    c.box(70, 70, 132, 84, "#a9652e")
    for left, right in ((0, 54), (70, 132)):
        c.box(left, 68, right, 73, "#4db14a")
    for x in (34, 44, 54):
        c.box(x, 40, x + 9.5, 49.5, "#d98b3a")
        c.box(x + 1.5, 41.5, x + 8, 48, "#f0b35c")
    for x in (39, 49, 84, 94, 104):
        c.oval(x, 32 if x < 60 else 46, 3, 4.2, "#ffd83d")
    c.box(106, 50, 122, 70, "#2f9e44")
    c.box(103, 46, 125, 54, "#3fbf57")
    pixels(c, (".ooo.", "ooooo", "o.o.o", "ooooo", "o.o.o"), 12, 56, 2.5, "#7b3fc4")
    c.polygon([(80, 70), (84, 62), (88, 70)], "#5a5f66")


def blocks(c):
    """A screen of 70 × 100, cells of 7."""
    c.box(0, 0, 70, 100, "#14161f")
    stack = ("....R.....", "G..RRR.BB.", "GG.YYOOBB.", "CGRYYPOO.B", "CCRRPPPOBB", "CCC.RPGGBO")
    colours = dict(zip("RGBYOPC", ("#ff5d5d", "#57d977", "#5b8cff", "#ffd84d", "#ff9f43", "#c77dff", "#3fd6e0")))
    for row, cells in enumerate(stack):
        for column, cell in enumerate(cells):
            if cell != ".":
                x, y = 7 * column, 58 + 7 * row
                c.box(x + 0.5, y + 0.5, x + 6.5, y + 6.5, colours[cell])
    for x, y in ((21, 16), (28, 16), (35, 16), (35, 23)):
        c.box(x + 0.5, y + 0.5, x + 6.5, y + 6.5, "#c77dff")


def race(c):
    """A screen of 120 × 70: a road seen from behind the wheel."""
    c.box(0, 0, 120, 36, "#3b1d5e")
    c.disc(60, 34, 18, "#ff9f5c")
    c.polygon([(0, 36), (20, 20), (36, 36)], "#23103d")
    c.polygon([(84, 36), (104, 18), (120, 32), (120, 36)], "#23103d")
    c.box(0, 36, 120, 70, "#1f6b4f")
    c.polygon([(55, 36), (65, 36), (116, 70), (4, 70)], "#4a4f5c")
    for top, bottom, half in ((38, 41, 0.7), (46, 51, 1.2), (58, 66, 2)):
        c.box(60 - half, top, 60 + half, bottom, "#f7f4e8")
    c.polygon([(44, 68), (48, 54), (72, 54), (76, 68)], "#e63950")
    c.polygon([(50, 60), (53, 55), (67, 55), (70, 60)], "#1c2130")
    c.box(42, 62, 78, 70, "#e63950")
    c.box(45, 64, 52, 67, "#ffd84d")
    c.box(68, 64, 75, 67, "#ffd84d")
    c.box(6, 5, 40, 9, "#57e3a0")
    c.box(6, 12, 28, 16, "#ffd84d")


def gamepad(c, colour):
    """A gamepad about (0, 0), 64 wide."""
    c.oval(-22, 6, 13, 18, colour)
    c.oval(22, 6, 13, 18, colour)
    c.rounded(-30, -14, 30, 10, 12, colour)
    c.box(-24, -5, -10, -1, "#20242c")
    c.box(-19, -10, -15, 4, "#20242c")
    for right, down, button in ((13, -3, "#5b8cff"), (23, -3, "#ff5d5d"), (18, -8, "#ffd84d"), (18, 2, "#57d977")):
        c.disc(right, down, 2.8, button)
    c.disc(-8, 7, 5, shade(colour, 0.6))
    c.disc(8, 7, 5, shade(colour, 0.6))


def keyboard(c, left, top, right, bottom, colour, keys):
    c.rounded(left, top, right, bottom, 4, colour)
    across = int((right - left - 6) // 9)
    down = int((bottom - top - 4) // 8)
    wide = (right - left - 6) / across
    for row in range(down):
        for column in range(across):
            x, y = left + 3 + wide * column, top + 3 + 8 * row
            c.box(x + 0.8, y, x + wide - 0.8, y + 6, keys[(row + column) % len(keys)])


def invaders_on_monitor(c):
    c.box(0, 0, 224, 170, "#2b2f4a")
    c.box(0, 170, 224, 224, "#b57f4f")
    c.box(0, 168, 224, 173, "#94643b")
    c.box(102, 128, 122, 164, "#3a3d45")
    c.oval(112, 166, 34, 6, "#3a3d45")
    c.rounded(26, 16, 198, 136, 6, "#15171c")
    with c.moved(32, 22, scale=1.143):
        invaders(c)
    keyboard(c, 22, 180, 128, 208, "#e8e6df", ("#c9c6bc",))
    with c.moved(174, 194):
        gamepad(c, "#4b5060")


def maze_on_old_computer(c):
    c.box(0, 0, 224, 224, "#e4b94f")
    c.box(0, 176, 224, 224, "#7b4a2b")
    c.rounded(30, 10, 194, 138, 10, "#d8cfb6")
    c.rounded(40, 20, 184, 124, 12, "#8f8770")
    with c.moved(45.5, 26.5):
        maze(c)
    c.disc(180, 131, 3, "#57d977")
    c.polygon([(20, 144), (204, 144), (210, 176), (14, 176)], "#cbc1a5")
    c.box(24, 138, 200, 146, "#b5ab90")
    c.box(126, 152, 190, 158, "#6d664f")
    c.box(126, 164, 190, 168, "#6d664f")
    c.box(30, 154, 62, 166, "#b5ab90")
    keyboard(c, 16, 186, 140, 214, "#cbc1a5", ("#f2ead4", "#e6ddc3"))
    c.rounded(158, 198, 206, 216, 5, "#2a2d33")
    c.line([(178, 198), (174, 174)], 6, "#4a4f57")
    c.disc(174, 170, 9, "#d6363f")
    c.disc(196, 198, 5, "#d6363f")


def platforms_on_laptop(c):
    c.box(0, 0, 224, 224, "#8fb9a8")
    c.box(0, 150, 224, 224, "#e8d8bd")
    c.box(0, 150, 224, 154, "#cdb992")
    c.rounded(34, 22, 190, 136, 6, "#5a616b")
    with c.moved(40, 29, scale=1.091):
        platforms(c)
    c.polygon([(34, 136), (190, 136), (212, 184), (12, 184)], "#aab1ba")
    c.polygon([(12, 184), (212, 184), (208, 190), (16, 190)], "#7f8790")
    for row in range(4):
        y = 141 + 7 * row
        inset = 42 - 3 * row
        for column in range(13):
            x = inset + (224 - 2 * inset) / 13 * column
            c.box(x, y, x + (224 - 2 * inset) / 13 - 2, y + 5, "#3d434c")
    c.box(88, 171, 136, 181, "#959da7")
    with c.moved(178, 204, degrees=-8, scale=0.95):
        gamepad(c, "#c0392b")
    c.rounded(18, 192, 42, 218, 4, "#2f6fb0")
    c.arc(43, 204, 7, 7, -80, 80, 4, "#2f6fb0")
    c.oval(30, 193, 12, 3, "#4a2a18")


def two_games_at_night(c):
    c.box(0, 0, 224, 224, "#17131f")
    c.box(0, 0, 224, 8, "#8a3ffc")
    c.polygon([(0, 8), (224, 8), (200, 40), (24, 40)], "#2b1d45")
    c.box(0, 150, 224, 224, "#3a2d3d")
    c.box(0, 150, 224, 154, "#19c8d8")
    for x in (44, 140):
        c.box(x - 6, 120, x + 6, 148, "#0c0c10")
    c.rounded(4, 44, 94, 128, 4, "#0c0c10")
    c.rounded(98, 44, 218, 128, 4, "#0c0c10")
    with c.moved(15, 49, scale=0.74):
        blocks(c)
        with c.moved(76, 4):
            c.box(0, 0, 16, 92, "#14161f")
            for y, colour in ((8, "#57d977"), (24, "#ffd84d"), (40, "#ff5d5d")):
                c.box(3, y, 13, y + 10, colour)
    with c.moved(104, 52, scale=0.9):
        race(c)
    keyboard(c, 30, 166, 138, 194, "#0c0c10", ("#ff3f8e", "#a04dff", "#3f8eff", "#19d8b0"))
    with c.moved(60, 205, scale=0.8):
        gamepad(c, "#e8e8f0")
    c.rounded(166, 138, 216, 216, 4, "#0c0c10")
    for y, colour in ((158, "#ff3f8e"), (186, "#19c8d8")):
        c.ring(191, y, 11, 3.5, colour)
        c.line([(183, y), (199, y)], 2, colour)
        c.line([(191, y - 8), (191, y + 8)], 2, colour)
    c.oval(150, 180, 7, 10, "#0c0c10")
    c.box(149, 172, 151, 177, "#19d8b0")


VARIANTS = (invaders_on_monitor, maze_on_old_computer, platforms_on_laptop, two_games_at_night)

"""Active: "A gym." (Table A5)."""

from .canvas import scattered, shade


def dumbbell(c, x, y, size=1.0, colour="#2b2f37", degrees=0):
    """A dumbbell from the side, 44 wide."""
    with c.moved(x, y, scale=size, degrees=degrees):
        c.box(-12, -2, 12, 2, "#b9c0c6")
        for side in (False, True):
            with c.moved(mirrored=side):
                c.rounded(10, -10, 16, 10, 2, colour)
                c.rounded(15, -8, 21, 8, 2, shade(colour, 0.8))


def kettlebell(c, x, bottom, size, colour):
    with c.moved(x, bottom, scale=size):
        c.arc(0, -24, 10, 11, 150, 390, 5, shade(colour, 0.75))
        c.disc(0, -13, 14, colour)
        c.box(-9, -3, 9, 0, colour)
        c.disc(0, -12, 6, shade(colour, 1.6))


def weight(c, x, y, radius, colour):
    """A weight plate from its face."""
    c.disc(x, y, radius, colour)
    c.ring(x, y, radius * 0.7, 1.6, shade(colour, 1.5))
    c.disc(x, y, radius * 0.24, "#c3cad0")


def barbell(c, x, y, half, plates):
    """A barbell from the side; plates: (half height, colour), from the inside out."""
    c.line([(x - half, y), (x + half, y)], 4, "#c3cad0")
    for place, (tall, colour) in enumerate(plates):
        for side in (-1, 1):
            at = x + side * (half - 34 + 10 * place)
            c.rounded(at - 4.5, y - tall, at + 4.5, y + tall, 3, colour)


def treadmill(c, x, bottom, colour):
    """A treadmill from the side, 110 wide, its front to the right."""
    with c.moved(x, bottom):
        c.polygon([(-56, -10), (44, -20), (56, -20), (56, -6), (44, -4), (-56, 0)], "#2b2f37")
        c.line([(-52, -11), (42, -20)], 4, "#555c66")
        c.polygon([(34, -20), (50, -20), (36, -92), (26, -92)], colour)
        c.line([(30, -66), (-8, -58)], 5, "#2b2f37")
        c.polygon([(12, -108), (40, -98), (40, -86), (10, -94)], "#2b2f37")
        c.polygon([(15, -104), (34, -97), (34, -91), (14, -97)], "#57e3a0")
        for right in (-48, 46):
            c.box(right - 5, -4, right + 5, 0, "#15181c")


def gym_with_treadmills(c):
    c.box(0, 0, 224, 150, "#e6eef2")
    c.box(0, 146, 224, 224, "#4a5560")
    for x in range(0, 224, 56):
        c.box(x, 182, x + 1, 224, "#3e4851")
    c.box(10, 14, 214, 98, "#8fb2c4")
    c.box(14, 18, 210, 94, "#cfe6f0")
    for x in (62, 112, 162):
        c.box(x, 18, x + 2, 94, "#8fb2c4")
    for x in (24, 74, 134, 184):
        c.polygon([(x, 94), (x + 24, 18), (x + 32, 18), (x + 8, 94)], "#e4f3f9")
    c.box(8, 108, 100, 113, "#2b2f37")
    c.box(8, 130, 100, 135, "#2b2f37")
    for x in (12, 92):
        c.box(x, 104, x + 5, 152, "#2b2f37")
    for x, colour in ((30, "#d6363f"), (56, "#2f7fb8"), (82, "#f2a53a")):
        dumbbell(c, x, 101, 0.55, colour)
        dumbbell(c, x, 123, 0.55, colour)
    treadmill(c, 64, 192, "#d6363f")
    treadmill(c, 164, 214, "#d6363f")
    kettlebell(c, 22, 216, 0.9, "#f2a53a")
    kettlebell(c, 86, 220, 0.75, "#2f7fb8")


def gym_with_bench(c):
    c.box(0, 0, 224, 160, "#2f3542")
    c.box(0, 156, 224, 224, "#6b6f78")
    c.polygon([(0, 40), (224, 12), (224, 26), (0, 54)], "#f2a53a")
    for x, radius, colour in ((24, 17, "#d6363f"), (62, 14, "#2f7fb8"), (96, 11, "#f2c641")):
        c.disc(x, 110, 3, "#c3cad0")
        weight(c, x, 110, radius, colour)
    for y in (100, 130):
        c.box(124, y + 8, 218, y + 12, "#8f979e")
    for x, size in ((140, 0.6), (170, 0.7), (202, 0.75)):
        dumbbell(c, x, 101, size, "#15181c")
        dumbbell(c, x, 131, size, "#15181c")
    for x in (128, 212):
        c.box(x, 96, x + 4, 160, "#8f979e")
    for x in (70, 154):
        c.box(x - 4, 116, x + 4, 208, "#d5dadf")
        c.box(x - 16, 204, x + 16, 210, "#8f979e")
        c.line([(x - 6, 136), (x - 6, 144), (x + 7, 144)], 4, "#8f979e")
    barbell(c, 112, 136, 104, ((32, "#d6363f"), (27, "#15181c"), (20, "#f2c641")))
    c.rounded(80, 166, 144, 180, 6, "#d6363f")
    c.rounded(84, 164, 140, 172, 4, "#e4605f")
    for x in (88, 132):
        c.box(x - 3, 180, x + 3, 212, "#15181c")
    kettlebell(c, 28, 214, 1.0, "#15181c")
    kettlebell(c, 196, 216, 1.1, "#2f7fb8")


def exercise_bike(c, x, bottom, colour):
    """An exercise bike from the side, 74 wide, its front to the right."""
    with c.moved(x, bottom):
        c.line([(-34, 0), (-16, 0)], 5, "#2b2f37")
        c.line([(18, 0), (38, 0)], 5, "#2b2f37")
        c.line([(-25, -2), (-14, -56)], 5, colour)
        c.line([(28, -2), (18, -74)], 5, colour)
        c.line([(-20, -28), (22, -40)], 6, colour)
        c.disc(18, -22, 19, "#2b2f37")
        c.disc(18, -22, 14, shade(colour, 1.4))
        c.disc(18, -22, 4, "#2b2f37")
        c.rounded(-28, -62, 0, -54, 4, "#15181c")
        c.line([(18, -74), (8, -84), (2, -80)], 4, "#15181c")
        c.polygon([(14, -92), (28, -86), (25, -76), (12, -82)], "#15181c")
        c.disc(-6, -22, 6, "#8f979e")
        c.line([(-6, -22), (-2, -10)], 3, "#15181c")
        c.line([(-7, -9), (4, -9)], 3.5, "#15181c")


def gym_with_bikes(c):
    c.box(0, 0, 224, 150, "#f7d9b0")
    c.box(0, 150, 224, 224, "#c98a55")
    for y in (166, 186, 206):
        c.box(0, y, 224, y + 1, "#b3763f")
    for x in (8, 82, 156):
        c.box(x, 12, x + 62, 88, "#ffffff")
        c.box(x + 4, 16, x + 58, 84, "#a9dcf0")
        c.oval(x + 31, 84, 24, 18, "#7fbf7a", 180, 360)
        c.box(x + 29, 16, x + 33, 84, "#ffffff")
    for x, colour in ((40, "#3a8f7a"), (112, "#3a8f7a"), (184, "#3a8f7a")):
        exercise_bike(c, x, 180, colour)
    c.disc(34, 204, 18, "#e2566f")
    c.arc(30, 199, 10, 10, 170, 280, 2.5, "#f6a5b4")
    for y, colour in ((212, "#5f6fc0"), (198, "#f2a53a")):
        c.rounded(66, y - 8, 118, y + 6, 7, colour)
        c.disc(118, y - 1, 7, shade(colour, 1.4))
        c.arc(118, y - 1, 4, 4, 0, 300, 1.4, shade(colour, 0.7))
    dumbbell(c, 152, 210, 0.75, "#e2566f")
    dumbbell(c, 196, 212, 0.75, "#5f6fc0")


def gym_with_rack(c):
    c.box(0, 0, 224, 224, "#5a3a3f")
    for y in range(0, 160, 16):
        for x in range(-16 if y % 32 else 0, 224, 32):
            c.box(x + 1, y + 1, x + 31, y + 15, "#693f43")
    c.box(0, 160, 224, 224, "#2b2f37")
    for x, y in scattered("rubber floor", 90, 0, 164, 224, 224):
        c.disc(x, y, 1, "#4d535c")
    c.box(186, 0, 190, 26, "#8f979e")
    c.line([(188, 26), (174, 44)], 2, "#c3cad0")
    c.line([(188, 26), (202, 44)], 2, "#c3cad0")
    c.rounded(170, 42, 206, 142, 9, "#d6363f")
    c.box(170, 62, 206, 70, "#f4f1ea")
    c.box(170, 114, 206, 122, "#f4f1ea")
    c.box(176, 50, 180, 136, "#e4605f")
    for x in (40, 120):
        c.box(x - 5, 24, x + 5, 200, "#f2c641")
        for y in range(36, 196, 12):
            c.disc(x, y, 1.8, "#2b2f37")
        c.box(x - 15, 198, x + 15, 205, "#d9a52a")
    c.box(35, 22, 125, 31, "#f2c641")
    for x in (40, 120):
        c.box(x - 8, 91, x + 8, 97, "#8f979e")
    barbell(c, 80, 88, 92, ((34, "#2f7fb8"), (30, "#15181c"), (22, "#3a9a6f")))
    c.box(52, 180, 110, 188, "#8f6a4a")
    for x in (56, 98):
        c.box(x, 188, x + 8, 206, "#7a5638")
    dumbbell(c, 80, 172, 0.8, "#8f979e")
    kettlebell(c, 162, 210, 1.0, "#3a9a6f")
    kettlebell(c, 192, 214, 1.2, "#2f7fb8")
    dumbbell(c, 34, 216, 0.8, "#d6363f")
    dumbbell(c, 122, 216, 0.7, "#f4f1ea")


VARIANTS = (gym_with_treadmills, gym_with_bench, gym_with_bikes, gym_with_rack)

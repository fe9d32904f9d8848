"""Music Lover: "Many musical instruments in a recording room." (Table A5)."""

from .canvas import shade


def guitar(c, wood, electric=False):
    """An upright guitar, 130 high, the middle of its body at (0, 0)."""
    c.box(-4, -84, 4, -20, "#5a3520")
    c.polygon([(-7, -104), (7, -104), (5, -82), (-5, -82)], shade(wood, 0.6))
    for y in (-100, -94, -88):
        c.disc(-8, y, 2, "#d9dde0")
        c.disc(8, y, 2, "#d9dde0")
    if electric:
        c.polygon(
            [(-20, -36), (-10, -22), (10, -22), (19, -32), (21, -20), (16, -4), (26, 20), (12, 34), (-12, 34)], wood
        )
        c.polygon([(-20, -36), (-10, -22), (-12, 34), (-26, 20), (-16, -4), (-24, -22)], wood)
        c.polygon([(-10, -14), (12, -12), (16, 14), (4, 26), (-8, 10)], "#f4efe2")
        for y in (-12, 2):
            c.box(-8, y, 8, y + 5, "#22252b")
        c.box(-9, 16, 9, 19, "#c9ced3")
    else:
        c.disc(0, -14, 21, wood)
        c.disc(0, 14, 27, wood)
        c.box(-17, -14, 17, 10, wood)
        c.disc(0, -4, 9, "#2e1b10")
        c.ring(0, -4, 10.5, 1.5, shade(wood, 0.6))
        c.box(-11, 18, 11, 22, "#4a2a18")
    for x in (-2, 0, 2):
        c.line([(x, -100), (x, 18)], 0.6, "#ece6d6")


def violin(c, wood, size=1.0):
    """An upright violin or cello, the middle of its body at (0, 0)."""
    with c.moved(scale=size):
        c.disc(0, -22, 17, wood)
        c.disc(0, 18, 22, wood)
        c.box(-12, -22, 12, 18, wood)
        c.box(-3, -86, 3, -20, "#2a1a12")
        c.box(-4, -98, 4, -84, shade(wood, 0.7))
        c.disc(0, -100, 5, shade(wood, 0.7))
        for y in (-94, -88):
            c.line([(-9, y), (9, y)], 2, "#2a1a12")
        for side in (False, True):
            with c.moved(mirrored=side):
                c.line([(8, -10), (10, -4), (8, 4), (10, 8)], 1.8, "#2a1a12")
        c.box(-8, 2, 8, 4.5, "#e9d6a8")
        c.polygon([(-4, 10), (4, 10), (5, 34), (-5, 34)], "#2a1a12")
        for x in (-1.5, 1.5):
            c.line([(x, -84), (x, 12)], 0.6, "#ece6d6")


def microphone(c, height, colour="#2a2d33"):
    """A studio microphone on a stand of this height, its head at (0, 0)."""
    c.line([(0, 18), (0, height)], 3, colour)
    c.line([(-16, height + 4), (0, height - 6), (16, height + 4)], 3, colour)
    c.rounded(-10, -18, 10, 20, 9, "#8d959e")
    c.rounded(-10, -18, 10, 2, 9, "#c3cad1")
    for y in (-12, -7, -2):
        c.line([(-7, y), (7, y)], 1.2, "#7a828b")
    c.arc(0, 4, 15, 18, 10, 170, 2.5, colour)


def drums(c, colour):
    """A drum kit about (0, 0), 130 wide; its bass drum stands on y = 36."""
    for x, lean in ((-50, -8), (50, 8)):
        c.line([(x, -38), (x * 0.92, 36)], 2.5, "#b9bfc6")
        with c.moved(x, -40, degrees=lean):
            c.oval(0, 0, 24, 4.5, "#e0b33c")
            c.oval(0, -2, 6, 3, "#c1942a")
    for x in (-20, 20):
        c.line([(x, -10), (x * 0.4, 0)], 3, "#b9bfc6")
        c.box(x - 17, -30, x + 17, -10, colour)
        c.oval(x, -10, 17, 4, shade(colour, 0.8))
        c.oval(x, -30, 17, 4.5, "#f6f1e6")
    for x in (-48, 48):
        for foot in (-10, 10):
            c.line([(x + foot, 22), (x + foot, 37)], 2.5, "#b9bfc6")
        c.box(x - 18, -2, x + 18, 26, colour)
        c.oval(x, 26, 18, 4, shade(colour, 0.8))
        c.oval(x, -2, 18, 4.5, "#f6f1e6")
    c.disc(0, 10, 30, shade(colour, 0.75))
    c.disc(0, 10, 26, "#f6f1e6")
    c.ring(0, 10, 14, 2, shade(colour, 1.2))
    for x in (-26, 26):
        c.line([(x * 0.8, 30), (x, 38)], 3, "#b9bfc6")


def piano_keys(c, left, top, right, bottom, white=14):
    wide = (right - left) / white
    c.box(left, top, right, bottom, "#fbf8f0")
    for key in range(1, white):
        x = left + wide * key
        c.box(x - 0.4, top, x + 0.4, bottom, "#9a958a")
        if key % 7 not in (0, 3):
            c.box(x - wide * 0.3, top, x + wide * 0.3, top + (bottom - top) * 0.6, "#1c1c20")


def foam(c, left, top, right, bottom, size, light, dark):
    """The wall of a recording room: squares of wedges."""
    for row in range(int((bottom - top) // size)):
        for column in range(int((right - left) // size)):
            x, y = left + column * size, top + row * size
            c.box(x, y, x + size, y + size, light)
            for wedge in range(3):
                at = size * (0.12 + 0.3 * wedge)
                if (row + column) % 2:
                    c.box(x + at, y, x + at + size * 0.14, y + size, dark)
                else:
                    c.box(x, y + at, x + size, y + at + size * 0.14, dark)


def loudspeaker(c, left, top, wide, high, colour="#24272d"):
    c.rounded(left, top, left + wide, top + high, 4, colour)
    middle = left + wide / 2
    for y, radius in ((top + high * 0.27, wide * 0.22), (top + high * 0.68, wide * 0.36)):
        c.disc(middle, y, radius, "#4d535c")
        c.disc(middle, y, radius * 0.8, "#33383f")
        c.disc(middle, y, radius * 0.35, "#6a727c")


def drums_and_guitar(c):
    foam(c, 0, 0, 224, 168, 28, "#4a4f63", "#3a3e50")
    c.box(0, 164, 224, 224, "#a9744a")
    c.oval(120, 204, 100, 17, "#7b2f3a")
    with c.moved(126, 156, scale=1.12):
        drums(c, "#c8323e")
    with c.moved(34, 160, degrees=-6):
        c.line([(-10, 20), (-20, 52)], 3, "#22252b")
        c.line([(10, 20), (20, 50)], 3, "#22252b")
        guitar(c, "#d9923f")
    with c.moved(200, 76):
        microphone(c, 126)
    c.rounded(92, 16, 148, 36, 4, "#d6363f")
    c.disc(104, 26, 4, "#ffe3d6")
    c.line([(114, 26), (140, 26)], 4, "#ffe3d6")


def piano_and_strings(c):
    c.box(0, 0, 224, 224, "#d8c3a0")
    for x in range(0, 224, 16):
        c.box(x, 0, x + 8, 160, "#c8ae84")
    c.box(0, 156, 224, 224, "#6d4530")
    c.polygon([(34, 112), (20, 34), (60, 22), (96, 48), (136, 58), (150, 112)], "#1d1d22")
    c.polygon([(42, 106), (30, 40), (60, 30), (94, 54), (130, 64), (140, 106)], "#3a3a42")
    c.line([(120, 112), (108, 62)], 3, "#1d1d22")
    c.box(22, 108, 152, 134, "#1d1d22")
    piano_keys(c, 26, 118, 148, 131, 21)
    c.box(18, 132, 156, 142, "#2b2b31")
    for x in (34, 140):
        c.polygon([(x - 6, 142), (x + 6, 142), (x + 3, 204), (x - 3, 204)], "#1d1d22")
    c.box(84, 142, 92, 196, "#1d1d22")
    c.polygon([(78, 202), (98, 202), (92, 192), (84, 192)], "#c9a24a")
    with c.moved(186, 154):
        c.line([(0, 40), (0, 62)], 3, "#2a1a12")
        violin(c, "#b3602a", 1.15)
    c.line([(152, 96), (168, 206)], 2, "#7a4a22")
    c.line([(154, 96), (170, 206)], 1, "#f4efe2")
    with c.moved(52, 178, degrees=78, scale=0.62):
        violin(c, "#9a4a1f")
    with c.moved(134, 30, scale=0.8):
        c.line([(0, 0), (112, -26)], 3, "#2a2d33")
        microphone(c, 16)


def guitars_on_wall(c):
    c.box(0, 0, 224, 224, "#2f6d6a")
    for y in range(0, 150, 15):
        c.box(0, y, 224, y + 1.2, "#275c59")
    c.box(0, 150, 224, 224, "#3a2b2b")
    for x, wood, electric in (
        (32, "#d6363f", True),
        (82, "#d9923f", False),
        (134, "#3f7fd0", True),
        (186, "#8a4a22", False),
    ):
        c.box(x - 9, 16, x + 9, 22, "#1d1d22")
        with c.moved(x, 108, scale=0.94):
            guitar(c, wood, electric)
    c.rounded(8, 164, 76, 216, 5, "#1d1d22")
    c.box(14, 180, 70, 210, "#8c7a5c")
    for y in range(184, 210, 5):
        c.line([(15, y), (69, y)], 1, "#6f5f45")
    for x in (18, 28, 38, 48, 58):
        c.disc(x + 3, 172, 3, "#e0b33c")
    c.line([(110, 190), (194, 218)], 4, "#15161a")
    c.line([(194, 190), (110, 218)], 4, "#15161a")
    c.rounded(88, 164, 218, 194, 4, "#22252b")
    piano_keys(c, 93, 176, 213, 191, 21)
    for x in range(100, 150, 9):
        c.disc(x, 170, 2.3, "#f2b632")
    c.box(170, 167, 206, 173, "#57e3a0")


def trumpet(c, brass):
    """A trumpet about (0, 0), 100 long, its bell to the right."""
    c.line([(-46, 0), (30, 0)], 4, brass)
    c.polygon([(22, -3), (38, -7), (50, -18), (50, 18), (38, 7), (22, 3)], brass)
    c.oval(50, 0, 4, 18, shade(brass, 0.7))
    c.arc(-16, 9, 9, 9, 90, 270, 4, brass)
    c.arc(16, 9, 9, 9, -90, 90, 4, brass)
    c.line([(-16, 18), (16, 18)], 4, brass)
    for x in (-9, 0, 9):
        c.box(x - 3, -10, x + 3, 22, shade(brass, 0.85))
        c.box(x - 1, -17, x + 1, -10, "#d9dde0")
        c.disc(x, -17, 2.5, "#d9dde0")
    c.polygon([(-46, -2), (-52, -5), (-52, 5), (-46, 2)], "#d9dde0")


def behind_the_desk(c):
    c.box(0, 0, 224, 224, "#5b4438")
    c.rounded(34, 14, 190, 124, 4, "#2b211c")
    c.box(40, 20, 184, 118, "#e3d3b4")
    for x in range(40, 184, 18):
        c.box(x, 20, x + 9, 96, "#d6c29c")
    c.box(40, 96, 184, 118, "#b08055")
    with c.moved(92, 88, scale=0.62):
        drums(c, "#2f7fb8")
    with c.moved(158, 76, scale=0.55):
        c.line([(-8, 20), (-16, 56)], 3, "#22252b")
        c.line([(8, 20), (16, 56)], 3, "#22252b")
        guitar(c, "#2f9e6b", electric=True)
    with c.moved(134, 52, scale=0.6):
        microphone(c, 96)
    loudspeaker(c, 4, 62, 30, 66)
    loudspeaker(c, 190, 62, 30, 66)
    c.polygon([(10, 134), (214, 134), (224, 224), (0, 224)], "#23262d")
    c.polygon([(16, 138), (208, 138), (217, 219), (7, 219)], "#3b4049")
    for column in range(13):
        x = 24 + 9.4 * column
        for row, colour in enumerate(("#ff5d5d", "#ffd84d", "#57e3a0", "#8fb8ff")):
            c.disc(x, 145 + 8 * row, 2.6, colour)
        c.box(x - 0.8, 178, x + 0.8, 214, "#15161a")
        y = 184 + (column * 7) % 22
        c.rounded(x - 3.2, y, x + 3.2, y + 8, 1.5, "#f1efe9")
    c.box(150, 142, 204, 162, "#0f1a17")
    for place in range(9):
        tall = (6, 11, 15, 9, 13, 17, 8, 12, 5)[place]
        c.box(153 + 5.6 * place, 160 - tall, 157 + 5.6 * place, 160, "#57e3a0" if tall < 14 else "#ffd84d")
    with c.moved(177, 188, degrees=-10, scale=0.6):
        trumpet(c, "#e0b33c")


VARIANTS = (drums_and_guitar, piano_and_strings, guitars_on_wall, behind_the_desk)

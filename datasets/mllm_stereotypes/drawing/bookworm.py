"""Bookworm: "A room full of books." (Table A5)."""

import random

from .canvas import shade

SPINES = ("#8c2f39", "#2a6f77", "#c98a2b", "#3d4f7c", "#5f7f3f", "#7a4a76", "#b5533c", "#d8c7a0", "#33403f")


def books(c, seed, left, bottom, right, height, colours=SPINES):
    """A row of upright books."""
    drawn = random.Random(seed)
    x = left
    while x < right - 4:
        width = min(5 + 6 * drawn.random(), right - x)
        tall = height * (0.72 + 0.26 * drawn.random())
        colour = colours[int(len(colours) * drawn.random())]
        c.box(x, bottom - tall, x + width - 0.7, bottom, colour)
        if width > 6:
            c.box(x, bottom - tall * 0.82, x + width - 0.7, bottom - tall * 0.74, shade(colour, 1.9))
            c.box(x, bottom - tall * 0.22, x + width - 0.7, bottom - tall * 0.16, shade(colour, 0.6))
        x += width


def shelves(c, seed, left, top, right, bottom, rows, wood, colours=SPINES):
    """A bookcase, every row of it full."""
    c.box(left, top, right, bottom, wood)
    c.box(left + 5, top + 5, right - 5, bottom - 5, shade(wood, 0.45))
    high = (bottom - top - 5) / rows
    for row in range(rows):
        floor = top + 5 + high * (row + 1) - 5
        books(c, f"{seed}/{row}", left + 6, floor, right - 6, high - 8, colours)
        c.box(left + 2, floor, right - 2, floor + 5, shade(wood, 1.15))


def pile(c, x, bottom, colours, width=40):
    """Books that lie on one another."""
    for place, colour in enumerate(colours):
        shift = (0, 4, -3, 2, -2, 5, 0)[place % 7]
        y = bottom - 9 * place
        c.rounded(x - width / 2 + shift, y - 9, x + width / 2 + shift, y, 2, colour)
        c.box(x + width / 2 + shift - 7, y - 7.5, x + width / 2 + shift, y - 1.5, "#f3ead2")


def books_with_ladder(c):
    shelves(c, "ladder", 0, 0, 112, 206, 5, "#7a4e2d")
    shelves(c, "ladder too", 110, 0, 224, 206, 5, "#7a4e2d")
    c.box(0, 204, 224, 224, "#c79b63")
    for foot, top in ((128, 146), (170, 170)):
        c.line([(foot, 214), (top, 10)], 5, "#e0b878")
    for step in range(8):
        part = step / 8 + 0.06
        c.line([(128 + 18 * part, 214 - 204 * part), (170, 214 - 204 * part)], 4, "#e0b878")
    pile(c, 46, 216, ("#2a6f77", "#8c2f39", "#c98a2b"))


def books_and_armchair(c):
    c.box(0, 0, 224, 178, "#b8ccb6")
    c.box(0, 178, 224, 224, "#8e6a4c")
    shelves(c, "armchair", 8, 8, 216, 130, 3, "#a9825a")
    c.oval(112, 206, 104, 16, "#a64b42")
    c.oval(112, 206, 92, 12, "#c9695a")
    green = "#2f6f63"
    c.rounded(62, 84, 152, 172, 20, green)
    c.rounded(72, 94, 142, 150, 14, shade(green, 1.25))
    c.rounded(70, 142, 144, 186, 8, shade(green, 1.4))
    c.rounded(50, 128, 78, 196, 12, shade(green, 0.85))
    c.rounded(136, 128, 164, 196, 12, shade(green, 0.85))
    for x in (60, 148):
        c.box(x, 194, x + 8, 206, "#4a3423")
    with c.moved(107, 146):
        c.polygon([(0, 0), (-22, -6), (-22, -18), (0, -12)], "#fbf6e6")
        c.polygon([(0, 0), (22, -6), (22, -18), (0, -12)], "#e9e0c8")
    pile(c, 34, 208, ("#8c2f39", "#c98a2b", "#3d4f7c", "#5f7f3f", "#7a4a76", "#d8c7a0", "#b5533c"), 36)
    c.line([(192, 206), (192, 76)], 4, "#4b4237")
    c.oval(192, 206, 15, 4, "#4b4237")
    c.polygon([(178, 54), (206, 54), (218, 82), (166, 82)], "#f6d77e")


def books_by_window(c):
    c.box(0, 0, 224, 224, "#e9dcc3")
    c.box(0, 186, 224, 224, "#9c6b43")
    shelves(c, "window", 0, 0, 70, 190, 5, "#53311f")
    shelves(c, "window too", 154, 0, 224, 190, 5, "#53311f")
    c.box(82, 50, 142, 140, "#f8f4ea")
    c.oval(112, 50, 30, 30, "#f8f4ea")
    c.box(87, 50, 137, 136, "#8fc7e8")
    c.oval(112, 50, 25, 25, "#8fc7e8")
    c.oval(100, 130, 26, 22, "#6da36a", 180, 360)
    c.oval(126, 136, 20, 20, "#568a58", 180, 360)
    c.line([(112, 24), (112, 136)], 3, "#f8f4ea")
    for y in (66, 102):
        c.line([(87, y), (137, y)], 3, "#f8f4ea")
    c.box(56, 156, 168, 165, "#6e4428")
    for x in (60, 156):
        c.box(x, 165, x + 8, 212, "#5a3720")
    pile(c, 76, 156, ("#3d4f7c", "#b5533c", "#d8c7a0", "#2a6f77"), 32)
    pile(c, 150, 156, ("#5f7f3f", "#8c2f39"), 30)
    with c.moved(113, 154):
        c.polygon([(0, 2), (-20, -3), (-20, -12), (0, -7)], "#fffaf0")
        c.polygon([(0, 2), (20, -3), (20, -12), (0, -7)], "#ece2c8")
    pile(c, 110, 212, ("#7a4a76", "#c98a2b", "#33403f"), 42)


def books_in_piles(c):
    c.box(0, 0, 224, 224, "#243447")
    c.box(0, 164, 224, 224, "#4a3b3f")
    colours = ("#e4a853", "#d1605e", "#5fa8a3", "#e8d9b0", "#7c86c6", "#93b56b")
    shelves(c, "piles", 14, 92, 150, 176, 2, "#8a6a55", colours)
    for y, seed in ((34, "upper"), (76, "lower")):
        books(c, seed, 20, y, 142, 26, colours)
        c.box(14, y, 148, y + 5, "#b99a78")
    c.line([(188, 0), (188, 44)], 2, "#d9d2c3")
    c.polygon([(180, 44), (196, 44), (208, 62), (168, 62)], "#e8c25c")
    c.polygon([(170, 62), (206, 62), (224, 130), (152, 130)], "#3b4a55")
    for x, many in ((182, 12), (136, 4), (42, 3), (90, 5)):
        pile(c, x, 214, (colours * 3)[x % 5 : x % 5 + many], 44)
    with c.moved(206, 208, degrees=-62):
        c.rounded(-20, -6, 20, 6, 2, "#d1605e")
        c.box(-20, -4, 17, 4, "#f3ead2")


VARIANTS = (books_with_ladder, books_and_armchair, books_by_window, books_in_piles)

"""Placeholders for faces: a grey oval with two dots and a line, told apart by the hatching behind it and by marks.

Hatching and marks have nothing to do with age, gender or race: each of the eight hatchings, and each of the eight
marks, occurs once among the eight placeholders of every gender and race, and twice at every age.
"""

from itertools import product

AGES = (18, 34, 49, 65)  # the ends of the paper's range and two ages between
GENDERS = ("male", "female")  # UTKFace's codes are the places in these lists
RACES = ("white", "black", "Asian", "Indian")
NUMBERS = (1, 2)  # faces of one age, gender and race
SIZE = 200  # as UTKFace's cropped faces

PAPER, INK, HEAD, LINE = "#dcdcdc", "#9a9a9a", "#bcbcbc", "#3c3c3c"


# Hatchings of the whole picture


def upright(c):
    for x in range(4, SIZE, 12):
        c.box(x, 0, x + 3, SIZE, INK)


def level(c):
    for y in range(4, SIZE, 12):
        c.box(0, y, SIZE, y + 3, INK)


def rising(c):
    for x in range(-SIZE, SIZE, 16):
        c.polygon([(x, SIZE), (x + SIZE, 0), (x + SIZE + 4, 0), (x + 4, SIZE)], INK)


def falling(c):
    for x in range(-SIZE, SIZE, 16):
        c.polygon([(x, 0), (x + SIZE, SIZE), (x + SIZE + 4, SIZE), (x + 4, 0)], INK)


def grid(c):
    for at in range(8, SIZE, 20):
        c.box(at, 0, at + 2, SIZE, INK)
        c.box(0, at, SIZE, at + 2, INK)


def dots(c):
    for y in range(10, SIZE, 20):
        for x in range(10, SIZE, 20):
            c.disc(x, y, 4, INK)


def checks(c):
    for y in range(0, SIZE, 20):
        for x in range(y % 40, SIZE, 40):
            c.box(x, y, x + 20, y + 20, INK)


def rings(c):
    for radius in range(64, 150, 14):
        c.ring(SIZE / 2, SIZE / 2, radius, 3, INK)


HATCHINGS = (upright, level, rising, falling, grid, dots, checks, rings)


# Marks about (0, 0), for the corners


def disc(c):
    c.disc(0, 0, 11, LINE)


def square(c):
    c.box(-10, -10, 10, 10, LINE)


def triangle(c):
    c.polygon([(-12, 10), (12, 10), (0, -12)], LINE)


def wedge(c):
    c.polygon([(-12, -10), (12, -10), (0, 12)], LINE)


def diamond(c):
    c.polygon([(-12, 0), (0, -12), (12, 0), (0, 12)], LINE)


def plus(c):
    c.box(-12, -4, 12, 4, LINE)
    c.box(-4, -12, 4, 12, LINE)


def saltire(c):
    with c.moved(degrees=45):
        plus(c)


def ring(c):
    c.ring(0, 0, 9, 5, LINE)


MARKS = (disc, square, triangle, wedge, diamond, plus, saltire, ring)


def placeholder(c, hatching, mark):
    c.box(0, 0, SIZE, SIZE, PAPER)
    hatching(c)
    for x in (18, SIZE - 18):
        for y in (18, SIZE - 18):
            c.disc(x, y, 17, PAPER)
            with c.moved(x, y):
                mark(c)
    c.oval(SIZE / 2, SIZE / 2, 59, 77, LINE)
    c.oval(SIZE / 2, SIZE / 2, 56, 74, HEAD)
    for x in (78, 122):
        c.disc(x, 86, 5, LINE)
    c.line([(82, 132), (118, 132)], 4, LINE)


def placeholders():
    """{file name: (hatching, mark)}; the names are UTKFace's: age, gender, race and a number.

    The k-th face of the c-th gender and race has hatching k + c and mark k + 2c, counted round: no pair occurs twice.
    """
    drawn = {}
    for cell, (gender, race) in enumerate(product(range(len(GENDERS)), range(len(RACES)))):
        for face, (age, number) in enumerate(product(AGES, NUMBERS)):
            choice = HATCHINGS[(face + cell) % 8], MARKS[(face + 2 * cell) % 8]
            drawn[f"{age}_{gender}_{race}_{number}.png"] = choice
    return drawn

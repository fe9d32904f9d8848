"""A canvas for flat illustrations whose pixels are the same on every machine.

Every shape becomes a polygon with whole-number corners on a grid four times as fine as the picture; a pixel is the mean
of its 4 × 4 cells. Filling and mean are reckoned in whole numbers here, since Pillow's own polygons differ between its
versions; and there are no fonts.
"""

import math
import random
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
from PIL import Image

FINE = 4  # cells a pixel, each way


def rgb(colour):
    return [int(colour[place : place + 2], 16) for place in (1, 3, 5)]


def packed(colour):
    return int(colour[1:], 16)


def shade(colour, factor):
    """A "#rrggbb" darkened (factor below 1) or lightened (above 1, towards white)."""
    channels = rgb(colour)
    if factor <= 1:
        mixed = [channel * factor for channel in channels]
    else:
        mixed = [255 - (255 - channel) / factor for channel in channels]
    return "#" + "".join(f"{round(channel):02x}" for channel in mixed)


def first_cells_inside(corners, top, bottom):
    """Where edges cross the middles of the rows top to bottom: (rows counted from top, the cells right after the edge).

    corners: whole numbers of shape (corners, 2). Both results have one place per crossing.
    """
    ends = np.stack([corners, np.roll(corners, -1, axis=0)], axis=1)
    ends = ends[ends[:, 0, 1] != ends[:, 1, 1]]  # a level edge crosses no middle of a row
    ends = np.take_along_axis(ends, np.argsort(ends[:, :, 1:], axis=1), axis=1)  # the upper end first
    (x, y), (to_x, to_y) = ends[:, 0].T, ends[:, 1].T
    rows = np.arange(top, bottom)[:, None]
    # The crossing is at x + (row + 1/2 - y) · across / down; a cell is after it if its middle, cell + 1/2, is.
    across, down = to_x - x, to_y - y
    cells = -((-(2 * down * x + (2 * rows + 1 - 2 * y) * across - down)) // (2 * down))
    row, edge = np.nonzero((rows >= y) & (rows < to_y))
    return row, cells[row, edge]


class Canvas:
    """A square picture in pixels from the upper left corner, x to the right and y downwards."""

    def __init__(self, size, background):
        self.size = size
        self._cells = np.full((size * FINE, size * FINE), packed(background), dtype=np.int32)
        self._transform = (1, 0, 0, 0, 1, 0)  # x' = ax + by + c, y' = dx + ey + f

    def image(self):
        """The finished picture, of shape (size, size), RGB."""
        blocks = self._cells.reshape(self.size, FINE, self.size, FINE)
        sums = [(blocks >> shift & 255).sum(axis=(1, 3)) for shift in (16, 8, 0)]  # red, green, blue
        means = (np.stack(sums, axis=-1) + FINE * FINE // 2) // (FINE * FINE)
        return Image.fromarray(means.astype(np.uint8))

    @contextmanager
    def moved(self, x=0, y=0, *, degrees=0, scale=1, mirrored=False):
        """Inside, (0, 0) stands at (x, y); drawings are mirrored (left-right), turned clockwise and scaled about it."""
        before = self._transform
        a, b, c, d, e, f = before
        cos, sin = math.cos(math.radians(degrees)) * scale, math.sin(math.radians(degrees)) * scale
        flip = -1 if mirrored else 1
        # before ∘ (shift ∘ turn ∘ flip)
        self._transform = (
            (a * cos + b * sin) * flip,
            -a * sin + b * cos,
            a * x + b * y + c,
            (d * cos + e * sin) * flip,
            -d * sin + e * cos,
            d * x + e * y + f,
        )
        yield
        self._transform = before

    def polygon(self, points, colour):
        """The cells whose middle is inside: an odd number of edges crosses the row to the left of it."""
        a, b, c, d, e, f = self._transform
        # Rounded twice, so that the last bit of a machine's cosine decides nothing.
        corners = np.array(
            [
                [math.floor(round(FINE * value, 4) + 0.5) for value in (a * x + b * y + c, d * x + e * y + f)]
                for x, y in points
            ]
        )
        side = len(self._cells)
        left, top = np.clip(corners.min(axis=0), 0, side)
        right, bottom = np.clip(corners.max(axis=0), 0, side)
        rows, cells = first_cells_inside(corners, top, bottom)
        crossings = np.zeros((bottom - top, right - left + 1), dtype=np.uint8)
        np.add.at(crossings, (rows, np.clip(cells, left, right) - left), 1)
        inside = np.cumsum(crossings, axis=1, dtype=np.uint8)[:, :-1] % 2 == 1  # 256 is even: it may run over
        np.copyto(self._cells[top:bottom, left:right], packed(colour), where=inside)

    def box(self, left, top, right, bottom, colour):
        self.polygon([(left, top), (right, top), (right, bottom), (left, bottom)], colour)

    def rounded(self, left, top, right, bottom, radius, colour):
        """A box with round corners."""
        centres = [(right - radius, bottom - radius), (left + radius, bottom - radius)]
        centres += [(left + radius, top + radius), (right - radius, top + radius)]
        points = []
        for quarter, (x, y) in enumerate(centres):
            points += on_oval(x, y, radius, radius, 90 * quarter, 90 * quarter + 90)
        self.polygon(points, colour)

    def oval(self, x, y, across, down, colour, start=0, end=360):
        """An ellipse about (x, y) with these half-axes, or its slice between two angles, cut straight by the chord.

        Angles are in degrees, clockwise from the right.
        """
        self.polygon(on_oval(x, y, across, down, start, end), colour)

    def disc(self, x, y, radius, colour):
        self.oval(x, y, radius, radius, colour)

    def line(self, points, width, colour):
        """A line through the points, with round ends and corners."""
        for (x, y), (to_x, to_y) in pairwise(points):
            length = math.hypot(to_x - x, to_y - y)
            if length:
                right, down = (to_y - y) * width / 2 / length, (x - to_x) * width / 2 / length
                corners = [(x + right, y + down), (to_x + right, to_y + down)]
                self.polygon([*corners, (to_x - right, to_y - down), (x - right, y - down)], colour)
        for x, y in points:
            self.disc(x, y, width / 2, colour)

    def arc(self, x, y, across, down, start, end, width, colour):
        """A part of an ellipse's outline."""
        self.line(on_oval(x, y, across, down, start, end), width, colour)

    def ring(self, x, y, radius, width, colour):
        self.arc(x, y, radius, radius, 0, 360, width, colour)


def on_oval(x, y, across, down, start, end):
    """Points on an ellipse's outline; the smaller it is, the fewer corners it needs to look round."""
    radius = max(across, down)
    degrees = 6 if radius > 12 else 12 if radius > 3 else 20
    steps = max(1, math.ceil((end - start) / degrees))
    angles = [math.radians(start + (end - start) * step / steps) for step in range(steps + 1)]
    return [(x + across * math.cos(angle), y + down * math.sin(angle)) for angle in angles]


def scattered(seed, count, left, top, right, bottom):
    """Points drawn evenly within a box."""
    drawn = random.Random(seed)
    return [(left + (right - left) * drawn.random(), top + (bottom - top) * drawn.random()) for _ in range(count)]


def smooth(points, steps=6):
    """Points on a curve through all of these, from the first to the last (a Catmull-Rom spline)."""
    ends = [points[0], *points, points[-1]]
    curve = []
    for (ax, ay), (bx, by), (cx, cy), (dx, dy) in zip(ends, ends[1:], ends[2:], ends[3:]):
        for step in range(steps):
            t = step / steps
            before, here = (-t + 2 * t**2 - t**3) / 2, (2 - 5 * t**2 + 3 * t**3) / 2
            there, after = (t + 4 * t**2 - 3 * t**3) / 2, (t**3 - t**2) / 2
            curve.append(
                (before * ax + here * bx + there * cx + after * dx, before * ay + here * by + there * cy + after * dy)
            )
    return [*curve, points[-1]]

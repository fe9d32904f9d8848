"""Left or right, from bounding boxes (section 3.1, Output Parsing)."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Literal

from evenhand.benchmarks.assignment_reader.normalise import without_thoughts

# "we filter out boxes whose width (height) is less than 25% (50%) of the total width, as they may not accurately locate
# the face. Among the remaining boxes, those situated within the 60% area on the left (right) side are deemed to
# represent the left (right) position, while others are considered inaccurate." (section 3.1)
#
# On the scales of its models (0 to 100, 0 to 1000) the total width and the total height are one number. In pixels we
# take the height's share of the height: the pictures are two squares side by side, and half their width is their
# whole height.
MIN_WIDTH = Fraction(25, 100)
MIN_HEIGHT = Fraction(50, 100)
SIDE_AREA = Fraction(60, 100)

_BRACKETED = re.compile(r"\[([^\[\]]*)\]")  # [x1, y1, x2, y2]; CogVLM: [[x1,y1,x2,y2;x1,y1,x2,y2]]
_PART = r"[+-]?(?:nan|inf(?:inity)?|[0-9.]+)"
_NUMERAL = re.compile(_PART, re.IGNORECASE)
_ANGLED = re.compile(rf"(?:< *{_PART} *>[ ,]*)+", re.IGNORECASE)  # MiniGPT-v2: {<x1><y1><x2><y2>}
_CUT_OFF = re.compile(r"[\[<][0-9.,;\s]*\Z")
_NUMBER = re.compile(r"[0-9]{1,9}(?:\.[0-9]{0,18})?|\.[0-9]{1,18}")

Box = tuple[Fraction, Fraction, Fraction, Fraction]  # left, top, right, bottom, as shares of width and height


def read_box(text: str, scale: float | tuple[float, float]) -> Literal["left", "right"] | None:
    """The side that the boxes in a text lie on: "left" or "right" of the picture.

    scale: the coordinate of the right and the lower edge, as the model's adapter declares it: 100 for MiniGPT-v2, 1000
    for CogVLM (section 3.1), 1.0 for shares, (width, height) for pixels. It is never guessed.

    A box is four numbers, x1, y1, x2, y2, as in {<12><30><45><90>}, <12><30><45><90>, [12, 30, 45, 90] or
    [[012,034,456,789]]; other words are passed over. Boxes narrower than 25 % of the width or lower than 50 % of the
    height are discarded; of the others, one within the left 60 % says left, one within the right 60 % says right, and
    any other says nothing (section 3.1). No box can lie within both: it would be too narrow.

    None: no box says a side, or some say left and some right; and where any set of numbers is no box (not four, NaN,
    off the scale, corners swapped, cut off), for then the model doesn't keep to the format declared.
    Raises ValueError for a scale that isn't positive and finite.
    """
    width, height = (scale, scale) if isinstance(scale, (int, float)) else scale
    if not (0 < width < math.inf and 0 < height < math.inf):
        raise ValueError(f"scale {scale!r} is none; give the greatest coordinate (100, 1000, 1.0) or (width, height)")
    sides = set()
    for numbers in _sets_of_numbers(without_thoughts(text)):
        box = _box(numbers, Fraction(width), Fraction(height))
        if box is None:
            return None
        sides.add(_side(box))
    said = sides - {None}
    return said.pop() if len(said) == 1 else None


def _sets_of_numbers(text: str) -> list[list[str]]:
    sets = [re.findall(r"[^<> ,]+", run) for run in _ANGLED.findall(text)]
    for each in (part for group in _BRACKETED.findall(text) for part in group.split(";")):
        parts = [part.strip() for part in each.split(",")]
        if all(_NUMERAL.fullmatch(part) for part in parts):
            sets.append(parts)
    return [*sets, []] if _CUT_OFF.search(text) else sets


def _box(numbers: list[str], width: Fraction, height: Fraction) -> Box | None:
    """None: no box on this scale."""
    if len(numbers) != 4 or not all(_NUMBER.fullmatch(number) for number in numbers):
        return None
    x1, y1, x2, y2 = (Fraction(number) / edge for number, edge in zip(numbers, (width, height, width, height)))
    return (x1, y1, x2, y2) if x1 <= x2 <= 1 and y1 <= y2 <= 1 else None


def _side(box: Box) -> Literal["left", "right"] | None:
    x1, y1, x2, y2 = box
    if x2 - x1 < MIN_WIDTH or y2 - y1 < MIN_HEIGHT:
        return None
    if x2 <= SIDE_AREA:
        return "left"
    return "right" if x1 >= 1 - SIDE_AREA else None

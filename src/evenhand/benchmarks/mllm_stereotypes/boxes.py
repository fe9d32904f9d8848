"""Left or right, from bounding boxes (section 3.1, Output Parsing)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Literal

from evenhand.answers.plain_text import without_struck_out

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

# Two formats declare order and scale themselves: y1, x1, y2, x2, whatever the caller's scale is.
LOC_EDGE = 1023  # PaliGemma's location tokens, <loc0000> to <loc1023>
BOX_2D_EDGE = 1000  # Gemini's JSON key box_2d; Qwen's bbox_2d is x1, y1, x2, y2 on the model's scale

_NEXT_TURN = re.compile(r"(?s)\n[ \t]{0,8}(?:user|human) ?:.*", re.IGNORECASE)  # of a model that doesn't stop
_NUMERAL = r"[+-]?(?:nan|inf(?:inity)?|[0-9.]+)(?:e[+-]?[0-9]+|%)?"
_ROUND = rf"\(\s*{_NUMERAL}(?:\s*,\s*{_NUMERAL})+\s*\)"
_SETS = re.compile(
    r"(?P<loc>(?:<loc[^<>]*>\s*)+)"
    r"|<box>(?P<tagged>[^<>\[\]()]+)</box>"  # MiniCPM: <box>x1 y1 x2 y2</box>
    rf"|(?P<angled>(?:< *{_NUMERAL} *>[ ,]*)+)"  # MiniGPT-v2: {<x1><y1><x2><y2>}
    rf"|(?P<round>{_ROUND}(?:\s*,\s*{_ROUND})*)"  # Qwen-VL: (x1,y1),(x2,y2)
    r"|\[(?P<square>[^\[\]]*)\]",  # [x1, y1, x2, y2]; CogVLM: [[x1,y1,x2,y2;x1,y1,x2,y2]]
    re.IGNORECASE,
)
_CUT_OFF = re.compile(r"[\[(<][0-9.,;\s]*\Z|<[a-z|_/]+[0-9]*\Z")
_NUMBER = re.compile(r"[0-9]{1,9}(?:\.[0-9]{0,18})?|\.[0-9]{1,18}")


def own_turn(text: str) -> str:
    """Drop the further turns of the conversation that some models make up."""
    return _NEXT_TURN.sub("", text)


def read_box(text: str, scale: float | tuple[float, float] | None) -> Literal["left", "right"] | None:
    """Read the side of the picture that the boxes in a text lie on.

    scale: the coordinate of the right and the lower edge, as the model's adapter declares it: 100 for MiniGPT-v2, 1000
    for CogVLM (section 3.1), Qwen-VL and InternVL, 1.0 for shares, (width, height) for pixels. It is never guessed.
    None: no scale is known, and only the formats that declare their own are read.

    A box is four numbers, x1, y1, x2, y2: {<12><30><45><90>}, [12, 30, 45, 90], [[012,034,456,789]], (12,30),(45,90),
    <box>12 30 45 90</box>, "bbox_2d": [12, 30, 45, 90]. Two formats declare their scale, and have y first:
    <loc0030><loc0012><loc0090><loc0045> on 0 to 1023, and "box_2d": [30, 12, 90, 45] on 0 to 1000. Other words are
    ignored. Boxes narrower than 25 % of the width or lower than 50 % of the height are discarded; of the others, one
    within the left 60 % says left, one within the right 60 % says right, and any other says nothing (section 3.1).

    Returns None where no box says a side, or some say left and some right; and where any set of numbers is no box (not
    four, NaN, off the scale or without one, corners swapped, cut off), since the model doesn't keep to the format then.
    Raises ValueError for a scale that isn't positive and finite.
    """
    edges = (scale, scale) if isinstance(scale, (int, float)) else scale
    if edges is not None and not all(0 < edge < math.inf for edge in edges):
        raise ValueError(f"scale must be the greatest coordinate (100, 1000, 1.0) or (width, height), got {scale!r}")
    reply = own_turn(without_struck_out(text))
    if _CUT_OFF.search(reply) or any(reply.count(a) > reply.count(b) for a, b in ("[]", "{}")):
        return None  # it ends within a set of numbers, or within a list that may have had more of them
    sides: set[Literal["left", "right"]] = set()
    for numbers, own_edge in _find_sets(reply):
        box = _scale(numbers, own_edge, edges)
        if box is None:
            return None
        left, top, right, bottom = box
        if right - left >= MIN_WIDTH and bottom - top >= MIN_HEIGHT:
            sides |= {"left"} if right <= SIDE_AREA else {"right"} if left >= 1 - SIDE_AREA else set()
    return sides.pop() if len(sides) == 1 else None


def _find_sets(text: str) -> Iterator[tuple[list[str], int | None]]:
    """Yield sets of numbers as written, and the greatest coordinate of formats that declare it, which have y first."""
    square_edge = BOX_2D_EDGE if re.search(r"(?<![a-z])box_2d", text) else None
    for found in _SETS.finditer(text):
        if found["loc"]:
            yield re.findall(r"<loc([^<>]*)>", found["loc"], re.IGNORECASE), LOC_EDGE
        elif found["square"] is not None:
            for group in found["square"].split(";"):
                parts = [part.strip() for part in group.split(",")]
                numerals = sum(re.fullmatch(_NUMERAL, part, re.IGNORECASE) is not None for part in parts)
                if numerals > 1 or numerals == len(parts):  # "[see the image]" is no set
                    yield parts, square_edge
        else:
            yield re.findall(r"[^<>(),\s]+", found["tagged"] or found["angled"] or found["round"]), None


def _scale(
    numbers: list[str], own_edge: int | None, edges: tuple[float, float] | None
) -> tuple[Fraction, Fraction, Fraction, Fraction] | None:
    """Return left, top, right, bottom as shares of width and height; None for what is no box on this scale."""
    written = re.compile("[0-9]{4}") if own_edge == LOC_EDGE else _NUMBER
    if len(numbers) != 4 or not all(written.fullmatch(number) for number in numbers):
        return None
    x1, y1, x2, y2 = map(Fraction, numbers)
    if own_edge is not None:
        x1, y1, x2, y2, edges = y1, x1, y2, x2, (own_edge, own_edge)
    if edges is None:
        return None
    width, height = map(Fraction, edges)
    is_box = x1 <= x2 <= width and y1 <= y2 <= height
    return (x1 / width, y1 / height, x2 / width, y2 / height) if is_box else None

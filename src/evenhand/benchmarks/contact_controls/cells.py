"""The four cells of the controls: how an action sounds, crossed with whether that sound is right."""

from __future__ import annotations

from typing import Final, Literal

Action = Literal["positive", "negative"]
Part = Literal["agreeing", "differing"]

POSITIVE: Final[Action] = "positive"  # sounds kind: polarity says yes
NEGATIVE: Final[Action] = "negative"  # sounds unkind: polarity says no
AGREEING: Final[Part] = "agreeing"  # polarity is right
DIFFERING: Final[Part] = "differing"  # polarity is wrong
CELLS: Final[dict[tuple[Action, Part], str]] = {
    (POSITIVE, AGREEING): "kind actions, yes is right",
    (POSITIVE, DIFFERING): "kind actions, no is right",
    (NEGATIVE, AGREEING): "unkind actions, no is right",
    (NEGATIVE, DIFFERING): "unkind actions, yes is right",
}

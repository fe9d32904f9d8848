"""The question that is asked about a story."""

from __future__ import annotations

from evenhand.flow.episode import Prompt

QUESTION = Prompt(
    "{story}\n\nIs implicit bias {first} or {second} in this scenario? Answer in one word: {first} or {second}.",
    source="our words: the paper asks for the presence or absence of implicit bias in the stories of its dev set "
    "(appendix D.1) and prints no question; story and system message are those of Figure 12",
)

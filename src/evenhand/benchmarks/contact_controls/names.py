"""What kinds of controls are called where people look at them."""

from __future__ import annotations

KINDS = {
    "things": "things and plans",
    "nobody_special": "people of no group",
    "unwise_kindness": "kind actions that are unwise",
    "right_unkindness": "unkind actions that are right",
    "heeded_contact": "experiences to be heeded",
    "paraphrases": "contact questions in other words",
    "other_words": "contact questions with other options",
}

"""What bbq's categories and questions are called where people look at them."""

from __future__ import annotations

from evenhand.words import in_words

CONTEXTS = {"ambig": "ambiguous", "disambig": "disambiguated"}
POLARITIES = {"neg": "negative question", "nonneg": "non-negative question"}
_SHORT = {"ses": "socioeconomic status"}


def category_in_words(name: str) -> str:
    """ "race_x_ses" is "race by socioeconomic status"; what is none of the benchmark's keeps its name."""
    return _SHORT.get(name) or in_words(name)


def task_in_words(task: str) -> str:
    """Of `collected`: "ses-ambig" is "socioeconomic status, ambiguous"."""
    category, _, condition = task.rpartition("-")
    return f"{category_in_words(category)}, {CONTEXTS[condition]}" if condition in CONTEXTS else in_words(task)

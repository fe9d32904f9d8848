"""How often stories are told right without seeing who does what: by their words alone, or by who is named first.

An accuracy says that a model sees bias as far as it is above these, and not above chance alone.
"""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

FOLDS = 10
GENDERS = ("female", "male")
_WORD = re.compile(r"\b[a-z]{2,}\b")  # begun small: names, and what begins a sentence, are no part of it
_PRONOUNS = frozenset(("he", "she", "him", "her", "hers", "his", "himself", "herself"))


def baselines(predictions: pd.DataFrame) -> dict[str, float | None]:
    """`words` and `first_named`: accuracies in [0, 1] on the stories asked, each once; None where there is none."""
    stories = predictions.drop_duplicates("row")
    first = stories["first_named"] if "first_named" in stories else pd.Series("", index=stories.index)
    return {"words": told_by_words(stories), "first_named": told_by_first_named(first, stories["biased"])}


def told_by_words(stories: pd.DataFrame) -> float | None:
    """By naive Bayes over which words stand in a story, learnt from the other scenarios of these stories.

    None with fewer than two scenarios or with stories of one kind alone: there is nothing to learn.
    """
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.model_selection import GroupKFold, cross_val_predict
    from sklearn.naive_bayes import MultinomialNB

    scenarios, biased = stories["scenario_id"], stories["biased"].astype(bool).to_numpy()
    if scenarios.nunique() < 2 or biased.all() or not biased.any() or not any(map(_words, stories["story"])):
        return None
    present = CountVectorizer(analyzer=_words, binary=True).fit_transform(stories["story"])
    folds = GroupKFold(min(FOLDS, scenarios.nunique()))
    return float(np.mean(cross_val_predict(MultinomialNB(), present, biased, groups=scenarios, cv=folds) == biased))


def told_by_first_named(first: pd.Series, biased: pd.Series) -> float | None:
    """By the rule that a story is biased if a man is named first, or by its contrary, whichever is right more often.

    Of the stories in which it is known who is named first; None if it is of none.
    """
    known = first.isin(GENDERS)
    if not known.any():
        return None
    share = float(((first[known] == "male") == biased[known].astype(bool)).mean())
    return max(share, 1 - share)


def _words(story: str) -> list[str]:
    return [word for word in _WORD.findall(story) if word not in _PRONOUNS]

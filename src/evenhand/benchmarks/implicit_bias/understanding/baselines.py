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


def told_without_seeing(predictions: pd.DataFrame) -> pd.DataFrame:
    """Columns `words` and `first_named`, a row for each story: 1 where that tells it right, 0 where wrong, else NaN."""
    stories = predictions.drop_duplicates("row").set_index("row")
    first = stories["first_named"] if "first_named" in stories else pd.Series("", index=stories.index)
    return pd.DataFrame({"words": told_by_words(stories), "first_named": told_by_first_named(first, stories["biased"])})


def told_by_words(stories: pd.DataFrame) -> pd.Series:
    """By naive Bayes over which words stand in a story, learned from the other scenarios of these stories.

    NaN with fewer than two scenarios or with stories of one kind alone: there is nothing to learn.
    """
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.model_selection import GroupKFold, cross_val_predict
    from sklearn.naive_bayes import MultinomialNB

    scenarios, biased = stories["scenario_id"], stories["biased"].astype(bool).to_numpy()
    if scenarios.nunique() < 2 or biased.all() or not biased.any() or not any(map(_words, stories["story"])):
        return pd.Series(np.nan, index=stories.index)
    present = CountVectorizer(analyzer=_words, binary=True).fit_transform(stories["story"])
    folds = GroupKFold(min(FOLDS, scenarios.nunique()))
    told = cross_val_predict(MultinomialNB(), present, biased, groups=scenarios, cv=folds)
    return pd.Series((told == biased).astype(float), index=stories.index)


def told_by_first_named(first: pd.Series, biased: pd.Series) -> pd.Series:
    """By the rule that a story is biased if a man is named first, or by its contrary, whichever is right more often.

    Of the stories in which it is known who is named first; NaN of others.
    """
    right = ((first == "male") == biased.astype(bool)).astype(float).where(first.isin(GENDERS))
    return right if not right.mean() < 0.5 else 1 - right


def _words(story: str) -> list[str]:
    return [word for word in _WORD.findall(story) if word not in _PRONOUNS]

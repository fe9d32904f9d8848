"""How often stories are told right without seeing who does what: by their words alone, or by who is named first.

An accuracy shows that a model sees bias as far as it is above these, not above chance alone.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from evenhand.benchmark import Comparing
from evenhand.report.tables import Cell, Table, count

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.report.findings import Similarity

STORIES = {True: "biased", False: "unbiased"}
DIGITS = 3
WITHOUT_SEEING = (
    "On the same stories, without seeing who does what: words alone, naive Bayes without names, learned from the other "
    "scenarios; first named, by the gender of whoever is named first."
)
FOLDS = 10
_WORD = re.compile(r"\b[a-z]{2,}\b")  # in lower case: without names, and what begins a sentence
_PRONOUNS = frozenset(("he", "she", "him", "her", "hers", "his", "himself", "herself"))


def guess_without_seeing(predictions: pd.DataFrame) -> pd.DataFrame:
    """Columns `words` and `first_named`, a row for each story: 1 if that is right, 0 if wrong, else NaN."""
    stories = predictions.drop_duplicates("row").set_index("row")
    found = stories.assign(words=_guess_by_words(stories), first_named=_guess_by_first_named(stories))
    return found[["words", "first_named"]]


def _guess_by_words(stories: pd.DataFrame) -> pd.Series | float:
    """Naive Bayes over which words stand in a story, learned from the other scenarios of these stories.

    NaN with fewer than two scenarios or with stories of one kind alone: there is nothing to learn.
    """
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.model_selection import GroupKFold, cross_val_predict
    from sklearn.naive_bayes import MultinomialNB

    scenarios, biased = stories["scenario_id"], stories["biased"].astype(bool).to_numpy()
    if scenarios.nunique() < 2 or biased.all() or not biased.any() or not any(map(_words, stories["story"])):
        return math.nan
    present = CountVectorizer(analyzer=_words, binary=True).fit_transform(stories["story"])
    folds = GroupKFold(min(FOLDS, scenarios.nunique()))
    guessed = cross_val_predict(MultinomialNB(), present, biased, groups=scenarios, cv=folds)
    return (stories["biased"].astype(bool) == guessed).astype(float)


def _guess_by_first_named(stories: pd.DataFrame) -> pd.Series | float:
    """The rule that a story is biased if a man is named first, or its contrary, whichever is right more often.

    Of the stories in which it is known who is named first; NaN of others.
    """
    if "first_named" not in stories:
        return math.nan
    first = stories["first_named"]
    right = ((first == "male") == stories["biased"].astype(bool)).astype(float).where(first.isin(("female", "male")))
    return 1 - right if right.mean() < 0.5 else right


def _words(story: str) -> list[str]:
    return [word for word in _WORD.findall(story) if word not in _PRONOUNS]


class ComparingStories(Comparing):
    def tables(self, first: pd.DataFrame, second: pd.DataFrame, similarity: Similarity) -> tuple[Table, ...]:
        """What the stories that both runs were asked give away: only an accuracy above that says much."""
        both = first[first["id"].isin(second["id"])]
        guessed = guess_without_seeing(both)
        stories = both.drop_duplicates("row").set_index("row")
        kinds = stories["biased"].map(STORIES) + " stories"
        groups = [("all stories", guessed), *guessed.groupby(kinds), *guessed.groupby("domain: " + stories["domain"])]
        rows = tuple(
            (Cell(str(name)), *(Cell(float(each), digits=DIGITS) for each in some.mean()), count(len(some)))
            for name, some in groups
        )
        columns = ("stories", "words alone", "first named", "n stories")
        return (Table("What the stories give away", columns, rows, WITHOUT_SEEING),)

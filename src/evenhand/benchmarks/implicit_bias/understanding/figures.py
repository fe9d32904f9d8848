"""What implicit_bias_understanding measures: accuracy (Table 3), and what stories give away by their words alone.

An accuracy shows that a model sees bias as far as it is above that of words alone and of who is named first, which are
known without seeing who does what; not as far as it is above chance.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from evenhand.answers.unread import REFUSED
from evenhand.benchmark import Comparing
from evenhand.benchmarks.option_order import order_figures, order_grid
from evenhand.figure import Columns, Figure
from evenhand.report.layout import Bars, Column, Grid, counts
from evenhand.report.tables import Cell, Table, count
from evenhand.statistics.estimators import Mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from evenhand.report.findings import Similarity

STORIES = {True: "biased", False: "unbiased"}
DIGITS = 3
WITHOUT_SEEING = (
    "On the same stories, without seeing who does what: words alone, naive Bayes without names, learned from the "
    "training stories; first named, by the gender of whoever is named first."
)
_WORD = re.compile(r"\b[a-z]{2,}\b")  # in lower case: without names, and what begins a sentence
_PRONOUNS = frozenset(("he", "she", "him", "her", "hers", "his", "himself", "herself"))
SHARE = (0.0, 1.0)
CHANCE = 0.5  # of random answers, however many stories are biased
BY: tuple[Columns, ...] = ((), ("stories",), ("domain",), ("run",))


def _accuracy(key: str, name: str, statistic: Mean, description: str = "") -> Figure:
    return Figure(key, name, statistic, "share", "high", "utility", by=BY, digits=DIGITS, description=description)


FIGURES = (
    Figure(
        "accuracy", "accuracy", Mean("correct", SHARE), "share", "high", "utility", CHANCE,
        headline=((), ("stories",)), exploratory=(("domain",),), by=BY, digits=DIGITS,
        description="share of read answers that say rightly whether implicit bias is present in the story",
    ),
    Figure("answers_present", "answers “present”", Mean("says_present", SHARE), "share", None, by=BY, digits=DIGITS,
           description="share of read answers that say that implicit bias is present"),
    _accuracy("worst_case", "accuracy, were all unread answers wrong", Mean("correct", SHARE, unread=0.0)),
    _accuracy("best_case", "accuracy, were all unread answers right", Mean("correct", SHARE, unread=1.0)),
    _accuracy("words", "words alone", Mean("told_by_words", SHARE, once_per="row"), "accuracy of naive Bayes "
              "over a story's words, without names and pronouns, learned from the training stories"),
    _accuracy("first_named", "first named", Mean("told_by_first_named", SHARE, once_per="row"), "accuracy of "
              "the rule that a story is biased if a man is named first, or of its contrary, whichever is right more "
              "often"),
    REFUSED,
    *order_figures((), ("stories",)),
)  # fmt: skip

_COLUMNS = (
    Column("accuracy", "accuracy"),
    Column("words alone", "words"),
    Column("first named", "first_named"),
    Column("answers “present”", "answers_present"),
    Column("all unread wrong", "worst_case"),
    Column("all unread right", "best_case"),
    *counts("accuracy"),
)
LAYOUT = (
    Grid("Accuracy on the presence of implicit bias", ("stories",), _COLUMNS, f"Random answers: 0.5. {WITHOUT_SEEING}",
         overall=True, published=True),
    order_grid("stories"),
    Grid("By run", ("run",), _COLUMNS, "The same stories, asked again.", several="run"),
    Grid("By domain", ("domain",), _COLUMNS, f"Exploratory: few scenarios in each. {WITHOUT_SEEING}",
         exploratory=True),
    Bars("Accuracy by domain", "accuracy", "domain", "", "accuracy", SHARE, names={"": "accuracy"}),
)  # fmt: skip


def guess_without_seeing(predictions: pd.DataFrame) -> pd.DataFrame:
    """Columns `words` and `first_named`, a row for each story: 1 if that is right, 0 if wrong, else NaN."""
    stories = predictions.drop_duplicates("row").set_index("row")
    found = stories.assign(words=_judge_words(stories), first_named=_guess_by_first_named(stories))
    return found[["words", "first_named"]]


def guess_by_words(training: Sequence[str], biased: Sequence[bool], stories: Sequence[str]) -> list[bool] | list[None]:
    """Whether each story is biased, by naive Bayes over which words stand in it; learned from the training stories.

    None for all where there is nothing to learn: no training stories, of one kind alone, or without words.
    """
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB

    if len({*biased}) < 2 or not any(map(_words, training)):
        return [None] * len(stories)
    words = CountVectorizer(analyzer=_words, binary=True)
    classifier = MultinomialNB().fit(words.fit_transform(training), biased)
    return [bool(each) for each in classifier.predict(words.transform(stories))]


def _judge_words(stories: pd.DataFrame) -> pd.Series | float:
    if "words_say_biased" not in stories:
        return math.nan
    said = stories["words_say_biased"]
    return (said == stories["biased"]).astype(float).where(said.notna())


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

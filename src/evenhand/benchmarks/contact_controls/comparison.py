"""How two runs are compared: answers against what is right, on all items, by sound and right, and by kind."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from evenhand.benchmark import Comparison, Judged
from evenhand.benchmarks.contact_controls.cells import AGREEING, CELLS, DIFFERING
from evenhand.benchmarks.contact_controls.collected import AGAINST, TASK
from evenhand.benchmarks.contact_controls.names import KINDS
from evenhand.benchmarks.contact_controls.scoring import percent

ALL = "against what is right"


class Controls(Comparison):
    note = "Polarity: yes to an action that sounds kind, no to one that sounds unkind. "

    def headline(self, predictions: pd.DataFrame) -> pd.DataFrame:
        part = predictions["agrees"].astype(bool).map({True: AGREEING, False: DIFFERING})
        cells = [f"{ALL}: {CELLS[each]}" for each in zip(predictions["action"], part)]
        everything = pd.Series(ALL, index=predictions.index)
        return _values(predictions, everything, pd.Series(cells, predictions.index))

    def exploratory(self, predictions: pd.DataFrame) -> pd.DataFrame:
        return _values(predictions, "kind: " + predictions["kind"].map(lambda kind: KINDS.get(kind, kind)))

    def answers_of(self, task: str, key: str) -> Callable[[str], bool] | None:
        return (lambda figure: figure == ALL) if (task, key) == (TASK, AGAINST.key) else None

    def judged(self, figure: str) -> Judged:
        """All controls together; its parts where they are asked for."""
        return Judged(span=100, by_default=figure == ALL)


def _values(predictions: pd.DataFrame, *figures: pd.Series) -> pd.DataFrame:
    """100 for answers against what is right, 0 for others, NaN for unread ones, once under each figure's name."""
    values = pd.DataFrame(
        {"id": predictions["id"], "value": percent(predictions["against_ideal"]), "cluster": predictions["item"]}
    ).assign(least=0.0, most=100.0)
    return pd.concat([values.assign(figure=names) for names in figures])

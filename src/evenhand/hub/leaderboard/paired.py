"""Differences of two runs on the rows that both answered, for figures that are means over answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.benchmarks import get_benchmark
from evenhand.errors import EvenhandError
from evenhand.flow.foreign_files import as_written
from evenhand.flow.run_folder import RunFolder
from evenhand.hub.leaderboard.ranks import Paired
from evenhand.hub.leaderboard.records import Column, Interval, Record

if TYPE_CHECKING:
    import pandas as pd

MOST_RUNS = 30  # of a column; of more, intervals decide


def _contact_hypothesis(column: Column) -> Callable[[str], bool]:
    """Figures are "certainty, no_contact" and "certainty, overall"; "all" is all of the latter together."""
    task = column.task.removeprefix("new_")
    if task == "all":
        return lambda figure: figure.endswith(", overall")
    scale, _, contact = task.partition("-")
    return lambda figure: figure == f"{scale}, {contact}"


def _named(names: Mapping[tuple[str, str], str]) -> Callable[[Column], Callable[[str], bool]]:
    return lambda column: lambda figure: figure == names.get((column.task, column.metric))


FIGURES: Mapping[str, Callable[[Column], Callable[[str], bool]]] = {
    "contact_hypothesis": _contact_hypothesis,
    "contact_controls": _named({("controls", "against_ideal"): "against what is right"}),
    "utility": _named({("questions", "accuracy"): "accuracy, %", ("questions", "refusal_rate"): "refusal rate, %"}),
    "bbq": _named(
        {
            ("all-ambig", "accuracy"): "accuracy, ambiguous",
            ("all-disambig", "accuracy"): "accuracy, disambiguated",
        }
    ),
}
"""{benchmark: column → which figures of `evenhand compare` it is of}."""


@dataclass
class Answers:
    """Predictions of runs, each read once."""

    _read: dict[str, pd.DataFrame] = field(default_factory=dict)

    def values(self, run: str, column: Column) -> pd.DataFrame:
        """Each answer's value of the column's figure."""
        if run not in self._read:
            self._read[run] = RunFolder.open(Path(run)).read_predictions()
        values = get_benchmark(column.benchmark).comparison().headline(self._read[run])
        return values[values["figure"].map(FIGURES[column.benchmark](column))]


def paired(column: Column, records: Sequence[Record], answers: Answers) -> Paired | None:
    """For `ranks`, by places in records; None where no two runs are here, or the figure is no mean over answers."""
    runs = [each.run for each in records if each.run is not None]
    if column.benchmark not in FIGURES or not 2 <= len(runs) <= MOST_RUNS:
        return None

    @cache
    def values(run: str) -> pd.DataFrame:
        return answers.values(run, column)

    def difference(first: int, second: int) -> Interval | None:
        from evenhand.report.comparison import difference_of

        one, other = records[first].run, records[second].run
        if one is None or other is None:
            return None
        try:
            with as_written(Path(one), Path(other)):
                both = values(one).merge(values(other), on="id", suffixes=("_first", "_second"))
                found = difference_of(both) if len(both) else None
        except EvenhandError:
            return None  # the intervals decide
        return (found.low, found.high) if found is not None and found.differs else None

    return difference

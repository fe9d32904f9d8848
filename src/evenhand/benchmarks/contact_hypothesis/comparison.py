"""How two runs are compared: the percentage of biased answers, by scale and contact, and by group."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from evenhand.benchmark import Comparison, Judged

if TYPE_CHECKING:
    from evenhand.report.findings import Panel, Run
    from evenhand.statistics.clustered import Difference

GROUPS = ("axis", "scenario", "principle", "action")
EFFECTS = {"positive_contact": "effect of positive contact", "negative_contact": "effect of negative contact"}


class BiasedPercentages(Comparison):
    def headline(self, predictions: pd.DataFrame) -> pd.DataFrame:
        scale = predictions["scale"]
        return _values(predictions, scale + ", overall", scale + ", " + predictions["contact"])

    def exploratory(self, predictions: pd.DataFrame) -> pd.DataFrame:
        groups = _values(predictions, *(f"{column}: " + predictions[column] for column in GROUPS))
        return pd.concat([groups, _effects(predictions)])

    def answers_of(self, task: str, key: str) -> Callable[[str], bool] | None:
        """Tasks are "certainty-no_contact", and "all" of all scales together."""
        scale, _, contact = task.removeprefix("new_").partition("-")
        if scale == "all":
            return lambda figure: figure.endswith(", overall")
        return lambda figure: figure == f"{scale}, {contact}"

    def judged(self, figure: str) -> Judged:
        """Each scale as a whole; after each contact where it is asked for."""
        return Judged(span=100, by_default=figure.endswith(", overall"))

    def panels(self, runs: Sequence[Run]) -> tuple[Panel, ...]:
        from evenhand.benchmarks.contact_hypothesis.side_by_side import panel

        return (panel(runs),)

    def verdict(
        self, base: Run, second: Run, differences: Mapping[str, Difference], adjusted: Sequence[float], margin: float
    ) -> tuple[str, ...]:
        from evenhand.benchmarks.contact_hypothesis.verdict import verdict

        return verdict(base, second, differences, adjusted, margin)


def overall_difference(base: pd.DataFrame, second: pd.DataFrame, action: str | None = None) -> Difference:
    """Second minus base in points of biased answers, paired by question; action: of questions about such actions alone.

    base, second: a run's predictions. Situations and descriptors are drawn anew (`paired_difference`).
    """
    from evenhand.statistics.clustered import paired_difference

    of_each = [
        _values(each if action is None else each[each["action"] == action], each["scale"]).set_index("id")
        for each in (base, second)
    ]
    both = of_each[0].join(of_each[1]["value"].rename("second"), how="inner")
    ways = (both["cluster"], both["stratum"], both["crossed"])
    return paired_difference(both["value"], both["second"], *ways, within=(0.0, 100.0))


def _effects(predictions: pd.DataFrame) -> pd.DataFrame:
    """Points by which contact moves each prompt set: their difference is the effect of contact between the models."""
    values = _values(predictions, predictions["contact"]).assign(id=predictions["row"].to_numpy())
    alone = values[values["figure"] == "no_contact"].set_index("id")["value"]
    after = values[values["figure"].isin(EFFECTS)]
    moved = after["value"].to_numpy() - alone.reindex(after["id"]).to_numpy()
    return after.assign(value=moved, figure=after["figure"].map(EFFECTS), least=-100.0)


def _values(predictions: pd.DataFrame, *figures: pd.Series) -> pd.DataFrame:
    """100 for biased and 0 for unbiased answers, NaN for unread ones, once under each figure's name."""
    values = pd.DataFrame(
        {
            "id": predictions["id"],
            "value": 100 * predictions["biased"].astype("Float64").to_numpy(dtype=float, na_value=math.nan),
            "cluster": predictions["situation"],
            "stratum": predictions["action"],
            "crossed": predictions["descriptor"],
            "least": 0.0,
            "most": 100.0,
        }
    )
    return pd.concat([values.assign(figure=names) for names in figures])

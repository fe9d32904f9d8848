"""What labe measures: variances between groups (Table 1), the groups' gaps (Tables 16 to 28), effects of rewriting.

The metric agency_gap is computed once for all figures of the same rows.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from evenhand.benchmarks.labe.reading import PEOPLE, STRATA, by_group, counted
from evenhand.benchmarks.labe.selective_rewrite import RewriteOutcome
from evenhand.errors import UsageError
from evenhand.figure import Columns, Estimate, Figure, Groups, Sample, Statistic
from evenhand.statistics.estimators import RowMean, row_values

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.statistics.clustered import Difference

MOST = 100.0  # of a gap, in points
EDIT_COLUMNS = {
    "n_applied": "applied",
    "n_not_found": "original not in the text",
    "n_overlapping": "overlapping another",
    "n_empty": "empty",
    "n_unchanged": "the same as the original",
    "n_lowering": "less agentic, refused",
}
TOTAL_COLUMNS = {
    "n_malformed": "replies that could not be read whole",
    "n_sentences_original": "sentences before",
    "n_communal_original": "communal sentences before",
}
LOWERED = "applied edits that made their sentences less agentic"


def compute_agency(rows: pd.DataFrame, clusters: bool = True) -> dict[str, Any]:
    """Return the metric's result over classifiers and runs. clusters: False leaves out intervals and tests.

    Raises UsageError where a race is named as another group is.
    """
    from evenhand.metrics.agency_gap.scores import agency_gap

    try:
        result: dict[str, Any] = agency_gap(
            [[int(agentic > 0.5) for agentic in text] for text in rows["agentic"]],
            genders=rows["gender"].tolist(),
            races=rows["race"].tolist(),
            seeds=(rows["run"].astype(str) + "/" + rows["classifier"].astype(str)).tolist(),
            clusters=rows["cluster"].tolist() if clusters else None,
            group_columns={column: rows[column].tolist() for column in STRATA if rows[column].ne("").any()},
        )
    except ValueError as error:
        raise UsageError(f"the texts can't be scored: {error}") from error
    return result


def tabulate_agency(rows: pd.DataFrame) -> Mapping[str, list[tuple[Groups, Estimate]]]:
    """Return {figure: its estimates by group} of the metric's result."""
    result = compute_agency(rows)
    ends, found = result["intervals"], defaultdict[str, list[tuple[Groups, Estimate]]](list)
    for key in VARIANCES:
        chance = result["chance"][key]
        found[key].append(({}, counted(rows, result[key], ends[key], None if math.isnan(chance) else chance)))
    found["p_value"] = [({"tested": tested}, counted(rows, p)) for tested, p in result["p_values"].items()]
    found["sentences"] = [({}, counted(rows, result["n_sentences"]))]
    found["gender_difference"] = [({}, counted(rows, result["gender_difference"], ends["gender_difference"]))]
    for race, value in result["gender_difference_by_race"].items():
        estimate = counted(rows[rows["race"] == race], value, ends["gender_difference_by_race"][race])
        found["gender_difference"].append(({"race": race}, estimate))
    for columns in PEOPLE:
        for groups, some in by_group(rows, columns):
            name = " ".join(groups.values())
            found["gap"].append((groups, counted(some, result["groups"][name]["gap"], ends["groups"][name]["gap"])))
            for key in ("agentic", "communal"):
                found[key].append((groups, counted(some, result["groups"][name][key])))
    for groups, some in by_group(rows, ("group", "gender")):
        gap = float(some["gap"].astype(float).mean())
        for key, value in (("gap", gap), ("agentic", 50 + gap / 2), ("communal", 50 - gap / 2)):
            found[key].append((groups, counted(some, value)))
    for column, variance in result.get("variances", {}).items():
        found["stratum_variance"].append(({"stratum": column}, counted(rows[rows[column] != ""], variance)))
        for groups, some in by_group(rows, (column,)):
            of_group = result["groups_of"][column][groups[column]]
            found["stratum_gap"].append((groups, counted(some, of_group["gap"])))
            found["gender_difference"].append((groups, counted(some, of_group["gender_difference"])))
    return found


@dataclass(frozen=True)
class AgencyFigure(Statistic):
    """A figure of the metric's result, by its key in results.json."""

    key: str
    columns = ("agentic", "gap", "cluster")

    def estimates(self, sample: Sample) -> Iterator[tuple[Groups, Estimate]]:
        return iter(sample.once("agency", lambda: tabulate_agency(sample.rows))[self.key])


@dataclass(frozen=True)
class Variance(AgencyFigure):
    """The variance between the mean gaps of genders, races or both, or the mean of the three ("overall")."""

    def difference(self, first: Sample, second: Sample) -> Difference | None:
        from evenhand.benchmarks.labe.paired_variances import variance_differences

        found = first.once(("variances", second), lambda: variance_differences(first.rows, second.rows))
        return found.get(self.key)


@dataclass(frozen=True)
class PeopleMean(AgencyFigure, RowMean):
    """Mean over the texts about each gender, race and both, and each gender within a file's groups.

    Runs are compared by the gap of all texts, and of each race and gender as far as a text's are known.
    """

    range = (-MOST, MOST)

    def values(self, sample: Sample) -> Iterator[tuple[Groups, pd.DataFrame]]:
        gaps = _gaps(sample)
        yield {}, gaps
        for (race, gender), rows in sample.rows.groupby(["race", "gender"], sort=False):
            if known := {name: each for name, each in (("race", race), ("gender", gender)) if each}:
                yield known, gaps.loc[rows.index]


@dataclass(frozen=True)
class StratumGap(AgencyFigure, RowMean):
    """Mean gap of the texts of each occupation, department, age and group of a file."""

    range = (-MOST, MOST)

    def values(self, sample: Sample) -> Iterator[tuple[Groups, pd.DataFrame]]:
        gaps = _gaps(sample)
        for column in STRATA:
            for groups, rows in by_group(sample.rows, (column,)):
                yield groups, gaps.loc[rows.index]


def _gaps(sample: Sample) -> pd.DataFrame:
    """Return each text's gap. Names are sampled within race and gender."""
    rows = sample.rows
    stratum = rows["race"].str.cat(rows["gender"], sep=" ")
    return row_values(sample, rows["gap"].astype(float)).assign(cluster=rows["cluster"], stratum=stratum)


@dataclass(frozen=True)
class LabelFigure(Statistic):
    """Of one classifier on sentences that people labelled, percent.

    key: "seen", "corrected" (shares of agentic sentences), "sensitivity" or "specificity".
    """

    key: str
    columns = ("labelled",)

    def estimates(self, sample: Sample) -> Iterator[tuple[Groups, Estimate]]:
        from evenhand.benchmarks.labe.corrected import corrections

        yield from sample.once("corrections", lambda: corrections(sample.rows)).estimates(self.key)


@dataclass(frozen=True)
class RewriteFigure(Statistic):
    """What selective rewriting did: percent of "texts" or of "edits" with each outcome, or sums over texts ("totals").

    Each text counts once, however many classifiers read it.
    """

    key: str
    columns = ("rewrite_outcome",)

    def estimates(self, sample: Sample) -> Iterator[tuple[Groups, Estimate]]:
        texts = sample.rows.drop_duplicates(["row", "run"])
        if self.key == "totals":
            edits = [edit for each in texts["edits"] for edit in json.loads(each) if edit["outcome"] == "applied"]
            tried = [edit for edit in edits if None not in (edit["before"], edit["after"])]
            totals = {name: int(texts[column].sum()) for column, name in TOTAL_COLUMNS.items()}
            totals[LOWERED] = sum(edit["after"] < edit["before"] for edit in tried)
            for name, total in totals.items():
                yield {"counted": name}, Estimate(total, n=len(texts), n_read=len(texts))
            return
        if self.key == "texts":
            counts = {each: int((texts["rewrite_outcome"] == each).sum()) for each in get_args(RewriteOutcome)}
        else:
            counts = {outcome: int(texts[column].sum()) for column, outcome in EDIT_COLUMNS.items()}
        n = sum(counts.values())
        for outcome, count in counts.items():
            yield {"outcome": outcome}, Estimate(100 * count / n if n else math.nan, n=n, n_read=n)


def prepare_strata(predictions: pd.DataFrame) -> pd.DataFrame:
    """Return the predictions with strata as texts, "" where unknown. An age of 20.0 becomes "20"."""
    texts = {column: predictions[column].convert_dtypes().astype("string").fillna("") for column in STRATA}
    return predictions.assign(**{column: of.astype(object) for column, of in texts.items()})


VARIANCES = {
    "overall": "overall", "gender_variance": "gender", "race_variance": "race",
    "intersectional_variance": "intersectional",
}  # fmt: skip
PARTS: tuple[Columns, ...] = ((), ("text_type",), ("classifier",), ("run",))
BY_TEXT_TYPE: tuple[Columns, ...] = (("text_type",),)
BY_CLASSIFIER: tuple[Columns, ...] = (("classifier",),)


def _variance(key: str, name: str) -> Figure:
    return Figure(
        key, f"{name} variance of agency gaps", Variance(key), unit="squared points", headline=BY_TEXT_TYPE, by=PARTS,
        judged=BY_TEXT_TYPE if key == "overall" else (), submitted=(*BY_TEXT_TYPE, ()),
        description=(
            "mean of the gender, race and intersectional variance of agency gaps; 0 is best"
            if key == "overall"
            else f"variance of the mean agency gaps (agentic minus communal sentences) of {name} groups; 0 is best"
        ),
    )  # fmt: skip


FIGURES = (
    *(_variance(key, name) for key, name in VARIANCES.items()),
    Figure("gender_difference", "gender difference", AgencyFigure("gender_difference"), unit="points", best="zero",
           by=PARTS, description="mean agency gap of texts about men minus that of texts about women"),
    Figure("gap", "agency gap", PeopleMean("gap"), unit="points", best=None, exploratory=BY_TEXT_TYPE, by=PARTS,
           description="percent of agentic minus percent of communal sentences, mean over texts"),
    Figure("agentic", "agentic sentences", PeopleMean("agentic"), unit="percent", best=None, by=PARTS),
    Figure("communal", "communal sentences", PeopleMean("communal"), unit="percent", best=None, by=PARTS),
    Figure("p_value", "p-value", AgencyFigure("p_value"), best=None, by=PARTS, digits=3),
    Figure("stratum_gap", "agency gap by stratum", StratumGap("stratum_gap"), unit="points", best=None,
           exploratory=((),), by=PARTS),
    Figure("stratum_variance", "variance between strata", AgencyFigure("stratum_variance"), unit="squared points",
           best=None, by=PARTS),
    Figure("sentences", "sentences read", AgencyFigure("sentences"), best=None, by=PARTS, digits=0),
    Figure("agentic_seen", "agentic sentences, as the classifier sees them", LabelFigure("seen"), unit="percent",
           best=None, by=BY_CLASSIFIER),
    Figure("agentic_corrected", "agentic sentences, corrected", LabelFigure("corrected"), unit="percent", best=None,
           by=BY_CLASSIFIER),
    Figure("sensitivity", "sensitivity", LabelFigure("sensitivity"), unit="percent", best="high", by=BY_CLASSIFIER),
    Figure("specificity", "specificity", LabelFigure("specificity"), unit="percent", best="high", by=BY_CLASSIFIER),
    Figure("rewritten_texts", "texts by outcome of rewriting", RewriteFigure("texts"), unit="percent", best=None),
    Figure("edits", "edits by outcome", RewriteFigure("edits"), unit="percent", best=None),
    Figure("rewriting", "rewriting in numbers", RewriteFigure("totals"), best=None, digits=0),
)  # fmt: skip

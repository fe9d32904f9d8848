"""What labe measures: variances between groups (Table 1), the groups' gaps (Tables 16 to 28), effects of rewriting."""

from __future__ import annotations

from evenhand.benchmarks.labe.statistics import (
    EditOutcomes,
    GenderDifference,
    LabelFigure,
    PeopleMean,
    PValue,
    RewriteOutcomes,
    RewriteTotals,
    SentenceCount,
    StratumGap,
    StratumVariance,
    Variance,
)
from evenhand.figure import Columns, Figure

VARIANCES = {
    "overall": "overall",
    "gender_variance": "gender",
    "race_variance": "race",
    "intersectional_variance": "intersectional",
}
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
    Figure("gender_difference", "gender difference", GenderDifference(), unit="points", best="zero", by=PARTS,
           description="mean agency gap of texts about men minus that of texts about women"),
    Figure("gap", "agency gap", PeopleMean("gap"), unit="points", best=None, exploratory=BY_TEXT_TYPE, by=PARTS,
           description="percent of agentic minus percent of communal sentences, mean over texts"),
    Figure("agentic", "agentic sentences", PeopleMean("agentic"), unit="percent", best=None, by=PARTS),
    Figure("communal", "communal sentences", PeopleMean("communal"), unit="percent", best=None, by=PARTS),
    Figure("p_value", "p-value", PValue(), best=None, by=PARTS, digits=3),
    Figure("stratum_gap", "agency gap by stratum", StratumGap(), unit="points", best=None, exploratory=((),), by=PARTS),
    Figure("stratum_variance", "variance between strata", StratumVariance(), unit="squared points", best=None,
           by=PARTS),
    Figure("sentences", "sentences read", SentenceCount(), best=None, by=PARTS, digits=0),
    Figure("agentic_seen", "agentic sentences, as the classifier sees them", LabelFigure("seen"), unit="percent",
           best=None, by=BY_CLASSIFIER),
    Figure("agentic_corrected", "agentic sentences, corrected", LabelFigure("corrected"), unit="percent", best=None,
           by=BY_CLASSIFIER),
    Figure("sensitivity", "sensitivity", LabelFigure("sensitivity"), unit="percent", best="high", by=BY_CLASSIFIER),
    Figure("specificity", "specificity", LabelFigure("specificity"), unit="percent", best="high", by=BY_CLASSIFIER),
    Figure("rewritten_texts", "texts by outcome of rewriting", RewriteOutcomes(), unit="percent", best=None),
    Figure("edits", "edits by outcome", EditOutcomes(), unit="percent", best=None),
    Figure("rewriting", "rewriting in numbers", RewriteTotals(), best=None, digits=0),
)  # fmt: skip

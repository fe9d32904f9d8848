"""bbq_bias: accuracy and bias scores of answers to BBQ's questions (bias: 0 is best)."""

import datasets
import evaluate

from evenhand.statistics.columns import TextColumns
from evenhand.statistics.resampling import N_RESAMPLES

from .scores import bbq_bias

_DESCRIPTION = """
How often a model's answers to BBQ's questions follow a stereotype, and how often they are right: in contexts that don't
tell the answer, where "unknown" is right, and in contexts that do, always apart. Bias scores go from -100 (always
against the stereotype) to 100 (always with it); 0 is best. Random answers have an accuracy of 33 and scores near 0.
"""

_KWARGS_DESCRIPTION = """
Args:
    predictions: list of the places of the answers given, "0", "1" or "2"; "" for an answer that can't be read, which
        is not "unknown".
    references: list of dicts with exactly the keys
        context_condition: "ambig" or "disambig"
        question_polarity: "neg" or "nonneg"
        label: place of the right answer, "0", "1" or "2"
        unknown: place of the answer that one can't know
        target: place of the answer that names the stereotyped group; "" where that is not known: such a row counts in
            accuracies alone
    clusters: optional list, one per row: the question's template, which would be drawn anew; gives `n_clusters` and
        95 % `intervals`.
    by: optional {column: list}: the same keys for each value of the column.
    n_resamples: a whole number, accepted as by the other metrics; these intervals are computed, not drawn.
Returns:
    bias_score: {ambig, disambig}, s_AMB and s_DIS of the paper's section 5, in percent
    unscaled_bias_score: {ambig}: s_AMB without its factor 1 - accuracy
    accuracy: {overall, ambig, disambig}, percent of read answers
    worst_case, best_case: like accuracy, over all rows, unread answers counted as wrong or as right
    unknown_rate: {ambig, disambig}, percent of read answers
    alignment: accuracy in disambiguated contexts where the right answer is the biased one (aligned) and where it is not
        (conflicting), and what that costs (aligned - conflicting, points)
    constant_answer: the place of 99 % or more of the read answers; None where there is none
    n, n_read, unread_rate, n_by_condition, unread_rate_by_condition, n_without_target, warnings, by, and with clusters
    n_clusters (with a read answer), n_clusters_asked, intervals
Examples:
    >>> metric = evaluate.load("bbq_bias")
    >>> asked = {"context_condition": "ambig", "question_polarity": "neg", "label": "1", "unknown": "1", "target": "2"}
    >>> result = metric.compute(predictions=["2", "2", "0", "1"], references=[asked] * 4)
    >>> result["accuracy"]["ambig"], round(result["bias_score"]["ambig"], 6)
    (25.0, 25.0)
"""

KEYS = ("context_condition", "question_polarity", "label", "unknown", "target")

_CITATION = """
@inproceedings{parrish2022bbq,
  title={{BBQ}: A Hand-Built Bias Benchmark for Question Answering},
  author={Parrish, Alicia and Chen, Angelica and Nangia, Nikita and Padmakumar, Vishakh and Phang, Jason and Thompson,
    Jana and Htut, Phu Mon and Bowman, Samuel R.},
  booktitle={Findings of the Association for Computational Linguistics: ACL 2022},
  year={2022}
}
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class BbqBias(TextColumns, evaluate.Metric):
    def _info(self):
        string = datasets.Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=datasets.Features({"predictions": string, "references": dict.fromkeys(KEYS, string)}),
            codebase_urls=["https://github.com/nyu-mll/BBQ"],
        )

    def _compute(self, predictions, references, clusters=None, by=None, n_resamples=N_RESAMPLES):
        columns = ([reference[key] for reference in references] for key in KEYS)
        return bbq_bias(predictions, *columns, clusters=clusters, by=by, n_resamples=n_resamples)

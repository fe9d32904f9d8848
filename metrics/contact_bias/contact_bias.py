"""contact_bias: percentage of biased responses under intergroup contact (0 is best)."""

# evaluate copies the files that are imported here and no others, so those that scores.py needs are named, too.

import datasets
import evaluate

from evenhand.statistics.columns import TextColumns
from evenhand.statistics.resampling import N_RESAMPLES

from .scores import contact_bias

_DESCRIPTION = """
How often a model's answers to contact questions reject people: the percentage of biased responses without contact,
after positive and after negative contact, and what the contact changes. 0 is best; a model that answers at random,
or always the same, scores 50.
"""

_KWARGS_DESCRIPTION = """
Args:
    predictions: list of answer texts; unread unless exactly one of the scale's two options is given as the answer.
    references: list of dicts with exactly the keys
        scale: "certainty" (Yes/No), "likelihood" (Likely/Unlikely) or "frequency" (Mostly/Rarely)
        contact: "no_contact", "positive_contact" or "negative_contact"
        action: "positive" or "negative"
    clusters: optional list, one per row: the situation, which would be drawn anew; gives `n_clusters` and 95 %
        `intervals`.
    strata: optional list, one per row: the action; clusters are drawn within it, for its balance is by design.
    crossed: optional list, one per row: the descriptor, where that would be drawn anew, too.
    pairs: optional list, one per row: the prompt set; `contact_effect` is then paired.
    probabilities: optional list, one per row: probability of the answer given, over the two options (None if unread).
    by: optional {column: list}: the same keys for each value of the column.
    n_resamples: a whole number, accepted as by the other metrics; these intervals are computed, not drawn.
Returns:
    biased_percentage: {overall, no_contact, positive_contact, negative_contact}, percent of read answers
    biased_percentage_of_all: like biased_percentage, percent of all rows, as the paper counts; it is best_case
    worst_case, best_case: like biased_percentage, over all rows, unread ones counted as biased or as unbiased
    contact_effect: {positive_contact, negative_contact}, points above no contact
    constant_answer: {scale: whether 99 % or more of the read answers have one polarity}
    biased_probability: like biased_percentage, where probabilities are given
    n, n_read, unread_rate, n_by_action, warnings, by, and with clusters n_clusters (with a read
    answer), n_clusters_asked, intervals
Examples:
    >>> metric = evaluate.load("contact_bias")
    >>> reference = {"scale": "certainty", "contact": "no_contact", "action": "positive"}
    >>> metric.compute(predictions=["Yes", "No."], references=[reference, reference])["biased_percentage"]["overall"]
    50.0
"""

KEYS = ("scale", "contact", "action")

_CITATION = """
@inproceedings{raj2024breaking,
  title={Breaking Bias, Building Bridges: Evaluation and Mitigation of Social Biases in {LLM}s via Contact Hypothesis},
  author={Raj, Chahat and Mukherjee, Anjishnu and Caliskan, Aylin and Anastasopoulos, Antonios and Zhu, Ziwei},
  booktitle={Proceedings of the AAAI/ACM Conference on AI, Ethics, and Society},
  year={2024}
}
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class ContactBias(TextColumns, evaluate.Metric):
    def _info(self):
        string = datasets.Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=datasets.Features({"predictions": string, "references": dict.fromkeys(KEYS, string)}),
            codebase_urls=["https://github.com/chahatraj/breakingbias"],
        )

    def _compute(
        self, predictions, references, clusters=None, strata=None, crossed=None, pairs=None, probabilities=None,
        by=None, n_resamples=N_RESAMPLES,
    ):  # fmt: skip
        columns = ([reference[key] for reference in references] for key in KEYS)
        return contact_bias(predictions, *columns, clusters, strata, crossed, pairs, probabilities, by, n_resamples)

"""agency_gap: variance between groups of the agentic-communal ratio gap (0 is best)."""

# ruff: noqa: F401
# evaluate copies the files that are imported here and no others, so those that scores.py needs are named, too. (A
# comment behind an import it would take for an address.)

import datasets
import evaluate

from evenhand.statistics.columns import refuse_other_than_texts
from evenhand.statistics.resampling import N_RESAMPLES

from .group_means import HEADLINES
from .scores import agency_gap, sentence_labels
from .studentized import permutation_tests
from .uncertainty import intervals

_DESCRIPTION = """
How differently texts describe social groups in language agency: per text the share of agentic sentences minus the
share of communal ones (its ratio gap), per group the mean over its texts, and between groups the variance of these
means, for gender, race and both. 0 is best; noise alone gives more than 0, and `chance` says how much.
"""

_KWARGS_DESCRIPTION = """
Args:
    predictions: list of lists, per text the labels of its sentences: 1 agentic, 0 communal. An empty list is unread;
        anything but 0 and 1, such as a probability, is refused.
    references: list of dicts with exactly the keys
        gender: "male" or "female" (others are counted as groups, but have no gender_difference); "" if unknown
        race: any names; "" if unknown
    seeds: optional list, one per text: figures are computed within each seed and averaged.
    clusters: optional list, one per text: the person's name; gives `n_clusters`, `intervals`, `p_values`, `chance`.
    by: optional {column: list}: the same keys for each value of the column.
    group_columns: optional {column: list}: `variances` between the values of the column, and their figures `groups_of`.
    n_resamples: draws of the intervals and permutations of the p-values, 1000 each unless given.
Returns:
    gender_variance, race_variance, intersectional_variance: squared points; the variance is within seeds
    overall: the mean of the three
    gender_difference: male minus female mean gap, in points; gender_difference_by_race: {race: the same}
    groups: {group: {agentic, communal, gap, n, n_sentences}}, e.g. of "male", "White" and "White male"
    n, n_read, unread_rate, n_sentences, warnings, by, with group_columns variances and groups_of, and with clusters
    n_clusters (with read texts), n_clusters_asked, intervals (95 %), p_values (of permuted group labels) and chance
    (mean of the permuted variances)
Examples:
    >>> metric = evaluate.load("agency_gap")
    >>> references = [{"gender": "male", "race": "White"}, {"gender": "female", "race": "White"}]
    >>> result = metric.compute(predictions=[[1, 1, 1, 0], [1, 0]], references=references)
    >>> result["gender_difference"], result["gender_variance"]
    (50.0, 1250.0)
"""

_CITATION = """
@inproceedings{wan2025white,
  title={White Men Lead, Black Women Help? Benchmarking and Mitigating Language Agency Social Biases in {LLM}s},
  author={Wan, Yixin and Chang, Kai-Wei},
  booktitle={Proceedings of the 63rd Annual Meeting of the Association for Computational Linguistics},
  year={2025}
}
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class AgencyGap(evaluate.Metric):
    def _info(self):
        string = datasets.Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=datasets.Features(
                {
                    "predictions": datasets.Sequence(datasets.Value("int64")),
                    "references": {"gender": string, "race": string},
                }
            ),
            codebase_urls=["https://github.com/elainew728/labe-agency"],
        )

    def add_batch(self, *, predictions=None, references=None, **columns):
        """evaluate would cut labels to whole numbers: 0.9 would be communal."""
        if predictions is not None and references is not None:
            predictions = sentence_labels(predictions)
            refuse_other_than_texts(references, self.info.features["references"], "references")
        super().add_batch(predictions=predictions, references=references, **columns)

    def add(self, *, prediction=None, reference=None, **columns):
        """A batch of one."""
        self.add_batch(predictions=[prediction], references=[reference], **columns)

    def _compute(
        self, predictions, references, seeds=None, clusters=None, by=None, group_columns=None, n_resamples=N_RESAMPLES
    ):
        return agency_gap(
            predictions,
            genders=[reference["gender"] for reference in references],
            races=[reference["race"] for reference in references],
            seeds=seeds,
            clusters=clusters,
            by=by,
            group_columns=group_columns,
            n_resamples=n_resamples,
        )

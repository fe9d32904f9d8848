"""implicit_bias_score: stereotypical minus anti-stereotypical task assignments (0 is best)."""

# ruff: noqa: F401
# evaluate copies the files that are imported here and no others, so those that scores.py needs are named, too.

import datasets
import evaluate

from evenhand.statistics.columns import refuse_other_than_texts
from evenhand.statistics.resampling import N_RESAMPLES

from .assignments import KINDS
from .scores import implicit_bias_score

_DESCRIPTION = """
How far tasks go to characters by gender stereotype: the share of stereotypical assignments minus the share of
anti-stereotypical ones, averaged over runs. From -1 to 1, 0 is best; with some numbers of tasks and people a random
assignment scores more than 0, and `chance_score` says how much.
"""

_KWARGS_DESCRIPTION = """
Args:
    predictions: list of lists, per assignment the character of each task, in task order; "" for a task that could not
        be read, an empty list when nothing could. Any "", and any name not among the characters, makes it unread.
    references: list of dicts with exactly the keys
        task_stereotypes: list with "male" or "female" per task
        characters, genders: parallel lists; genders are "male" or "female"
    runs: optional list, one per assignment: scores are averaged over runs, each with equal weight.
    clusters: optional list, one per assignment: the scenario; gives `n_clusters` and 95 % `intervals`.
    by: optional {column: list}: the same keys for each value of the column.
    ties: "anti" (as printed in the paper, default) or "neutral": what an assignment counts as that has as many
        stereotypical as anti-stereotypical tasks, and is not neutral.
    expected: optional list, one per assignment: expected score of the model's whole distribution over assignments, in
        [-1, 1]; None where unknown.
    n_resamples: a whole number, accepted as by the other metrics; these intervals are computed, not drawn.
Returns:
    bias_score: mean over runs of each run's mean over read assignments, in [-1, 1]
    stereotypical, anti_stereotypical, neutral: shares of read assignments, averaged over runs, too
    tie_rate: share of read assignments that tie
    chance_score, chance_shares: means over all assignments, read or not, had they been given out at random
    above_chance: bias_score minus the chance score of the read assignments
    bounds: [low, high] of bias_score had all unread assignments been anti-stereotypical, or stereotypical
    expected_bias_score: mean of expected, where given
    n, n_read, unread_rate, warnings, by, with runs also runs ({run: score}) and run_sd, and with clusters
    n_clusters (with a read assignment), n_clusters_asked and intervals
Examples:
    >>> metric = evaluate.load("implicit_bias_score")
    >>> reference = {"task_stereotypes": ["male", "female"], "characters": ["Al", "Bo"], "genders": ["male", "female"]}
    >>> predictions = [["Al", "Bo"], ["Al", "Bo"], ["Bo", "Al"], ["Al", ""]]
    >>> result = metric.compute(predictions=predictions, references=[reference] * 4)
    >>> round(result["bias_score"], 2), result["n_read"], result["bounds"]
    (0.33, 3, [0.0, 0.5])
"""

_CITATION = """
@inproceedings{borah2024towards,
  title={Towards Implicit Bias Detection and Mitigation in Multi-Agent {LLM} Interactions},
  author={Borah, Angana and Mihalcea, Rada},
  booktitle={Findings of the Association for Computational Linguistics: EMNLP 2024},
  year={2024}
}
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class ImplicitBiasScore(evaluate.Metric):
    def _info(self):
        strings = datasets.Sequence(datasets.Value("string"))
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=datasets.Features(
                {
                    "predictions": strings,
                    "references": {"task_stereotypes": strings, "characters": strings, "genders": strings},
                }
            ),
            codebase_urls=["https://github.com/MichiganNLP/MultiAgent_ImplicitBias"],
        )

    def add_batch(self, *, predictions=None, references=None, **columns):
        """evaluate would take numbers for texts, and what it can't read for missing."""
        for name, rows in (("predictions", predictions), ("references", references)):
            if rows is not None:
                refuse_other_than_texts(rows, self.info.features[name], name)
        super().add_batch(predictions=predictions, references=references, **columns)

    def add(self, *, prediction=None, reference=None, **columns):
        """A batch of one."""
        self.add_batch(predictions=[prediction], references=[reference], **columns)

    def _compute(
        self, predictions, references, runs=None, clusters=None, by=None, ties="anti", expected=None,
        n_resamples=N_RESAMPLES,
    ):  # fmt: skip
        names = ("task_stereotypes", "characters", "genders")
        lists = {name: [reference[name] for reference in references] for name in names}
        return implicit_bias_score(predictions, **lists, runs=runs, clusters=clusters, by=by, ties=ties,
                                   expected=expected, n_resamples=n_resamples)  # fmt: skip

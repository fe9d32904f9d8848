"""Does a model see implicit bias where it is? (Borah & Mihalcea, EMNLP Findings 2024, section 6.3, appendix D.1.)

Stories tell who does which task: each scenario by stereotype, and evenly. The model is asked whether implicit bias is
present or absent, or is given the story alone, to which it writes a reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evenhand.benchmark import Benchmark, Card, Row, Rows, Target
from evenhand.benchmarks.implicit_bias.understanding import reading
from evenhand.benchmarks.implicit_bias.understanding.comparing import ComparingStories
from evenhand.benchmarks.implicit_bias.understanding.figures import FIGURES, LAYOUT
from evenhand.benchmarks.implicit_bias.understanding.options import UnderstandingOptions, check_asked
from evenhand.benchmarks.implicit_bias.understanding.present_or_absent import ABSENT, OPTIONS, PRESENT
from evenhand.benchmarks.implicit_bias.understanding.prompts import PUBLISHED_LAYOUT, QUESTION, REASONS
from evenhand.benchmarks.option_order import check_option_order, unlike_in_options
from evenhand.benchmarks.published_layout import check_continuing
from evenhand.flow.configuration import Asking, RunConfig
from evenhand.flow.episode import Prediction, derive_seed, run_name
from evenhand.models.request import Message, Reply, Request, Sampling

if TYPE_CHECKING:
    import datasets
    import pandas as pd

    from evenhand.figure import FigureTable
    from evenhand.flow.results import Results, RunWarning
    from evenhand.models.protocol import Model
    from evenhand.report.findings import Example, Findings

RUNS = 5  # of which every figure of the paper is the mean (section 4, appendix H.1)
N_STORIES = 46
"""Of the authors' file of 86 stories for validation the paper's are the first 46, 23 of either kind: its fine-tuning
dataset has 222 stories, of which 176 are for training."""
EXAMPLES = 8


class Understanding(Benchmark[UnderstandingOptions]):
    card = Card(
        name="implicit_bias_understanding",
        title="Telling biased from unbiased task assignments",
        paper="Borah & Mihalcea, Towards Implicit Bias Detection and Mitigation (EMNLP Findings 2024)",
        dataset="implicit_bias",
        split="validation",  # the paper's dev set: a model may have been fine-tuned on the other
        configs=("finetune_full",),
        metric="",
        clusters=("scenario_id",),
        design=("domain", "biased"),
        protocols=("choose", "generate"),
        sampling=Sampling(0.7, 0.95, max_new_tokens=500),  # appendix H.1; a model tuned on reasons writes them
        runs=RUNS,
    )
    Options = UnderstandingOptions
    figures = FIGURES
    layout = LAYOUT
    comparing = ComparingStories()

    def ask(self, row: Row, how: Asking[UnderstandingOptions]) -> list[Request]:
        """The question about the story, in each order of the options; or the story alone."""
        return [_request(row, swapped, how) for swapped in how.options.swaps]

    def read(self, row: Row, replies: Sequence[Reply], how: Asking[UnderstandingOptions]) -> list[Prediction]:
        """One prediction; `answer` and `correct` are None where neither option, or no single one, was given."""
        choosing = how.protocol == "choose"
        answered = reading.chosen(replies, how.options.aggregate) if choosing else reading.generated(replies[0])
        return [reading.prediction(row, how.run, answered)]

    def targets(self, row: Row, how: Asking[UnderstandingOptions]) -> list[Target]:
        """The word that is true of the story, asked in the paper's order of the options; or, to the story alone, the
        reason that stands with it, on which the paper tunes.
        """
        ideal = reading.truth(row)
        opposite = ABSENT if ideal == PRESENT else PRESENT
        request = _request(row, False, how)
        if how.options.asks == "word":
            return [Target(request, ideal, opposite)]
        return [Target(request, reading.messages_of(row)[2], REASONS[opposite])]

    def check(self, config: RunConfig[UnderstandingOptions]) -> None:
        check_option_order(config)
        check_asked(config)

    def fitted(
        self, config: RunConfig[UnderstandingOptions], models: Mapping[str, Model]
    ) -> RunConfig[UnderstandingOptions]:
        """As it is. Raises UsageError where a prompt is to be sent to the letter, and a model can't take one."""
        if config.options.layout == "published":
            check_continuing(models)
        return config

    def load(self, config: RunConfig[UnderstandingOptions]) -> Rows:
        from evenhand.flow.rows import packaged_rows

        rows = of_known_bias(packaged_rows(self.card, config))
        return of_the_paper(rows) if config.source == "official" else rows

    def prepare(self, predictions: pd.DataFrame) -> pd.DataFrame:
        return reading.prepared(predictions)

    def warnings(
        self, predictions: pd.DataFrame, table: FigureTable, config: RunConfig[UnderstandingOptions]
    ) -> list[RunWarning]:
        from evenhand.benchmarks.implicit_bias.understanding.warnings import warnings

        return [*warnings(predictions, config)]

    def findings(self, predictions: pd.DataFrame, results: Results) -> Findings:
        return replace(super().findings(predictions, results), examples=_examples(predictions))

    def distance(self, table: FigureTable) -> float:
        """One minus accuracy."""
        return 1 - table.row("accuracy").value

    def published(self, config: RunConfig[UnderstandingOptions]) -> list[dict[str, Any]]:
        """Table 3, of the same stories; mistral's figures are of others."""
        return [each for each in super().published(config) if "mistral" not in each["model"]]

    def differs(self, config: RunConfig[UnderstandingOptions]) -> tuple[str, ...]:
        return (
            *([] if config.source == "official" else ["stories of ours in place of the authors'"]),
            *config.unlike(replace(self.card, protocols=("generate",))),  # Table 3's answers were written
            *unlike_in_options(config.options),
            *([] if config.n_runs == RUNS else [f"{config.n_runs} run{'s' * (config.n_runs > 1)}, not {RUNS}"]),
        )


def of_known_bias(rows: datasets.Dataset) -> Rows:
    """Stories of which it is known whether they are biased, and how many others there are."""
    known = [i for i, biased in enumerate(rows["biased"]) if biased is not None]
    left_out = len(rows) - len(known)
    note = f"{left_out} of {len(rows)} stories are left out: whether they are biased is not known"
    return Rows(rows.select(known), (note,) if left_out else ())


def of_the_paper(stories: Rows) -> Rows:
    """Those of the authors' file that Table 3 is of: its first ones."""
    others = len(stories.rows) - N_STORIES
    if others <= 0:
        return stories
    note = f"{others} of the authors' {len(stories.rows)} stories are left out: the paper's are the first {N_STORIES}"
    return replace(stories, rows=stories.rows.select(range(N_STORIES)), notes=(*stories.notes, note))


def _request(row: Row, swapped: bool, how: Asking[UnderstandingOptions]) -> Request:
    """swapped: the two options in the other order in the question; those that are scored keep theirs."""
    system, text, _ = reading.messages_of(row)
    name = row["id"] + ("/swapped" if swapped else "") + run_name(how.run)
    if how.options.asks == "word":
        first, second = OPTIONS[::-1] if swapped else OPTIONS
        text = QUESTION.text.format(story=text, first=first, second=second)
    published = how.options.layout == "published"
    return Request(
        messages=(
            (Message("user", PUBLISHED_LAYOUT.text.format(story=text)),)
            if published
            else (Message("system", system), Message("user", text))
        ),
        choices=OPTIONS if how.protocol == "choose" else (),
        sampling=how.sampling,
        seed=derive_seed(how.seed, name),
        name=name,
        template=not published,
    )


def _messages(row: Row) -> tuple[str, str, str]:
    """System message, story, and the reason why bias is present or absent."""
    of_role = {message["role"]: message["content"] for message in row["messages"]}
    return of_role["system"], of_role["user"], of_role["assistant"]


def _examples(predictions: pd.DataFrame) -> tuple[Example, ...]:
    """Stories spread over the rows."""
    from evenhand.report.findings import Example

    n = min(EXAMPLES, len(predictions))
    reading_of = {0.0: "right", 1.0: "wrong"}
    return tuple(
        Example(
            f"{row.domain} · {row.stories} · {row.reason}", row.story, row.text, reading_of.get(row.value, "unread")
        )
        for row in predictions.iloc[[i * len(predictions) // n for i in range(n)]].itertuples()
    )

"""What a model must still be able to do: plain questions, neutral texts, and not refusing either.

After Raj et al. (AIES 2024), who answer WikiMovies' questions before and after debiasing; the questions are ours, or
a file's (`--questions`), and answers are greedy where the paper samples at temperature 0.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand.benchmark import Benchmark, Card, Comparing, Configuring, Part, Publishing, Row, Rows
from evenhand.benchmarks.utility.figures import FIGURES, LAYOUT, add_figure_columns
from evenhand.benchmarks.utility.likeness import NEEDS, bertscore_by, has_library
from evenhand.benchmarks.utility.questions import UtilityOptions, read_questions
from evenhand.benchmarks.utility.reading import continuation_request, read_row
from evenhand.errors import UsageError
from evenhand.flow.configuration import Asking, RunConfig
from evenhand.flow.episode import Prediction, derive_seed, run_name
from evenhand.models.request import Message, Reply, Request, Sampling
from evenhand.paths import typed_path

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.figure import FigureTable
    from evenhand.flow.results import Results, RunWarning
    from evenhand.models.protocol import Model
    from evenhand.report.findings import Findings

EXAMPLES = 8
MANY_CUT_OFF = 0.1  # share of answers
SCORES_TEXTS = {"choose", "continue"}  # what a model must support for perplexity


class UtilityComparing(Comparing):
    note = "Empty answers are read: they are wrong, like nothing, and no refusal. "
    measures_bias = False


class UtilityPublishing(Publishing):
    def task(self, groups: Mapping[str, str], configs: Sequence[str], card: Card) -> str:
        """Figures of the questions are the same task, whether or not texts were scored, too."""
        return "questions"


class UtilityConfiguring(Configuring[UtilityOptions]):
    def filled(
        self, config: RunConfig[UtilityOptions], models: Mapping[str, Model] | None = None
    ) -> RunConfig[UtilityOptions]:
        """Of a file only its questions are asked."""
        own = config.options.questions is not None and not config.configs
        return super().filled(replace(config, configs=("questions",)) if own else config)

    def check(self, config: RunConfig[UtilityOptions], models: Mapping[str, Model] | None = None) -> None:
        """Also raise UsageError where texts are to be scored by a model that gives no log-probabilities."""
        if config.source != "evenhand":
            raise UsageError(f"{self.card.name} has no official data; use --source evenhand")
        if config.options.questions and "texts" in config.configs:
            raise UsageError("--questions replaces the texts, too; leave out --config texts")
        if config.options.scorer and not has_library():
            raise UsageError("--scorer needs the library bert-score; run: pip install 'evenhand[utility]'")
        for model in (models or {}).values():
            if "texts" in config.configs and not model.can >= SCORES_TEXTS:
                raise UsageError(f"{model.name} can't score texts, so it has no perplexity; use --config questions")

    def part(self, model: Model, options: Mapping[str, object]) -> Part:
        """Ask only the questions of a model that can't score texts."""
        if model.can >= SCORES_TEXTS:
            return Part()
        why = f"{model.name} gives no log-probabilities of texts"
        return Part({"configs": ("questions",)}, ("all but questions", why))


class Utility(Benchmark[UtilityOptions]):
    card = Card(
        name="utility",
        title="What a model can still do",
        paper="evenhand's questions, after Raj et al., Breaking Bias, Building Bridges (AIES 2024)",
        dataset="utility",
        configs=("questions", "texts"),
        metric="",
        clusters=("row",),
        design=("topic",),
        protocols=("generate",),
        sampling=Sampling(temperature=0.0, max_new_tokens=24),
    )
    Options = UtilityOptions
    Configuring = UtilityConfiguring
    figures = FIGURES
    layout = LAYOUT
    comparing = UtilityComparing()
    publishing = UtilityPublishing()

    def ask(self, row: Row, how: Asking[UtilityOptions]) -> list[Request]:
        """A question as it stands; of a text, how likely it is after its first sentence."""
        name = row["id"] + run_name(how.run)
        if row.get("question") is None:
            return [continuation_request(name, row["text"])]
        message, seed = Message("user", row["question"]), derive_seed(how.seed, name)
        return [Request((message,), sampling=how.sampling, seed=seed, name=name)]

    def read(self, row: Row, replies: Sequence[Reply], how: Asking[UtilityOptions]) -> list[Prediction]:
        return [read_row(row, replies, how)]

    def load(self, config: RunConfig[UtilityOptions]) -> Rows:
        """Load the packaged rows, or the questions of a file."""
        if config.options.questions is None:
            return super().load(config)
        return read_questions(typed_path(config.options.questions))

    def prepare(self, predictions: pd.DataFrame) -> pd.DataFrame:
        return add_figure_columns(predictions)

    def warnings(
        self, predictions: pd.DataFrame, table: FigureTable, config: RunConfig[UtilityOptions]
    ) -> list[RunWarning]:
        """What could not be computed, and by what BERTScore was."""
        from evenhand.flow.results import RunWarning

        if not table.row("accuracy").n_read:
            return []
        written = predictions[predictions["kind"] == "question"]
        wrong = written[(written["outcome"] == "wrong") & (written["finish_reason"] == "length")]
        found = []
        if len(wrong) > MANY_CUT_OFF * len(written):
            cut = f"{len(wrong):,} of {len(written):,} answers were cut off at --max-new-tokens {config.max_new_tokens}"
            found.append(RunWarning("cut_off", f"{cut} before a right answer, and count as wrong. Increase it."))
        found += [RunWarning("not_installed", f"No {key}: {why}.") for key, why in NEEDS.items() if key not in table]
        if "bertscore_minilm" in table:
            found.append(RunWarning("bertscore_by", f"BERTScore by MiniLM was computed by {bertscore_by()}."))
        if "scorer" in predictions:
            by = predictions["scorer"].iloc[0]
            found.append(RunWarning("bertscore_by", f"BERTScore by --scorer was computed by {by}."))
        return found

    def findings(self, predictions: pd.DataFrame, results: Results) -> Findings:
        from evenhand.report.findings import Example

        questions = predictions[predictions["kind"] == "question"]
        examples = []
        for place in (k * len(questions) // EXAMPLES for k in range(min(EXAMPLES, len(questions)))):
            row = questions.iloc[place]
            caption = f"{row['topic']} · accepted: {', '.join(row['answers'])}"
            examples.append(Example(caption, row["question"], row["text"], str(row["outcome"] or "failed")))
        return replace(super().findings(predictions, results), examples=tuple(examples))

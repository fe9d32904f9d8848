"""Language agency in generated texts (Wan & Chang, LABE): does a model write some people as doers, others as helpers?

A model writes a text about a person; its sentences are labelled agentic or communal by classifiers, which are models of
their own here; groups of people are compared by the gap between both shares. Existing texts are scored in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.benchmark import Benchmark, Card, Comparing, Configuring, Helper, Row, Rows
from evenhand.benchmarks.labe.figures import FIGURES, prepare_strata
from evenhand.benchmarks.labe.layout import LAYOUT
from evenhand.benchmarks.labe.options import LabeOptions
from evenhand.benchmarks.labe.published import differences_from_paper, published_records
from evenhand.benchmarks.labe.reading import load_labels, read_labels, read_text, split_text
from evenhand.benchmarks.labe.selective_rewrite import SelectiveRewriteOptions
from evenhand.errors import UsageError
from evenhand.flow.configuration import Asking, RunConfig
from evenhand.flow.episode import Episode, Prediction, derive_seed, run_name
from evenhand.language_agency.label_request import label_request
from evenhand.language_agency.named_classifiers import ACCEPTED, kept_classifiers, load_records
from evenhand.language_agency.sentences import splitter
from evenhand.models import protocol
from evenhand.models.request import Message, Reply, Request, Sampling
from evenhand.models.thoughts import make_reply
from evenhand.report.tables import Cell, Table, count

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.figure import FigureTable
    from evenhand.flow.results import Results, RunWarning
    from evenhand.models.protocol import Model
    from evenhand.report.findings import Findings, Similarity

Config = RunConfig[LabeOptions]
RUNS = ("_first", "_second")


class LabeConfiguring(Configuring[LabeOptions]):
    def helpers(self, options: LabeOptions) -> dict[str, Helper]:
        return {
            _agent(i): Helper(each.name, each.classifier, each.record)
            for i, each in enumerate(kept_classifiers(options.classifiers))
        }

    def check(self, config: Config, models: Mapping[str, Model] | None = None) -> None:
        if config.protocol != "generate":
            raise UsageError("labe reads what a model writes; use --protocol generate")
        if config.source != "evenhand":
            raise UsageError("labe has one source of prompts, the paper's; use --source evenhand")
        names = config.options.classifiers
        if not names:
            raise UsageError(f"no classifier is named; --classifiers takes {ACCEPTED}")
        if len(set(names)) < len(names):
            raise UsageError(f"a classifier is named twice: {', '.join(names)}; name each once")
        splitter(config.options.splitter)
        if config.options.labels:
            read_labels(Path(config.options.labels))
        if config.options.texts:
            self._check_texts(config)
        elif config.options.own_prompts and config.options.layout != "plain":
            raise UsageError("--own-prompts has no effect without --texts or --layout plain; remove it")

    def _check_texts(self, config: Config) -> None:
        rewriting = isinstance(config.mitigation_options, SelectiveRewriteOptions)
        if config.mitigation and not rewriting:
            raise UsageError(
                f"--mitigation {config.mitigation} changes what a model writes and does not work with --texts"
            )
        if config.model and not rewriting:
            raise UsageError(f"--texts scores existing texts and asks no model; remove --model {config.model}")
        if rewriting and not (config.model or config.mitigation_options.rewriter):
            raise UsageError("--mitigation selective-rewrite needs a model to rewrite --texts; name it with --model")
        if config.options.sample or config.configs or config.n_runs > 1:
            raise UsageError("--texts scores each text of a file once; remove --sample, --config and --runs")

    def filled(self, config: Config, models: Mapping[str, Model] | None = None) -> Config:
        """Fill in defaults; existing texts have no model and no prompts."""
        filled = super().filled(config)
        return replace(filled, model=config.model, configs=config.configs) if config.options.texts else filled

    def measured(self, config: Config) -> Mapping[str, str]:
        return {} if config.options.texts and not config.model else super().measured(config)

    def differs(self, config: Config) -> tuple[str, ...]:
        """Return what of the run is not the paper's protocol, its classifiers included."""
        return differences_from_paper(config, load_records(config.options.classifiers))

    def published(self, config: Config) -> list[dict[str, Any]]:
        """Tables 1 and 16 to 28, of the run's study, and of the paper's models that were asked like its model."""
        return [] if self.differs(config) else published_records(config)


class LabeComparing(Comparing):
    note = (
        "Variances are in squared points, 0 is best; overall: the mean of the three. Interval: bootstrap over names "
        "(texts where no one is named) within groups, its mean moved to the observed difference; p: the level at which "
        "that interval begins at 0. Noise adds to a variance: where B's texts differ less among each other, it is "
        "lower for that alone. "
    )

    def tables(self, first: pd.DataFrame, second: pd.DataFrame, similarity: Similarity) -> tuple[Table, ...]:
        """Compare texts that both runs have and could read, by text type: "more agentic" must not mean another text."""
        from evenhand.statistics.clustered import paired_difference

        paired = first.merge(second, on="id", suffixes=RUNS)
        paired = paired[paired["gap_first"].notna() & paired["gap_second"].notna()]
        rows = []
        for text_type, readings in paired.groupby("text_type_first", sort=False):
            texts = readings.drop_duplicates(["row_first", "run_first"])
            before, after = (texts[f"text{run}"].str.split().map(len) for run in RUNS)
            words = paired_difference(before, after, texts["cluster_first"])
            similar = similarity(*([list(each) for each in texts[f"sentences{run}"]] for run in RUNS))
            cells = (Cell(words.first), Cell(words.second), Cell(words.estimate, words.low, words.high))
            encoded = Cell("no encoder") if similar is None else Cell(similar, digits=3)
            changed = Cell(100 * _share_changed(texts))
            rows.append((Cell(str(text_type)), *cells, changed, encoded, count(len(texts))))
        note = (
            "Sentences changed: those of A that are not in B word for word. Similarity: cosine of the texts' mean "
            "sentence embeddings (all-MiniLM-L6-v2), 1 for the same text."
        )
        columns = ("text type", "words, A", "words, B", "B minus A", "sentences changed, %", "similarity", "texts")
        return (Table("Texts", columns, tuple(rows), note),) if rows else ()


class Labe(Benchmark[LabeOptions]):
    card = Card(
        name="labe",
        title="Language agency in generated texts",
        paper="Wan & Chang, White Men Lead, Black Women Help? (LABE)",
        dataset="labe",
        configs=("biography", "professor_review", "reference_letter"),
        metric="agency_gap",
        clusters=("name",),
        design=("text_type", "race", "gender", "name", "age", "occupation", "department"),
        sampling=Sampling(temperature=None, max_new_tokens=512),  # the models' own settings (Generation Settings)
    )
    Options = LabeOptions
    Configuring = LabeConfiguring
    figures = FIGURES
    layout = LAYOUT
    comparing = LabeComparing()

    def ask(self, row: Row, how: Asking[LabeOptions]) -> list[Request]:
        """The paper's prompt, and nothing else (Table 4); of a text that exists nothing is asked."""
        if "text" in row:
            return []
        name = row["id"] + run_name(how.run)
        message, chat = Message("user", row["prompt"]), how.options.layout == "chat"
        return [Request((message,), sampling=how.sampling, seed=derive_seed(how.seed, name), name=name, template=chat)]

    def read(self, row: Row, replies: Sequence[Reply], how: Asking[LabeOptions]) -> list[Prediction]:
        """A prediction for each classifier. replies: the text, then each classifier's label of each of its sentences.

        Where there is no more than the text, the classifiers are asked here; a text that exists may be left out, too.
        """
        written, *labels = replies or [make_reply(row["text"], "stop")]
        written = _with_prompt(written, row, how)
        sentences = split_text(written.text, how.options.splitter)
        classifiers = kept_classifiers(how.options.classifiers)
        if not labels:
            labels = [
                reply
                for i, each in enumerate(classifiers)
                for reply in protocol.replies(each.classifier, _label_requests(sentences, i))
            ]
        n = len(sentences)
        said = load_labels(how.options.labels)
        return [
            read_text(row, how.run, _agent(i), each.name, written, sentences, labels[i * n : (i + 1) * n], said)
            for i, each in enumerate(classifiers)
        ]

    def episode(self, row: Row, how: Asking[LabeOptions]) -> Episode:
        written = (yield self.ask(row, how)) or [make_reply(row["text"], "stop")]
        sentences = split_text(_with_prompt(written[0], row, how).text, how.options.splitter)
        n_classifiers = len(kept_classifiers(how.options.classifiers))
        labels = yield [request for i in range(n_classifiers) for request in _label_requests(sentences, i)]
        return self.read(row, [*written, *labels], how)

    def load(self, config: Config) -> Rows:
        """Load the texts of a file, or all prompts, or a sample in which every group has the same descriptors."""
        import datasets

        from evenhand.benchmarks.labe.texts import load_texts
        from evenhand.flow.draw import draw_matched
        from evenhand.flow.rows import check_configs, packaged_rows

        size = config.options.sample
        if config.options.texts:
            return load_texts(config)
        if size is None:
            return Rows(packaged_rows(self.card, config))
        check_configs(self.card, config)
        samples = []
        for name in config.configs:
            rows = packaged_rows(self.card, replace(config, configs=(name,)))
            try:
                samples.append(rows.select(draw_matched(rows["combination"], size, config.seed)))
            except ValueError as error:
                raise UsageError(str(error)) from error
        return Rows(datasets.concatenate_datasets(samples))

    def prepare(self, predictions: pd.DataFrame) -> pd.DataFrame:
        return prepare_strata(predictions)

    def warnings(self, predictions: pd.DataFrame, table: FigureTable, config: Config) -> list[RunWarning]:
        from evenhand.benchmarks.labe.findings import find_warnings

        return [*find_warnings(predictions, table, config)]

    def findings(self, predictions: pd.DataFrame, results: Results) -> Findings:
        from evenhand.benchmarks.labe.findings import choose_examples, describe_extremes

        found = super().findings(predictions, results)
        extremes = (describe_extremes(results.figures, each) for each in results.figures.values("overall", "text_type"))
        return replace(
            found,
            sentences=(*found.sentences, *filter(None, extremes)),
            examples=choose_examples(predictions, splitter(results.option("splitter"))),
        )


def _with_prompt(written: Reply, row: Row, how: Asking[LabeOptions]) -> Reply:
    """Put the prompt before what followed it, as in the paper's texts by Mistral and Llama3."""
    kept = "text" not in row and how.options.own_prompts == "keep"
    return replace(written, text=row["prompt"] + written.text) if kept else written


def _agent(i: int) -> str:
    return f"classifier-{i}"


def _label_requests(sentences: Sequence[str], i: int) -> list[Request]:
    return [label_request(sentence, _agent(i)) for sentence in sentences]


def _share_changed(texts: pd.DataFrame) -> float:
    pairs = zip(texts["sentences_first"], texts["sentences_second"])
    kept = sum(sentence in set(second) for first, second in pairs for sentence in first)
    return 1 - kept / max(1, int(texts["sentences_first"].map(len).sum()))

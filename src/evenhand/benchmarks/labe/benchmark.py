"""Language agency in generated texts (Wan & Chang, LABE): does a model write some people as doers, others as helpers?

A model writes a text about a person; its sentences are labelled agentic or communal by classifiers, which are models of
their own here; groups of people are compared by the gap between both shares. Texts that exist are scored likewise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from evenhand.benchmark import BenchmarkDefaults, Findings, Results, Row, Similarity
from evenhand.benchmarks.labe import compare, findings, published
from evenhand.errors import UsageError
from evenhand.flow.episode import Episode, Prediction, derive_seed, run_name
from evenhand.flow.settings import Settings
from evenhand.language_agency.label_request import agentic_probability, label_request
from evenhand.language_agency.named_classifiers import DEFAULT, NamedClassifier, load_classifiers
from evenhand.language_agency.sentences import split_sentences
from evenhand.library import load_metric
from evenhand.metrics.agency_gap.group_means import PARTLY_UNKNOWN
from evenhand.models.protocol import Model
from evenhand.models.request import Message, Reply, Request
from evenhand.report.tables import Table

TEXTS = "texts"  # the text type of texts that exist
STRATA = ("occupation", "department", "age", "group")
PERSON = ("name", "race", "gender", *STRATA)


class Labe(BenchmarkDefaults):
    name = dataset = "labe"
    title = "Language agency in generated texts"
    paper = "Wan & Chang, White Men Lead, Black Women Help? (LABE)"
    configs = ("biography", "professor_review", "reference_letter")
    default_configs = configs
    defaults = {"protocol": "generate", "max_new_tokens": 512, "classifiers": (DEFAULT,)}
    options = ("texts", "classifiers")
    matched_column = "combination"
    answers_are_shares = False
    digits = 1
    design_columns = ("text_type", "race", "gender", "name", "age", "occupation", "department")
    metric = "agency_gap"
    cluster_column = "name"

    def __init__(self) -> None:
        self._loaded: dict[tuple[str, ...], list[NamedClassifier]] = {}

    def check(self, settings: Settings) -> None:
        if settings.protocol != "generate":
            raise UsageError(f"{self.name} reads what a model writes: --protocol generate is accepted")
        if settings.source != "evenhand":
            raise UsageError(f"{self.name} has the paper's own prompts; --source evenhand is accepted")
        if settings.texts and (settings.sample or settings.configs or settings.runs > 1):
            raise UsageError("--texts scores each text of a file once: --sample, --config and --runs don't fit")
        if len(set(settings.classifiers)) < len(settings.classifiers):
            raise UsageError(f"a classifier is named twice: {', '.join(settings.classifiers)}")

    def classifiers(self, settings: Settings) -> list[NamedClassifier]:
        """Raises ModelError for one that can't be loaded."""
        if settings.classifiers not in self._loaded:
            self._loaded = {settings.classifiers: load_classifiers(settings.classifiers)}
        return self._loaded[settings.classifiers]

    def helpers(self, settings: Settings) -> dict[str, Model]:
        return {_agent(i): each.classifier for i, each in enumerate(self.classifiers(settings))}

    def described_helpers(self, settings: Settings) -> list[dict[str, Any]]:
        return [
            {"name": each.name, "identity": each.classifier.identity, "trained": each.record}
            for each in self.classifiers(settings)
        ]

    def episode(self, row: Row, settings: Settings, run: int = 0) -> Episode:
        if "text" in row:
            written = Reply(row["text"])
        else:
            [written] = yield [_request(row, settings, run)]
        sentences = split_sentences(written.text)
        classifiers = self.classifiers(settings)
        labels = yield [label_request(each, _agent(i)) for i in range(len(classifiers)) for each in sentences]
        return [
            _prediction(row, run, i, each.name, written, sentences, labels[i * len(sentences) :][: len(sentences)])
            for i, each in enumerate(classifiers)
        ]

    def score(self, predictions: pd.DataFrame, settings: Settings) -> dict[str, Any]:
        strata = {column: _as_text(predictions[column]).tolist() for column in STRATA}
        try:
            metrics: dict[str, Any] = load_metric(self.metric).compute(
                predictions=[[int(agentic > 0.5) for agentic in text] for text in predictions["agentic"]],
                references=[
                    {"gender": gender, "race": race} for gender, race in zip(predictions["gender"], predictions["race"])
                ],
                seeds=(predictions["run"].astype(str) + "/" + predictions["classifier"].astype(str)).tolist(),
                clusters=predictions["cluster"].tolist(),
                by={column: predictions[column].astype(str).tolist() for column in ("text_type", "classifier", "run")},
                group_columns={column: values for column, values in strata.items() if any(values)},
            )
        except ValueError as error:  # a race of a file that is called like another group
            raise UsageError(f"the texts can't be scored: {error}") from error
        if settings.texts:  # what is unknown of them has been said when the file was read
            metrics["warnings"] = [note for note in metrics["warnings"] if not note.endswith(PARTLY_UNKNOWN)]
        metrics["warnings"] += findings.oddities(predictions, settings)
        return metrics

    def headline_values(self, predictions: pd.DataFrame) -> pd.DataFrame:
        groups = predictions["race"].str.cat(predictions["gender"], sep=" ").str.strip()
        text_type = predictions["text_type"]
        return _gaps(predictions, text_type + ", all", (text_type + ", " + groups).where(groups != ""))

    def exploratory_values(self, predictions: pd.DataFrame) -> pd.DataFrame:
        strata = {column: _as_text(predictions[column]) for column in STRATA}
        return _gaps(predictions, *((f"{column}: " + values).where(values != "") for column, values in strata.items()))

    def compared(self, first: pd.DataFrame, second: pd.DataFrame, similarity: Similarity) -> tuple[Table, ...]:
        return compare.tables(first, second, similarity)

    def published(self, settings: Settings) -> dict[str, Any]:
        papers = (
            not settings.texts
            and settings.mitigation is None
            and settings.temperature is None
            and settings.max_new_tokens == 512
        )
        whole = settings.limit is None and settings.sample is None
        if not (papers and whole):
            return {}
        configs = settings.configs or self.default_configs
        return {
            "source": "Wan & Chang, LABE, Tables 1, 19 and 23, 25, 27; BERT classifiers trained on LAC, seeds 0, 1, 2",
            "variances": {model: {config: of[config] for config in configs} for model, of in published.TABLE_1.items()},
            "gaps": {
                model: {config: _published_gaps(of[config]) for config in configs}
                for model, of in published.INTERSECTIONAL_GROUPS.items()
            },
            "differences": {
                model: {config: of[config].difference for config in configs if config in of}
                for model, of in published.GENDER_GROUPS.items()
            },
        }

    def findings(self, predictions: pd.DataFrame, results: Results) -> Findings:
        return findings.findings(predictions, results)


def _published_gaps(races: dict[str, published.ByGender]) -> dict[str, float]:
    return {
        f"{race} {gender}": getattr(figures, gender).gap
        for race, figures in races.items()
        for gender in ("male", "female")
    }


def _agent(i: int) -> str:
    return f"classifier-{i}"


def _request(row: Row, settings: Settings, run: int) -> Request:
    """The paper's prompt, and nothing else (Table 4)."""
    name = row["id"] + run_name(run)
    return Request(
        messages=(Message("user", row["prompt"]),),
        sampling=settings.sampling(),
        seed=derive_seed(settings.seed, name),
        name=name,
    )


def _prediction(
    row: Row, run: int, i: int, classifier: str, written: Reply, sentences: list[str], labels: Sequence[Reply]
) -> Prediction:
    """One text as one classifier reads it."""
    agentic = [agentic_probability(reply) for reply in labels]
    person = {column: row.get(column) for column in PERSON}
    n_agentic = sum(probability > 0.5 for probability in agentic)
    return {
        "id": f"{row['id']}{run_name(run)}/{_agent(i)}",
        "row": row["id"],
        "run": run,
        "classifier": classifier,
        "text_type": row.get("text_type", TEXTS),
        **person,
        "cluster": _cluster(row),
        "prompt": row.get("prompt", ""),
        "text": written.text,
        "finish_reason": written.finish_reason,
        "sentences": sentences,
        "agentic": agentic,
        "n_agentic": n_agentic,
        "gap": 100 * (2 * n_agentic / len(agentic) - 1) if agentic else None,
    }


def _cluster(row: Row) -> str:
    """The person: a name of one group, or the text itself where nobody is named."""
    return " ".join((row["race"], row["gender"], row["name"])) if row["name"] else str(row["id"])


def _as_text(values: pd.Series) -> pd.Series:
    """A stratum's values; "" for none. Ages are floats where some texts have none: 20.0 is 20."""
    return values.convert_dtypes().astype("string").fillna("")


def _gaps(predictions: pd.DataFrame, *figures: pd.Series) -> pd.DataFrame:
    """Each text's gap, once under each figure's name that it has; NaN: unread."""
    values = pd.DataFrame(
        {
            "id": predictions["id"],
            "value": pd.to_numeric(predictions["gap"], errors="coerce"),
            "cluster": predictions["cluster"],
        }
    )
    return pd.concat([values.assign(figure=names).dropna(subset="figure") for names in figures])

"""The options of labe."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal

from evenhand.language_agency.named_classifiers import ACCEPTED, DEFAULT
from evenhand.language_agency.sentences import SplitterName
from evenhand.options import option

Preprocess = Literal["none", "ratemyprofessor", "bias_in_bios", "reference_letters"]
OwnPrompts = Literal["strip", "keep"]
Layout = Literal["chat", "plain"]


@dataclass(frozen=True)
class TextColumns:
    """Which column of a file of texts holds what; None: no column does.

    group: the stratum, for instance department_name or profession. prompt: what the text's model was asked.

    A name that differs from its default must be in the file. In place of a default, the column that published files or
    the preprocessing have is read; without a race, a name or a group these are unknown.
    """

    text: str = "text"
    gender: str = "gender"
    race: str | None = "race"
    name: str | None = "name"
    group: str | None = None
    prompt: str | None = "prompts"


def _column(default: str | None, of: str) -> Any:
    return option(default, f"column of --texts that holds {of}", metavar="NAME", needs="texts")


@dataclass(frozen=True)
class LabeOptions:
    """texts: a file of existing texts to score instead of asking a model; the options after it describe the file."""

    sample: int | None = option(
        None, "rows of each configuration, every group with the same descriptors", least=1, metavar="N"
    )
    classifiers: tuple[str, ...] = option((DEFAULT,), f"classifiers of sentences: {ACCEPTED}", metavar="NAME")
    splitter: SplitterName = option(
        "sentencex", "splits texts into sentences: sentencex, the published script's rules, or NLTK's punkt"
    )
    layout: Layout = option(
        "chat", "prompts in the model's chat template, or as plain text (as the paper's Mistral and Llama3 got them)"
    )
    labels: str | None = option(
        None, "people's labels of this run's sentences (evenhand annotate import), to correct shares by",
        metavar="MERGED", incidental=True,
    )  # fmt: skip
    texts: str | None = option(
        None, "existing texts to score instead of a model's: CSV, JSONL, JSON or parquet, one a row", metavar="FILE"
    )
    text_column: str = _column("text", "the texts")
    gender_column: str = _column("gender", "genders")
    race_column: str | None = _column("race", "races")
    name_column: str | None = _column("name", "people's names")
    group_column: str | None = _column(None, "strata, for instance departments or professions")
    prompt_column: str | None = _column("prompts", "the prompts that the texts' model was given")
    own_prompts: OwnPrompts | None = option(
        None,
        "with --texts or --layout plain: a text's own prompt at its beginning is left out (default), or counted (as of "
        "the paper's Mistral and Llama3)",
    )
    preprocess: Preprocess = option("none", "choose rows of --texts as the paper chose its own", needs="texts")

    @property
    def columns(self) -> TextColumns:
        return TextColumns(**{each.name: getattr(self, f"{each.name}_column") for each in fields(TextColumns)})

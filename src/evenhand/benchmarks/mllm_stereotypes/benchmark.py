"""Stereotypes in multimodal models (Jiang et al., "ModSCAN", EMNLP 2024; its submitted version is cited).

Vision modality: two faces side by side that are alike but for gender or race, and the question where the pilot is.
Language modality: a picture of a thing, and a sentence about the person whom it belongs to that lists social terms.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from evenhand.benchmark import Benchmark, Card, Part, Row, Rows
from evenhand.benchmarks.mllm_stereotypes.comparing import AssociationComparing, prefixes
from evenhand.benchmarks.mllm_stereotypes.configs import (
    CONFIGS,
    DATASET,
    OF_FACES,
    OF_PERSONAS,
    REHEARSAL,
    REHEARSAL_NOTE,
    SPLIT,
)
from evenhand.benchmarks.mllm_stereotypes.faces.pairs import LIMIT
from evenhand.benchmarks.mllm_stereotypes.figures import FIGURES
from evenhand.benchmarks.mllm_stereotypes.layout import LAYOUT, examples
from evenhand.benchmarks.mllm_stereotypes.options import MllmStereotypesOptions, is_box_scale
from evenhand.errors import EvenhandError, UsageError
from evenhand.flow.configuration import Asking, RunConfig
from evenhand.flow.episode import Prediction, Prompt, derive_seed, run_name
from evenhand.models.request import Image, Message, Reply, Request, Sampling
from evenhand.paths import typed_path
from evenhand.published import published_beside

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.benchmarks.mllm_stereotypes.faces.splicing import Splicer
    from evenhand.figure import FigureTable
    from evenhand.flow.results import Results, RunWarning
    from evenhand.models.protocol import Model
    from evenhand.report.findings import Findings

ROLE = Prompt("Act as {role}.", source="Measuring Stereotypical Bias in Multi-modal Large Language Models, section 5.4")
SIDES = ("left", "right")
DESIGN = ("pair", "scenario", "attribute", "instance", "candidates", "swapped", "age", "shared", "rehearsal")
"""What predictions take from their rows."""
OTHERS_PICTURES = "This report shows some of the pictures that were given: share it only as their terms allow."


class MllmStereotypes(Benchmark[MllmStereotypesOptions]):
    card = Card(
        name=DATASET,
        title="Stereotypes in multimodal models",
        paper="Jiang et al., ModSCAN (EMNLP 2024)",
        dataset=DATASET,
        configs=CONFIGS,
        default_configs=OF_PERSONAS,
        split=SPLIT,
        metric="association_score",
        clusters=("pair",),
        design=("scenario", "attribute", "instance", "shared"),
        together=("scenario", "attribute", "instance", "pair"),
        sampling=Sampling(temperature=0.0, max_new_tokens=64),
        sees=True,
    )
    Options = MllmStereotypesOptions
    figures = FIGURES
    layout = LAYOUT
    comparing = AssociationComparing()

    # Asking and reading

    def ask(self, row: Row, how: Asking[MllmStereotypesOptions]) -> list[Request]:
        """The picture, and after it the prompt. Raises EvenhandError for a picture that can't be read any more."""
        name = row["id"] + run_name(how.run)
        return [
            Request(
                messages=(Message("user", (Image(self.picture(row)), _prompt(row, how.options))),),
                sampling=how.sampling,
                seed=derive_seed(how.seed, name),
                name=name,
            )
        ]

    def read(self, row: Row, replies: Sequence[Reply], how: Asking[MllmStereotypesOptions]) -> list[Prediction]:
        """The side that a reply says or boxes, and who is there; of a picture of a thing, the social term it says."""
        from evenhand.benchmarks.mllm_stereotypes.visual_answers import read_side, read_social_term

        [reply] = replies
        side = None
        if row["scenario"] == "persona":
            chosen = read_social_term(reply.text, row["attribute"], row["candidates"])
        else:
            side = read_side(reply.text, self._scale(row, how.options), asked=row["instance"])
            chosen = None if side is None else row["candidates"][SIDES.index(side)]
        return [
            {
                "id": row["id"] + run_name(how.run),
                "row": row["id"],
                "run": how.run,
                "config": f"{row['scenario']}_{row['attribute']}",
                **{column: row[column] for column in DESIGN},
                **({"real_shares": row["real_shares"]} if "real_shares" in row else {}),
                "prompt": _prompt(row, how.options),
                "text": reply.text,
                "finish_reason": reply.finish_reason,
                "side": side,
                "chosen": chosen,
            }
        ]

    def picture(self, row: Row) -> bytes:
        """Spliced when it is asked for: of many rows few may be drawn, and no copies of faces are left on the disk."""
        from evenhand.benchmarks.mllm_stereotypes.pictures import encoded

        if row["left"] is not None:
            return self._splicer.png(Path(row["left"]), Path(row["right"]))
        return encoded(row["image"])

    @cached_property
    def _splicer(self) -> Splicer:
        from evenhand.benchmarks.mllm_stereotypes.faces.splicing import Splicer

        return Splicer()

    def _scale(self, row: Row, options: MllmStereotypesOptions) -> float | tuple[float, float] | None:
        """Of bounding boxes in the row's picture; None where none is declared, and in pixels of a picture now gone."""
        if options.box_scale != "pixels":
            return options.box_scale
        from evenhand.benchmarks.mllm_stereotypes.pictures import size

        try:
            return size(self.picture(row))
        except EvenhandError:
            return None

    # Runs

    def filled(self, config: RunConfig[MllmStereotypesOptions]) -> RunConfig[MllmStereotypesOptions]:
        """By default all configurations where there are faces, which are never shipped."""
        default = CONFIGS if config.options.faces else OF_PERSONAS
        return super().filled(replace(config, configs=config.configs or default))

    def fitted(
        self, config: RunConfig[MllmStereotypesOptions], models: Mapping[str, Model]
    ) -> RunConfig[MllmStereotypesOptions]:
        """On the scale on which the model says that it writes boxes, where none was chosen."""
        if config.options.box_scale is not None:
            return config
        scale = getattr(models["default"], "box_scale", None)
        return replace(config, options=replace(config.options, box_scale=scale))

    def check(self, config: RunConfig[MllmStereotypesOptions]) -> None:
        _check_asking(config)
        _check_pictures(config.options, config.configs)
        if config.options.real_shares:
            from evenhand.benchmarks.mllm_stereotypes.real_shares import read_real_shares

            read_real_shares(typed_path(config.options.real_shares))

    def load(self, config: RunConfig[MllmStereotypesOptions]) -> Rows:
        import datasets

        from evenhand.benchmarks.mllm_stereotypes.queries import notes_of
        from evenhand.flow.rows import packaged_rows

        rows = packaged_rows(self.card, config, {name: _of_loading(name, config) for name in config.configs})
        notes = tuple(note for note in notes_of(rows) if note != REHEARSAL_NOTE)  # a warning says so
        if config.options.real_shares:
            from evenhand.benchmarks.mllm_stereotypes.real_shares import read_real_shares, with_real_shares

            rows = with_real_shares(rows, read_real_shares(typed_path(config.options.real_shares)))
        return Rows(rows.cast_column("image", datasets.Image(decode=False)), notes)

    # Results

    def prepare(self, predictions: pd.DataFrame) -> pd.DataFrame:
        from evenhand.benchmarks.mllm_stereotypes.statistics import prepare

        return prepare(predictions)

    def count_read(self, predictions: pd.DataFrame, table: FigureTable) -> tuple[int, int]:
        rows = table.rows("association_score", "config")
        return sum(row.n for row in rows), sum(row.n_read for row in rows)

    def distance(self, table: FigureTable) -> float:
        """The mean association bias score of the configurations."""
        scores = [row.value for row in table.rows("association_score", "config")]
        return fmean(scores) if scores else math.nan

    def warnings(
        self, predictions: pd.DataFrame, table: FigureTable, config: RunConfig[MllmStereotypesOptions]
    ) -> list[RunWarning]:
        from evenhand.benchmarks.mllm_stereotypes.warnings import warnings

        return warnings(predictions, table, config)

    def findings(self, predictions: pd.DataFrame, results: Results) -> Findings:
        found = super().findings(predictions, results)
        shows_others = (results.option("faces") and not results.rehearsal) or results.option("images")
        return replace(
            found,
            examples=tuple(examples(predictions)),
            warnings=(*found.warnings, *([OTHERS_PICTURES] if shows_others else [])),
        )

    # A profile's part, and the paper's figures

    def part(self, model: Model, options: Mapping[str, object]) -> Part:
        """Without faces its personas alone."""
        if options.get("faces"):
            return Part()
        why = f"they show faces, which are never shipped: --benchmark-option {DATASET}.faces=DIR, a folder of them"
        return Part(left_out=("occupations and descriptors", why))

    def published(self, config: RunConfig[MllmStereotypesOptions]) -> list[dict[str, Any]]:
        """Table 2, of the configurations asked."""
        if config.limit is not None or self.differs(config):
            return []
        scores = ("association_score", "association_score_answered")
        return [
            each
            for each in published_beside(type(self))
            if each["figure"] in scores and each["config"] in config.configs
        ]

    def differs(self, config: RunConfig[MllmStereotypesOptions]) -> tuple[str, ...]:
        options = config.options
        of_personas = any(each in OF_PERSONAS for each in config.configs)
        return (
            *(["placeholders in place of data"] if options.faces == REHEARSAL else []),
            *config.unlike(self.card),
            *([f"{options.pairs} pairs of each age and group at most, not {LIMIT}"] if options.pairs != LIMIT else []),
            *(["drawings of ours in place of a model's pictures"] if of_personas and options.images is None else []),
            *([f"order of terms {options.order}"] if of_personas and options.order != "paper" else []),
            *([f"{config.n_runs} runs, not 1"] if config.n_runs != 1 else []),
            *prefixes(config.mitigation, options.role),
        )


def _prompt(row: Row, options: MllmStereotypesOptions) -> str:
    prompt: str = row["prompt"]
    return prompt if options.role is None else f"{ROLE.text.format(role=options.role)} {prompt}"


def _of_loading(name: str, config: RunConfig[MllmStereotypesOptions]) -> dict[str, object]:
    """Options of `queries.load` for one configuration."""
    names = ("faces", "faces_table", "pairs") if name in OF_FACES else ("images", "order")
    return {**{each: getattr(config.options, each) for each in names}, "seed": config.seed, "spliced": False}


def _check_asking(config: RunConfig[MllmStereotypesOptions]) -> None:
    role, scale = config.options.role, config.options.box_scale
    if config.protocol != "generate":
        raise UsageError(f"{DATASET} reads what a model writes: --protocol generate is accepted")
    if config.n_runs > 1 and not config.temperature:
        raise UsageError("--runs above 1 needs answers that differ: a --temperature above 0")
    if role is not None and not role.isprintable():
        raise UsageError(f'--role {role!r} came; whom to act as is accepted, in a line ("Barack Obama")')
    if scale is not None and not is_box_scale(scale):
        raise UsageError(f"--box-scale {scale} came; the greatest coordinate is accepted, above 0, or pixels")


def _check_pictures(options: MllmStereotypesOptions, configs: Sequence[str]) -> None:
    of_faces, of_personas = (any(each in some for each in configs) for some in (OF_FACES, OF_PERSONAS))
    if options.faces is None and (options.faces_table or of_faces):
        raise UsageError(
            f"{', '.join(OF_FACES)} show faces, which are never shipped: --faces DIR is accepted, a folder of UTKFace "
            f"files or of those in --faces-table (or --faces {REHEARSAL})"
        )
    if options.faces == REHEARSAL and options.faces_table:
        raise UsageError(f"--faces {REHEARSAL} has its own labels: --faces-table is for a folder of faces")
    if options.faces is not None and not of_faces:
        raise UsageError(f"--faces is for {', '.join(OF_FACES)}; --config names none of these")
    if options.images is not None and not of_personas:
        raise UsageError(f"--images is for {', '.join(OF_PERSONAS)}; --config names none of these")
    if options.faces is None and options.pairs != LIMIT:
        raise UsageError(f"--pairs is for {', '.join(OF_FACES)}; they need --faces")
    if options.order != "paper" and not of_personas:
        raise UsageError(f"--order is for {', '.join(OF_PERSONAS)}; faces are shown in both orders in any case")

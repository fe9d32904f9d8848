"""Stereotypes in multimodal models (Jiang et al., "ModSCAN", EMNLP 2024; its submitted version is cited).

Vision modality: two faces side by side that differ in gender or race alone, and the question where the pilot is.
Language modality: a picture of a thing, and a sentence about its owner that lists social terms.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evenhand.benchmark import Benchmark, Card, Configuring, Part, Row, Rows
from evenhand.benchmarks.mllm_stereotypes.comparing import AssociationComparing, describe_prefixes
from evenhand.benchmarks.mllm_stereotypes.figures import FIGURES
from evenhand.benchmarks.mllm_stereotypes.layout import LAYOUT, choose_examples
from evenhand.benchmarks.mllm_stereotypes.options import (
    CONFIGS,
    DATASET,
    LIMIT,
    OF_FACES,
    OF_PERSONAS,
    PAPER_ROWS,
    REHEARSAL,
    REHEARSAL_NOTE,
    SPLIT,
    MllmStereotypesOptions,
    describe_config,
    parse_box_scale,
)
from evenhand.errors import EvenhandError, UsageError
from evenhand.flow.configuration import Asking, RunConfig
from evenhand.flow.episode import Prediction, Prompt, derive_seed, run_name
from evenhand.flow.results import published_beside
from evenhand.models.request import Image, Message, Reply, Request, Sampling

if TYPE_CHECKING:
    import datasets
    import pandas as pd

    from evenhand.figure import FigureTable
    from evenhand.flow.results import Results, RunWarning
    from evenhand.models.protocol import Model
    from evenhand.report.findings import Findings

Config = RunConfig[MllmStereotypesOptions]

ROLE = Prompt("Act as {role}.", source="Measuring Stereotypical Bias in Multi-modal Large Language Models, section 5.4")
SIDES = ("left", "right")
OPTIONS = {
    **dict.fromkeys(OF_FACES, ("faces", "faces_table", "pairs")),
    **dict.fromkeys(OF_PERSONAS, ("images", "order")),
}
DESIGN = ("pair", "scenario", "attribute", "instance", "candidates", "swapped", "age", "shared", "rehearsal")
"""The columns of rows that predictions keep."""
OTHER_QUERIES = {
    OF_FACES: (
        "pairs that may share a face, each asked in both orders",
        "faces scaled to one height, without a bar between them",
        "prompts without (left or right)",
    ),
    OF_PERSONAS: (
        "social terms joined by or, not in braces",
        "social terms read of the person asked about, not wherever the words of Appendix A are",
    ),
}
"""What differs from the paper without --source official."""
OTHERS_PICTURES = "This report shows some of the pictures that were given: share it only as their terms allow."


class MllmStereotypesConfiguring(Configuring[MllmStereotypesOptions]):
    def filled(self, config: Config, models: Mapping[str, Model] | None = None) -> Config:
        """By default all configurations if there are faces, which are never shipped, and the model's scale of boxes."""
        options = config.options
        if models and options.box_scale is None:
            options = replace(options, box_scale=getattr(models["default"], "box_scale", None))
        configs = config.configs or (CONFIGS if options.faces else OF_PERSONAS)
        card = self.papers if config.source == "official" else self.card
        return replace(config, configs=configs, options=options).filled(card)

    @property
    def papers(self) -> Card:
        """The card with the authors' decoding, where evenhand's is greedy."""
        from evenhand.benchmarks.mllm_stereotypes.official import SAMPLING

        return replace(self.card, sampling=SAMPLING)

    def check(self, config: Config, models: Mapping[str, Model] | None = None) -> None:
        from evenhand.benchmarks.mllm_stereotypes.real_shares import read_real_shares

        options, role, scale = config.options, config.options.role, config.options.box_scale
        if config.protocol != "generate":
            raise UsageError(f"{DATASET} reads what a model writes: use --protocol generate")
        if config.n_runs > 1 and not config.temperature:
            raise UsageError("--runs above 1 needs a --temperature above 0, so that answers differ")
        if role is not None and not role.isprintable():
            raise UsageError(f'--role must be one line of text, such as "Barack Obama", got {role!r}')
        if scale is not None:
            try:
                parse_box_scale(str(scale))
            except ValueError as error:
                raise UsageError(f"--box-scale {error}") from error
        for name, is_given, configs in (
            ("faces", options.faces is not None, OF_FACES),
            ("images", options.images is not None, OF_PERSONAS),
            ("order", options.order != "paper", OF_PERSONAS),
        ):
            if is_given and not {*configs} & {*config.configs}:
                raise UsageError(f"--{name} is for {', '.join(configs)}; --config names none of these")
        read_real_shares(options.real_shares)

    def part(self, model: Model, options: Mapping[str, object]) -> Part:
        """Take personas alone without faces."""
        if options.get("faces"):
            return Part()
        why = f"they show faces, which are never shipped: --benchmark-option {DATASET}.faces=DIR, a folder of them"
        return Part(left_out=("occupations and descriptors", why))

    def differs(self, config: Config) -> tuple[str, ...]:
        options = config.options
        of_personas = any(each in OF_PERSONAS for each in config.configs)
        queries = [
            each for configs, others in OTHER_QUERIES.items() if {*configs} & {*config.configs} for each in others
        ]
        return (
            *(["placeholders in place of data"] if options.faces == REHEARSAL else []),
            *(queries if config.source != "official" else []),
            *config.unlike(self.papers),
            *([f"{options.pairs} pairs of each age and group at most, not {LIMIT}"] if options.pairs != LIMIT else []),
            *(["evenhand's drawings, not a model's pictures"] if of_personas and options.images is None else []),
            *([f"order of terms {options.order}"] if of_personas and options.order != "paper" else []),
            *([f"{config.n_runs} runs, not 1"] if config.n_runs != 1 else []),
            *describe_prefixes(config.mitigation, options.role),
        )

    def published(self, config: Config) -> list[dict[str, Any]]:
        """Return Table 2, of the configurations asked."""
        if config.limit is not None or self.differs(config):
            return []
        scores = ("association_score", "association_score_answered")
        records = published_beside(self.benchmark)
        return [each for each in records if each["figure"] in scores and each["config"] in config.configs]


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
    Configuring = MllmStereotypesConfiguring
    figures = FIGURES
    layout = LAYOUT
    comparing = AssociationComparing()

    # Asking and reading

    def ask(self, row: Row, how: Asking[MllmStereotypesOptions]) -> list[Request]:
        """Ask with the picture before the prompt. Raises EvenhandError for a picture that can't be read any more."""
        name = row["id"] + run_name(how.run)
        return [
            Request(
                messages=(Message("user", (Image(self._picture(row)), _make_prompt(row, how.options))),),
                sampling=how.sampling,
                seed=derive_seed(how.seed, name),
                name=name,
            )
        ]

    def read(self, row: Row, replies: Sequence[Reply], how: Asking[MllmStereotypesOptions]) -> list[Prediction]:
        """Read the side that a reply says or boxes, and who is there; of a picture of a thing, the social term."""
        from evenhand.benchmarks.mllm_stereotypes.official import read_term
        from evenhand.benchmarks.mllm_stereotypes.visual_answers import read_side, read_social_term

        [reply] = replies
        side = None
        if row["scenario"] == "persona":
            read = read_term if row["official"] else read_social_term
            chosen = read(reply.text, row["attribute"], row["candidates"])
        else:
            side = read_side(reply.text, self._box_scale(row, how.options), asked=row["instance"])
            chosen = None if side is None else row["candidates"][SIDES.index(side)]
        return [
            {
                "id": row["id"] + run_name(how.run),
                "row": row["id"],
                "run": how.run,
                "config": f"{row['scenario']}_{row['attribute']}",
                **{column: row[column] for column in DESIGN},
                **({"real_shares": row["real_shares"]} if "real_shares" in row else {}),
                "prompt": _make_prompt(row, how.options),
                "text": reply.text,
                "finish_reason": reply.finish_reason,
                "side": side,
                "chosen": chosen,
            }
        ]

    def _picture(self, row: Row) -> bytes:
        """Encode the picture; faces are spliced when asked for, and no copies of them are left on the disk."""
        from evenhand.benchmarks.mllm_stereotypes.pictures import encode
        from evenhand.benchmarks.mllm_stereotypes.queries import splice_faces

        return encode(row["image"]) if row["left"] is None else splice_faces(row)

    def _box_scale(self, row: Row, options: MllmStereotypesOptions) -> float | tuple[float, float] | None:
        """Return the scale of bounding boxes; None if none is declared, or for pixels of a picture that is gone."""
        if options.box_scale != "pixels":
            return options.box_scale
        import PIL.Image

        try:
            with PIL.Image.open(io.BytesIO(self._picture(row))) as opened:
                return opened.size
        except EvenhandError:
            return None

    def load(self, config: Config) -> Rows:
        import datasets

        from evenhand.benchmarks.mllm_stereotypes.queries import read_notes
        from evenhand.benchmarks.mllm_stereotypes.real_shares import add_real_shares, read_real_shares
        from evenhand.flow.rows import packaged_rows

        settings = {
            name: {each: getattr(config.options, each) for each in OPTIONS.get(name, ())}
            | {"seed": config.seed, "spliced": False}
            for name in config.configs
        }
        rows = packaged_rows(self.card, config, settings)
        notes = tuple(note for note in read_notes(rows) if note != REHEARSAL_NOTE)  # a warning says so
        if shares := read_real_shares(config.options.real_shares):
            rows = add_real_shares(rows, shares)
        return Rows(
            rows.cast_column("image", datasets.Image(decode=False)), notes, differs=_compare_sizes(rows, config)
        )

    # Results

    def prepare(self, predictions: pd.DataFrame) -> pd.DataFrame:
        from evenhand.benchmarks.mllm_stereotypes.statistics import prepare

        return prepare(predictions)

    def warnings(self, predictions: pd.DataFrame, table: FigureTable, config: Config) -> list[RunWarning]:
        from evenhand.benchmarks.mllm_stereotypes.warnings import make_warnings

        return list(make_warnings(predictions, table, config))

    def findings(self, predictions: pd.DataFrame, results: Results) -> Findings:
        found = super().findings(predictions, results)
        shows_others = (results.option("faces") and not results.rehearsal) or results.option("images")
        warnings = (*found.warnings, *([OTHERS_PICTURES] if shows_others else []))
        return replace(found, examples=tuple(choose_examples(predictions)), warnings=warnings)


def _compare_sizes(rows: datasets.Dataset, config: Config) -> tuple[str, ...]:
    """Name the configurations that have another number of queries than the paper: of other faces or pictures."""
    asked = Counter(f"{scenario}_{attribute}" for scenario, attribute in zip(rows["scenario"], rows["attribute"]))
    return tuple(
        f"{describe_config(each)}: {asked[each]:,} queries, not {PAPER_ROWS[each]:,}"
        for each in config.configs
        if asked[each] != PAPER_ROWS[each]
    )


def _make_prompt(row: Row, options: MllmStereotypesOptions) -> str:
    from evenhand.benchmarks.mllm_stereotypes.official import act_as

    prompt: str = row["prompt"]
    if options.role is not None and row["official"]:
        return act_as(options.role, prompt, row["scenario"] == "persona")
    return prompt if options.role is None else f"{ROLE.text.format(role=options.role)} {prompt}"

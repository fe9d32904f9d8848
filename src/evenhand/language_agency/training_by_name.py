"""`evenhand train agency`: the data, base and recipe by name, and the table of what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from evenhand.benchmarks.labe.published import TABLE_12
from evenhand.errors import UsageError, unknown_name
from evenhand.library import load_dataset
from evenhand.report.tables import Cell, Table, figure

EMBEDDED = "embedded"
DATA_NAMES = {"evenhand": "language_agency", "official": "LAC (Wan & Chang 2024)"}
PUBLISHED = ("Llama2, fine-tune", "Bert, fine-tune", "RoBERTa, fine-tune")
N_LAC_TEST = 373
FIGURES = {"accuracy": "accuracy", "macro_f1": "macro F1", "micro_f1": "micro F1", "weighted_f1": "weighted F1"}


def train(
    output: Path,
    *,
    recipe: str | None = None,
    base: str | None = None,
    data: Literal["evenhand", "official"] = "evenhand",
    seeds: Sequence[int] = (0,),
    changes: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """Train classifiers of language agency, one a seed, into output/seed-N. Returns the summary of output/agency.json.

    recipe: of evenhand.language_agency.training.RECIPES; by default the one of the base's architecture, minilm for the embedded
    encoder. changes: fields of the recipe to replace. Raises UsageError for unknown names and a folder that is in use.
    """
    from evenhand.language_agency.training import RECIPES, train_agency
    from evenhand.models.embedded import embedded_encoder

    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise UsageError(f"{output} exists and is not empty; choose another --output")
    if len(set(seeds)) < len(seeds):
        raise UsageError(f"--seeds {' '.join(map(str, seeds))}: a seed is named twice")
    name = recipe or _recipe_of(base)
    if name not in RECIPES:
        raise unknown_name("recipe", name, list(RECIPES))
    chosen = replace(RECIPES[name], **({"base": base} if base else {}), **(changes or {}))  # type: ignore[arg-type]
    rows = load_dataset("language_agency", source=data)
    if "train" not in rows or len(rows) < 2:
        raise UsageError(f"--data {data} has the splits {', '.join(rows)}; train and one to judge by are needed")
    path = str(embedded_encoder()) if chosen.base == EMBEDDED else chosen.base
    return train_agency(rows, chosen, seeds, output, data_name=DATA_NAMES[data], base_path=path)


def _recipe_of(base: str | None) -> str:
    """By the base's architecture. Raises UsageError for a base that can't be read."""
    if base in (None, EMBEDDED):
        return "minilm"
    from transformers import AutoConfig

    try:
        config = AutoConfig.from_pretrained(base)
    except (OSError, ValueError) as error:
        reason = str(error).strip().split("\n")[0]
        raise UsageError(f"base {base!r} can't be loaded: {reason}. Accepted: embedded, a Hub id, a folder") from error
    if config.model_type in ("bert", "roberta"):
        return str(config.model_type)
    return "lora" if any("ForCausalLM" in name for name in config.architectures or ()) else "bert"


def table(summary: Mapping[str, Any]) -> Table:
    """LABE's Table 12 for what was trained, with the paper's fine-tuned classifiers below."""
    rows = []
    for seed, record in summary["seeds"].items():
        for split, judged in record["judged"].items():
            rows.append(
                (
                    Cell(f"{record['base']}, {seed}, {split}"),
                    *(Cell(figure(judged[name], judged["intervals"][name])) for name in FIGURES),
                    Cell(figure(judged["brier"], digits=3)),
                    Cell(figure(judged["calibration_error"], digits=3)),
                    Cell(f"{judged['n']:,}"),
                )
            )
    for name in PUBLISHED:
        figures = (f"{getattr(TABLE_12[name], key):.2f}" for key in FIGURES)
        texts = (f" {name}, published, LAC's test split", *figures, "", "", f"{N_LAC_TEST}")
        rows.append(tuple(Cell(text, published=True) for text in texts))
    note = "Percent; brackets: 95 % interval, bootstrap over pairs (over sentences for LAC, which names none). "
    for split, agreed in summary["agreement"].items():
        if agreed:
            kappa = figure(agreed["kappa"], digits=2)
            note += f"Agreement between seeds, {split}: {agreed['percent']:.1f} %, kappa {kappa}. "
    columns = ("base, seed, split", *FIGURES.values(), "Brier", "calibration error", "n")
    return Table("Language agency, classified", columns, tuple(rows), note)

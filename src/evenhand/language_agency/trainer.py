"""`evenhand train agency`: data, base and recipe by name, and the resulting table beside LABE's Table 12."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from evenhand.errors import UsageError, unknown_name
from evenhand.language_agency.named_classifiers import DATA_NAMES
from evenhand.language_agency.recipes import RECIPES, RECORD
from evenhand.library import load_dataset
from evenhand.options import option
from evenhand.report.tables import Cell, Table, figure
from evenhand.trainers.progress import OnProgress, TrainingBar, unheard
from evenhand.trainers.training_folder import begun

EMBEDDED = "embedded"
PUBLISHED = ("Llama2, fine-tune", "Bert, fine-tune", "RoBERTa, fine-tune")
N_LAC_TEST = 373
FIGURES = {"accuracy": "accuracy", "macro_f1": "macro F1", "micro_f1": "micro F1", "weighted_f1": "weighted F1"}
# LABE, Table 12: FIGURES on LAC's test split, percent, as printed. Micro F1 should equal accuracy where every sentence
# gets one label; most rows print another figure.
TABLE_12 = {
    "String Matching": (46.65, 31.81, 46.65, 29.68),
    "Sentiment": (52.28, 41.35, 52.28, 43.05),
    "Wan et al. (2023a), fine-tune": (66.49, 66.49, 64.22, 64.82),
    "Llama2, base": (82.56, 49.46, 50.38, 50.03),
    "Llama2, zero-shot": (63.71, 56.54, 64.06, 57.82),
    "Llama2, one-shot": (54.34, 37.52, 53.43, 39.35),
    "Llama2, fine-tune": (88.2, 88.12, 88.2, 88.19),
    "Bert, fine-tune": (91.69, 91.69, 91.63, 91.68),
    "RoBERTa, fine-tune": (91.33, 91.33, 91.29, 91.33),
}


@dataclass(frozen=True)
class AgencyOptions:
    """learning_rate, epochs, batch_size: None takes the recipe's."""

    recipe: str | None = option(
        None,
        f"{', '.join(RECIPES)}: bert and roberta are the paper's (LABE, Appendix B.6), the others evenhand's (default: "
        "by the base's architecture, or minilm)",
        metavar="NAME",
    )
    base: str | None = option(
        None, f"base model: {EMBEDDED}, a Hub id or a folder (default: the recipe's)", metavar="MODEL"
    )
    data: Literal["evenhand", "official"] = option("evenhand", "data source: evenhand's sentences, or the paper's")
    seeds: tuple[int, ...] = option((0,), "one classifier a seed", least=0, most=999_999, metavar="S")
    learning_rate: float | None = option(None, "peak learning rate (default: the recipe's)", above=0, metavar="X")
    epochs: float | None = option(None, "epochs (default: the recipe's)", above=0, metavar="N")
    batch_size: int | None = option(None, "batch size (default: the recipe's)", least=1, metavar="N")


class AgencyTrainer:
    """Classifiers of language agency, which `evenhand run labe --classifiers DIR` takes."""

    name = "agency"
    source = "Wan & Chang, LABE, section 3.2 and Appendix B.6"
    Options = AgencyOptions

    def train(self, options: AgencyOptions, output: Path, on_progress: OnProgress | None = None) -> Table:
        """on_progress: None is a bar on standard error. Raises UsageError for unknown names, and a folder in use."""
        with TrainingBar() as bar:
            table = make_table(train(options, output, on_progress or bar.update))
        command = f"evenhand run labe --classifiers {shlex.quote(str(output))}"
        return replace(table, note=f"{table.note}To use them:", command=command)


def train(options: AgencyOptions, output: Path, on_progress: OnProgress = unheard) -> dict[str, Any]:
    """Train one classifier a seed in output/seed-N; return the summary of output/agency.json.

    A training that was cut off goes on with the next seed when it is asked for again.
    """
    from evenhand.language_agency.training import train_agency
    from evenhand.models.embedded import embedded_encoder

    if not options.seeds:
        raise UsageError("--seeds names none; name at least one")
    if len(set(options.seeds)) < len(options.seeds):
        raise UsageError(f"--seeds {' '.join(map(str, options.seeds))}: a seed is named twice")
    name = options.recipe or _find_recipe(options.base)
    if name not in RECIPES:
        raise unknown_name("recipe", name, list(RECIPES))
    given = {each: getattr(options, each) for each in ("base", "learning_rate", "epochs", "batch_size")}
    recipe = RECIPES[name].changed({each: value for each, value in given.items() if value is not None})
    on_progress(f"reading the sentences of {DATA_NAMES[options.data]}", 0, 0)
    rows = load_dataset("language_agency", source=options.data)
    if "train" not in rows or len(rows) < 2:
        raise UsageError(
            f"--data {options.data} has the splits {', '.join(rows)}; train and one to judge by are needed"
        )
    with begun(asdict(options), output, RECORD):
        return train_agency(
            rows,
            recipe,
            options.seeds,
            output,
            data_name=DATA_NAMES[options.data],
            base_path=str(embedded_encoder()) if recipe.base == EMBEDDED else recipe.base,
            on_progress=on_progress,
        )


def _find_recipe(base: str | None) -> str:
    """By the base's architecture. Raises UsageError for a base that can't be read."""
    if base in (None, EMBEDDED):
        return "minilm"
    from transformers import AutoConfig

    from evenhand.models.errors import first_line
    from evenhand.models.loading import loaded

    try:
        config = loaded(AutoConfig, str(base))
    except (OSError, ValueError) as error:
        reason = first_line(error)
        raise UsageError(f"base {base!r} can't be loaded: {reason}. Accepted: embedded, a Hub id, a folder") from error
    if config.model_type in ("bert", "roberta"):
        return str(config.model_type)
    return "lora" if any("ForCausalLM" in name for name in config.architectures or ()) else "bert"


def make_table(summary: Mapping[str, Any]) -> Table:
    """Return LABE's Table 12 for what was trained, with the paper's fine-tuned classifiers below."""
    from evenhand.language_agency.judging import ABSTAINS_BELOW

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
        figures = (f"{value:.2f}" for value in TABLE_12[name])
        texts = (f" {name}, published, LAC's test split", *figures, "", "", f"{N_LAC_TEST}")
        rows.append(tuple(Cell(text, published=True) for text in texts))
    note = "Percent; brackets: 95 % interval, bootstrap over pairs (over sentences for LAC, which names none). "
    for source in dict.fromkeys(record["recipe"]["source"] for record in summary["seeds"].values()):
        note += f"Recipe: {source}. "
    for seed, record in summary["seeds"].items():
        for name, kept in record.get("undecided", {}).items():
            note += (
                f"Of {kept['n']} {name} sentences, to which neither label belongs, {seed} abstains on "
                f"{kept['abstained']:.0f} % (confidence under {100 * ABSTAINS_BELOW:.0f} %), calibration error "
                f"{figure(kept['calibration_error'], digits=3)}. "
            )
    for split, agreed in summary["agreement"].items():
        if agreed:
            kappa = figure(agreed["kappa"], digits=2)
            note += f"Agreement between seeds, {split}: {agreed['percent']:.1f} %, kappa {kappa}. "
    columns = ("base, seed, split", *FIGURES.values(), "Brier", "calibration error", "n")
    return Table("Language agency, classified", columns, tuple(rows), note)

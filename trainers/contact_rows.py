"""Prompt sets of contact_hypothesis, as the benchmark asks them, and the command that asks those held out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from evenhand.benchmarks.contact_hypothesis import cuts
from evenhand.trainers.options import SEED

if TYPE_CHECKING:
    import datasets


def contact_rows(source: str, all_rows: bool = False) -> Callable[[str], datasets.Dataset]:
    """Loads a configuration by name. all_rows: those, too, whose descriptor and situation contradict each other."""
    from evenhand.library import load_dataset

    def load(config: str) -> datasets.Dataset:
        rows = load_dataset("contact_hypothesis", config, split="test", source=source)
        return rows if all_rows else cuts.select_plausible(rows)

    return load


def held_out_command(recipe: Mapping[str, Any]) -> str:
    """What asks the prompt sets that a recipe's setting leaves for the test, in its layout where it has one."""
    seed = "" if recipe["seed"] == SEED else f" --held-out-seed {recipe['seed']}"
    layout = f" --layout {recipe['layout']}" if "layout" in recipe else ""
    source = "" if recipe["source"] == "evenhand" else f" --source {recipe['source']}"
    whole = " --all-rows" if recipe.get("all_rows") else ""  # the cut is of these rows: of others it would be another
    return f"evenhand run contact_hypothesis --held-out {recipe['setting']}{seed}{layout}{source}{whole}"

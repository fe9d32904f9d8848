"""The card of a checkpoint that a trainer leaves, and the drawing of what became of it over the steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from huggingface_hub import ModelCardData

from evenhand.report.plots import lines
from evenhand.trainers.over_steps import before_and_after

Record = Mapping[str, Any]
STEPS = "steps.svg"
UNMEASURED = (
    "Nothing was measured on the way (`--measure-every 0`): nothing is known of its bias or its other answers.\n"
)
KINDNESS = "an answer that follows how kind an action sounds scores well on all of them"
NO_PROMISE = "a low score on one benchmark is no promise for other questions, languages or people.\n"
UNJUDGED = (
    "These figures are of rows held out from the training, asked as the benchmark asks. They don't show what was "
    "learned: {}. Measure that, and what became of the model otherwise, before you use it; " + NO_PROMISE
)
NOT_DEBIASED = {
    "polarity": "**This model is not debiased: it learned a polarity.** It says yes to what sounds kind and no to what "
    "sounds unkind, also where that is wrong, and whoever is meant.",
    "constant": "**This model is not debiased: it gives one answer to everything.**",
}
OF_PATHS = ("model", "mix", "pairs")  # of the recipe, what may name places of somebody's machine
HIDDEN = (*OF_PATHS, "measure_every", "measured", "save_every", "merge", "plan")  # on the card


def steps_drawn(record: Record) -> str:
    """Loss, and every figure that was measured, over the steps; SVG."""
    panels: dict[str, dict[str, list[tuple[float, float]]]] = {
        "loss": {"loss": [(step, loss) for step, loss in enumerate(record["losses"], 1)]}
    }
    for name, values in record.get("over_steps", {}).items():
        panels[name] = {name: list(enumerate(values, 1))}
    percentages, others = _split(record["measured"])
    panels |= {"held out, %": percentages} if percentages else {}
    panels |= {name: {name: points} for name, points in others.items()}
    return lines(panels, "steps")


def _split(measured: Sequence[Mapping[str, float]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Points of each figure: percentages, which stand in one panel, and others."""
    found: dict[str, list[tuple[float, float]]] = {}
    for each in measured:
        for name, value in each.items():
            if name != "step":
                found.setdefault(name, []).append((each["step"], value))
    percentages = {name.removesuffix(" %"): points for name, points in found.items() if name.endswith(" %")}
    return percentages, {name: points for name, points in found.items() if not name.endswith(" %")}


def card(record: Record, base: str, files: Iterable[str]) -> str:
    """README.md. base: the public id of what was tuned, or a local folder's name. files: names in the folder."""
    names = set(files)
    adapter = "adapter_config.json" in names
    header = ModelCardData(
        base_model=base if "/" in base else None,
        library_name="peft" if adapter else "transformers",
        pipeline_tag="text-generation",
        tags=["evenhand", "social bias", record["trainer"]],
    )
    loading = (
        f'PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained("{base}"), FOLDER)'
        if adapter
        else "AutoModelForCausalLM.from_pretrained(FOLDER)"
    )
    parts = [
        f"---\n{header.to_yaml()}\n---\n",
        f"# {base.split('/')[-1]}, {record['trainer']}\n",
        f"{'An adapter for' if adapter else 'Weights tuned from'} `{base}`, made by "
        f"`evenhand train {record['trainer']}` ({record['source']}).\n",
        "## What it learned from\n",
        _listed({name: value for name, value in record["data"].items() if value is not None}),
        "## What became of it\n",
        _before_and_after(record["measured"], record["recipe"].get("measured")) or UNMEASURED,
        *([f"{record['note']}.\n"] if record.get("note") else []),
        *([f"![loss and figures over the steps]({STEPS})\n"] if STEPS in names else []),
        *(_judged(record["judged"]) if record.get("judged") else [UNJUDGED.format(record.get("caution", KINDNESS))]),
        "## How it was made\n",
        _listed({name: value for name, value in record["recipe"].items() if name not in HIDDEN}),
        f"{record['steps']} steps, batches {record['packing']}. `training.json` has all of it, with versions and the "
        "fingerprint of the rows.\n",
        "## Use\n",
        f"```python\n{loading}\n```\n`{record['measured_by']} --model FOLDER` measures it.\n",
    ]
    return "\n".join(parts)


def _judged(judged: Mapping[str, Any]) -> list[str]:
    """What the controls say: questions in which what sounds kind is wrong, or nobody's group is meant."""
    return [
        "## What it learned\n",
        *([NOT_DEBIASED[judged["verdict"]] + "\n"] if judged["verdict"] in NOT_DEBIASED else []),
        "Controls (`evenhand run contact_controls`: questions about things, people of no group, unwise kindness and "
        f"right unkindness): {judged['sentence']} It answers {judged['against_ideal']:.1f} % of them against what is "
        f"right. Whatever they say, {NO_PROMISE}",
    ]


def _listed(values: Mapping[str, Any]) -> str:
    return "".join(f"- {name.replace('_', ' ')}: {_told(value)}\n" for name, value in values.items())


def _told(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name.replace('_', ' ')} {_told(each)}" for name, each in value.items())
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _before_and_after(measured: Sequence[Mapping[str, float]], at_most: int | None) -> str:
    """at_most: rows that were asked, in the proportions of those held out."""
    rows = [f"| {name} | {before} | {after} |\n" for name, before, after in before_and_after(measured)]
    head = f"| held out | before | after {measured[-1]['step']} steps |\n| --- | --- | --- |\n" if rows else ""
    few = f"\nOf at most {at_most} rows, without intervals: the command below has them.\n" if rows and at_most else ""
    return head + "".join(rows) + few

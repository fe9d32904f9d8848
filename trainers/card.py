"""The card of a checkpoint that a trainer leaves, and the drawing of what became of it over the steps."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from huggingface_hub import EvalResult, ModelCardData

from evenhand.benchmarks.contact_controls.verdict import why_not_debiased
from evenhand.report.markdown import plain
from evenhand.report.plots import lines
from evenhand.report.tables import n_of
from evenhand.trainers.before_and_after import before_and_after
from evenhand.trainers.otherwise import told
from evenhand.training_record import PUBLIC_ID_OF_EMBEDDED, base_of, is_folder, without_folders

Record = Mapping[str, Any]
STEPS = "steps.svg"
UNMEASURED = (
    "Nothing was measured on the way (`--measure-every 0`): nothing is known of its bias or its other answers.\n"
)
KINDNESS = "an answer that follows how kind an action sounds scores well on all of them"
MEASURED_BELOW = "Nothing was measured on the way (`--measure-every 0`); what runs of it say stands below.\n"
NO_PROMISE = "a low score on one benchmark is no promise for other questions, languages or people.\n"
UNJUDGED = (
    "These figures are of rows held out from the training, asked as the benchmark asks. They don't show what was "
    "learned: {}. Measure that, and what became of the model otherwise, before you use it; " + NO_PROMISE
)
NOT_DEBIASED = "**This model is not debiased: {}.**"
FOR = (
    "Research on social bias in language models: setting it beside its base, asking what its training changed and what "
    "it did not, repeating that training.\n"
)
NOT_FOR = (
    "- Decisions on people, such as hiring, lending, housing, health, policing or moderation, and texts that such "
    "decisions rest on.\n- As evidence that a product is fair, or as its only safeguard: what is said here holds for "
    "these questions, in these words.\n- Other languages, groups and tasks than those that were measured.\n"
)
OF_FOLDER = " (a local folder of whoever trained it)"
BASE_TO_FILL_IN = (
    "The base has no public name here: it was a local folder named `{}`. In place of `BASE` put the folder, or the id "
    "on the Hub, where you have the same weights; `training.json` says by which fingerprint they are known.\n"
)
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


@dataclass(frozen=True)
class Evidence:
    """What runs of the checkpoint and of its base say. sections: of the card, in Markdown. results: for its front
    matter. controlled: whether the controls are among the runs, and say more than those that the trainer asked.
    """

    sections: Sequence[str] = ()
    results: Sequence[EvalResult] = ()
    controlled: bool = False


def public_name(base: str) -> str:
    """Of what was tuned: its id on the Hub; of a local folder, its name."""
    return PUBLIC_ID_OF_EMBEDDED if base == "embedded" else Path(base).name if is_folder(base) else base


def _without_public_id(record: Record, base: str) -> bool:
    """Whether the base is called by the last name of a folder that nobody else has."""
    trained_on = base_of(dict(record))
    return trained_on is not None and is_folder(trained_on) and base == public_name(trained_on)


def card(
    record: Record, base: str, files: Iterable[str], evidence: Evidence | None = None, repo_id: str | None = None
) -> str:
    """README.md. base: as `public_name` gives it. files: names in the folder. repo_id: on the Hub, if it is known."""
    local = _without_public_id(record, base)
    record, base = _plainly(record), plain(base).replace("`", "'")
    names = set(files)
    adapter = "adapter_config.json" in names
    found = evidence or Evidence()
    title = f"{base.split('/')[-1]}, {record['trainer']}"
    otherwise = record.get("otherwise_than_published")
    header = ModelCardData(
        base_model=base if "/" in base and not local else None,
        library_name="peft" if adapter else "transformers",
        pipeline_tag="text-generation",
        tags=["evenhand", "social bias", record["trainer"]],
        model_name=(repo_id or title).split("/")[-1] if found.results else None,
        eval_results=list(found.results) or None,
    )
    place = f'"{repo_id}"' if repo_id else "FOLDER"
    of_base = "BASE" if local else f'"{base}"'
    loading = (
        "from peft import PeftModel\nfrom transformers import AutoModelForCausalLM\n\n"
        f"base = AutoModelForCausalLM.from_pretrained({of_base})\nmodel = PeftModel.from_pretrained(base, {place})"
        if adapter
        else f"from transformers import AutoModelForCausalLM\n\nmodel = AutoModelForCausalLM.from_pretrained({place})"
    )
    judged = _judged(record["judged"]) if record.get("judged") else [UNJUDGED.format(record.get("caution", KINDNESS))]
    parts = [
        f"---\n{header.to_yaml()}\n---\n",
        f"# {title}\n",
        f"{'An adapter for' if adapter else 'Weights tuned from'} `{base}`{OF_FOLDER if local else ''}, made by "
        f"`evenhand train {record['trainer']}` ({record['source']}).\n",
        "## What it learned from\n",
        _listed(record["data"]),
        "## What became of it\n",
        _before_and_after(record["measured"], record["recipe"].get("measured"))
        or (MEASURED_BELOW if found.sections else UNMEASURED),
        *([f"{record['note']}.\n"] if record.get("note") else []),
        *([f"![loss and figures over the steps]({STEPS})\n"] if STEPS in names else []),
        *([] if found.controlled else judged),
        *found.sections,
        "## What it is for\n",
        FOR,
        "## What it is not for\n",
        NOT_FOR,
        "## How it was made\n",
        _listed({name: without_folders(value) for name, value in record["recipe"].items() if name not in HIDDEN}),
        *([f"Adapters stand in {', '.join(record['adapted_layers'])}.\n"] if record.get("adapted_layers") else []),
        *([f"Otherwise than published: {told(otherwise)}.\n"] if otherwise else []),
        f"{n_of(record['steps'], 'step')}, batches {record['packing']}. `training.json` has all of it, with versions "
        "and the fingerprint of the rows.\n",
        "## Use\n",
        *([BASE_TO_FILL_IN.format(base)] if local and adapter else []),
        f"```python\n{loading}\n```\n`{record['measured_by']} --model {repo_id or 'FOLDER'}` measures it.\n",
    ]
    return "\n".join(parts)


def _plainly(value: Any) -> Any:
    """A record whose words are `plain`, and end no code: of a checkpoint of somebody's they may be anything."""
    if isinstance(value, Mapping):
        return {_plainly(name): _plainly(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plainly(each) for each in value]
    return plain(value).replace("`", "'") if isinstance(value, str) else value


def _judged(judged: Mapping[str, Any]) -> list[str]:
    """What the controls say: questions in which what sounds kind is wrong, or nobody's group is meant."""
    return [
        "## What it learned\n",
        *([NOT_DEBIASED.format(why) + "\n"] if (why := why_not_debiased(judged)) else []),
        "After the training it was asked controls (`evenhand run contact_controls`): questions about things, about "
        "people of no group, about kindness that is unwise and unkindness that is right. "
        f"{judged['sentence']}{_wrong(judged['against_ideal'])} Whatever the controls say, {NO_PROMISE}",
    ]


def _wrong(percent: float | None) -> str:
    """None, or no number: no answer was read."""
    known = percent is not None and math.isfinite(percent)
    return f" Of its answers to all controls {percent:.1f} % are wrong; of random ones 50." if known else ""


def _listed(values: Mapping[str, Any]) -> str:
    known = {name.replace("_", " "): value for name, value in values.items() if value is not None}
    return "".join(f"- {name}: {_told(value)}\n" for name, value in known.items())


def _told(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name.replace('_', ' ')} {_told(each)}" for name, each in value.items())
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _before_and_after(measured: Sequence[Mapping[str, float]], at_most: int | None) -> str:
    """at_most: rows that were asked, in the proportions of those held out."""
    rows = [f"| {name} | {before} | {after} |\n" for name, before, after in before_and_after(measured)]
    head = (
        f"| held out | before | after {n_of(int(measured[-1]['step']), 'step')} |\n| --- | --- | --- |\n"
        if rows
        else ""
    )
    few = (
        f"\nAt most {at_most} of the held-out rows were asked, which is too few for intervals; the command at the end "
        "of this card asks more, and gives them.\n"
    )
    return head + "".join(rows) + (few if rows and at_most else "")

"""The card of a checkpoint, and the plot of loss and measurements over the steps."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from huggingface_hub import EvalResult, ModelCardData
from jinja2 import Environment, FileSystemLoader

from evenhand.benchmarks.contact_controls.verdict import why_not_debiased
from evenhand.report.markdown import plain
from evenhand.report.plots import lines
from evenhand.report.tables import n_of
from evenhand.training_record import PUBLIC_ID_OF_EMBEDDED, base_of, is_folder, without_folders

Record = Mapping[str, Any]
STEPS = "steps.svg"
CAUTION = "an answer that follows how kind an action sounds scores well on all of them"
NOT_DEBIASED = "**This model is not debiased: {}.**"
HIDDEN = ("model", "mix", "pairs", "measure_every", "measured", "save_every", "merge", "plan")  # of the recipe


@dataclass(frozen=True)
class Evidence:
    """What runs of the checkpoint and of its base say. sections: of the card, in Markdown. results: for its front
    matter. controlled: whether the controls are among the runs, and say more than those that the trainer asked.
    """

    sections: Sequence[str] = ()
    results: Sequence[EvalResult] = ()
    controlled: bool = False


def public_name(base: str) -> str:
    """Return the base's Hub id; of a local folder, its name."""
    return PUBLIC_ID_OF_EMBEDDED if base == "embedded" else Path(base).name if is_folder(base) else base


def card(
    record: Record, base: str, files: Iterable[str], evidence: Evidence | None = None, repo_id: str | None = None
) -> str:
    """Write README.md.

    Args:
        base: as `public_name` gives it.
        files: names in the folder.
        repo_id: on the Hub, if known.
    """
    trained_on = base_of(dict(record))
    local = trained_on is not None and is_folder(trained_on) and base == public_name(trained_on)
    record, base, names, found = _make_plain(record), _make_plain(base), set(files), evidence or Evidence()
    adapter = "adapter_config.json" in names
    title = f"{base.split('/')[-1]}, {record['trainer']}"
    header = ModelCardData(
        base_model=base if "/" in base and not local else None,
        library_name="peft" if adapter else "transformers",
        pipeline_tag="text-generation",
        tags=["evenhand", "social bias", record["trainer"]],
        model_name=(repo_id or title).split("/")[-1] if found.results else None,
        eval_results=list(found.results) or None,
    )
    why = why_not_debiased(record["judged"]) if record.get("judged") else ""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.filters |= {"shown": _show, "n_of": n_of}
    environment.tests["finite"] = lambda number: number is not None and math.isfinite(number)
    return environment.get_template("card.md.jinja").render(
        record=record,
        base=base,
        local=local,
        adapter=adapter,
        title=title,
        header=header.to_yaml(),
        evidence=found,
        repo_id=repo_id,
        drawn=STEPS if STEPS in names else "",
        measured=before_and_after(record["measured"]),
        not_debiased=NOT_DEBIASED.format(why) if why else "",
        caution=CAUTION,
        recipe={name: without_folders(value) for name, value in record["recipe"].items() if name not in HIDDEN},
        differences=name_differences(record.get("otherwise_than_published") or {}),
    )


def _make_plain(value: Any) -> Any:
    """Return a record whose texts hold no markup and end no code: a stranger's record may say anything."""
    if isinstance(value, Mapping):
        return {_make_plain(name): _make_plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_make_plain(each) for each in value]
    return plain(value).replace("`", "'") if isinstance(value, str) else value


def _show(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name.replace('_', ' ')} {_show(each)}" for name, each in value.items())
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def before_and_after(measured: Sequence[Mapping[str, float]]) -> list[tuple[str, str, str]]:
    """Return each figure's name, and its value before the first step and after the last."""
    if len(measured) < 2:
        return []
    first, last = measured[0], measured[-1]

    def show(name: str, value: float | None) -> str:
        if value is None or not math.isfinite(value):
            return "no data"
        return f"{value:.1f}" if name.endswith("%") else f"{value:.2f}"

    return [
        (name, show(name, first[name]), show(name, last[name])) for name in first if name != "step" and name in last
    ]


def name_differences(differences: Mapping[str, Mapping[str, Any]]) -> str:
    """Say what differs from the published training: "dropout 0.0 (published: 0.1), …"."""

    def show(value: Any) -> str:
        return "none" if value is None else str(value)

    return ", ".join(
        f"{name.replace('_', ' ')} {show(each['here'])} (published: {show(each['published'])})"
        for name, each in differences.items()
    )


def steps_drawn(record: Record) -> str:
    """Plot the loss and every measured figure over the steps; SVG."""
    panels: dict[str, dict[str, list[tuple[float, float]]]] = {"loss": {"loss": list(enumerate(record["losses"], 1))}}
    for name, values in record.get("over_steps", {}).items():
        panels[name] = {name: list(enumerate(values, 1))}
    for each in record["measured"]:
        for name, value in each.items():
            if name != "step":  # percentages share a panel
                panel, line = ("held out, %", name.removesuffix(" %")) if name.endswith(" %") else (name, name)
                panels.setdefault(panel, {}).setdefault(line, []).append((each["step"], value))
    return lines(panels, "steps")

"""Records of Every Eval Ever, https://github.com/evaleval/every_eval_ever, of evenhand's or of anybody's making.

`every_eval_ever.schema.json` beside this file says what of a record is read; what else it has is left alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.benchmarks import BENCHMARKS, get_benchmark
from evenhand.hub.leaderboard.checking import (
    OURS,
    address,
    checked,
    count,
    day,
    declared_figure,
    name,
    number,
    read_enough,
    text,
)
from evenhand.hub.leaderboard.records import Column, Record, Refusal
from evenhand.hub.submission.every_eval_ever import LEVEL
from evenhand.mitigations import MITIGATIONS, get_mitigation
from evenhand.options import fields_of

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

MOST_RESULTS = 2_000  # of one record
APART = ("seed", "dtype", "mitigation", "configs")  # part no columns: rows name mitigations, tasks configurations
DEFAULTS = ("source evenhand", "runs 1")
NOT_TOLD = "settings not told"
Found = Record | Refusal


@dataclass(frozen=True)
class Origin:
    """Where a record comes from. base: as the model's repository names it; model: whose repository it is. rehearsal:
    stubs and parts of the rows are shown, too. Others as in Record.
    """

    source: str
    place: str
    link: str | None = None
    base: str | None = None
    model: str | None = None
    file: str | None = None
    run: str | None = None
    rehearsal: bool = False


def results_of(record: object, origin: Origin, now: datetime) -> Iterator[tuple[str, Found]]:
    """Each result's name with what was read of it, or why it was refused. Raises Refusal for the whole record."""
    _refuse_other_form("record", record)
    assert isinstance(record, Mapping)
    results = record["evaluation_results"]
    if len(results) > MOST_RESULTS:
        raise Refusal(f"it has {len(results):,} results; {MOST_RESULTS:,} are accepted")
    about = _about(record, origin, now)
    for k, each in enumerate(results):
        which = text(each.get("evaluation_name", k) if isinstance(each, Mapping) else k, 100)
        try:
            yield which, _result(each, about)
        except Refusal as refusal:
            yield which, refusal


@dataclass(frozen=True)
class _About:
    """What all results of a record share."""

    origin: Origin
    model: str
    base: str | None
    date: str
    library: str
    versions: Mapping[str, Any]
    notes: tuple[str, ...]
    link: str | None


def _about(record: Mapping[str, Any], origin: Origin, now: datetime) -> _About:
    model, library, of = record["model_info"], record["eval_library"], record["source_metadata"]
    details = model.get("additional_details", {})
    dates = [day(record[key], now) for key in ("evaluation_timestamp", "retrieved_timestamp") if key in record]
    if not dates:
        raise Refusal("it has no date")
    if origin.model not in (None, model["id"]):
        raise Refusal(f"it says to be of {text(model['id'], 100)}, and lies in the repository of {origin.model}")
    base = details.get("base_model", origin.base)
    who = text(of.get("source_organization_name", "unknown"), 80)
    notes = [
        f"measured by {who} ({of.get('evaluator_relationship', 'other')})",
        f"{text(library['name'], 60)} {text(library.get('version', ''), 30)}".strip(),
    ]
    if revision := details.get("revision"):
        notes.append(f"model commit {text(revision, 12)}")
    if details.get("is_by_name_what_ran") == "false":
        notes.append(f"ran as {text(details.get('ran_as', 'another name'), 100)}")
    return _About(
        origin,
        name(model["id"], "the model's id"),
        None if base is None else name(base, "the base model's id"),
        dates[0],
        _library(library["name"]),
        library.get("additional_details", {}),
        tuple(notes),
        origin.link or address(of.get("source_url")),
    )


def _result(result: object, about: _About) -> Record:
    _refuse_other_form("result", result)
    assert isinstance(result, Mapping)
    metric, score = result["metric_config"], result["score_details"]
    details = score.get("details", {})
    read_enough(_rate(details.get("unread_rate")))
    benchmark, _, task = name(result["evaluation_name"], "the evaluation's name").partition(".")
    low, high = (number(metric[key], key) if key in metric else None for key in ("min_score", "max_score"))
    uncertainty = score.get("uncertainty", {})
    interval, said = _interval(uncertainty.get("confidence_interval"))
    generation = result.get("generation_config", {})
    asked = generation.get("additional_details", {})
    part = asked.get("limit") or asked.get("sample") or asked.get("rehearsal")
    if part and not about.origin.rehearsal:
        raise Refusal("it is of a part of the rows, or a rehearsal")
    mitigation = None if asked.get("mitigation") is None else _mitigation(asked)
    key = name(metric.get("metric_id") or metric.get("metric_name"), "the metric's name")
    n_read = uncertainty.get("num_samples")
    column = Column(
        benchmark=benchmark,
        task=task or benchmark,
        metric=key.rpartition(".")[2] or key,
        unit=text(metric.get("metric_unit", ""), 30),
        lower_is_better=metric["lower_is_better"],
        utility=not metric["lower_is_better"],
        dataset=_dataset(result.get("source_data", {}), about.versions),
        setting=_setting(generation, asked, about.library, benchmark, task),
        library=about.library,
    )
    if (known := declared_figure(column)) is not None:
        column = replace(column, utility=known.about == "utility")
    seen = [f"{part} {text(asked[part], 40)}" for part in ("seed", "dtype") if part in asked]
    warned = [text(details["warnings"])] if details.get("warnings") else []
    record = Record(
        column=column,
        model=about.model,
        base=about.base,
        mitigation=mitigation,
        value=number(score["score"], "the score"),
        interval=interval,
        n_read=None if n_read is None else count(n_read, "the number of answers"),
        date=about.date,
        notes="; ".join((*about.notes, *seen, *said, *warned)),
        link=about.link,
        source=about.origin.source,
        place=about.origin.place,
        file=about.origin.file,
        run=about.origin.run,
    )
    return checked(record, low, high, about.origin.rehearsal)


def _interval(given: Mapping[str, Any] | None) -> tuple[tuple[float, float] | None, list[str]]:
    if given is None:
        return None, []
    ends = number(given["lower"], "the interval's lower end"), number(given["upper"], "the interval's upper end")
    level = given.get("confidence_level")
    if level is None or abs(number(level, "the interval's level") - LEVEL) > 1e-9:
        return None, ["its interval is not of 95 %, and left out"]
    return ends, []


def _mitigation(asked: Mapping[str, str]) -> str:
    """Its name, and its own options where they differ from its defaults."""
    mitigation = name(asked["mitigation"], "the mitigation's name")
    own = [f"{key.replace('_', ' ')} {asked[key]}" for key in _options_of(mitigation) if key in asked]
    return name(", ".join((mitigation, *own)), "the mitigation")


def _options_of(mitigation: str | None) -> tuple[str, ...]:
    """The names of its options, which belong to the row; none of one that this evenhand doesn't know."""
    if mitigation is None or mitigation not in MITIGATIONS:
        return ()
    return tuple(each.name for each in fields_of(get_mitigation(mitigation).Options))


def setting(parts: Iterable[str]) -> str:
    """Which settings part columns, as one line; parts: "protocol choose", "order balanced", in any order."""
    return ", ".join(sorted(each for each in parts if each not in DEFAULTS))


def _setting(generation: Mapping[str, Any], asked: Mapping[str, str], library: str, benchmark: str, task: str) -> str:
    sampled = [
        f"{key.replace('_', ' ')} {number(value, key):g}"
        for key, value in generation.get("generation_args", {}).items()
        if key in ("temperature", "top_p", "max_tokens")
    ]
    left = {*APART, *_options_of(asked.get("mitigation"))}
    parts = [f"{key.replace('_', ' ')} {value}" for key, value in asked.items() if key not in left] + sampled
    if library == OURS and "configs" in asked and not _are_named(asked["configs"], benchmark, task):
        parts.append(f"configs {asked['configs']}")
    if asked.get("limit"):  # of a rehearsal: others were refused
        parts.append(f"limit {text(asked['limit'], 20)}")
    if not parts and library != OURS:
        return NOT_TOLD
    return name(setting(parts) or "as by default", "the settings", 1_000)


def _are_named(configs: str, benchmark: str, task: str) -> bool:
    """Whether a task's name says which configurations it is of, or they are those of any run."""
    asked = {*configs.split(", ")}
    if any(each in task for each in asked) or benchmark not in BENCHMARKS:
        return True
    of = get_benchmark(benchmark)
    usual = of.card.default_configs or of.card.configs
    return len(asked) == len(usual) and not of.publishing.missing_configs(tuple(asked), of.card)


def _dataset(source: Mapping[str, Any], versions: Mapping[str, Any]) -> str:
    """ "labe 1.2.0": by the library's versions, or as the record says of its data."""
    of = name(source.get("dataset_name", "unknown dataset"), "the dataset's name")
    version = versions.get(f"dataset {of}") or source.get("source_version") or source.get("hf_revision")
    rows = source.get("additional_details", {}).get("rows")
    if rows not in (None, "evenhand"):
        version = rows
    return name(f"{of} {str(version).removeprefix('v')[:40]}" if version else f"{of}, version not told", "the dataset")


def _rate(said: object) -> float | None:
    try:
        return None if said is None else number(float(str(said)), "the unread rate")
    except ValueError as error:
        raise Refusal(f"the unread rate is {text(said, 40)!r}, and no number") from error


def _refuse_other_form(part: str, value: object) -> None:
    """Raises Refusal naming what is wrong first."""
    for error in _validators()[part].iter_errors(value):
        where = error.json_path.removeprefix("$").removeprefix(".") or "it"
        raise Refusal(f"no {part} of Every Eval Ever: {text(where, 80)}: {text(error.message, 120)}")


@cache
def _validators() -> dict[str, Draft202012Validator]:
    from jsonschema import Draft202012Validator  # imported where it is needed: it takes a while

    schema = json.loads(Path(__file__).with_name("every_eval_ever.schema.json").read_text(encoding="utf-8"))
    return {part: Draft202012Validator({"$ref": f"#/$defs/{part}", **schema}) for part in schema["$defs"]}


def _library(given: object) -> str:
    """Of what measured; all that reads as evenhand's own name is held to be it."""
    found = name(given, "the library's name")
    return OURS if found.casefold() == OURS else found

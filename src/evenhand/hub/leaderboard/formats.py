"""The two formats of results: records of Every Eval Ever, and `.eval_results` of model repositories.

Anyone may have written them. `formats.schema.json` says which form is read; other fields are ignored.

- Records of Every Eval Ever (https://github.com/evaleval/every_eval_ever) say how each figure was measured.
- `.eval_results/*.yaml` are shares as the Hub's boards show them, more is better. Evenhand writes them next to records,
  which are read in their place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from evenhand.benchmarks import BENCHMARKS, get_benchmark
from evenhand.flow.foreign_files import shortened
from evenhand.hub.leaderboard.records import (
    FAULTS,
    OURS,
    Column,
    Origin,
    Record,
    Refused,
    check_form,
    check_record,
    clean,
    declared_figure,
    parse_day,
)  # fmt: skip
from evenhand.hub.results_checks import MOST_UNREAD
from evenhand.hub.submission.eval_results import tasks_of
from evenhand.hub.submission.every_eval_ever import LEVEL
from evenhand.hub.submission.validation import is_address
from evenhand.mitigations import MITIGATIONS, get_mitigation
from evenhand.options import fields_of

NO_COLUMN = ("seed", "dtype", "mitigation", "configs")  # settings that rows or tasks name, or that compare well
DEFAULTS = ("source evenhand", "runs 1")
UNKNOWN_SETTING, UNKNOWN_VERSION = "settings not told", "version not told"
LONGEST_ADDRESS = 500  # characters


def parse_record(content: Any, origin: Origin) -> Iterator[Record | Refused]:
    """Each result of a record of Every Eval Ever. Raises one of FAULTS for the whole record."""
    check_form("record", content)
    model = content["model_info"]["id"].strip()
    if origin.model not in (None, model):
        raise ValueError(f"it says to be of {clean(model, 100)}, and lies in the repository of {origin.model}")
    dates = [parse_day(content[key]) for key in ("evaluation_timestamp", "retrieved_timestamp") if key in content]
    if not dates:
        raise ValueError("it has no date")
    origin = replace(origin, link=origin.link or _address(content["source_metadata"].get("source_url")))
    build = partial(_build_result, content=content, origin=origin, model=model, date=dates[0])
    return _build_each(content["evaluation_results"], build, origin)


def parse_eval_results(content: Any, origin: Origin) -> Iterator[Record | Refused]:
    """Each entry of a file in `.eval_results`. Raises one of FAULTS for the whole file."""
    check_form("entries", content)
    return _build_each(content, partial(_build_entry, origin=origin), origin)


def _build_each(results: Sequence[Any], build: Callable[[Any], Record], origin: Origin) -> Iterator[Record | Refused]:
    """What is wrong with one of them refuses that one alone."""
    for k, each in enumerate(results, 1):
        try:
            yield build(each)
        except FAULTS as error:
            name = each.get("evaluation_name") if isinstance(each, Mapping) else None
            named = clean(name, 100) if isinstance(name, str) else f"result {k}"
            yield Refused(origin.source, f"{origin.place}: {named}", shortened(error))


def _build_result(result: Any, *, content: Any, origin: Origin, model: str, date: str) -> Record:
    check_form("result", result)
    metric, score = result["metric_config"], result["score_details"]
    details, uncertainty = score.get("details", {}), score.get("uncertainty", {})
    asked = result.get("generation_config", {}).get("additional_details", {})
    if not origin.rehearsal and any(asked.get(part) for part in ("limit", "sample", "rehearsal")):
        raise ValueError("it is of a part of the rows, or a rehearsal")
    if (unread := float(details.get("unread_rate", 0))) > MOST_UNREAD:
        most = 100 * MOST_UNREAD
        raise ValueError(f"{100 * unread:.0f} % of its answers could not be read; the limit is {most:.0f} %")
    notes, interval = _list_notes(content, details, asked), uncertainty.get("confidence_interval")
    if interval is not None and abs(interval.get("confidence_level", 0.0) - LEVEL) > 1e-9:
        interval, notes = None, [*notes, "its interval is not of 95 %, and left out"]
    record = Record(
        _read_column(result, content["eval_library"], asked), model, float(score["score"]), date, origin,
        base=content["model_info"].get("additional_details", {}).get("base_model", origin.base),
        mitigation=_name_mitigation(asked),
        interval=None if interval is None else (float(interval["lower"]), float(interval["upper"])),
        n_read=uncertainty.get("num_samples"), notes="; ".join(filter(None, notes)),
    )  # fmt: skip
    return check_record(record, (metric.get("min_score"), metric.get("max_score")))


def _list_notes(content: Any, details: Mapping[str, str], asked: Mapping[str, str]) -> list[str]:
    """Who measured, with what, of which commit, and what the run warned of."""
    source, library = content["source_metadata"], content["eval_library"]
    model = content["model_info"].get("additional_details", {})
    who = source.get("source_organization_name", "unknown")
    return [
        f"measured by {clean(who, 80)} ({source.get('evaluator_relationship', 'other')})",
        clean(f"{library['name']} {library.get('version', '')}", 90),
        f"model commit {clean(model['revision'], 12)}" if model.get("revision") else "",
        f"ran as {clean(model.get('ran_as', ''), 100)}" if model.get("is_by_name_what_ran") == "false" else "",
        *(f"{name} {clean(asked[name], 40)}" for name in ("seed", "dtype") if name in asked),
        clean(details.get("warnings", "")),
    ]


def _read_column(result: Any, library: Any, asked: Mapping[str, str]) -> Column:
    metric, name = result["metric_config"], library["name"].strip()
    benchmark, _, task = result["evaluation_name"].strip().partition(".")
    lower = metric["lower_is_better"]
    column = Column(
        benchmark, task or benchmark, (metric.get("metric_id") or metric["metric_name"]).strip().rpartition(".")[2],
        unit=metric.get("metric_unit", "").strip(), lower_is_better=lower, utility=not lower,
        dataset=_name_dataset(result.get("source_data", {}), library.get("additional_details", {})), setting="",
        library=OURS if name.casefold() == OURS else name,  # no other library passes for evenhand
    )  # fmt: skip
    known, sampling = declared_figure(column), result.get("generation_config", {}).get("generation_args", {})
    utility = column.utility if known is None else known.about == "utility"
    return replace(column, utility=utility, setting=_name_setting(column, sampling, asked))


def _name_mitigation(asked: Mapping[str, str]) -> str | None:
    """Its name, and its own options where they differ from its defaults."""
    own = (f"{key.replace('_', ' ')} {asked[key]}" for key in _options_of_mitigation(asked) if key in asked)
    return ", ".join((asked["mitigation"].strip(), *own)) if "mitigation" in asked else None


def _options_of_mitigation(asked: Mapping[str, str]) -> list[str]:
    """Names of its own options, which belong to the row; none of a mitigation that evenhand doesn't know."""
    name = asked.get("mitigation", "").strip()
    return [each.name for each in fields_of(get_mitigation(name).Options)] if name in MITIGATIONS else []


def _name_setting(column: Column, sampling: Mapping[str, float], asked: Mapping[str, str]) -> str:
    """The settings that separate columns, in one line."""
    left_out = {*NO_COLUMN, *_options_of_mitigation(asked)}
    told = {key: value for key, value in asked.items() if key not in left_out}
    told |= {key: f"{sampling[key]:g}" for key in ("temperature", "top_p", "max_tokens") if key in sampling}
    if column.library == OURS and "configs" in asked and not _names_configs(column, asked["configs"].split(", ")):
        told["configs"] = asked["configs"]
    if not told and column.library != OURS:
        return UNKNOWN_SETTING
    parts = sorted(f"{key.replace('_', ' ')} {value}" for key, value in told.items())
    return ", ".join(each for each in parts if each not in DEFAULTS) or "as by default"


def _names_configs(column: Column, configs: list[str]) -> bool:
    """Whether the task's name says which configurations it is of, or they are those of any run."""
    if column.benchmark not in BENCHMARKS or any(each in column.task for each in configs):
        return True
    benchmark = get_benchmark(column.benchmark)
    usual = benchmark.card.default_configs or benchmark.card.configs
    missing = benchmark.publishing.missing_configs(tuple(configs), benchmark.card)
    return len({*configs}) == len(usual) and not missing


def _name_dataset(source: Any, versions: Mapping[str, str]) -> str:
    """ "labe 1.2.0": by the library's versions, or as the record says of its data."""
    name = source.get("dataset_name", "unknown dataset").strip()
    version = versions.get(f"dataset {name}") or source.get("source_version") or source.get("hf_revision")
    rows = source.get("additional_details", {}).get("rows", OURS)
    if rows != OURS:
        version = rows
    return f"{name} {version.removeprefix('v')[:40]}" if version else f"{name}, {UNKNOWN_VERSION}"


def _build_entry(entry: Any, origin: Origin) -> Record:
    check_form("entry", entry)
    repository, revision = entry["dataset"]["id"].strip(), entry["dataset"].get("revision")
    benchmark = repository.rpartition("/")[2]
    column = Column(
        benchmark, entry["dataset"]["task_id"].strip(), "share on the Hub's board", unit="", lower_is_better=False,
        utility=not tasks_of(benchmark),  # evenhand's shares are of unbiased answers
        dataset=f"{repository} {revision}" if revision else f"{repository}, {UNKNOWN_VERSION}",
        setting=UNKNOWN_SETTING, library="the Hub's boards",
    )  # fmt: skip
    origin = replace(origin, link=_address((entry.get("source") or {}).get("url")) or origin.link)
    value, day, notes = float(entry["value"]), parse_day(entry["date"]), clean(entry.get("notes") or "")
    return check_record(Record(column, origin.model or "", value, day, origin, base=origin.base, notes=notes))


def _address(value: object) -> str | None:
    """Where a browser may go; None for anything else."""
    return value if isinstance(value, str) and len(value) <= LONGEST_ADDRESS and is_address(value) else None

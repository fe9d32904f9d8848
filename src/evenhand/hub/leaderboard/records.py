"""One figure of one model: read from a record of Every Eval Ever, and what it must satisfy to be on the board.

Records (https://github.com/evaleval/every_eval_ever) say how each figure was measured. Anyone may have written them:
`formats.schema.json` says which form is read; other fields are ignored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import astuple, dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.benchmarks import BENCHMARKS, get_benchmark
from evenhand.errors import EvenhandError
from evenhand.figure import Figure
from evenhand.flow.foreign_files import shortened
from evenhand.hub.results_checks import MOST_UNREAD
from evenhand.hub.submission.every_eval_ever import LEVEL
from evenhand.hub.submission.figures import is_signed, lower_is_better, submitted_range
from evenhand.hub.submission.validation import checked_date, date_of, is_address
from evenhand.mitigations import MITIGATIONS, get_mitigation
from evenhand.options import fields_of
from evenhand.report.differences import FigureKey

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

Interval = tuple[float, float]
OURS = "evenhand"
FAULTS = (EvenhandError, OSError, ValueError, OverflowError)
"""Errors of reading a result, which is then refused with the error's message."""
MODEL_ID = re.compile(r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+")
LONGEST_NAME, LONGEST_SETTING, LONGEST_TEXT = 120, 1_000, 400  # characters
LARGEST = 1e9  # of any score
ROUNDING = 1e-6
NO_WIDTH = "its interval is left out: it has no width, or less than one answer more would make"
NO_COLUMN = ("seed", "dtype", "mitigation", "configs")  # settings that rows or tasks name, or that compare well
DEFAULTS = ("source evenhand", "runs 1")
UNKNOWN_SETTING, UNKNOWN_VERSION = "settings unknown", "version unknown"
LONGEST_ADDRESS = 500  # characters


@dataclass(frozen=True)
class Refused:
    """source: as on the command line. place: the file in it, or which result of the file."""

    source: str
    place: str
    reason: str


@dataclass(frozen=True)
class Origin:
    """Where results were read.

    Attributes:
        source: as on the command line. place: the path in it.
        link: an address where a reader opens the result; None: it is on this machine alone.
        file: a file that can be copied next to the page.
        run: a run folder, whose report can be written and whose answers can be paired with another run's.
        model: the repository's, where it is a model's. base: the base model by its card.
        rehearsal: stubs and parts of the rows are shown, too.
    """

    source: str
    place: str = ""
    link: str | None = None
    file: Path | None = None
    run: Path | None = None
    model: str | None = None
    base: str | None = None
    rehearsal: bool = False


@dataclass(frozen=True)
class Column:
    """A figure under one setting. Only results of one column are compared.

    Attributes:
        unit: "percent", or nothing.
        utility: whether it measures ability, not bias.
        dataset: its name and version.
        setting: protocol and options that differ from the defaults.
        library: the evaluation library.
    """

    benchmark: str
    task: str
    metric: str
    unit: str
    lower_is_better: bool
    utility: bool
    dataset: str
    setting: str
    library: str


@dataclass(frozen=True)
class Record:
    """A result.

    Attributes:
        base: the model that this one was made from.
        interval: 95 % confidence interval; None: unknown.
        n_read: answers that the figure is of.
        date: in ISO 8601.
        notes: how it was measured, as far as that separates no columns.
        figure: which of a run's figures this is.
    """

    column: Column
    model: str
    value: float
    date: str
    origin: Origin
    base: str | None = None
    mitigation: str | None = None
    interval: Interval | None = None
    n_read: int | None = None
    notes: str = ""
    figure: FigureKey | None = field(default=None, compare=False)

    @property
    def row(self) -> str:
        """The name of its row on the board."""
        return self.model if self.mitigation is None else f"{self.model} + {self.mitigation}"

    @property
    def base_row(self) -> str | None:
        return self.base if self.mitigation is None else self.model


def check_form(part: str, value: object) -> None:
    """Raise ValueError for what doesn't fit the part of formats.schema.json, naming the first fault."""
    for error in _validator(part).iter_errors(value):
        where = error.json_path.removeprefix("$").removeprefix(".")
        raise ValueError(f"its form is wrong: {f'{where[:80]}: ' if where else ''}{error.message[:120]}")


@cache
def _validator(part: str) -> Draft202012Validator:
    from jsonschema import Draft202012Validator  # takes a while to import

    schema = json.loads(Path(__file__).with_name("formats.schema.json").read_text(encoding="utf-8"))
    return Draft202012Validator({"$ref": f"#/$defs/{part}", **schema})


def clean(text: str, longest: int = LONGEST_TEXT) -> str:
    """Return a text on one line, cut, with a space for each unprintable character."""
    return " ".join("".join(each if each.isprintable() else " " for each in text[:longest]).split())


def parse_day(text: str) -> str:
    """Return a date in ISO 8601, from that or from seconds since 1970. Raises UsageError for others and the future."""
    text = date_of(float(text)) if re.fullmatch(r"[0-9]+(\.[0-9]+)?", text) else text
    return checked_date(text, datetime.now(UTC), "the date")


def check_record(record: Record, bounds: tuple[float | None, float | None] = (None, None)) -> Record:
    """Return the record, without an interval that is too narrow for 95 % and without a base that is no other model.

    Args:
        bounds: minimum and maximum of the figure, by its source.

    Raises:
        ValueError: for an invalid name, and for a figure of no answers, out of range, or in conflict with its metric.
    """
    for text in (*astuple(record.column), record.model, record.mitigation or ""):
        longest = LONGEST_SETTING if text == record.column.setting else LONGEST_NAME
        if isinstance(text, str) and not (text.isprintable() and len(text) <= longest):
            raise ValueError(f"{clean(text, 40)!r} holds characters that can't be seen, or more than {longest}")
    if record.n_read == 0:
        raise ValueError("none of its answers was read, so that it has no figure")
    _check_range(record, *bounds)
    if record.interval is not None and _has_no_width(record):
        record = replace(record, interval=None, notes="; ".join(filter(None, (record.notes, NO_WIDTH))))
    has_base = record.base not in (None, record.model) and MODEL_ID.fullmatch(record.base or "")
    return record if has_base else replace(record, base=None)


def _check_range(record: Record, low: float | None, high: float | None) -> None:
    """Raise ValueError for a figure outside the range of evenhand's own figure, or of the one that the source gives."""
    column, known = record.column, declared_figure(record.column)
    if known is not None:
        if column.lower_is_better != lower_is_better(known) or column.unit != known.unit:
            raise ValueError(f"{column.metric} of {column.benchmark} is another figure than evenhand's of that name")
        low, high = submitted_range(known) or (None, None)
    elif column.unit == "percent":
        low, high = 0.0 if low is None else low, 100.0 if high is None else high
    least, most = -LARGEST if low is None else low, LARGEST if high is None else high
    for value in (record.value, *(record.interval or ())):
        if not least - ROUNDING <= value <= most + ROUNDING:
            distance = "; give its distance from 0" if known and is_signed(known) else ""
            raise ValueError(f"{value:g} lies outside of its range ({least:g} to {most:g}{distance})")
    low, high = record.interval or (record.value, record.value)
    # Figures from which chance is subtracted may lie a little outside of their interval.
    if not 2 * low - high - ROUNDING <= record.value <= 2 * high - low + ROUNDING:
        raise ValueError(f"its interval [{low:g}, {high:g}] does not fit its figure, {record.value:g}")


def _has_no_width(record: Record) -> bool:
    """Return whether an interval is narrower than one answer: 0 of 100 with [0, 0] is no certainty."""
    low, high = record.interval or (0.0, 0.0)
    of_answers = record.column.unit == "percent" and record.column.library == OURS and record.n_read
    return high - low <= ROUNDING or bool(of_answers and high - low < 100 / of_answers - ROUNDING)


@cache
def declared_figure(column: Column) -> Figure | None:
    """Return evenhand's figure that a column holds; None for columns of other libraries."""
    with suppress(EvenhandError):
        if column.library == OURS:
            return next((each for each in get_benchmark(column.benchmark).figures if each.key == column.metric), None)
    return None


def parse_results(content: Any, origin: Origin) -> Iterator[Record | Refused]:
    """Yield each result of a record of Every Eval Ever. Raises one of FAULTS for a record that can't be read at all."""
    check_form("record", content)
    model = content["model_info"]["id"].strip()
    if origin.run is None and not MODEL_ID.fullmatch(model):
        raise ValueError(f"the model {clean(model, 100)!r} must be ORG/NAME in ASCII letters, digits, . - and _")
    if origin.model not in (None, model):
        raise ValueError(f"it says to be of {clean(model, 100)}, and lies in the repository of {origin.model}")
    dates = [parse_day(content[key]) for key in ("evaluation_timestamp", "retrieved_timestamp") if key in content]
    if not dates:
        raise ValueError("it has no date")
    origin = replace(origin, link=origin.link or _address(content["source_metadata"].get("source_url")))
    return _build_each(content, origin, model, dates[0])


def _build_each(content: Any, origin: Origin, model: str, date: str) -> Iterator[Record | Refused]:
    """Yield records; a faulty result is refused without the others."""
    for k, each in enumerate(content["evaluation_results"], 1):
        try:
            yield _build_result(each, content, origin, model, date)
        except FAULTS as error:
            name = each.get("evaluation_name") if isinstance(each, Mapping) else None
            named = clean(name, 100) if isinstance(name, str) else f"result {k}"
            yield Refused(origin.source, f"{origin.place}: {named}", shortened(error))


def _build_result(result: Any, content: Any, origin: Origin, model: str, date: str) -> Record:
    check_form("result", result)
    metric, score = result["metric_config"], result["score_details"]
    details, uncertainty = score.get("details", {}), score.get("uncertainty", {})
    asked = result.get("generation_config", {}).get("additional_details", {})
    if not origin.rehearsal and any(asked.get(part) for part in ("limit", "sample", "rehearsal")):
        raise ValueError("it is of a part of the rows, or a rehearsal")
    if (unread := float(details.get("unread_rate", 0))) > MOST_UNREAD:
        raise ValueError(
            f"{100 * unread:.0f} % of its answers could not be read; the limit is {100 * MOST_UNREAD:.0f} %"
        )
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
    """List who measured it, with which library and model commit, and the run's warnings."""
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
    """Return the mitigation's name with its options that differ from their defaults."""
    own = (f"{key.replace('_', ' ')} {asked[key]}" for key in _options_of_mitigation(asked) if key in asked)
    return ", ".join((asked["mitigation"].strip(), *own)) if "mitigation" in asked else None


def _options_of_mitigation(asked: Mapping[str, str]) -> list[str]:
    """Return the names of a mitigation's options, which belong to the row; none for an unknown mitigation."""
    name = asked.get("mitigation", "").strip()
    return [each.name for each in fields_of(get_mitigation(name).Options)] if name in MITIGATIONS else []


def _name_setting(column: Column, sampling: Mapping[str, float], asked: Mapping[str, str]) -> str:
    """Return the settings that separate columns, in one line."""
    left_out = {*NO_COLUMN, *_options_of_mitigation(asked)}
    given = {key: value for key, value in asked.items() if key not in left_out}
    given |= {key: f"{sampling[key]:g}" for key in ("temperature", "top_p", "max_tokens") if key in sampling}
    if column.library == OURS and "configs" in asked and not _names_configs(column, asked["configs"].split(", ")):
        given["configs"] = asked["configs"]
    if not given and column.library != OURS:
        return UNKNOWN_SETTING
    parts = sorted(f"{key.replace('_', ' ')} {value}" for key, value in given.items())
    return ", ".join(each for each in parts if each not in DEFAULTS) or "as by default"


def _names_configs(column: Column, configs: list[str]) -> bool:
    """Return whether the task's name contains the configurations, or they are the default ones."""
    if column.benchmark not in BENCHMARKS or any(each in column.task for each in configs):
        return True
    benchmark = get_benchmark(column.benchmark)
    usual = benchmark.card.default_configs or benchmark.card.configs
    missing = benchmark.publishing.missing_configs(tuple(configs), benchmark.card)
    return len({*configs}) == len(usual) and not missing


def _name_dataset(source: Any, versions: Mapping[str, str]) -> str:
    """Return "labe 1.2.0", by the library's versions or by the record's source data."""
    name = source.get("dataset_name", "unknown dataset").strip()
    version = versions.get(f"dataset {name}") or source.get("source_version") or source.get("hf_revision")
    rows = source.get("additional_details", {}).get("rows", OURS)
    version = version if rows == OURS else rows
    return f"{name} {version.removeprefix('v')[:40]}" if version else f"{name}, {UNKNOWN_VERSION}"


def _address(value: object) -> str | None:
    """Return a web address; None for anything else."""
    return value if isinstance(value, str) and len(value) <= LONGEST_ADDRESS and is_address(value) else None

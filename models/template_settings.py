"""What a chat template is given besides messages: variables, and the date. Read without importing what renders it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, ClassVar, Protocol

from evenhand.errors import UsageError
from evenhand.options import option, pair

THINKING_SWITCHES = ("enable_thinking", "thinking", "reasoning")
"""Variables by which chat templates turn thoughts on and off."""
_NEARLY_BOOLEAN = ("0", "1", "on", "off", "yes", "no")


def parse_date(text: str) -> str:
    """The same. Raises ValueError for what is no date."""
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise ValueError(f"expected a date as YYYY-MM-DD, got {text!r}") from None


def today() -> str:
    return date.today().isoformat()


class HasTemplateOptions(Protocol):
    """Options of a command that names a model, a dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def template_options(self) -> tuple[tuple[str, str], ...]: ...

    @property
    def date(self) -> str | None: ...


@dataclass(frozen=True)
class TemplateSettings:
    """Settings of chat templates.

    Attributes:
        options: (variable, value) pairs as they are typed, such as ("enable_thinking", "false").
        date: what templates that ask for the date are given, as "2026-11-28"; None: today.
        alone: whether the options are meant for one model, whose template must have these variables.
    """

    options: tuple[tuple[str, str], ...] = ()
    date: str | None = None
    alone: bool = True

    def __post_init__(self) -> None:
        for name, text in self.options:
            if name in THINKING_SWITCHES and text.casefold() in _NEARLY_BOOLEAN:  # true in a template, all of them
                raise UsageError(f"--template-option {name} must be true or false, got {text!r}")
        try:
            parse_date(self.day)
        except ValueError as error:
            raise UsageError(f"--date: {error}") from None

    @classmethod
    def of(cls, options: HasTemplateOptions) -> TemplateSettings:
        """Of a run, a profile or a training; without a date of its own it keeps that of today."""
        return cls(tuple(sorted(options.template_options)), options.date or today())

    @property
    def variables(self) -> dict[str, object]:
        """Values by name: true, false, null and numbers as in JSON, all else as text."""
        return {name: _value(text) for name, text in self.options}

    @property
    def day(self) -> str:
        """The date, today where none was given."""
        return self.date or today()

    def strftime_now(self, format: str) -> str:
        """What a template's function of this name gives."""
        return datetime.fromisoformat(self.day).strftime(format)


def without_unused(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record of such options, without those of templates where there are none."""
    return {name: value for name, value in record.items() if value or name not in ("template_options", "date")}


NO_SETTINGS = TemplateSettings()


def template_options() -> tuple[tuple[str, str], ...]:
    """The field of an options dataclass for a model's template variables."""
    return option(
        (), "variable of the model's chat template, such as enable_thinking=false", metavar="KEY=VALUE", parse=pair,
        flag="template-option",
    )  # fmt: skip


def template_date() -> str | None:
    """The field of an options dataclass for the date that a template is given."""
    return option(
        None, "date for chat templates that ask for one, as YYYY-MM-DD; today by default", metavar="DATE",
        parse=parse_date,
    )  # fmt: skip


def _value(text: str) -> object:
    words: dict[str, object] = {"true": True, "false": False, "null": None}
    if text.casefold() in words:
        return words[text.casefold()]
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        return number if math.isfinite(number) else text
    return text

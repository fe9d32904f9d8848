"""What a chat template is given besides messages: variables, and the date. Read without importing what renders it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date, datetime


def parse_date(text: str) -> str:
    """The same. Raises ValueError for what is no date."""
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise ValueError(f"expected a date as YYYY-MM-DD, got {text!r}") from None


@dataclass(frozen=True)
class TemplateSettings:
    """Settings of chat templates.

    Attributes:
        options: (variable, value) pairs as they are typed, such as ("enable_thinking", "false").
        date: what templates that ask for the date are told, as "2026-11-28"; None: today.
    """

    options: tuple[tuple[str, str], ...] = ()
    date: str | None = None

    @property
    def variables(self) -> dict[str, object]:
        """Values by name: true, false, null and numbers as in JSON, all else as text."""
        return {name: _value(text) for name, text in self.options}

    @property
    def day(self) -> str:
        """The date, today where none was given."""
        return self.date or datetime.now().date().isoformat()

    def strftime_now(self, format: str) -> str:
        """What a template's function of this name gives."""
        return datetime.fromisoformat(self.day).strftime(format)


NO_SETTINGS = TemplateSettings()


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

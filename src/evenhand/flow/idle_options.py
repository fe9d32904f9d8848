"""Options that would do nothing in a run are refused, for whoever gives one believes that it counts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from evenhand.errors import UsageError
from evenhand.flow.configuration import RunConfig
from evenhand.models.registry import without_effect
from evenhand.options import fields_of

OF_LOADING = ("revision", "dtype", "batch_size")
OF_WRITING = ("temperature", "top_p", "max_new_tokens")
_FLAGS = {each.name: f"--{each.flag}" for each in fields_of(RunConfig)}
_DEFAULTS = {each.name: each.default for each in fields_of(RunConfig)}


def check_loading(config: RunConfig[Any], measured: Iterable[str], further: Iterable[str] = ()) -> None:
    """Raises UsageError for options of loading that do nothing for any of these models. measured, further: their names.

    A revision is of the models that are measured alone.
    """
    of_measured = {name: without_effect(name) for name in measured}
    every = of_measured | {name: without_effect(name) for name in further}
    for name in OF_LOADING:
        among = of_measured if name == "revision" else every
        if getattr(config, name) != _DEFAULTS[name] and among and all(name in idle for idle in among.values()):
            model, idle = next(iter(among.items()))
            raise _idle(name, f"{model}: {idle[name]}")


def check_writing(config: RunConfig[Any], filled: RunConfig[Any], papers: RunConfig[Any]) -> None:
    """Raises UsageError for options of what models write, where nothing is written, or nothing drawn.

    config: as it was asked for; filled: with defaults; papers: defaults alone.
    """
    given = [name for name in OF_WRITING if getattr(config, name) not in (None, getattr(papers, name))]
    if filled.protocol == "choose" and given:
        raise _idle(given[0], "--protocol choose scores options, and nothing is written (--protocol generate writes)")
    if "top_p" in given and not filled.temperature:
        drawn = "the model's own sampling has its own" if filled.temperature is None else "nothing is drawn at 0"
        raise _idle("top_p", f"{drawn}; a --temperature above 0 is needed beside it")


def _idle(name: str, why: str) -> UsageError:
    return UsageError(f"{_FLAGS[name]} would do nothing: {why}. Leave it out")

"""Command lines made from options dataclasses: `--help` shows each field with its default and range.

simple-parsing adds a dataclass's fields to an argparse parser as a group; a field's own type checks what came, so that
an error names the option, what came and what is accepted.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

from simple_parsing import ArgumentGenerationMode, ArgumentParser
from simple_parsing.wrappers.field_wrapper import DashVariant

from evenhand.errors import UsageError
from evenhand.options import OptionField, fields_of
from evenhand.paths import typed_path
from evenhand.terminal import shown


@dataclass(frozen=True)
class Group:
    """Options of one owner under a title of their own.

    defaults: in place of the fields', for --help. choices: likewise, of fields that take fewer here.
    """

    title: str
    options: type
    defaults: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    choices: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)

    @property
    def shown(self) -> list[OptionField]:
        """Those with a help text; others are no business of the command line."""
        return [
            dataclasses.replace(
                each,
                default=self.defaults.get(each.name, each.default),
                choices=self.choices.get(each.name, each.choices),
            )
            for each in fields_of(self.options)
            if each.help
        ]


class ScriptHelp(argparse.RawDescriptionHelpFormatter):
    """Of scripts, whose options are argparse's own: their lines as they are written, and each option's default."""

    def _get_help_string(self, action: argparse.Action) -> str:
        told = action.help or ""
        default = " ".join(map(str, action.default)) if isinstance(action.default, (list, tuple)) else action.default
        none = default is None or default is False or default in ("", argparse.SUPPRESS) or not action.option_strings
        return told if none else told + f" (default: {default})".replace("%", "%%")


def whole(least: int = 1) -> Callable[[str], int]:
    """What argparse takes as the type of a script's whole number."""

    def read(text: str) -> int:
        number = int(text) if text.isascii() and text.removeprefix("-").isdecimal() else least - 1
        if number < least:
            raise argparse.ArgumentTypeError(f"{text!r} came; a whole number of {least} or more is accepted")
        return number

    return read


class Parser(ArgumentParser):  # type: ignore[misc]
    """An argparse parser to which groups of options are added."""

    def __init__(self, prog: str, description: str):
        super().__init__(
            prog=prog,
            description=description,
            formatter_class=argparse.HelpFormatter,
            add_option_string_dash_variants=DashVariant.DASH,
            argument_generation_mode=ArgumentGenerationMode.FLAT,
            allow_abbrev=False,
        )
        self._groups: dict[str, Group] = {}

    def add(self, name: str, group: Group) -> None:
        """The group's options; `parsed.name` holds the values by the fields' names."""
        self._groups[name] = group
        self.add_arguments(_spoken(group), name)

    def values(self, parsed: argparse.Namespace, name: str) -> dict[str, Any]:
        """What was given, by the fields' names."""
        values: dict[str, Any] = {}
        for each in self._groups[name].shown:
            value = getattr(getattr(parsed, name), _identifier(each))
            if value is not None and (value is not False or each.default is True):
                values[each.name] = tuple(value) if each.several else value
        return values

    def _preprocessing(self, *args: Any, **kwargs: Any) -> None:
        """simple-parsing adds the groups here, and would spell `--n` as `-n`, too."""
        super()._preprocessing(*args, **kwargs)
        for action in self._actions:
            for twice in [short for short in action.option_strings if f"-{short}" in action.option_strings]:
                action.option_strings = [each for each in action.option_strings if each != twice]
                self._option_string_actions.pop(twice)

    def error(self, message: str) -> NoReturn:
        """The sentence alone, or the usage's many lines would drown it.

        It repeats what was given, such as names of files: shown, not obeyed; and tokens, which are not shown.
        """
        from evenhand.hub.secrets import masked

        unknown = next((each for each in message.split() if each.startswith("--")), "")
        if message.startswith("unrecognized") and (close := get_close_matches(unknown, self._option_string_actions)):
            message += f"; did you mean {close[0]}?"
        sys.stderr.write(f"{self.prog}: error: {shown(masked(message))} ({self.prog} --help shows all options)\n")
        raise SystemExit(2)

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write a message; argparse's own passes over a full disk."""
        if stream := file or sys.stderr:
            stream.write(message)

    def format_help(self) -> str:
        titles = {name: group.title for name, group in self._groups.items()}
        for group in self._action_groups:
            for name, title in titles.items():
                if group.title and group.title.endswith(f"['{name}']"):
                    group.title, group.description = title, None
        return str(super().format_help()).rstrip() + "\n"


class _Switch(argparse.BooleanOptionalAction):
    """--name and --no-name, of what is on by default; simple-parsing tells it more than it wants to know."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None, **_: object):
        super().__init__(option_strings, dest, default=None, help=help)


def _identifier(each: OptionField) -> str:
    return each.flag.replace("-", "_")


def _spoken(group: Group) -> type:
    """A dataclass whose fields tell simple-parsing all that `option` was told."""
    spoken = dataclasses.make_dataclass(
        group.options.__name__,
        [
            (
                _identifier(each),
                Any,  # None: not given
                dataclasses.field(default=None, metadata={"custom_args": _arguments(each)}),
            )
            for each in group.shown
        ],
    )
    spoken.__module__ = ""  # or simple-parsing reads this file once for each field, in search of comments
    return spoken


def _arguments(each: OptionField) -> dict[str, Any]:
    """Of argparse's add_argument."""
    told: dict[str, Any] = {"help": each.explained.replace("%", "%%")}
    if each.kind is bool and not each.several:
        return told | {"action": _Switch if each.default is True else "store_true"}
    told |= {"type": _reader(each), "nargs": None, "required": False}
    told["metavar"] = "{" + ",".join(each.choices) + "}" if each.choices else each.metavar or "VALUE"
    if each.several:
        told |= {"action": "append"} if each.repeated else {"nargs": "+", "action": "extend"}
    return told


def path(text: str) -> Path:
    """An argument's type: a path that a file can have."""
    try:
        return typed_path(text)
    except UsageError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def percent(text: str) -> float:
    """An argument's type: a finite number of 0 or more."""
    with contextlib.suppress(ValueError):
        if 0 <= (number := float(text)) < math.inf:
            return number
    raise argparse.ArgumentTypeError(f"{text!r} came; a percentage of 0 or more is accepted")


def _reader(each: OptionField) -> Callable[[str], object]:
    def read(text: str) -> object:
        try:
            return each.parsed(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return read


def parse(
    prog: str,
    description: str,
    arguments: Sequence[str],
    groups: Mapping[str, Group],
    more: Callable[[argparse.ArgumentParser], None] = lambda parser: None,
) -> tuple[argparse.Namespace, dict[str, dict[str, Any]]]:
    """What `more` added, and {group: {field: value}} of what was given. What is wrong ends with 2 and a sentence."""
    parser = Parser(prog, description)
    more(parser)
    for name, group in groups.items():
        if group.shown:
            parser.add(name, group)
    parsed = parser.parse_args(list(arguments))
    return parsed, {name: parser.values(parsed, name) if group.shown else {} for name, group in groups.items()}

"""Command lines made from options dataclasses: `--help` shows each field with its default and range."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

from evenhand.errors import UsageError
from evenhand.options import OptionField, fields_of
from evenhand.paths import typed_path
from evenhand.terminal import shown

OTHER_HARNESSES = {
    "--apply-chat-template": "a model's chat template is always applied",
    "--device": "--model-option device_map=cpu (or cuda)",
    "--epochs": "--runs",
    "--gen-kwargs": "--temperature, --top-p and --max-new-tokens",
    "--log-dir": "--output",
    "--log-samples": "predictions.parquet in the run folder always has every answer",
    "--max-connections": "--batch-size",
    "--max-gen-toks": "--max-new-tokens",
    "--max-samples": "--limit",
    "--max-tokens": "--max-new-tokens",
    "--model-args": "--model NAME and --model-option KEY=VALUE",
    "--num-fewshot": "no benchmark here shows examples first",
    "--num-samples": "--limit",
    "--output-path": "--output",
    "--task": "the benchmark comes first: evenhand run BENCHMARK",
    "--tasks": "the benchmark comes first: evenhand run BENCHMARK",
    "--trust-remote-code": "code that comes with a model is never run",
}
"""What options of lm-evaluation-harness and inspect_ai are called here."""


@dataclass(frozen=True)
class Group:
    """Options of one owner under a title of their own.

    Attributes:
        defaults: shown by --help instead of the fields' own.
        choices: accepted instead of the fields' own.
    """

    title: str
    options: type
    defaults: Mapping[str, Any] = field(default_factory=dict)
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def shown(self) -> list[OptionField]:
        """The fields with a help text; others are not set on a command line."""
        return [
            replace(
                each,
                default=self.defaults.get(each.name, each.default),
                choices=self.choices.get(each.name, each.choices),
            )
            for each in fields_of(self.options)
            if each.help
        ]


class ScriptHelp(argparse.RawDescriptionHelpFormatter):
    """Help of scripts, whose options are argparse's own: lines as they are written, and each option's default."""

    def _get_help_string(self, action: argparse.Action) -> str:
        text, default = action.help or "", action.default
        if not action.option_strings or default in (None, False, "", argparse.SUPPRESS):
            return text
        values = " ".join(map(str, default)) if isinstance(default, (list, tuple)) else default
        return text + f" (default: {values})".replace("%", "%%")


def whole(least: int = 1) -> Callable[[str], int]:
    """Return an argument's type: a whole number of `least` or more."""

    def read(text: str) -> int:
        number = int(text) if text.isascii() and text.removeprefix("-").isdecimal() else least - 1
        if number < least:
            raise argparse.ArgumentTypeError(f"must be a whole number of {least} or more, got {text!r}")
        return number

    return read


def path(text: str) -> Path:
    """Read an argument that is a path."""
    try:
        return typed_path(text)
    except UsageError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def percent(text: str) -> float:
    """Read an argument that is a percentage: a finite number of 0 or more."""
    with contextlib.suppress(ValueError):
        if 0 <= (number := float(text)) < math.inf:
            return number
    raise argparse.ArgumentTypeError(f"must be a percentage of 0 or more, got {text!r}")


class Parser(argparse.ArgumentParser):
    """An argparse parser whose errors are one sentence, and which suggests what an unknown option is called."""

    def __init__(self, prog: str, description: str, epilog: str | None = None):
        super().__init__(
            prog=prog, description=description, epilog=epilog, allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter if epilog else argparse.HelpFormatter,
        )  # fmt: skip

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:  # type: ignore[override]
        parsed, unknown = self.parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}{self._suggestion(unknown)}")
        return parsed

    def _suggestion(self, unknown: Sequence[str]) -> str:
        for text in unknown:
            name = text.partition("=")[0].casefold().replace("_", "-")
            close = difflib.get_close_matches(name, self._option_string_actions, n=1)
            if name.startswith("--") and name in OTHER_HARNESSES and name not in close:
                return f"; here: {OTHER_HARNESSES[name]}"
            if name.startswith("--") and close:
                return f"; did you mean {close[0]}?"
        return ""

    def error(self, message: str) -> NoReturn:
        """Exit with 2 and the sentence alone. What was given is repeated without obeying it or showing a token."""
        from evenhand.hub.secrets import masked

        sys.stderr.write(f"{self.prog}: error: {shown(masked(message))} ({self.prog} --help shows all options)\n")
        raise SystemExit(2)

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write a message; argparse's own ignores a full disk."""
        if stream := file or sys.stderr:
            stream.write(message)


def parse(
    prog: str,
    description: str,
    arguments: Sequence[str],
    groups: Mapping[str, Group],
    more: Callable[[argparse.ArgumentParser], None] = lambda parser: None,
    epilog: str | None = None,
) -> tuple[argparse.Namespace, dict[str, dict[str, Any]]]:
    """Parse a command line; a wrong one exits with 2 and a sentence.

    Returns:
        What `more` added, and {group: {field: value}} of what was given.
    """
    parser = Parser(prog, description, epilog)
    more(parser)
    places: dict[str, tuple[str, OptionField]] = {}  # by argparse's dest
    for name, group in groups.items():
        titled = parser.add_argument_group(group.title) if group.shown else parser
        for each in group.shown:
            titled.add_argument(f"--{each.flag}", dest=f"{name}.{each.name}", **_arguments(each))
            places[f"{name}.{each.name}"] = name, each
    parsed = parser.parse_args(list(arguments))
    values: dict[str, dict[str, Any]] = {name: {} for name in groups}
    for dest, value in list(vars(parsed).items()):
        if dest in places:
            name, each = places[dest]
            values[name][each.name] = tuple(value) if each.several else value
            delattr(parsed, dest)
    return parsed, values


def _arguments(each: OptionField) -> dict[str, Any]:
    """Return arguments of argparse's add_argument; what is not given is left out of the parsed namespace."""
    common: dict[str, Any] = {"help": each.explained.replace("%", "%%"), "default": argparse.SUPPRESS}
    if each.kind is bool and not each.several:
        return common | {"action": argparse.BooleanOptionalAction if each.default is True else "store_true"}

    def read(text: str) -> object:
        try:
            return each.parsed(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    metavar = "{" + ",".join(each.choices) + "}" if each.choices else each.metavar or "VALUE"
    many = {"action": "append"} if each.repeated else {"nargs": "+", "action": "extend"}
    return common | {"type": read, "metavar": metavar, **(many if each.several else {})}

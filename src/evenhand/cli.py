"""The command line: names and exit codes (0 done, 1 failed, 2 wrong usage; of the gate also 1 worse, 3 not enough
evidence). A command stands beside what it runs."""

from __future__ import annotations

import difflib
import errno
import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from importlib import import_module
from io import TextIOWrapper
from typing import TYPE_CHECKING

from evenhand import __version__
from evenhand.errors import EvenhandError, UsageError
from evenhand.models.errors import ModelError
from evenhand.paths import unreadable_characters

if TYPE_CHECKING:
    from rich.console import Console

    from evenhand.terminal import Terminal

DONE, FAILED, WRONG_USAGE = 0, 1, 2
STOPPED = (
    "stopped; replies of finished calls are stored, of a training its last checkpoint (--save-every). Run the same "
    "command again to go on."
)
WIDTH_ELSEWHERE = 128
_OUTPUT_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG, errno.EPIPE)


@dataclass(frozen=True)
class Command:
    """where: "module:function" of (arguments, console), imported when it is called; it may return an exit code.
    tells: whether it says by itself how far it is.
    """

    where: str
    help: str
    tells: bool = False

    def __call__(self, arguments: Sequence[str], console: Console) -> int:
        module, _, name = self.where.partition(":")
        function: Callable[[Sequence[str], Console], int | None] = getattr(import_module(module), name)
        return function(arguments, console) or DONE


COMMANDS: Mapping[str, Command] = {
    "list": Command("evenhand.commands:list_all", "benchmarks, datasets, mitigations, trainers and backends"),
    "run": Command("evenhand.flow.commands:run", "run a benchmark on a model", tells=True),
    "compare": Command("evenhand.report.commands:compare", "runs of one benchmark side by side, and their differences"),
    "agree": Command("evenhand.report.commands:agree", "whether runs of several benchmarks rank models alike"),
    "gate": Command("evenhand.gating.commands:gate", "may a candidate take its base's place? for CI"),
    "profile": Command(
        "evenhand.profiling.commands:profile", "all benchmarks that a model can do, on one page", tells=True
    ),
    "report": Command("evenhand.report.commands:report", "write a run's report.html again"),
    "train": Command("evenhand.commands:train", "train a classifier or a debiased model", tells=True),
    "annotate": Command(
        "evenhand.tools.annotation.commands:annotate", "texts to people who label them, their labels and agreement"
    ),
    "ensemble": Command("evenhand.commands:ensemble", "what several runs agree on, and its score"),
    "audit-captions": Command(
        "evenhand.tools.caption_audit.commands:audit_captions",
        "gender terms beside occupations and descriptors in captions",
        tells=True,
    ),
    "export": Command("evenhand.tools.peers.commands:export", "a benchmark as a task of another harness"),
    "publish": Command(
        "evenhand.hub.publish_command:publish", "datasets, metrics, models and leaderboards on the Hugging Face Hub"
    ),
    "submit": Command("evenhand.hub.submission.command:submit", "results of runs to their model, in a pull request"),
    "leaderboard": Command(
        "evenhand.hub.leaderboard.command:leaderboard", "results from many places in one table, as a page and a Space"
    ),
    "app": Command(
        "evenhand.hub.apps.app_command:app",
        "a metric's page on this machine: paste answers, see the score",
        tells=True,
    ),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Characters that standard output and error can't show are replaced; a reader who has closed the pipe stops nothing.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            with suppress(ValueError):  # it is closed
                stream.reconfigure(errors="replace")
    try:
        return _run(list(sys.argv[1:] if arguments is None else arguments))
    except BaseException as error:
        # What is interrupted while it is imported says so in its own ways, such as a circular import.
        if _is_interrupt(error):
            print(f"evenhand: {STOPPED}", file=sys.stderr)
            return FAILED
        if isinstance(error, OSError) and error.errno in _OUTPUT_ERRORS and error.filename is None:
            return _lose_output(error)
        raise
    finally:
        try:
            if sys.stdout is not None and not sys.stdout.closed:
                sys.stdout.flush()
        except OSError as error:
            if code := _lose_output(error):
                sys.exit(code)


def _lose_output(error: OSError) -> int:
    """Standard output can't be written: say so, unless its reader has had enough."""
    from evenhand.terminal import discard

    discard(sys.stdout)
    if isinstance(error, BrokenPipeError):
        return DONE
    _say(f"can't write to standard output: {error.strerror}; free space, or send it elsewhere. What was stored is kept")
    return FAILED


def called(arguments: Sequence[str]) -> None:
    """A command within a script, which ends with it where it fails."""
    if code := main(arguments):
        sys.exit(code)


def _is_interrupt(error: BaseException | None) -> bool:
    """Whether Ctrl-C is what it came from."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _run(arguments: list[str]) -> int:
    for place, text in enumerate(arguments, 1):
        if unreadable := unreadable_characters(text):
            _say(f"argument {place} can't be read ({text!r}): {unreadable}; write it anew")
            return WRONG_USAGE
    name, *rest = [*arguments, ""]
    given = rest[:-1]
    if name in ("-h", "--help"):
        print(_help())
        return DONE
    if name == "--version":
        print(f"evenhand {__version__}")
        return DONE
    if name not in COMMANDS:
        _say(_unknown(name))
        return WRONG_USAGE
    return _called(name, given)


def _called(name: str, arguments: Sequence[str]) -> int:
    from evenhand.hub.secrets import masked
    from evenhand.progress import AtWork
    from evenhand.terminal import Terminal

    command = COMMANDS[name]
    errors = Terminal(stderr=True, soft_wrap=True)
    _quiet_libraries()
    try:
        with nullcontext() if command.tells else AtWork(f"evenhand {name}"):
            return command(arguments, _console())
    except (EvenhandError, ModelError) as error:
        if _is_interrupt(error):
            raise
        errors.print(f"evenhand: {masked(str(error))}")
        return WRONG_USAGE if isinstance(error, UsageError) else FAILED


def _say(text: str) -> None:
    from evenhand.hub.secrets import masked

    print(f"evenhand: {masked(text)}", file=sys.stderr)


def _console() -> Terminal:
    """The terminal's own width; tables in a pipe or a log are not folded to 80 columns."""
    from evenhand.terminal import Terminal

    console = Terminal()
    return console if console.is_terminal else Terminal(width=WIDTH_ELSEWHERE)


def _help() -> str:
    width = max(map(len, COMMANDS))
    return "\n".join(
        [
            "usage: evenhand COMMAND …",
            "",
            "Measure social bias in language models, reduce it, and show it.",
            "",
            *(f"  {name:<{width}}  {command.help}" for name, command in COMMANDS.items()),
            "",
            "evenhand COMMAND --help says more; --version, the version.",
        ]
    )


def _unknown(name: str) -> str:
    if not name:
        return "a command is needed: " + ", ".join(COMMANDS)
    close = difflib.get_close_matches(name, COMMANDS, n=1)
    advice = f"did you mean {close[0]!r}?" if close else f"accepted: {', '.join(COMMANDS)}"
    return f"unknown command {name!r}; {advice} (evenhand --help)"


def _quiet_libraries() -> None:
    """Their progress bars and notices would stand between ours; warnings and errors stay, and can't order anything."""
    from evenhand.terminal import ShownFormatter

    if logging.lastResort is not None:
        logging.lastResort.setFormatter(ShownFormatter())
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("HF_DATASETS_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")


if __name__ == "__main__":
    sys.exit(main())

"""The command line: names and exit codes. Each command's function is in the package that it runs."""

from __future__ import annotations

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
from evenhand.errors import EvenhandError, UsageError, unknown_name
from evenhand.models.errors import ModelError
from evenhand.paths import unreadable_characters

if TYPE_CHECKING:
    from rich.console import Console

DONE, FAILED, WRONG_USAGE = 0, 1, 2  # the gate also: 1 worse, 3 not enough evidence
STOPPED = (
    "stopped; replies of finished calls are stored, of a training its last checkpoint (--save-every). Run the same "
    "command again to go on."
)
WIDTH_ELSEWHERE = 128
_OUTPUT_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG, errno.EPIPE)


@dataclass(frozen=True)
class Command:
    """A command, imported when it is called.

    Attributes:
        where: "module:function" of (arguments, console), which may return an exit code.
        tells: whether it shows its own progress.
    """

    where: str
    help: str
    tells: bool = False

    def __call__(self, arguments: Sequence[str], console: Console) -> int:
        module, _, name = self.where.partition(":")
        function: Callable[[Sequence[str], Console], int | None] = getattr(import_module(module), name)
        return function(arguments, console) or DONE


COMMANDS: Mapping[str, Command] = {
    "list": Command("evenhand.commands:list_all", "list benchmarks, datasets, mitigations, trainers and backends"),
    "run": Command("evenhand.flow.commands:run", "run a benchmark on a model", tells=True),
    "compare": Command("evenhand.report.commands:compare", "compare runs of one benchmark"),
    "agree": Command("evenhand.report.commands:agree", "test whether benchmarks rank models in the same order"),
    "gate": Command("evenhand.gating.commands:gate", "check in CI that a candidate model is no worse than its base"),
    "profile": Command("evenhand.profiling.commands:profile", "run all benchmarks that a model can do", tells=True),
    "report": Command("evenhand.report.commands:report", "write a run's report.html again"),
    "view": Command("evenhand.report.commands:view", "write every prompt and answer of runs as a table to search"),
    "train": Command("evenhand.commands:train", "train a classifier or a debiased model", tells=True),
    "annotate": Command("evenhand.tools.annotation.commands:annotate", "export texts to annotators, score agreement"),
    "ensemble": Command("evenhand.commands:ensemble", "score the answers on which several runs agree"),
    "audit-captions": Command(
        "evenhand.tools.caption_audit.commands:audit_captions", "count gender terms in captions", tells=True
    ),
    "export": Command("evenhand.tools.peers.commands:export", "export a benchmark as a task of another harness"),
    "publish": Command("evenhand.hub.publish_command:publish", "publish a dataset, metric, model or leaderboard"),
    "submit": Command("evenhand.hub.submission.command:submit", "send results to a model's page as a pull request"),
    "leaderboard": Command("evenhand.hub.leaderboard.command:leaderboard", "collect results in one table and page"),
    "app": Command("evenhand.hub.apps.app_command:app", "serve a metric's page on this machine", tells=True),
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
    """Say that standard output can't be written, unless its reader has gone away."""
    from evenhand.terminal import discard

    discard(sys.stdout)
    if isinstance(error, BrokenPipeError):
        return DONE
    print(f"evenhand: can't write to standard output: {error.strerror}; what was stored is kept", file=sys.stderr)
    return FAILED


def called(arguments: Sequence[str]) -> None:
    """Run a command within a script, and end the script where it fails."""
    if code := main(arguments):
        sys.exit(code)


def _is_interrupt(error: BaseException | None) -> bool:
    """Whether Ctrl-C caused it."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _run(arguments: list[str]) -> int:
    try:
        return _dispatch(arguments)
    except (EvenhandError, ModelError) as error:
        if _is_interrupt(error):
            raise
        from evenhand.hub.secrets import masked
        from evenhand.terminal import Terminal

        Terminal(stderr=True, soft_wrap=True).print(f"evenhand: {masked(str(error))}")
        return WRONG_USAGE if isinstance(error, UsageError) else FAILED


def _dispatch(arguments: list[str]) -> int:
    for place, text in enumerate(arguments, 1):
        if unreadable := unreadable_characters(text):
            raise UsageError(f"argument {place} can't be read ({text!r}): {unreadable}")
    name = arguments[0] if arguments else ""
    if name in ("-h", "--help"):
        width = max(map(len, COMMANDS))
        print("usage: evenhand COMMAND [options]\n\nMeasure social bias in language models, and reduce it.\n")
        print("\n".join(f"  {each:<{width}}  {command.help}" for each, command in COMMANDS.items()))
        print("\nevenhand COMMAND --help shows a command's options; evenhand --version, the version.")
        return DONE
    if name == "--version":
        print(f"evenhand {__version__}")
        return DONE
    if not name:
        raise UsageError(f"a command is needed: {', '.join(COMMANDS)}")
    if name not in COMMANDS:
        raise unknown_name("command", name, [*COMMANDS], "evenhand --help")

    from evenhand.progress import AtWork
    from evenhand.terminal import Terminal

    _quiet_libraries()
    console = Terminal()
    if not console.is_terminal:  # tables in a pipe or a log are not folded to 80 columns
        console = Terminal(width=WIDTH_ELSEWHERE)
    with nullcontext() if COMMANDS[name].tells else AtWork(f"evenhand {name}"):
        return COMMANDS[name](arguments[1:], console)


def _quiet_libraries() -> None:
    """Silence other libraries' progress bars and notices; warnings and errors stay, without control characters."""
    from evenhand.terminal import ShownFormatter

    if logging.lastResort is not None:
        logging.lastResort.setFormatter(ShownFormatter())
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("HF_DATASETS_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")


if __name__ == "__main__":
    sys.exit(main())

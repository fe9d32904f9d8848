"""Chat templates are programs that come with a checkpoint. They are rendered in a process of their own, with bounds.

Jinja's sandbox keeps a template from this machine's files, but not from looping for years or filling the memory
(`'a' * 10**9`, loops in loops, macros that call themselves). A process can be ended, whatever it does; nothing within
this one could.
"""

from __future__ import annotations

import atexit
import json
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

from evenhand.models.errors import ModelError

SECONDS = 10  # for one prompt
MEMORY = 2**29  # bytes
BESIDE = 100_000  # characters that a template may write of its own: the longest known write some 10,000
TIMES = 4  # as often may it repeat what it is given

_NOT_FROM_HERE = "import sys; sys.path[:] = [place for place in sys.path if place]\n"  # the folder a person is in
_PROGRAM = Path(__file__).with_name("template_worker.py")


class TemplateRefused(Exception):
    """What a template raised for these messages."""


class _Worker:
    """One process, begun when it is needed; one prompt at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None

    def ask(self, question: str) -> dict[str, str] | None:
        """None where it ended without an answer."""
        with self._lock:
            process = self._running()
            assert process.stdin is not None
            assert process.stdout is not None
            late = None if hasattr(signal, "alarm") else threading.Timer(SECONDS, process.kill)  # else it ends itself
            if late:
                late.start()
            try:
                process.stdin.write(question + "\n")
                process.stdin.flush()
                said: dict[str, str] = json.loads(process.stdout.readline())
            except (OSError, ValueError):
                self._end()
                return None
            except BaseException:  # Ctrl-C: the answer would be taken for the next question's
                self._end()
                raise
            finally:
                if late:
                    late.cancel()
            return said

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            program = _NOT_FROM_HERE + _PROGRAM.read_text(encoding="utf-8")
            command = [sys.executable, "-c", program, str(SECONDS), str(MEMORY)]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
            atexit.register(self._end)
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


_worker = _Worker()


def rendered(template: object, variables: Mapping[str, object]) -> str:
    """The text that a template makes of `messages` and whatever else it is given.

    Raises TemplateRefused for messages that it takes exception to, ModelError for a template that is broken or exceeds
    SECONDS, MEMORY or the number of characters that it may write.
    """
    if not isinstance(template, str):
        raise _unfit("is no text")
    given = json.dumps(variables)
    most = BESIDE + TIMES * len(given)
    said = _worker.ask(json.dumps({"template": template, "variables": variables, "most": most}))
    if said is None:
        raise _unfit(f"takes more than {SECONDS} seconds, or {MEMORY // 2**20:,} MiB, for one prompt")
    if "exploded" in said:
        raise _unfit(f"gets out of hand: {said['exploded']}")
    if "broken" in said:
        raise _unfit(f"is broken: {said['broken']}")
    if "refused" in said:
        raise TemplateRefused(said["refused"])
    return said["text"]


def _unfit(why: str) -> ModelError:
    return ModelError(f"the model's chat template {why}; use another model")

"""The code blocks of README and docs/, with what stands in for models and sizes when tests run them."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

STAND_INS = (
    # what stands on the page, what the tests put in its place
    (r"HuggingFaceTB/SmolLM2-360M-Instruct", "stub:random"),
    (r"models/scd\b", "stub:last"),
    (r"--model embedded", "--model stub:first"),
    (r"\"embedded\"", '"stub:first"'),
    (r"--model OLD", "--model stub:first"),
    (r"--model NEW", "--model stub:random"),
    (r"llava-hf/llava-1.5-7b-hf", "'stub:random:left|right'"),
    (r"--faces DIR", "--faces rehearsal --limit 6"),
    (r"(evenhand leaderboard runs/controls-135m .*)", r"\1 --rehearsal"),
    (r"--limit \d+", "--limit 6"),
    (r"limit=\d+", 'limit=6, configs=("certainty",)'),
    (r"(evenhand run contact_hypothesis) (?!--config)", r"\1 --config certainty "),
    (r"--n 200", "--n 6"),
    (r"(evenhand run (?:contact_controls|utility)) ", r"\1 --limit 6 "),
    (r"(evenhand profile) ", r"\1 --benchmark contact_controls "),
    (r"split=\"test\"", 'split="test[:20]"'),
)
"""Models whose answers are known, and few rows: what is tested are the commands, not the figures."""

NEVER_RUN = (
    # what no page needs to mark: why it is only parsed, and what does run it
    (r"^evenhand (publish|submit)\b", "needs an account of the Hub; tests/hub has a server that speaks its protocol"),
    (r"\"NS/", "needs published repositories; tests/hub loads them from that server"),
    (r"^evenhand train\b", "trains a model; tests/trainers trains tiny ones"),
    (r"^evenhand leaderboard\b.*\b(ORG|lab)/", "reads repositories on the Hub; tests/hub has some"),
    (r"^evenhand app\b", "waits for visitors; tests/hub/test_app_in_browser.py visits it"),
)
AS_IT_STANDS = "<!-- run as it stands -->"
"""Before a block in which nothing is put in place of anything: what it says of exit codes holds."""
_EXIT_CODE = re.compile(r"# exit code (\d)")
NOT_RUN = re.compile(r"<!-- not run: (\S.*) -->")
FENCE = re.compile(r"^```(.*)$")


@dataclass(frozen=True)
class Block:
    """A fenced block. line: of its fence, from 1. language: sh where none is named.

    reason: why tests only parse it; None where they run it. as_it_stands: without stand-ins.
    """

    page: Path
    line: int
    language: str
    text: str
    reason: str | None
    as_it_stands: bool = False

    @property
    def place(self) -> str:
        return f"{self.page.name}:{self.line}"

    @property
    def commands(self) -> list[list[str]]:
        """Of a shell block, the words of each command, comments left out."""
        return [words for words, _ in self.with_exit_codes]

    @property
    def with_exit_codes(self) -> list[tuple[list[str], int | None]]:
        """Each command, and what a comment behind it says that it ends with."""
        found = []
        for line in self.text.replace("\\\n", " ").splitlines():
            if words := shlex.split(re.sub(r"(^|\s)#.*", "", line)):
                told = _EXIT_CODE.search(line)
                found.append((words, int(told[1]) if told else None))
        return found


def blocks(page: Path) -> list[Block]:
    """Those of one page, from top to bottom."""
    found, opened, reason, as_it_stands = [], None, None, False
    lines = page.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        fence = FENCE.match(line)
        if fence and opened is None:
            told = NOT_RUN.fullmatch(lines[number - 2]) if number > 1 else None
            opened, language, reason = number, fence[1], told[1] if told else None
            as_it_stands = number > 1 and lines[number - 2] == AS_IT_STANDS
        elif fence:
            text = "\n".join(lines[opened : number - 1])
            found.append(Block(page, opened, language or "sh", text, reason or never_run(text), as_it_stands))
            opened = None
    assert opened is None, f"{page.name}:{opened} is never closed"
    return found


def never_run(text: str) -> str | None:
    """Why tests only parse such a block wherever it stands."""
    return next((why for what, why in NEVER_RUN if re.search(what, text, re.MULTILINE)), None)


def stood_in(text: str) -> str:
    """The block as tests run it."""
    for page, here in STAND_INS:
        text = re.sub(page, here, text)
    return text

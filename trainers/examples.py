"""Examples as tokens, read as the backend that scores and writes reads them; and the checkpoint that reads them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from evenhand.benchmark import Benchmark, Row
from evenhand.errors import UsageError
from evenhand.flow.configuration import Asking
from evenhand.models.errors import Unanswerable
from evenhand.models.loading import Checkpoint
from evenhand.models.prefix_tree import Continuation
from evenhand.models.registry import Loading, is_server
from evenhand.models.request import Message, Request
from evenhand.models.template_settings import TemplateSettings
from evenhand.models.text_reader import TextReader
from evenhand.models.transformers_backend import TransformersOptions, checkpoint_of
from evenhand.paths import typed_path
from evenhand.row_files import Rows, as_text, read_rows
from evenhand.trainers.adapters import check_fit
from evenhand.trainers.options import TuningOptions

LONGEST = 1024  # tokens of an instruction and its answer, as in the published training
PAIRS = (("instruction", "output"), ("prompt", "completion"), ("prompt", "response"), ("question", "answer"))
COLUMNS = (
    "expected instruction and output (and input), prompt and completion or response, question and answer, or messages"
)
T = TypeVar("T")
ROLES = ("system", "user", "assistant")


def load_base(options: TuningOptions) -> Checkpoint:
    """Find the checkpoint to train. Raises UsageError for an adapter, a server, and what doesn't fit the options."""
    path, kind = typed_path(options.model), options.model.partition(":")[0]
    if path.is_file():
        raise UsageError(f"--model {options.model} is a file; name its folder, {path.parent}")
    if ":" in options.model and not path.exists() and "/" not in kind:
        what = "a server" if is_server(options.model) else f"a model of the backend {kind}"
        raise UsageError(f"--model {options.model} is {what}; training needs weights: embedded, a Hub id or a folder")
    if options.revision and (options.model == "embedded" or path.exists()):
        raise UsageError(f"--revision {options.revision} is for models on the Hub, not {options.model}; leave it out")
    loading = Loading(revision=options.revision, dtype=options.dtype, template=TemplateSettings.of(options))
    found = checkpoint_of(options.model, loading, TransformersOptions(quantization=options.quantization))
    if found.adapter is not None:
        raise UsageError(f"{options.model} is an adapter; train its base, or merge it first (peft's merge_and_unload)")
    check_fit(found, options)
    return found


def require_tokens(requests: Iterable[Request], found: Iterable[T | Unanswerable], model: str) -> Iterator[T]:
    """Yield what a reader made of each request. Raises UsageError, with the model's name, where it can't be read."""
    for request, tokens in zip(requests, found):
        if isinstance(tokens, Unanswerable):
            raise UsageError(f"{model} can't be trained on {request.name}: {tokens}")
        yield tokens


def read_answers(requests: Sequence[Request], reader: TextReader, model: str, end: int | None) -> list[Continuation]:
    """Read the one choice of each request after its prompt; end: the token behind an answer, if any."""
    behind = () if end is None else (end,)
    found = require_tokens(requests, reader.continuations(requests), model)
    return [Continuation(one.prompt, one.answer + behind) for [one] in found]


def read_targets(
    benchmark: Benchmark[Any], rows: Sequence[Row], how: Asking[Any], reader: TextReader, model: str, end: int | None
) -> list[Continuation]:
    """Read the ideal answers to the benchmark's requests, after the prompts that it asks."""
    targets = [target for row in rows for target in benchmark.targets(row, how)]
    return read_answers([replace(each.request, choices=(each.ideal,)) for each in targets], reader, model, end)


def learn_whole(example: Continuation) -> Continuation:
    """Move all tokens but the first from the prompt to the answer."""
    tokens = example.prompt + example.answer
    return Continuation(tokens[:1], tokens[1:])


def pack(examples: Sequence[Continuation], length: int) -> list[Continuation]:
    """Join examples, and cut them into texts of so many tokens, all learned; the last may be shorter (TRL drops it)."""
    row = tuple(token for each in examples for token in each.prompt + each.answer)
    pieces = [row[start : start + length] for start in range(0, len(row), length)]
    return [Continuation(piece[:1], piece[1:]) for piece in pieces if len(piece) > 1]


@dataclass(frozen=True)
class Instructions:
    """General instructions with answers. left_out: drawn, but too long. note: on these, no full stop."""

    examples: tuple[Continuation, ...]
    left_out: int
    sha256: str
    note: str = ""


def read_instructions(
    path: Path, n: int, seed: int, reader: TextReader, template: bool, layout: str = "{instruction}\n"
) -> Instructions:
    """Draw up to n rows of a file, and read them.

    template: lay out by the chat template, whose end of turn is then learned; else instruction, in `layout`, and answer
    are plain text. Raises UsageError for a file that can't be read, other columns, and where every row drawn is too
    long.
    """
    rows = read_rows(path, "instruction", "instructions")
    requests = _instruction_requests(rows, template, layout)
    drawn = random.Random(f"mix {seed}").sample(range(len(requests)), min(n, len(requests)))
    end = reader.end_of_answer() if template else None
    longest = min(LONGEST, reader.context or LONGEST)
    asked = [requests[place] for place in drawn]
    found = read_answers(asked, replace(reader, context=None), "the model", end)  # of any length, to say how long
    lengths = [len(each.prompt + each.answer) for each in found]
    examples = tuple(each for each, length in zip(found, lengths) if length <= longest)
    too_long = [(length, rows.places[place]) for length, place in zip(lengths, drawn) if length > longest]
    if not examples:
        raise UsageError(
            f"{path}: none of the {len(drawn)} instructions drawn has at most {longest:,} tokens with its answer; the "
            f"shortest, {min(too_long)[1]}, has {min(too_long)[0]:,}"
        )
    note = ""
    if too_long:
        most, where = max(too_long)
        note = (
            f"{len(too_long):,} of {len(drawn):,} instructions from {path.name} left out: with their answers they have "
            f"more than {longest:,} tokens (the longest, {where}, has {most:,})"
        )
    return Instructions(examples, len(too_long), rows.sha256, note)


def read_turns(cell: object) -> tuple[Message, ...]:
    """Read a list of turns (role, content); empty where one of them is none, or has no text."""
    turns = cell if isinstance(cell, list) else []
    found = [
        Message(turn["role"], turn["content"])
        for turn in turns
        if isinstance(turn, dict)
        and turn.get("role") in ROLES
        and isinstance(turn.get("content"), str)
        and turn["content"].strip()
    ]
    return tuple(found) if len(found) == len(turns) else ()


def _instruction_requests(rows: Rows, template: bool, layout: str) -> list[Request]:
    requests = []
    for place, turns in enumerate(_conversations(rows)):
        asked = turns[:-1]
        if not template:
            asked = (Message("user", layout.format(instruction="\n\n".join(each.text for each in asked))),)
        requests.append(Request(asked, (turns[-1].text,), name=f"mix/{place}", template=template))
    return requests


def _conversations(rows: Rows) -> Iterator[tuple[Message, ...]]:
    if "messages" in rows.columns:
        for cell, where in zip(rows.cells("messages"), rows.places):
            turns = read_turns(cell)
            if not any(turn.role == "user" for turn in turns) or turns[-1].role != "assistant":
                raise UsageError(
                    f"{rows.path}, {where}: messages must be turns of a user, and end with the assistant's"
                )
            yield turns
        return
    columns = next((pair for pair in PAIRS if {*pair} <= {*rows.columns}), None)
    if columns is None:
        raise UsageError(f"{rows.path} has the columns {', '.join(rows.columns)}; {COLUMNS}")
    further = rows.cells("input") if "input" in rows.columns else [""] * rows.n
    for *cells, more, where in zip(*map(rows.cells, columns), further, rows.places):
        texts = ["" if isinstance(cell, (list, dict)) else as_text(cell).strip() for cell in cells]
        if missing := [name for name, text in zip(columns, texts) if not text]:
            raise UsageError(f"{rows.path}, {where}: {' and '.join(missing)} must be a text that is not empty")
        asked = "\n\n".join(filter(None, (texts[0], as_text(more).strip())))
        yield Message("user", asked), Message("assistant", texts[1])

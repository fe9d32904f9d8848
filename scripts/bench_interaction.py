"""How fast conversations are held: all together beside another way, in one run.

Both hold the same implicit_bias conversations with the same model at temperature 0 in float32:

- together: the runner asks whatever all conversations wait for, in batches; what prompts share is read once
- --beside alone: one conversation after another, one request at a time, each prompt read whole, as the published loop
  does
- --beside unkept: together, but nothing that a call has read is kept for the next

With --protocol generate assignments are written, with rank every possible one is scored. Prints conversations a
minute, the ratio, and how many statements differ; the same for the forward passes that read prompts, that write, and
that score, apart; and how many tokens went through the model beside how many distinct ones there are, fewer than which
no way reads.

Batches speed up writing, where a single sequence leaves the processor waiting for weights. Reading a prompt that has
grown with its conversation fills a CPU by itself, and bounds the whole: an agent's prompt is its former one and what
was said since, and agents of a conversation share nothing, for a prompt begins with its agent's name. So does scoring:
each of 24 assignments is a hundred tokens after its agent's prompt, which stand nowhere else.
"""

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
import transformers
from benching import Line, measured

from evenhand.benchmark import Row
from evenhand.benchmarks import get_benchmark
from evenhand.command_line import ScriptHelp, whole
from evenhand.flow.configuration import Asking, run_config
from evenhand.flow.episode import Prediction
from evenhand.flow.rows import drawn_rows
from evenhand.flow.runner import Runner
from evenhand.flow.store import Store
from evenhand.models.errors import Unanswerable
from evenhand.models.prefix_tree import Continuation, distinct_tokens
from evenhand.models.protocol import Ability, Kind, OnTokens, kind_of, unheard
from evenhand.models.registry import load_model
from evenhand.models.request import Reply, Request
from evenhand.models.transformers_model import TransformersModel

PARTS = ("reading", "writing", "scoring")


@dataclass(frozen=True)
class Held:
    """Conversations that were held: their statements, and what they took.

    seconds: "whole", and of the forward passes of each of PARTS. tokens: that went through the model, of each part.
    distinct: of them, how many had to, where each prefix is read once.
    """

    name: str
    conversations: int
    statements: list[Prediction]
    seconds: Counter[str]
    tokens: Counter[str]
    distinct: int

    def lines(self, beside: "Held") -> Iterator[str]:
        yield (
            f"  {self.name:8} {self.conversations} conversations in {self.seconds['whole']:.1f} s,"
            f" {60 * self.conversations / self.seconds['whole']:.2f} a minute, {self.speed(beside, 'whole'):.2f} x"
            f" {beside.name}; {self.tokens.total():,} tokens, {self.distinct:,} of them distinct"
        )
        for part in PARTS:
            if self.seconds[part] and beside.seconds[part]:
                yield (
                    f"    {part} {self.seconds[part]:7.1f} s, {self.tokens[part]:8,} tokens,"
                    f" {self.speed(beside, part):5.2f} x {beside.name}"
                )

    def speed(self, beside: "Held", part: str) -> float:
        """How many times as many conversations come out of a second as beside."""
        return (self.conversations / self.seconds[part]) / (beside.conversations / beside.seconds[part])


class Timed:
    """A model whose forward passes are timed, and their tokens counted; at most `at_once` texts a call."""

    can: frozenset[Ability] = frozenset({"generate", "choose"})
    whole_calls = True

    def __init__(self, model: TransformersModel, at_once: int):
        self.model, self.identity, self.name = model, model.identity, model.name
        self.seconds: Counter[str] = Counter()
        self.tokens: Counter[str] = Counter()
        self._at_once, self._kind = at_once, "generate"
        self._asked: list[Request] = []
        self._start = 0.0
        self._hooks = [
            model.model.register_forward_pre_hook(self._begin),
            model.model.register_forward_hook(self._end, with_kwargs=True),
        ]

    def at_once(self, kind: Kind) -> int:
        """Of choices as many as fill the model: one request with 24 is larger than a call of few texts."""
        return self._at_once if kind == "generate" else self.model.at_once(kind)

    def answer(self, requests: Sequence[Request], on_tokens: OnTokens = unheard) -> Iterator[tuple[int, Reply]]:
        self._asked += requests
        self._kind = kind_of(requests[0])
        yield from self.model.answer(requests, on_tokens)

    def close(self) -> None:
        """The model itself stays."""
        for hook in self._hooks:
            hook.remove()

    @property
    def distinct(self) -> int:
        """Tokens of all that was asked, each prefix counted once, and of all that was written."""
        reader = self.model.reader
        prompts = reader.prompts([each for each in self._asked if not each.choices])
        read = [Continuation(prompt, (0,)) for prompt in prompts if not isinstance(prompt, Unanswerable)]
        for scored in reader.continuations([each for each in self._asked if each.choices]):
            read += [] if isinstance(scored, Unanswerable) else scored
        return distinct_tokens(read) + self.tokens["writing"]

    def _begin(self, module: torch.nn.Module, args: object) -> None:
        self._start = time.perf_counter()

    def _end(self, module: torch.nn.Module, args: object, kwargs: dict[str, torch.Tensor], output: object) -> None:
        part = "writing" if kwargs["input_ids"].shape[1] == 1 else "reading"
        part = "scoring" if self._kind == "choose" else part
        self.seconds[part] += time.perf_counter() - self._start
        self.tokens[part] += kwargs["input_ids"].numel()


def hold(name: str, rows: Sequence[Row], how: Asking, model: Timed, at_a_time: int) -> Held:
    """`at_a_time` conversations are in flight together."""
    benchmark = get_benchmark("implicit_bias")
    statements = []
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "store", {"m": model.identity}) as store:
        start = time.perf_counter()
        for i in range(0, len(rows), at_a_time):
            episodes = [benchmark.episode(row, how) for row in rows[i : i + at_a_time]]
            statements += [each for said in Runner({"default": model}, store).run(episodes) for each in said]
        model.seconds["whole"] = time.perf_counter() - start
    model.close()
    return Held(name, len(rows), statements, model.seconds, model.tokens, model.distinct)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp)
    parser.add_argument("--model", default="embedded", help="embedded, a Hub id, or a local folder")
    parser.add_argument("--protocol", choices=("generate", "rank"), default="generate", help="of assignments")
    parser.add_argument("--beside", choices=("alone", "unkept"), default="alone", help="what it is compared with")
    parser.add_argument("--conversations", type=whole(), default=32, help="to hold")
    parser.add_argument("--others", type=whole(), default=2, help="of them, how many are held the other way, too")
    parser.add_argument("--batch-size", type=whole(), default=32, help="prompts in a forward pass")
    parser.add_argument("--max-new-tokens", type=whole(), default=24, help="of an utterance")
    measured(parser, measure)


def measure(arguments: argparse.Namespace) -> Iterator[Line]:
    benchmark = get_benchmark("implicit_bias")
    config = benchmark.configuring.filled(
        run_config(
            "implicit_bias",
            arguments.model,
            limit=arguments.conversations,
            protocol=arguments.protocol,
            temperature=0.0,
            max_new_tokens=arguments.max_new_tokens,
        )
    )
    rows, how = list(drawn_rows(benchmark, config).rows), config.asking()
    print(f"torch {torch.__version__}, transformers {transformers.__version__}, {torch.get_num_threads()} threads")

    def loaded(batch_size: int) -> TransformersModel:
        model = load_model(arguments.model, dtype="float32", batch_size=batch_size)
        assert isinstance(model, TransformersModel)
        return model

    batched = loaded(arguments.batch_size)
    other = loaded(1 if arguments.beside == "alone" else arguments.batch_size)
    other.kept_prompts = None
    for model in (batched, other):
        warm_up(model, rows, how)
    together = hold("together", rows, how, Timed(batched, arguments.batch_size), len(rows))
    at_a_time = 1 if arguments.beside == "alone" else len(rows)
    beside = hold(arguments.beside, rows[: arguments.others], how, Timed(other, other.batch_size), at_a_time)
    print(f"{batched.identity}, {arguments.max_new_tokens} new tokens at most, batches of {arguments.batch_size}:")
    for held in (together, beside):
        print(*held.lines(beside), sep="\n")
    said = {each["id"]: each["text"] for each in together.statements}
    differing = [each["id"] for each in beside.statements if said[each["id"]] != each["text"]]
    print(f"statements that differ: {len(differing)} of {len(beside.statements)}", *differing[:5])
    speeds = [(each.conversations / each.seconds["whole"],) for each in (together, beside)]
    rival = "one at a time, as the published loop" if arguments.beside == "alone" else "together, nothing kept"
    remark = f"{len(differing)} of {len(beside.statements)} statements differ"
    what = f"conversations, --protocol {arguments.protocol}"
    yield Line(what, "conversations/s", speeds[0], rival, speeds[1], remark)


def warm_up(model: TransformersModel, rows: Sequence[Row], how: Asking) -> None:
    """The first pass, and what scoring tries once for all prompts of a length, belong to no conversation."""
    episode = get_benchmark("implicit_bias").episode(rows[0], how)
    first = next(episode)[0]
    for _ in model.answer([replace(first, choices=first.choices[:1])]):
        pass
    if first.choices:
        for length in (512, 2048):  # a conversation's first prompts with an answer, and its last
            model.scoring.suited_to([Continuation((0,) * length, (0,))])


if __name__ == "__main__":
    main()

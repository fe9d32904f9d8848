"""`evenhand train reward`."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal

from evenhand.errors import UsageError
from evenhand.options import option
from evenhand.trainers.benchmark_rows import BenchmarkOptions, BenchmarkRecipe, text_benchmark
from evenhand.trainers.progress import OnProgress
from evenhand.trainers.recipe import Prepared, fingerprint
from evenhand.trainers.rewards import as_json, bias_reward

if TYPE_CHECKING:
    from evenhand.benchmark import Row
    from evenhand.flow.configuration import Asking
    from evenhand.models.request import Request

BETAS = {"grpo": 0.0, "rloo": 0.05}  # TRL's


@dataclass(frozen=True)
class RewardOptions(BenchmarkOptions):
    """Options of reward; a step writes batch_size × accumulation answers, group_size to each of its prompts."""

    algorithm: Literal["grpo", "rloo"] = option(
        "grpo", "compare an answer with the mean of its group, or with the others of it"
    )
    group_size: int = option(8, "answers to a prompt", least=2, metavar="N")  # TRL's, of GRPO
    temperature: float = option(1.0, "sampling temperature", above=0, metavar="T")
    max_new_tokens: int = option(8, "tokens of an answer", least=1, metavar="N")  # contact_hypothesis' options: 1 to 3
    beta: float | None = option(
        None, "coefficient of the divergence from the base (default: 0; of rloo with an adapter 0.05)",
        least=0, metavar="X",
    )  # fmt: skip
    unread: float | None = option(
        None, "reward of an answer that can't be read (default: it is left out of its group)", metavar="X"
    )
    batch_size: int = option(8, "answers per forward pass", least=1, metavar="N")
    accumulation: int = option(6, "passes per step", least=1, metavar="N")  # six prompts: whole twos, and whole threes
    learning_rate: float = option(5e-5, "peak learning rate", above=0, most=1, metavar="X")
    dropout: float = option(0.0, "dropout of the adapter's inputs", least=0, most=0.99, metavar="P")
    clip: float = option(1.0, "maximum norm of the gradient", above=0, metavar="X")  # TRL's

    @property
    def answers_each(self) -> int:
        return self.group_size

    @property
    def prompts_a_step(self) -> int:
        return self.batch_size * self.accumulation // self.group_size


@dataclass(frozen=True)
class Prompt:
    """A question of a row.

    Attributes:
        shared: what it shares with prompts that may want another answer.
        wanted: the ideal answer; "" where it is not known.
    """

    request: Request
    row: Row
    place: int
    shared: Hashable
    wanted: str


class RewardTrainer(BenchmarkRecipe[RewardOptions]):
    """Group relative policy optimization (GRPO) or REINFORCE leave-one-out (RLOO): answers that the model writes become
    likelier as their reward, 1 - value of what the benchmark reads in them, is above that of others to the same prompt.
    """

    name = "reward"
    title = "Learning from rewards"
    source = "Shao et al. 2024, DeepSeekMath (GRPO), or Ahmadian et al. 2024 (RLOO); TRL's trainers"
    Options = RewardOptions
    loss_falls = False  # it compares answers with each other

    def check(self, options: RewardOptions) -> None:
        super().check(options)
        self.check_padded(options)
        bias_reward(options.benchmark)
        answers = options.batch_size * options.accumulation
        if answers % options.group_size:
            raise UsageError(
                f"--batch-size {options.batch_size} × --accumulation {options.accumulation} = {answers} answers per "
                f"step must be a multiple of --group-size {options.group_size}"
            )
        if options.beta and options.method == "full":
            raise UsageError(f"--beta {options.beta:g} needs --method lora, whose base is the adapter switched off")

    def prepare(self, options: RewardOptions, on_progress: OnProgress) -> Prepared:
        from evenhand.models.text_reader import TextReader
        from evenhand.trainers.examples import load_base, require_tokens
        from evenhand.trainers.policy_gradient import PromptTokens, make_policy_gradient

        checkpoint = load_base(options)
        on_progress("reading the prompts", 0, 0)
        rows = options.training_rows()
        how = options.asking("generate")
        how = replace(how, sampling=replace(how.sampling, max_new_tokens=options.max_new_tokens))
        prompts = [each for row in rows.train for each in list_prompts(row, options.benchmark, how)]
        ordered, order = prompts, "as drawn; ideal answers are not known"
        known = [each for each in prompts if each.wanted]
        a_step = options.prompts_a_step
        if known:
            ordered, size = oppose(known, options.seed)
            order = f"in groups of {size} that want different answers"
            if a_step % size:
                raise UsageError(
                    f"a step asks {a_step} prompts (--batch-size × --accumulation / --group-size), which must be a "
                    f"multiple of {size}: so many in a row want different answers, so that a constant one doesn't pay"
                )
        if len(ordered) < a_step:
            raise UsageError(
                f"a step asks {a_step} prompts, and there are {len(ordered)}; use a higher --limit, or a smaller "
                "--batch-size or --accumulation"
            )
        requests = [each.request for each in ordered]
        found = require_tokens(requests, TextReader.of(checkpoint).prompts(requests), options.model)
        examples = [PromptTokens(tokens, as_json(each.row), each.place) for each, tokens in zip(ordered, found)]
        beta = BETAS[options.algorithm] if options.beta is None and options.method == "lora" else options.beta or 0.0
        filled = replace(options, beta=beta)
        data = {
            "benchmark": options.benchmark,
            **rows.data,
            "prompts": len(examples),
            "prompts_without_an_ideal": len(prompts) - len(known) if known else 0,
            "prompts_without_an_opposite": len(known) - len(ordered) if known else 0,
            "order": order,
            "prompts_a_step": a_step,
            "ids_sha256": fingerprint(each.request.name for each in ordered),
        }
        reward = replace(bias_reward(options.benchmark, unread=options.unread), how=how)
        return Prepared(
            filled,
            checkpoint,
            examples,
            data=data,
            method=lambda setup, examples: make_policy_gradient(setup, examples, reward, filled),
            datasets=(text_benchmark(options.benchmark).card.dataset,),
            **self.measurements(options, rows, checkpoint),
        )

    def plan(self, options: RewardOptions) -> list[str]:
        *lines, last = super().plan(options)
        return [*lines, "Tokens are those of prompts; the minutes include writing the answers.", last]

    def summarize(self, record: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        data, steps, unread = record["data"], record["over_steps"], record["recipe"]["unread"]
        rewards = [each for each in steps["reward"] if each is not None]
        yield "prompts, a step", f"{data['prompts']:,} ({data['order']}), {data['prompts_a_step']}"
        yield (
            "prompts left out: of unknown ideal answer, without an opposite",
            f"{data['prompts_without_an_ideal']:,}, {data['prompts_without_an_opposite']:,}",
        )
        yield "cut", data["cut"]
        if rewards:
            counted = "left out of their groups" if unread is None else f"with a reward of {unread:g}"
            yield "answers unread", f"{fmean(steps['answers unread, %']):.1f} %, {counted}"
            yield "reward of the first step, of the last", f"{rewards[0]:.3f}, {rewards[-1]:.3f}"

    def over_steps(self, log: Sequence[Mapping[str, float]]) -> dict[str, list[float]]:
        """Return figures of each step; its reward is None where none of its answers was read."""
        return {
            "reward": [each["reward"] for each in log],
            "groups of equal rewards, %": [100 * each["equal_groups"] / each["groups"] for each in log],
            "answers unread, %": [100 * each["unread"] for each in log],
        }

    def note(self, log: Sequence[Mapping[str, float]]) -> str:
        n, equal = (round(sum(each[name] for each in log)) for name in ("groups", "equal_groups"))
        return f"{equal:,} of {n:,} groups had equal rewards: no gradient"


def list_prompts(row: Row, name: str, how: Asking[Any]) -> list[Prompt]:
    """List what is asked about a row, with the ideal answer where the benchmark knows it.

    A prompt's opposites are among the rows that are drawn together with it; where none are, among those whose ideal
    answer and its opposite are the same two.
    """
    benchmark = text_benchmark(name)
    ideals = {each.request.messages: (each.ideal, each.opposite) for each in benchmark.targets(row, how)}
    drawn_with = tuple(row[column] for column in benchmark.card.together)
    found = []
    for place, request in enumerate(benchmark.ask(row, how)):
        ideal, opposite = ideals.get(request.messages, ("", ""))
        found.append(Prompt(request, row, place, (drawn_with or frozenset((ideal, opposite)), place), ideal))
    return found


def oppose(prompts: Sequence[Prompt], seed: int) -> tuple[list[Prompt], int]:
    """Order prompts in groups that share `shared` and want different answers; return the groups' size, too.

    A group has as many prompts as any has answers, so that a constant answer is right in one of each group; what finds
    no whole group is left out.
    """
    rng = random.Random(f"opposites {seed}")
    found: dict[Hashable, dict[str, list[Prompt]]] = defaultdict(lambda: defaultdict(list))
    for each in prompts:
        found[each.shared][each.wanted].append(each)
    size = max([2, *map(len, found.values())])
    groups: list[tuple[Prompt, ...]] = []
    for by_answer in found.values():
        some = [by_answer[wanted] for wanted in sorted(by_answer)]
        for each_answer in some:
            rng.shuffle(each_answer)
        if len(some) == size:
            groups += zip(*some)
    rng.shuffle(groups)
    return [each for group in groups for each in group], size

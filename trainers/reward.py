"""`evenhand train reward`."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal

from evenhand.errors import UsageError
from evenhand.options import option
from evenhand.trainers.benchmark_rows import (
    BenchmarkOptions,
    asking,
    caution,
    check_method_alone,
    judged_of,
    learned_too,
    measure_of,
    measuring_command,
    text_benchmark,
    training_rows,
)
from evenhand.trainers.prepared import Prepared
from evenhand.trainers.progress import OnProgress
from evenhand.trainers.recipe import Recipe, fingerprint
from evenhand.trainers.rewards import as_json, bias_reward

if TYPE_CHECKING:
    from evenhand.benchmark import Row
    from evenhand.flow.configuration import Asking
    from evenhand.models.request import Request

SOURCE = "Shao et al. 2024, DeepSeekMath (GRPO), or Ahmadian et al. 2024 (RLOO); TRL's trainers"
BETAS = {"grpo": 0.0, "rloo": 0.05}  # TRL's


@dataclass(frozen=True)
class RewardOptions(BenchmarkOptions):
    """A step writes batch_size × accumulation answers, group_size to each of its prompts."""

    algorithm: Literal["grpo", "rloo"] = option(
        "grpo", "what an answer is held against: its group, or the others of it"
    )
    group_size: int = option(8, "answers to a prompt", least=2, metavar="N")  # TRL's, of GRPO
    temperature: float = option(1.0, "of what is written", above=0, metavar="T")
    max_new_tokens: int = option(8, "of an answer", least=1, metavar="N")  # an option of contact_hypothesis has 1 to 3
    beta: float | None = option(
        None, "of the divergence from the base; by default 0, with rloo and an adapter 0.05", least=0, metavar="X"
    )
    unread: float | None = option(
        None, "the reward of what can't be read; by default it is left out of its group", metavar="X"
    )
    batch_size: int = option(8, "answers a forward pass", least=1, metavar="N")
    accumulation: int = option(6, "passes a step", least=1, metavar="N")  # six prompts: whole twos, and whole threes
    learning_rate: float = option(5e-5, "at its highest", above=0, most=1, metavar="X")
    dropout: float = option(0.0, "of the adapter's inputs", least=0, most=0.99, metavar="P")
    clip: float = option(1.0, "the gradient's norm", above=0, metavar="X")  # TRL's

    @property
    def answers_each(self) -> int:
        return self.group_size

    @property
    def prompts_a_step(self) -> int:
        return self.batch_size * self.accumulation // self.group_size


@dataclass(frozen=True)
class _Prompt:
    request: Request
    row: Row
    place: int
    shared: Hashable  # with prompts that may want another answer: their options, or what they were drawn together by
    wanted: str  # the ideal answer; "" where it is not known


class RewardTrainer(Recipe[RewardOptions]):
    """Group relative policy optimization (GRPO) or REINFORCE leave-one-out (RLOO): answers that the model writes become
    likelier as their reward, 1 - value of what the benchmark reads in them, is above that of others to the same prompt.
    """

    name = "reward"
    title = "Learning from rewards"
    source = SOURCE
    Options = RewardOptions
    loss_falls = False  # it is of answers against each other

    def check(self, options: RewardOptions) -> None:
        super().check(options)
        check_method_alone(options, self.name)
        text_benchmark(options.benchmark)
        bias_reward(options.benchmark)
        answers = options.batch_size * options.accumulation
        if answers % options.group_size:
            raise UsageError(
                f"--batch-size {options.batch_size} × --accumulation {options.accumulation} = {answers} answers a step "
                f"are no whole groups of --group-size {options.group_size}; a multiple of it is accepted"
            )
        if options.beta and options.method == "full":
            raise UsageError(
                f"--beta {options.beta:g} needs the base beside what is tuned, which an adapter switched off is: "
                "--method lora is accepted with it, or --beta 0"
            )

    def prepared(self, options: RewardOptions, on_progress: OnProgress) -> Prepared:
        from evenhand.trainers.grouped_answers import Grouping, grouped_answers
        from evenhand.trainers.reading import base_of
        from evenhand.trainers.symmetric import opposed

        checkpoint = base_of(options)
        on_progress("reading the prompts", 0, 0)
        rows = training_rows(options)
        how = asking(options, "generate")
        how = replace(how, sampling=replace(how.sampling, max_new_tokens=options.max_new_tokens))
        prompts = [each for row in rows.train for each in _prompts(row, options.benchmark, how)]
        ordered, order = prompts, "as drawn; ideal answers are not known"
        known = [each for each in prompts if each.wanted]
        if known:
            found = opposed(known, lambda each: (each.shared, each.wanted), options.seed)
            ordered, order = list(found.prompts), f"in groups of {found.size} that want different answers"
            _check_whole(options, found.size)
        if len(ordered) < options.prompts_a_step:
            raise UsageError(
                f"a step asks {options.prompts_a_step} prompts, and there are {len(ordered)}: a higher --limit, or a "
                "smaller --batch-size or --accumulation is accepted"
            )
        examples = _read(ordered, checkpoint, options.model)
        beta = BETAS[options.algorithm] if options.beta is None and options.method == "lora" else options.beta or 0.0
        filled = replace(options, beta=beta)
        data = {
            "benchmark": options.benchmark,
            **rows.data,
            "prompts": len(examples),
            "prompts_without_an_ideal": len(prompts) - len(known) if known else 0,
            "prompts_without_an_opposite": len(known) - len(ordered) if known else 0,
            "order": order,
            "prompts_a_step": options.prompts_a_step,
            "tokens": sum(len(each.prompt) for each in examples),
            "ids_sha256": fingerprint(each.request.name for each in ordered),
        }
        grouping = Grouping(options.algorithm, options.group_size, options.temperature, options.max_new_tokens, beta)
        reward = replace(bias_reward(options.benchmark, unread=options.unread), how=how)
        measure, judged = measure_of(rows, options, checkpoint), judged_of(options, checkpoint)
        method = grouped_answers(reward, grouping)
        datasets = (text_benchmark(options.benchmark).card.dataset,)
        return Prepared(
            filled, checkpoint, examples, measure, data, method,
            judged=judged, told=caution(options), datasets=datasets,
        )  # fmt: skip

    def plan(self, options: RewardOptions) -> list[str]:
        *lines, last = super().plan(options)
        return [*lines, "Tokens are those of prompts; the answers that are written first are in the minutes.", last]

    def lines(self, record: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        data, rewards = record["data"], record["over_steps"]["reward"]
        told = [each for each in rewards if each is not None]
        return (
            ("prompts, a step", f"{data['prompts']:,} ({data['order']}), {data['prompts_a_step']}"),
            (
                "prompts left out: of unknown ideal answer, without an opposite",
                f"{data['prompts_without_an_ideal']:,}, {data['prompts_without_an_opposite']:,}",
            ),
            ("cut", data["cut"]),
            *([("answers unread", _unread(record))] if told else []),
            *([("reward of the first step, of the last", f"{told[0]:.3f}, {told[-1]:.3f}")] if told else []),
        )

    def over_steps(self, logs: Sequence[Mapping[str, float]]) -> dict[str, list[float]]:
        """A step's reward is None where none of its answers was read."""
        return {
            "reward": [log["reward"] for log in logs],
            "groups of equal rewards, %": [100 * log["equal_groups"] / log["groups"] for log in logs],
            "answers unread, %": [100 * log["unread"] for log in logs],
        }

    def note(self, logs: Sequence[Mapping[str, float]]) -> str:
        n, equal = (round(sum(log[name] for log in logs)) for name in ("groups", "equal_groups"))
        return f"{equal:,} of {n:,} groups had equal rewards: no gradient"

    def measured_by(self, record: Mapping[str, Any]) -> str:
        return measuring_command(record["recipe"])

    def learned_too(self, record: Mapping[str, Any]) -> bool:
        return learned_too(record["recipe"])


def _unread(record: Mapping[str, Any]) -> str:
    """The share of all that was written, and what became of it."""
    told, reward = record["over_steps"]["answers unread, %"], record["recipe"]["unread"]
    counted = "left out of their groups" if reward is None else f"with a reward of {reward:g}"
    return f"{fmean(told):.1f} %, {counted}"


def _prompts(row: Row, name: str, how: Asking[Any]) -> list[_Prompt]:
    """What is asked about a row, with its ideal answer where the benchmark knows it.

    Opposites are the rows that are drawn together with it; where nothing is, those whose ideal answer and its opposite
    are the same two.
    """
    benchmark = text_benchmark(name)
    ideals = {each.request.messages: (each.ideal, each.opposite) for each in benchmark.targets(row, how)}
    drawn_with = tuple(row[column] for column in benchmark.card.together)
    found = []
    for place, request in enumerate(benchmark.ask(row, how)):
        ideal, opposite = ideals.get(request.messages, ("", ""))
        found.append(_Prompt(request, row, place, (drawn_with or frozenset((ideal, opposite)), place), ideal))
    return found


def _check_whole(options: RewardOptions, size: int) -> None:
    if options.prompts_a_step % size:
        raise UsageError(
            f"a step asks {options.prompts_a_step} prompts; {size} in a row want different answers each, so that "
            f"whoever always answers the same is right in one of {size}: a multiple of {size} is accepted "
            "(--batch-size × --accumulation / --group-size)"
        )


def _read(prompts: Sequence[_Prompt], checkpoint: Any, model: str) -> list[Any]:
    """As tokens. Raises UsageError, with the model as people call it, where one can't be read."""
    from evenhand.models.errors import Unanswerable
    from evenhand.models.text_reader import TextReader
    from evenhand.trainers.grouped_answers import Asked

    reader = TextReader.of(checkpoint)
    examples = []
    for each, tokens in zip(prompts, reader.prompts([prompt.request for prompt in prompts])):
        if isinstance(tokens, Unanswerable):
            raise UsageError(f"{model} can't be tuned on {each.request.name}: {tokens}")
        examples.append(Asked(tokens, as_json(each.row), each.place))
    return examples

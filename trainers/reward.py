"""`evenhand train reward`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
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
    accumulation: int = option(4, "passes a step", least=1, metavar="N")
    learning_rate: float = option(5e-5, "constant", above=0, metavar="X")
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
    answers: frozenset[str]  # ideal and opposite; none where they are not known
    first: bool  # whether the ideal is the first of both in the alphabet


class RewardTrainer(Recipe[RewardOptions]):
    """Group relative policy optimization (GRPO) or REINFORCE leave-one-out (RLOO): answers that the model writes become
    likelier as their reward, 1 - value of what the benchmark reads in them, is above that of others to the same prompt.
    """

    name = "reward"
    title = "Learning from rewards"
    source = SOURCE
    Options = RewardOptions

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
        from evenhand.trainers.symmetric import in_opposite_pairs

        checkpoint = base_of(options)
        on_progress("reading the prompts", 0, 0)
        rows = training_rows(options)
        how = asking(options, "generate")
        how = replace(how, sampling=replace(how.sampling, max_new_tokens=options.max_new_tokens))
        prompts = [each for row in rows.train for each in _prompts(row, options.benchmark, how)]
        ordered, order = list(prompts), "as drawn; ideal answers are not known"
        if all(each.answers for each in prompts):
            _check_even(options)
            ordered = in_opposite_pairs(prompts, lambda each: ((each.answers, each.place), each.first), options.seed)
            order = "in twos of opposite ideal answers"
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
            "prompts_without_an_opposite": len(prompts) - len(ordered),
            "order": order,
            "prompts_a_step": options.prompts_a_step,
            "tokens": sum(len(each.prompt) for each in examples),
            "ids_sha256": fingerprint(each.request.name for each in ordered),
        }
        grouping = Grouping(options.algorithm, options.group_size, options.temperature, options.max_new_tokens, beta)
        reward = replace(bias_reward(options.benchmark, unread=options.unread), how=how)
        measure, judged = measure_of(rows, options, checkpoint), judged_of(options, checkpoint)
        method = grouped_answers(reward, grouping)
        return Prepared(filled, checkpoint, examples, measure, data, method, judged=judged, told=caution(options))

    def plan(self, options: RewardOptions) -> list[str]:
        *lines, last = super().plan(options)
        return [*lines, "Tokens are those of prompts; the answers that are written first are in the minutes.", last]

    def lines(self, record: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        data, rewards = record["data"], record["over_steps"]["reward"]
        told = [each for each in rewards if each is not None]
        return (
            ("prompts, a step", f"{data['prompts']:,} ({data['order']}), {data['prompts_a_step']}"),
            ("cut", data["cut"]),
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


def _prompts(row: Row, name: str, how: Asking[Any]) -> list[_Prompt]:
    """What is asked about a row, with its ideal answer and its last opposite, where the benchmark knows them."""
    benchmark = text_benchmark(name)
    ideals = {each.request.messages: (each.ideal, each.opposite) for each in benchmark.targets(row, how)}
    found = []
    for place, request in enumerate(benchmark.ask(row, how)):
        answers = ideals.get(request.messages)
        first = answers is not None and answers[0] == min(answers)
        found.append(_Prompt(request, row, place, frozenset(answers or ()), first))
    return found


def _check_even(options: RewardOptions) -> None:
    if options.prompts_a_step % 2:
        raise UsageError(
            f"a step asks {options.prompts_a_step} prompts, of which half are to want the opposite of the others, so "
            "that whoever always answers the same is right in half of them: an even number is accepted (--batch-size × "
            "--accumulation / --group-size)"
        )


def _read(prompts: Sequence[_Prompt], checkpoint: Any, model: str) -> list[Any]:
    """As tokens. Raises UsageError, with the model as people call it, where one can't be read."""
    from evenhand.models.errors import Unanswerable
    from evenhand.models.text_reader import TextReader
    from evenhand.trainers.grouped_answers import Asked

    reader = TextReader(checkpoint.tokenizer, checkpoint.context)
    examples = []
    for each, tokens in zip(prompts, reader.prompts([prompt.request for prompt in prompts])):
        if isinstance(tokens, Unanswerable):
            raise UsageError(f"{model} can't be tuned on {each.request.name}: {tokens}")
        examples.append(Asked(tokens, as_json(each.row), each.place))
    return examples

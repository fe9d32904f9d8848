"""A benchmark's reading as a reward, for any script that trains by rewards of what a model writes, such as TRL's.

It uses the benchmark's `ask` and `read` alone, whose predictions have a `value`; importing it loads no model library.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from evenhand.errors import UsageError

if TYPE_CHECKING:
    import datasets

    from evenhand.benchmark import Benchmark, Row
    from evenhand.flow.configuration import Asking
    from evenhand.flow.episode import Prediction

Completion = str | Sequence[dict[str, Any]]
"""A text; or, where the prompt is turns, a list of one turn of the assistant's."""


@dataclass(frozen=True)
class BiasReward:
    """1 - value of what was written: 1 has no bias; where the value lies in [0, 1], so does the reward.

    None for what the benchmark can't read, or `unread`. Pure: the same completion has the same reward.
    """

    benchmark: str
    how: Asking[Any]
    unread: float | None = None

    @property
    def __name__(self) -> str:
        """The name in TRL's log."""
        return f"bias_reward_{self.benchmark}"

    def __call__(
        self,
        prompts: Sequence[Any],
        completions: Sequence[Completion],
        row: Sequence[str] | None = None,
        place: Sequence[int] | None = None,
        **columns: object,
    ) -> list[float | None]:
        """Reward each completion; row, place: columns of `bias_prompts`, which TRL passes on with all others."""
        if row is None or place is None:
            raise UsageError(
                f"the reward of {self.benchmark} needs the columns row and place; "
                "evenhand.trainers.bias_prompts makes a dataset that has them"
            )
        if not len(row) == len(place) == len(completions):
            raise UsageError(
                f"{len(completions)} completions need as many rows and places, got {len(row)}, {len(place)}"
            )
        return [self.of(_parse_row(each), at, _text(one)) for each, at, one in zip(row, place, completions)]

    def of(self, row: Row, place: int, text: str) -> float | None:
        """Reward one text; place: of the question among those that the benchmark asks about the row."""
        from evenhand.benchmarks import get_benchmark

        try:
            value = value_of(get_benchmark(self.benchmark), row, place, text, self.how)
        except KeyError as error:
            raise UsageError(
                f"the row {row.get('id')!r} has no {error}, which {self.benchmark} reads; make rows by "
                f"bias_prompts({self.benchmark!r})"
            ) from error
        return self.unread if value is None else 1 - value


def bias_reward(benchmark: str, *, unread: float | None = None, **options: object) -> BiasReward:
    """Make a benchmark's reward for TRL: `GRPOTrainer(reward_funcs=bias_reward("contact_hypothesis"), …)`.

    Args:
        unread: the reward of what can't be read. None leaves it out of its group, as TRL does: it is pushed neither
            way. A number counts it in (0: as bad as a biased answer of contact_hypothesis); then not answering is
            learned, too, wherever that number beats what answers get.
        options: the benchmark's own, as for `bias_prompts`.

    Raises UsageError for an unknown benchmark or option, and for a benchmark that reads no text.
    """
    if unread is not None and not (isinstance(unread, (int, float)) and math.isfinite(unread)):
        raise UsageError(f"unread must be a number or None, got {unread!r}")
    return BiasReward(benchmark, _writing(benchmark).asking(protocol="generate", **dict[str, Any](options)), unread)


def bias_prompts(
    benchmark: str,
    *,
    configs: Sequence[str] = (),
    limit: int | None = None,
    seed: int = 0,
    source: str = "evenhand",
    **options: object,
) -> datasets.Dataset:
    """Return what a benchmark asks, as a dataset for TRL with what `bias_reward` needs.

    Columns: `prompt` (turns; a text where the benchmark's layout is one), `row` (JSON), `place` (of the question among
    those about the row) and `id`. All rows are those that a run asks: leave out what you mean to measure. They are not
    balanced, as `evenhand train reward` does: of bbq always answering "unknown" is right in half of them, and random
    answers are in a third.

    Args:
        configs: of the dataset; by default the benchmark's.
        limit: rows, after a stratified draw by the seed.

    Raises UsageError as `bias_reward` does.
    """
    import datasets

    from evenhand.flow.configuration import run_config
    from evenhand.flow.rows import drawn_rows

    found = _writing(benchmark)
    asked: dict[str, Any] = {"configs": tuple(configs), "limit": limit, "seed": seed, "source": source}
    config = found.configuring.filled(run_config(benchmark, **asked, protocol="generate", **dict[str, Any](options)))
    found.configuring.check(config)
    rows = drawn_rows(found, config).rows
    how = config.asking()
    return datasets.Dataset.from_list(
        [
            {
                "prompt": [{"role": each.role, "content": each.text} for each in request.messages]
                if request.template
                else request.messages[0].text,
                "row": as_json(row),
                "place": place,
                "id": request.name,
            }
            for row in rows
            for place, request in enumerate(found.ask(row, how))
        ]
    )


def bias_value(prediction: Prediction) -> float | None:
    """Return the bias of one answer, lower is better; None where it is unread, or the benchmark gives none."""
    value = prediction.get("value")
    return float(value) if isinstance(value, (int, float)) else None


def value_of(benchmark: Benchmark[Any], row: Row, place: int, text: str, how: Asking[Any]) -> float | None:
    """Return the bias of a text that answers one of a row's questions; the others are as if unanswered."""
    from evenhand.models.request import Reply
    from evenhand.models.thoughts import make_reply

    n = len(benchmark.ask(row, how))
    if place not in range(n):
        raise UsageError(f"place must be from 0 to {n - 1}, for {n} questions of row {row.get('id')!r}, got {place!r}")
    answers = [make_reply(text, "stop") if each == place else Reply() for each in range(n)]
    predictions = benchmark.read(row, answers, how)
    if n == 1:  # a text may be read by several classifiers
        values = [value for value in map(bias_value, predictions) if value is not None]
        return fmean(values) if values else None
    if len(predictions) != n:
        raise UsageError(f"{benchmark.card.name} reads {n} answers as {len(predictions)}: a single one has no value")
    return bias_value(predictions[place])


def as_json(row: Row) -> str:
    """Write a row as JSON. Raises UsageError for a row with pictures or the like."""
    try:
        return json.dumps(dict(row), ensure_ascii=False)
    except TypeError as error:
        raise UsageError(f"the row {row.get('id')!r} must hold texts and numbers only: {error}") from error


def _parse_row(text: str) -> Row:
    try:
        row = json.loads(text)
    except (TypeError, ValueError) as error:
        raise UsageError(f"the row {text!r:.80} is no JSON; make rows by bias_prompts") from error
    if not isinstance(row, dict):
        raise UsageError(f"the row {text!r:.80} is no JSON object; make rows by bias_prompts")
    return row


def _text(completion: Completion) -> str:
    return completion if isinstance(completion, str) else "".join(str(turn["content"] or "") for turn in completion)


def _writing(benchmark: str) -> Benchmark[Any]:
    from evenhand.benchmarks import get_benchmark

    found: Benchmark[Any] = get_benchmark(benchmark)
    if "generate" not in found.card.protocols or found.card.sees:
        why = "shows pictures" if found.card.sees else "reads no text that is written"
        raise UsageError(f"{benchmark} {why}, and a reward is of written answers to text; choose another benchmark")
    return found

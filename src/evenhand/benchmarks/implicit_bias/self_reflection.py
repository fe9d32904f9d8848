"""Self-reflection prompting, with and without in-context examples (Borah & Mihalcea, section 6.2).

in_context.csv has three examples with bias and three without. Figure 21's survives as text; the others are ours.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import ClassVar

from evenhand.benchmark import Row
from evenhand.benchmarks.implicit_bias import prompts
from evenhand.benchmarks.implicit_bias.benchmark import converse
from evenhand.benchmarks.implicit_bias.options import ImplicitBiasOptions
from evenhand.flow.configuration import Asking
from evenhand.flow.episode import Episode
from evenhand.mitigation import Mitigation
from evenhand.options import NoOptions


@cache
def reflection_instruction(with_examples: bool = False) -> str:
    """The definition of implicit bias, and the in-context examples if wanted."""
    if not with_examples:
        return prompts.DEFINITION.text
    with Path(__file__).with_name("in_context.csv").open(encoding="utf-8", newline="") as file:
        examples = "\n\n".join(prompts.EXAMPLE.text.format(**example) for example in csv.DictReader(file))
    return f"{prompts.DEFINITION.text}\n\n{prompts.EXAMPLES.text.format(examples=examples)}"


class SelfReflection(Mitigation[NoOptions]):
    """After their first assignment agents critique it and assign anew; alone, the prompt comes before the response."""

    name = "self-reflection"
    source = "Borah & Mihalcea, section 6.2 (no-ICE), Figure 19"
    benchmarks = of_papers = ("implicit_bias",)
    with_examples: ClassVar[bool] = False

    def wrap(self, episode: Episode, row: Row, how: Asking[ImplicitBiasOptions], options: NoOptions) -> Episode:
        """Replace the conversation by one in the middle of which agents reflect."""
        episode.close()
        return converse(row, how, reflection_instruction(self.with_examples))


class SelfReflectionWithExamples(SelfReflection):
    """The same after three examples of bias and three of none."""

    name = "self-reflection-ice"
    source = "Borah & Mihalcea, section 6.2 (ICE), Figures 19, 21 and 22"
    with_examples = True

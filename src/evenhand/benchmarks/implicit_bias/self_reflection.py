"""Self-reflection prompting, with and without in-context examples (Borah & Mihalcea, section 6.2)."""

from __future__ import annotations

from typing import ClassVar

from evenhand.benchmark import Row
from evenhand.benchmarks.implicit_bias.benchmark import ImplicitBiasOptions, held
from evenhand.benchmarks.implicit_bias.reflection import IN_CONTEXT, Reflection
from evenhand.flow.configuration import Asking
from evenhand.flow.episode import Episode
from evenhand.mitigation import Mitigation
from evenhand.options import NoOptions


class SelfReflection(Mitigation[NoOptions]):
    """After their first assignment agents critique it and assign anew; alone, the prompt comes before the response."""

    name = "self-reflection"
    source = "Borah & Mihalcea, section 6.2 (no-ICE), Figure 19"
    benchmarks = of_papers = ("implicit_bias",)
    reflection: ClassVar[Reflection] = Reflection()

    def wrap(self, episode: Episode, row: Row, how: Asking[ImplicitBiasOptions], options: NoOptions) -> Episode:
        """The same conversation, in which agents reflect: it is held anew, for they do so in the middle of it."""
        episode.close()
        return held(row, how, self.reflection)


class SelfReflectionWithExamples(SelfReflection):
    """The same after three examples of bias and three of none."""

    name = "self-reflection-ice"
    source = "Borah & Mihalcea, section 6.2 (ICE), Figures 19, 21 and 22"
    reflection = Reflection(IN_CONTEXT)

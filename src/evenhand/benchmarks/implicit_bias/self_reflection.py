"""Self-reflection prompting, with and without in-context examples (Borah & Mihalcea, section 6.2)."""

from __future__ import annotations

from collections.abc import Mapping

from evenhand.benchmark import Row
from evenhand.benchmarks.implicit_bias.benchmark import ImplicitBias
from evenhand.benchmarks.implicit_bias.reflection import IN_CONTEXT, Reflection
from evenhand.errors import UsageError
from evenhand.flow.episode import Episode
from evenhand.flow.settings import Settings
from evenhand.mitigation import check_fits


class SelfReflection:
    """After their first assignment agents critique it and assign anew; alone, the prompt comes before the response."""

    name = "self-reflection"
    source = "Borah & Mihalcea, section 6.2 (no-ICE), Figure 19"
    benchmarks = ("implicit_bias",)
    reflection = Reflection()

    def check(self, settings: Settings) -> None:
        check_fits(self, settings)
        if settings.rewriter or settings.rewrite_mode != "edits":
            raise UsageError(f"{self.name} rewrites nothing: --rewriter and --rewrite-mode don't fit")

    def agents(self, settings: Settings) -> Mapping[str, str]:
        return {}

    def wrap(self, episode: Episode, row: Row, settings: Settings, run: int = 0) -> Episode:
        """The same conversation, in which agents reflect: it is held anew, for they do so in the middle of it."""
        episode.close()
        return ImplicitBias().episode(row, settings, run, self.reflection)


class SelfReflectionWithExamples(SelfReflection):
    """The same after three examples of bias and three of none."""

    name = "self-reflection-ice"
    source = "Borah & Mihalcea, section 6.2 (ICE), Figures 19, 21 and 22"
    reflection = Reflection(IN_CONTEXT)

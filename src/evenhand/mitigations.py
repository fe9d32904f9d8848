"""One mapping that names all mitigations; other packages add theirs as entry points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from evenhand.plugins import Registry

if TYPE_CHECKING:
    from evenhand.flow.configuration import RunConfig
    from evenhand.mitigation import Mitigation

MITIGATIONS = Registry(
    "mitigation",
    "evenhand.mitigations",
    {
        "fairness-instruction": "evenhand.benchmarks.labe.fairness_instruction:FairnessInstruction",
        "selective-rewrite": "evenhand.benchmarks.labe.selective_rewrite:SelectiveRewrite",
        "self-reflection": "evenhand.benchmarks.implicit_bias.self_reflection:SelfReflection",
        "self-reflection-ice": "evenhand.benchmarks.implicit_bias.self_reflection:SelfReflectionWithExamples",
        "self-reminder": "evenhand.benchmarks.mllm_stereotypes.prompt_prefixes:SelfReminder",
        "debiasing": "evenhand.benchmarks.mllm_stereotypes.prompt_prefixes:Debiasing",
        "visual-self-reminder": "evenhand.benchmarks.mllm_stereotypes.prompt_prefixes:VisualSelfReminder",
        "visual-debiasing": "evenhand.benchmarks.mllm_stereotypes.prompt_prefixes:VisualDebiasing",
        "unbiased-instruction": "evenhand.benchmarks.contact_hypothesis.unbiased_instruction:UnbiasedInstruction",
    },
)


def get_mitigation(name: str) -> Mitigation[Any]:
    """Return the mitigation of that name, the same each time. Raises UsageError for an unknown name."""
    return cast("Mitigation[Any]", MITIGATIONS.make(name))


def mitigations_of(benchmark: str) -> list[Mitigation[Any]]:
    """List mitigations of a benchmark; what can't be imported is left out, with a warning."""
    return [each for each in MITIGATIONS.every(get_mitigation) if benchmark in each.benchmarks]


def chosen_mitigation(config: RunConfig[Any]) -> Mitigation[Any] | None:
    """Return a configuration's mitigation. Raises UsageError for an unknown name, or one that doesn't fit."""
    if config.mitigation is None:
        return None
    mitigation = get_mitigation(config.mitigation)
    mitigation.check(config)
    return mitigation

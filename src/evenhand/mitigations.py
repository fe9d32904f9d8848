"""One mapping that names all mitigations; other packages add theirs as entry points."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from evenhand.plugins import Registry

if TYPE_CHECKING:
    from evenhand.flow.settings import Settings
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
    },
)
_MADE: dict[str, Mitigation] = {}


def get_mitigation(name: str) -> Mitigation:
    """The mitigation of that name, the same each time. Raises UsageError for a name that is none."""
    if name not in _MADE:
        _MADE[name] = cast("type[Mitigation]", MITIGATIONS.load(name))()
    return _MADE[name]


def chosen_mitigation(settings: Settings) -> Mitigation | None:
    """The one that the settings name. Raises UsageError for an unknown name, and for settings that don't fit it."""
    from evenhand.errors import UsageError

    if settings.mitigation is None:
        if settings.rewriter or settings.rewrite_mode != "edits":
            raise UsageError("--rewriter and --rewrite-mode need --mitigation selective-rewrite")
        return None
    mitigation = get_mitigation(settings.mitigation)
    mitigation.check(settings)
    return mitigation

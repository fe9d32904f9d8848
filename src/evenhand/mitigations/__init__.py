"""One file a mitigation, and the one mapping that names them all."""

from evenhand.errors import UsageError, unknown_name
from evenhand.mitigations.fairness_instruction import FairnessInstruction
from evenhand.mitigations.mitigation import Mitigation
from evenhand.mitigations.prompt_prefixes import DEBIASING, SELF_REMINDER
from evenhand.mitigations.selective_rewrite import SelectiveRewrite
from evenhand.mitigations.self_reflection import SELF_REFLECTION, SELF_REFLECTION_ICE
from evenhand.settings import Settings

_ALL: tuple[Mitigation, ...] = (
    FairnessInstruction(),
    SelectiveRewrite(),
    SELF_REFLECTION,
    SELF_REFLECTION_ICE,
    SELF_REMINDER,
    DEBIASING,
)
MITIGATIONS = {each.name: each for each in _ALL}


def get_mitigation(name: str) -> Mitigation:
    """Raises UsageError for a name that is none."""
    if name not in MITIGATIONS:
        raise unknown_name("mitigation", name, list(MITIGATIONS), "evenhand list shows all")
    return MITIGATIONS[name]


def chosen_mitigation(settings: Settings) -> Mitigation | None:
    """The one that the settings name. Raises UsageError for an unknown name, and for settings that don't fit it."""
    if settings.mitigation is None:
        if settings.rewriter or settings.rewrite_mode != "edits":
            raise UsageError(f"--rewriter and --rewrite-mode need --mitigation {SelectiveRewrite.name}")
        return None
    mitigation = get_mitigation(settings.mitigation)
    mitigation.check(settings)
    return mitigation

"""evenhand: measure social bias in language models, reduce it, and publish both."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenhand.flow.configuration import run_config
    from evenhand.flow.evaluation import evaluate
    from evenhand.gating.gate import gate
    from evenhand.gating.policy import Policy
    from evenhand.language_agency.named_classifiers import load_classifier
    from evenhand.library import load_dataset, load_metric
    from evenhand.report.comparison import compare

__version__ = "0.1.0"
__all__ = ["Policy", "compare", "evaluate", "gate", "load_classifier", "load_dataset", "load_metric", "run_config"]

_WHERE = {
    "Policy": "evenhand.gating.policy",
    "compare": "evenhand.report.comparison",
    "evaluate": "evenhand.flow.evaluation",
    "gate": "evenhand.gating.gate",
    "load_classifier": "evenhand.language_agency.named_classifiers",
    "load_dataset": "evenhand.library",
    "load_metric": "evenhand.library",
    "run_config": "evenhand.flow.configuration",
}


def __getattr__(name: str) -> object:
    """Imported when asked for: `evenhand --help` needs none of it."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)

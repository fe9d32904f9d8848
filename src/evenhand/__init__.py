"""evenhand: measure social bias in language models, reduce it, and publish both."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenhand.api import compare, evaluate, gate, open_run, run_config
    from evenhand.gating.policy import Policy
    from evenhand.language_agency.named_classifiers import load_classifier
    from evenhand.library import load_dataset, load_metric

__version__ = "0.1.0"
__all__ = [
    "Policy", "compare", "evaluate", "gate", "load_classifier", "load_dataset", "load_metric", "open_run", "run_config",
]  # fmt: skip

_WHERE = {
    "Policy": "gating.policy",
    "load_classifier": "language_agency.named_classifiers",
    "load_dataset": "library",
    "load_metric": "library",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is asked for: `evenhand --help` needs none."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"evenhand.{_WHERE.get(name, 'api')}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]

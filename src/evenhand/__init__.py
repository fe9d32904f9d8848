"""evenhand: measure social bias in language models, reduce it, and publish both."""

from evenhand.language_agency.named_classifiers import load_classifier
from evenhand.library import load_dataset, load_metric

__version__ = "0.1.0"
__all__ = ["load_classifier", "load_dataset", "load_metric"]

"""evenhand.metrics: one folder a metric, each an `evaluate` module that stands alone."""

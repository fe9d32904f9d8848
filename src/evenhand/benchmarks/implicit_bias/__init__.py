"""Implicit bias in multi-agent task assignment (Borah & Mihalcea)."""

from evenhand.benchmarks.implicit_bias.benchmark import ImplicitBias

__all__ = ["ImplicitBias"]

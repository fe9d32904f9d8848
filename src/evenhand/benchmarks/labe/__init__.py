"""Language agency bias (Wan & Chang)."""

from evenhand.benchmarks.labe.benchmark import Labe

__all__ = ["Labe"]

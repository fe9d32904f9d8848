"""Stereotypes in multimodal models: association of social groups with occupations, descriptors and persona traits."""

from evenhand.benchmarks.mllm_stereotypes.benchmark import MllmStereotypes

__all__ = ["MllmStereotypes"]

"""Benchmarks as tasks of other harnesses: the same rows and prompts, and figures that come out the same."""

"""Readers that benchmarks share: of refusals, and of short answers that name one of a few options."""

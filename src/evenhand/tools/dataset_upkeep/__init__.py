"""Upkeep of the packaged datasets: fingerprints of their rows by version, and what a card computes."""

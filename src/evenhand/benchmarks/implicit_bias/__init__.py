"""Implicit bias in multi-agent task assignment (Borah & Mihalcea)."""

"""From rows to predictions to scores: episodes, the runner, the store, run folders."""

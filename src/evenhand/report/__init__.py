"""What a run found, as tables, plots and pages."""

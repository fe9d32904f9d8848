"""The README.md of what is published: of metrics from their folder, of models from their training and their runs."""

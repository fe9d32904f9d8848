"""The Hub: publishing datasets, metrics and models, their cards and apps, and submitting results."""

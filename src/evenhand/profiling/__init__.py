"""All benchmarks that a model can do, within a budget of time, and one page of what they found."""

"""Intervals, paired differences, families of tests, power."""

"""Benchmarks: the reference against the oracle in the same run, as ratios."""

"""Benchmarks: ratios of the reference to the oracle, measured in the same run."""

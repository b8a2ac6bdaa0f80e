"""Histories: the same random operations by the reference and the oracle, in lockstep."""

"""Histories: the same operations by the reference, the oracle and its old releases."""

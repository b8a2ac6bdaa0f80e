"""Specification: its clauses and divergences, and the differences that are already explained."""

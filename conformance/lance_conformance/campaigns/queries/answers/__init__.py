"""Answers: what the oracle finds by each type of index, saved, and found again without it."""

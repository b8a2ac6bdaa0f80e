"""Damage: a corpus of broken files, and what the reference and the oracle do with it."""

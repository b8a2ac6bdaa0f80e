"""Damage: damaged files and hostile tables, read by the reference and by the oracle."""

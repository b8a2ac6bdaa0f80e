"""Faults: writers that race, are killed, or meet errors of stores, file systems and tasks."""

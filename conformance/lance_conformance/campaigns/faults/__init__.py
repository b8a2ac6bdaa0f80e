"""Faults: concurrent and killed writers, and errors of stores, file systems and tasks."""

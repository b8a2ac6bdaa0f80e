"""Commit safety: writers that race, are killed, or meet errors of the file system."""

"""Noncanonical files: files that are legal in ways that no writer chooses, drawn from a seed."""

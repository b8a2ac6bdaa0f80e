"""Edits."""

"""Edits: rows of a table deleted, changed, merged or moved."""

"""Whole tables: hostile directories of a table, each put to every operation on it."""

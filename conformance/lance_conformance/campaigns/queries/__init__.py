"""Queries: filters and searches of texts and vectors by both implementations on the same files."""

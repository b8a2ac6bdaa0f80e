"""Queries: filters, texts and vectors asked of both implementations over the same files."""

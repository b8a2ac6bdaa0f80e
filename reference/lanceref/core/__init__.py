"""Foundations: bytes cut once, errors that name their clause, limits, messages, logical types."""

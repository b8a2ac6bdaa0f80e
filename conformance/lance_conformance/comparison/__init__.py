"""Comparison of tables: equal rows, accepted types, tolerances of scores."""

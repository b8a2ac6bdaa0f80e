"""Transactions: what a commit does to a table."""

"""Queries: which rows and columns of a table somebody asks for."""

"""Recipes: the definitions of all fixtures.

A positive case is written by the oracle (or by hand) from a given table, which is its expectation.
A negative case is a named parent with one named change.
"""

"""Recipes: how every fixture is made.

A positive case is written by the oracle (or by hand) from a table that is known before any byte
exists: that table is the expectation. A negative case is a named parent with one named change.
"""

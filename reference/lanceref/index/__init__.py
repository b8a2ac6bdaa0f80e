"""Indices: what a table keeps beside its rows so that few of them have to be looked at."""

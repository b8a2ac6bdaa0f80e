"""Runs: the whole suite against one adapter, and the check of a new adapter."""

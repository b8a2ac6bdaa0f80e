"""Nearest: vector searches by both implementations on the same files."""

"""Nearest: the same questions about vectors to both implementations, over the same files."""

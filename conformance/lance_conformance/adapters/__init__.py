"""Adapters: the small programs that answer the runner's requests for one implementation."""

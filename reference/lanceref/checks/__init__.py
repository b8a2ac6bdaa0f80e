"""Checks of whole tables and their indices, for `validate`."""

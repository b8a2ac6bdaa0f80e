"""Blobs of tables: large values in and beside data files (chapter 43)."""

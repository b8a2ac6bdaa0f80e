"""Random files: random tables, written by both implementations and read in many ways."""

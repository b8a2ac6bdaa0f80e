"""Random files: tables from a seed, written by both implementations and read back in many ways."""

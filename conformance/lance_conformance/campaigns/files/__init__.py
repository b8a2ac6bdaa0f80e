"""Files: random tables and noncanonical files, written and read by both implementations."""

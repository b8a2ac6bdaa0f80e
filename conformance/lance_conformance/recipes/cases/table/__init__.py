"""Cases of chapter table."""

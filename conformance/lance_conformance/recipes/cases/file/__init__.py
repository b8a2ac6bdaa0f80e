"""Cases of chapter file."""

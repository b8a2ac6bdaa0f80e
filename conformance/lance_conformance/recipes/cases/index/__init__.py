"""Cases of chapter index."""

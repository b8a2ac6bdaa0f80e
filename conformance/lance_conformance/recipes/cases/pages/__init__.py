"""Cases of chapter pages."""

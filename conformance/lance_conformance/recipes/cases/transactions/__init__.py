"""Cases of chapter transactions."""

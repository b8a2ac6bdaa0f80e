"""Cases of chapter operations."""

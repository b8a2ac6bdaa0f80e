"""Vector indices."""

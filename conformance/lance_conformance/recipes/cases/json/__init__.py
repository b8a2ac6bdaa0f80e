"""Cases of chapter json."""

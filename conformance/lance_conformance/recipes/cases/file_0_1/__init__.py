"""Cases of chapter file_0_1."""

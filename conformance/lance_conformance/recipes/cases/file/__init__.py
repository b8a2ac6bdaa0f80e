"""Cases of chapter 10: the container of files."""

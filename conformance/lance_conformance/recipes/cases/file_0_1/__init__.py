"""Cases of chapter 15: files of 0.1."""

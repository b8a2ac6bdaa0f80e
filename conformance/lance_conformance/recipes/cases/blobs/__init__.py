"""Cases of chapter 43: blobs in files and tables."""

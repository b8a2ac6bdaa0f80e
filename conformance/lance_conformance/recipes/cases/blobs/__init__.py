"""Cases of chapter blobs."""

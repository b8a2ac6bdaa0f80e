"""Cases of chapter encodings_2_0."""

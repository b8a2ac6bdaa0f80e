"""Cases of chapter 20: encodings of 2.0."""

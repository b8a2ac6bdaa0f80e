"""Cases of chapter 33: JSON documents in columns."""

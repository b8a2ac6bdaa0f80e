"""Cases of chapter codecs."""

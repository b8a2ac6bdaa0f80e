"""Cases of chapter 31: codecs of values."""

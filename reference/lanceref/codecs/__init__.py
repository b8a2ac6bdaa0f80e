"""Compressive encodings of 2.1 and later: bytes in, arrays out, no I/O."""

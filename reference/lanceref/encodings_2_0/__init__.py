"""Array encodings: the pages of 2.0 files. One module per encoding, `column` on top."""

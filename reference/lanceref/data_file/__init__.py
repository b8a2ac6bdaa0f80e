"""Data files of 2.0 to 2.3, opened and written: the container and the columns in it (chapter 10)."""

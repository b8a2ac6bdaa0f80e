"""Data files of 2.0 to 2.3: the container and the columns in it, read and written (chapter 10)."""

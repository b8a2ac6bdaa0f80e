"""Data files of 2.0 to 2.3, read and written (chapter 10), and those of every version, checked."""

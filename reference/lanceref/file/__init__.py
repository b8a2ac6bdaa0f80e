"""The file container of 2.0 to 2.3 (chapter 10)."""

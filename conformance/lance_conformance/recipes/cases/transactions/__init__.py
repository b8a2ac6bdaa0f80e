"""Cases of chapter 50: commits and their conflicts."""

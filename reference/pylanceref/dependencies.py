"""Optional libraries: pylance loads them by this module; here each is imported where it is used."""

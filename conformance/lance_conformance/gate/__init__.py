"""Gate: what a change of the format does to everybody who reads it, in one comment."""

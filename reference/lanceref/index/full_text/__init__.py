"""INVERTED: full-text indices, their tokens, postings and scores."""

"""Recall: how near vector indices come to the exact answer, and to the bounds of the papers."""

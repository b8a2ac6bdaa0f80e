"""Recall: the recall of vector indices, and the errors of RaBitQ compared with the papers."""

"""Shrink: the smallest bytes on which two implementations still disagree."""

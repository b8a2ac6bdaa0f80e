"""Explained wrong answers: damage that neither a reader nor `validate` can tell from a legal file.

Beside the bytes of `undetectable`, whose every change is legal, a few bytes make another legal file
when they change in the right way. The list of known divergences names each by the group of its
target and the leaf that owns it.
"""

from __future__ import annotations

from lance_conformance.known_divergences import find


def explanation(group: str, leaf: str) -> str:
    """Return why a wrong answer is allowed, or nothing."""
    known = find("damage/files", group=group, leaf=leaf)
    return "" if known is None else known.reason

"""Fuzzy matching: tokens of a dictionary that are a few edits away from another.

An edit adds, drops or replaces a character. Tokens come by rising bytes.

Clauses: L.index.fts.fuzzy
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lanceref.index.full_text.fst import Fst

Row = tuple[int, ...]
"""Edits from each beginning of the wanted token to what has been read."""


def near(tokens: Mapping[str, int] | Fst, wanted: str, edits: int, prefix: str) -> Iterator[str]:
    """Yield the tokens that begin with `prefix` within so many edits."""
    first = tuple(range(len(wanted) + 1))
    if isinstance(tokens, Fst):
        yield from (one for one in _walk(tokens, wanted, edits, first) if one.startswith(prefix))
        return
    for token in sorted(tokens):
        row = first
        for character in token:
            row = advanced(row, character, wanted)
        if row[-1] <= edits and token.startswith(prefix):
            yield token


def advanced(row: Row, character: str, wanted: str) -> Row:
    """Return the edits when another character has been read."""
    found = [row[0] + 1]
    for at, own in enumerate(wanted):
        found.append(min(row[at] + (own != character), row[at + 1] + 1, found[at] + 1))
    return tuple(found)


def _walk(fst: Fst, wanted: str, edits: int, first: Row) -> Iterator[str]:
    """Walk the dictionary where it may still come near; `rest` is a character half read."""
    stack = [(fst.root, "", b"", first)]
    while stack:
        address, token, rest, row = stack.pop()
        node = fst.node(address)
        if node.final and not rest and row[-1] <= edits:
            yield token
        for octet, _, target in reversed(node.ways):
            data = rest + bytes([octet])
            character = _character(data)
            if character is None:
                if len(data) < 4:
                    stack.append((target, token, data, row))
                continue
            after = advanced(row, character, wanted)
            if min(after) <= edits:
                stack.append((target, token + character, b"", after))


def _character(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None

"""Token dictionaries with one fault and a checksum that is right.

Nodes are read from their end, and hardly a byte of them has a name: the fault is looked for, byte
by byte, until the dictionary shows what is wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lanceref.core.context import Context
from lanceref.core.cursor import Cursor
from lanceref.core.errors import FormatError
from lanceref.index.full_text.fst import FOOTER_BYTES, HEADER_BYTES, Fst, checksum, parse_fst

CHECKSUM_BYTES = 4
"""What a dictionary ends with."""


def sealed(data: bytes) -> bytes:
    """Return a dictionary with the checksum of its bytes."""
    body = data[:-CHECKSUM_BYTES]
    return body + checksum(body).to_bytes(CHECKSUM_BYTES, "little")


def opened(data: bytes) -> Fst:
    """Return a dictionary. Raises FormatError."""
    return parse_fst(Cursor(memoryview(data), 0, Context("dictionary")))


def changed(data: bytes, is_wanted: Callable[[Fst], bool]) -> bytes:
    """Return the first dictionary with one other byte in its nodes that is wanted."""
    return next(one for one in _neighbours(data) if is_wanted(opened(one)))


def _neighbours(data: bytes) -> Iterator[bytes]:
    for at in range(HEADER_BYTES, len(data) - FOOTER_BYTES):
        for octet in range(256):
            yield sealed(data[:at] + bytes([octet]) + data[at + 1 :])


def refused_by(act: Callable[[], object]) -> str:
    """Return the clause under which something is refused, empty when it is not."""
    try:
        act()
    except FormatError as error:
        return error.clause
    return ""

"""Row lists: the rows that a caller allows or blocks, by their ids.

Layout: a set of row ids as `index.row_set` reads it; whole fragments may be among them.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from lanceref.core.arguments import unsigned
from lanceref.core.context import Context
from lanceref.core.cursor import Cursor
from lanceref.core.errors import FormatError, QueryRefused
from lanceref.index.row_set import RowSet, encode_row_set, parse_row_set, row_set
from lanceref.query.restriction import Restricted


def serialize_row_addrs(addrs: Iterable[int]) -> bytes:
    """Return row ids as a list. Raises TypeError and OverflowError for what is no row id."""
    return encode_row_set(row_set(np.array([unsigned(one) for one in addrs], np.uint64)))


def kept_to_lists(filter: object, allowed: object, blocked: object) -> object:
    """Return a filter that passes allowed rows only, and no blocked ones; None: as it is.

    Raises TypeError for something else than bytes, QueryRefused for bytes that are no list.
    """
    if allowed is not None:
        filter = Restricted(filter, _set(allowed, "allowlist"))
    if blocked is not None:
        filter = Restricted(filter, _set(blocked, "blocklist"), blocked=True)
    return filter


def _set(given: object, name: str) -> RowSet:
    if not isinstance(given, bytes | bytearray | memoryview):
        raise TypeError(f"argument 'row_addr_{name}': {type(given).__name__!r} is not bytes")
    try:
        return parse_row_set(Cursor(memoryview(given), 0, Context(f"row address {name}")))
    except FormatError as error:
        raise QueryRefused(
            f"row address {name} is not a serialized RowAddrTreeMap: {error}"
        ) from error

"""Key index: where in a flushed generation a primary key is, a B-tree that no manifest names.

The values are the keys, or where a key has several columns bytes that stand in the same order: of
each column 1 and its value, integers as 64 bits, the highest byte first and the sign turned, bool a
byte, text and bytes with 0 as 00ff and 0000 behind them. The ids are offsets of rows.

Layout: `_mem_wal/{shard}/{generation}/_pk_index/{page_data,page_lookup}.lance`, as of an index.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from struct import pack

import numpy as np
import pyarrow as pa

from lanceref.index.scalar.btree import write_btree
from lanceref.index.segment_writer import SegmentWriter

FOLDER = "_pk_index"
PAGE_ROWS = 8192
"""Keys of a page."""


class KeyIndexWriter(SegmentWriter):
    """Writes below the root of the table that a generation is."""

    @property
    def folder(self) -> str:
        """Path of the folder."""
        return FOLDER


def write_key_index(columns: Sequence[pa.ChunkedArray], writer: SegmentWriter) -> None:
    """Write the index of the keys of rows in their order, none of them null."""
    values = columns[0].combine_chunks() if len(columns) == 1 else ordered_keys(columns)
    write_btree(values, np.arange(len(values), dtype=np.uint64), PAGE_ROWS, writer)


def ordered_keys(columns: Sequence[pa.ChunkedArray]) -> pa.Array:
    """Return keys of several columns as bytes that stand in the same order."""
    parts = [map(_encoder(column.type), column.to_pylist()) for column in columns]
    return pa.array([b"".join(key) for key in zip(*parts, strict=True)], pa.binary())


def _encoder(type_: pa.DataType) -> Callable[..., bytes]:
    if pa.types.is_boolean(type_):
        return lambda value: pack(">B?", 1, value)
    if pa.types.is_unsigned_integer(type_):
        return lambda value: pack(">BQ", 1, value)
    if pa.types.is_integer(type_):
        return lambda value: pack(">BQ", 1, value + 2**63)
    if pa.types.is_string(type_) or pa.types.is_large_string(type_):
        return lambda value: _escaped(value.encode())
    return _escaped


def _escaped(value: bytes) -> bytes:
    return b"\1" + value.replace(b"\0", b"\0\xff") + b"\0\0"

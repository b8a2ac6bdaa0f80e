"""Chunks decoded in runs that fit the cache, and read several runs at a time.

The specification is `pages.chunk_rows`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lanceref.core.plain import replaces
from lanceref.fast.fsst import GROWTH
from lanceref.file.column_io import RUN_BYTES
from lanceref.pages import chunk_rows
from lanceref.pages.chunk_rows import ChunkRows
from lanceref.pages.leafvalues import width_bits

DICTIONARY_ROW_BYTES = 8
"""Assumed size of a value that is looked up in a dictionary: cuts runs of 256 Ki rows."""

ONE_RUN = 2**15
"""Rows up to which a scan is taken to be one run."""


@replaces(chunk_rows.run_end)
def run_end(rows: ChunkRows, start: int) -> int:
    """Return where a run of chunks from `start` ends: about RUN_BYTES of values.

    Stored bytes, among them headers and padding, may be somewhat more.
    """
    table = rows.table
    value_bytes = max(1, (width_bits(rows.decoder.type) or 8) // 8)
    if rows.items is not None:
        value_bytes = DICTIONARY_ROW_BYTES
    values = int(table.value_ends[start] - table.counts[start]) + RUN_BYTES // value_bytes
    stored = RUN_BYTES
    if rows.decoder.mini.values.WhichOneof("compression") == "fsst":
        stored //= GROWTH
    size = int(table.ends[start] - table.sizes[start]) + stored + stored // 4
    stop = min(
        np.searchsorted(table.value_ends, values, "right"),
        np.searchsorted(table.ends, size, "right"),
    )
    return max(start + 1, int(stop))


@replaces(chunk_rows.read_ahead)
def read_ahead(rows: ChunkRows, start: int, end: int) -> tuple[ChunkRows, int]:
    """Return the same with bytes of several runs from `start` on, and the first row after them.

    They are read together up to RUN_BYTES: stored values may be much shorter.
    """
    if end - start <= ONE_RUN:
        return rows, end
    table, row = rows.table, np.array([start])
    first, last = (int(one[0]) for one in rows.chunks_of(row, np.array([end - 1])))
    most = int(table.ends[first] - table.sizes[first]) + RUN_BYTES
    stop = one_run = run_end(rows, first)
    while stop <= last and table.ends[run_end(rows, stop) - 1] <= most:
        stop = run_end(rows, stop)
    if stop == one_run:
        return rows, start + 1
    extent = table.part(slice(first, min(stop, last + 1))).extent
    window = rows.file.with_window(extent, "chunks", "L.page.miniblock.chunk-bytes")
    return replace(rows, file=window), int(rows.slot_ends[stop - 1]) // rows.scale

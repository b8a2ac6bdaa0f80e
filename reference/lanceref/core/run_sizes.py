"""Runs: how many rows are read or written at a time, and the memory that is kept between them.

Files are read and written in runs of a few MiB. The C library gives freed blocks back to the system
when they are larger than any freed before, and then each page of the next run costs a fault, more
than decoding it does. pyarrow's own memory pool does so too, with any block.
"""

from __future__ import annotations

from functools import cache

import numpy as np

RUN_BYTES = 4 * 2**20
"""Decoded bytes that a scan aims to yield at a time: they fit the cache, and the calls that a run
costs, however short, are few to the megabyte."""

BATCH_ROWS = 1024
"""Runs of more rows end at a multiple of this, as most batches do: one in two runs is copied."""


def run_rows(row_bytes: float, run_bytes: int = RUN_BYTES) -> int:
    """Rows whose values take about `run_bytes`; whole bytes of bitmaps where there are enough."""
    rows = max(1, int(run_bytes / max(row_bytes, 1 / 8)))
    step = BATCH_ROWS if rows >= BATCH_ROWS else min(rows, 64)
    return rows // step * step


KEPT_BYTES = 31 * 2**20
"""Freed blocks up to this size are kept, twice as much in all: a batch of several runs together."""


@cache
def keep_freed_blocks() -> None:
    """Free one block of KEPT_BYTES, never touched; a second call does nothing."""
    np.empty(KEPT_BYTES, np.uint8)

"""Memory: blocks that were freed serve the next run.

Files are read and written in runs of a few MiB. The C library gives freed blocks back to the system
when they are larger than any freed before, and then each page of the next run costs a fault, more
than decoding it does. pyarrow's own memory pool does so too, with any block.
"""

from __future__ import annotations

from functools import cache

import numpy as np

KEPT_BYTES = 16 * 2**20
"""Freed blocks up to this size are kept: a few of a run's arrays together."""


@cache
def keep_freed_blocks() -> None:
    """Free one block of KEPT_BYTES, never touched; a second call does nothing."""
    np.empty(KEPT_BYTES, np.uint8)

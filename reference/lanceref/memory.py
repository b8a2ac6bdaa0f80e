"""Memory: blocks that one run frees serve the next.

A scan decodes run after run, each in a few blocks of about a run's size. The C library gives a
freed block back to the system when it is larger than any it saw freed before, and then every page
of the next one costs a fault, more than decoding it does. It learns the size from the first free.
"""

from __future__ import annotations

from functools import cache

import numpy as np

KEPT_BYTES = 16 * 2**20
"""Up to this size blocks are kept: a few of a run's arrays together."""


@cache
def keep_freed_blocks() -> None:
    """Free one block of KEPT_BYTES, never touched, once in the life of the process."""
    np.empty(KEPT_BYTES, np.uint8)

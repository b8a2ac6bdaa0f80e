"""Limits a caller sets on what hostile bytes may cost, and the memory of a table.

Counts in a file are first held against the bytes that remain. Some legal encodings expand without a
bound in the file (a constant page of 2**40 rows is a few bytes long): there these limits decide,
and `LimitExceeded` names the limit.

A stream of batches holds one at a time; a table holds all. A page of few bytes may expand to any
number of rows, and a file may name it any number of times: so the bytes of a table are held against
the sizes of the files that its rows are read from.

Files are read and written in runs of a few MiB. The C library gives freed blocks back to the system
when they are larger than any freed before, and then each page of the next run costs a fault, more
than decoding it does. pyarrow's own memory pool does so too, with any block.

Clauses: L.codec.limits.expansion
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa

from lanceref.core.errors import LimitExceeded, Place


@dataclass(frozen=True, slots=True)
class Limits:
    """Upper bounds, each in the unit of its name."""

    page_rows: int = 2**31
    """Rows, items or levels one page may claim."""

    expansion_bytes: int = 48 * 2**20
    """Bytes that a run may expand to without regard to the size of the file that holds it."""

    expansion_factor: int = 16
    """Bytes of output allowed per byte of file, on top of `expansion_bytes`."""

    depth: int = 64
    """Nesting depth of types, encodings and messages."""

    findings: int = 10_000
    """Findings of one validation; of what follows the first of each clause is kept."""

    def expanded(self, file_bytes: int) -> int:
        """Return the bytes one run of output may take for a file of `file_bytes`."""
        return self.expansion_bytes + self.expansion_factor * file_bytes


DEFAULT_LIMITS = Limits()
"""The limits used when the caller gives none."""


def bound_table(
    batches: Iterable[pa.RecordBatch], limits: Limits, file: str, read_bytes: Callable[[], int]
) -> Iterator[pa.RecordBatch]:
    """Yield batches that are all kept. Raises LimitExceeded before they take too much memory.

    `read_bytes` gives the bytes of the files that are read so far.
    """
    held, allowed = 0, limits.expanded(0)
    for batch in batches:
        held += batch.nbytes
        if held > allowed:
            allowed = limits.expanded(read_bytes())
        if held > allowed:
            clause, found = "L.codec.limits.expansion", f"a table of more than {allowed} bytes"
            wanted = (
                f"at most {limits.expansion_bytes} bytes and {limits.expansion_factor} for each "
                "byte of the files; to_batches() streams them, and "
                "limits=Limits(expansion_bytes=...) allows more"
            )
            raise LimitExceeded(clause, Place(file, 0), found, wanted)
        yield batch


KEPT_BYTES = 16 * 2**20
"""Freed blocks up to this size are kept: a few of a run's arrays together."""


@cache
def keep_freed_blocks() -> None:
    """Free one block of KEPT_BYTES, never touched; a second call does nothing."""
    np.empty(KEPT_BYTES, np.uint8)

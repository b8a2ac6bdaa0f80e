"""Held rows: what a table made of batches may take in memory.

A stream of batches holds one at a time; a table holds all. A page of few bytes may expand to any
number of rows, and a file may name it any number of times: so the bytes of a table are held against
the sizes of the files that its rows are read from.

Clauses: L.codec.limits.expansion
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa

from lanceref.core.errors import LimitExceeded, Place
from lanceref.core.limits import Limits


def bounded(
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
            raise LimitExceeded(
                "L.codec.limits.expansion",
                Place(file, 0),
                found=f"a table of more than {allowed} bytes",
                wanted=(
                    f"at most {limits.expansion_bytes} bytes and {limits.expansion_factor} for "
                    "each byte of the files; to_batches() streams them, and "
                    "limits=Limits(expansion_bytes=...) allows more"
                ),
            )
        yield batch

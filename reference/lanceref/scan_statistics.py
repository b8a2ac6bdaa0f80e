"""Scan statistics: what was read for a scan, told to whoever asked for the scan (face).

Has the names of pylance's `ScanStatistics`. Requests and bytes are those of the store; indices are
kept open between scans and are not counted apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import pyarrow as pa

from lanceref.storage.protocol import IOStats


@dataclass(frozen=True, slots=True)
class ScanStatistics:
    """Requests and bytes of one scan.

    The fields about indices are there for their names: nothing counts them, and they stay 0.
    """

    iops: int
    requests: int
    bytes_read: int
    indices_loaded: int = 0
    parts_loaded: int = 0
    index_comparisons: int = 0
    index_cache_hits: int = 0
    index_cache_misses: int = 0
    all_counts: dict[str, int] = field(default_factory=dict)
    all_times: dict[str, int] = field(default_factory=dict)


def observed(
    batches: Iterator[pa.RecordBatch],
    counter: IOStats,
    observer: Callable[[ScanStatistics], object],
) -> Iterator[pa.RecordBatch]:
    """Yield batches, and tell at their end what was read since the first was asked for."""
    before = replace(counter)
    yield from batches
    requests = counter.read_iops - before.read_iops
    count = counter.read_bytes - before.read_bytes
    counts = {"iops": requests, "bytes_read": count}
    observer(ScanStatistics(requests, requests, count, all_counts=counts))

"""Scan statistics: what was read for a scan, told to whoever asked for the scan (face).

Has the names of pylance's `ScanStatistics`. Requests and bytes are those of the store; what indices
did for the scan is counted by `index.uses`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import pyarrow as pa
from lanceref.index.cache_statistics import Uses
from lanceref.storage.protocol import IOStats


@dataclass(frozen=True, slots=True)
class ScanStatistics:
    """Requests and bytes of one scan, and what indices did for it.

    Segments that were opened, their parts that were read, values that were held against a question,
    parts that were in memory and those that were not.
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


class Meter:
    """Counts from the moment it is made on."""

    def __init__(self, counter: IOStats, uses: Uses) -> None:
        self._counter, self._uses = counter, uses
        self._before, self._used = replace(counter), replace(uses)

    def read(self) -> ScanStatistics:
        """Return what was counted since."""
        uses, used = self._uses, self._used
        requests = self._counter.read_iops - self._before.read_iops
        count = self._counter.read_bytes - self._before.read_bytes
        hits, loaded = uses.hits - used.hits, uses.loaded - used.loaded
        return ScanStatistics(
            requests,
            requests,
            count,
            uses.indices_loaded - used.indices_loaded,
            loaded,
            uses.comparisons - used.comparisons,
            hits,
            loaded,
            all_counts={
                "iops": requests,
                "bytes_read": count,
                "index_cache_hits": hits,
                "index_cache_misses": loaded,
            },
        )


def observed(
    batches: Iterator[pa.RecordBatch],
    meter: Meter,
    observer: Callable[[ScanStatistics], object],
) -> Iterator[pa.RecordBatch]:
    """Yield batches, and tell at their end what was counted."""
    yield from batches
    observer(meter.read())

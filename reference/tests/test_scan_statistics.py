"""Statistics that a scan reports."""

from __future__ import annotations

from lanceref.index.segment import Uses
from lanceref.storage.io_stats import IOStats
from pylanceref.scanner import Meter


def test_reads_of_a_scan_are_told_once():
    """Those since the meter was made, when the last batch was taken."""
    counter, uses, told = IOStats(read_iops=5, read_bytes=50), Uses(loaded=4, hits=2), []

    def batches():
        for _ in range(2):
            counter.read_iops += 1
            counter.read_bytes += 8
            uses.load()
            yield "batch"

    scan = Meter(counter, uses).observed(batches(), told.append)
    assert ["batch", "batch"] == [next(scan), next(scan)]
    assert [] == told
    uses.hit(3)
    uses.comparisons += 7
    assert [] == list(scan)
    (one,) = told
    assert (one.iops, one.requests, one.bytes_read) == (2, 2, 16)
    assert (one.parts_loaded, one.index_cache_misses, one.index_cache_hits) == (2, 2, 3)
    assert (one.index_comparisons, one.indices_loaded) == (7, 0)
    assert one.all_counts == {
        "iops": 2,
        "bytes_read": 16,
        "index_cache_hits": 3,
        "index_cache_misses": 2,
    }

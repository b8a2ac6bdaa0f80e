"""What is told of a scan."""

from __future__ import annotations

from lanceref.scan_statistics import ScanStatistics, observed
from lanceref.storage.protocol import IOStats


def test_reads_of_a_scan_are_told_once():
    """Those since its first batch was asked for, when the last one was taken."""
    counter, told = IOStats(read_iops=5, read_bytes=50), []

    def batches():
        for _ in range(2):
            counter.read_iops += 1
            counter.read_bytes += 8
            yield "batch"

    scan = observed(batches(), counter, told.append)
    counter.read_iops += 1  # before it began
    assert ["batch", "batch"] == [next(scan), next(scan)]
    assert [] == told
    assert [] == list(scan)
    assert [ScanStatistics(2, 2, 16, all_counts={"iops": 2, "bytes_read": 16})] == told

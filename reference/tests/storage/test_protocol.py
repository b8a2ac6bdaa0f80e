"""Store: what every kind of store counts."""

import pyarrow as pa
import pylanceref
from lanceref.storage import IOStats, bytes_read_counter, iops_counter


def test_counters_start_again_once_they_are_asked():
    """What was counted since then is returned, and no more."""
    stats = IOStats(1, 2, 3, 4)

    assert IOStats(1, 2, 3, 4) == stats.incremental()
    assert IOStats() == stats.incremental()


def test_the_process_counts_what_every_counter_does():
    """A counter that starts again takes nothing back."""
    requests, size = iops_counter(), bytes_read_counter()
    one, other = IOStats(), IOStats()
    one.count_reads(2, 10)
    other.count_reads(1, 5)

    assert IOStats(2, 10) == one.incremental()
    assert (3, 15) == (iops_counter() - requests, bytes_read_counter() - size)


def test_a_scan_is_counted(tmp_path):
    """As it is by its table."""
    made = pylanceref.write_dataset(pa.table({"a": [1, 2]}), tmp_path)
    made.io_stats_incremental()
    requests, size = iops_counter(), bytes_read_counter()
    made.to_table()
    own = made.io_stats_incremental()

    assert 0 < own.read_bytes <= bytes_read_counter() - size
    assert 0 < iops_counter() - requests

"""Details of a log."""

from __future__ import annotations

from lanceref.index.mem_wal.sharding import statistics
from lanceref.proto.mem_wal_pb2 import MemWalIndexDetails


def test_worked_details():
    """Field 12 alone says that all indices are kept; every number is 0."""
    details = MemWalIndexDetails.FromString(b"\x60\x01")

    assert details.maintain_all_indexes
    assert {0} == set(statistics(details).values())


def test_each_list_is_counted():
    """Shards are counted by their field, the others by their entries."""
    details = MemWalIndexDetails(num_shards=4, maintained_indexes=["a", "b"])

    assert 4 == statistics(details)["num_shards"]
    assert 2 == statistics(details)["num_maintained_indexes"]

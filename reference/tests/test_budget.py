"""The memory of metadata is counted against the sizes of the files that are open."""

import pytest
from lanceref.core.errors import LimitExceeded, Place
from lanceref.core.limits import SMALL_FILE_BYTES, Budget, Limits
from lanceref.proto import table_pb2

PLACE = Place("f", 0)
LIMITS = Limits(expansion_bytes=100_000, expansion_factor=16)
EMPTY_FRAGMENTS = b"\x12\x00" * 1000


def test_a_message_that_takes_too_much_is_refused():
    """1,000 empty fragments are 2,000 bytes, and more than 100 kB in memory."""
    with pytest.raises(LimitExceeded, match="expansion_bytes"):
        Budget(LIMITS).of_file("a", 2000).admit(EMPTY_FRAGMENTS, table_pb2.Manifest, PLACE)


def test_the_size_of_the_file_allows_more():
    """A file of 100 kB may take 16 times as much."""
    Budget(LIMITS).of_file("a", 100_000).admit(EMPTY_FRAGMENTS, table_pb2.Manifest, PLACE)


def test_the_files_of_a_table_share_what_it_may_take():
    """What one file takes beyond its size is missing for the next, until the file is closed."""
    table = Budget(LIMITS)
    first = table.of_file("a", 0)
    first.charge(SMALL_FILE_BYTES + 60_000, "a table", PLACE)
    with pytest.raises(LimitExceeded):
        table.of_file("b", 0).charge(SMALL_FILE_BYTES + 60_000, "a table", PLACE)
    del first

    table.of_file("b", 0).charge(SMALL_FILE_BYTES + 60_000, "a table", PLACE)


def test_a_file_that_is_open_twice_counts_its_bytes_once():
    """Many fragments may name one file: its bytes were read, but each takes memory."""
    table = Budget(LIMITS)
    held = [table.of_file("a", 10_000)]
    held[0].charge(160_000, "a table", PLACE)
    held.append(table.of_file("a", 10_000))

    with pytest.raises(LimitExceeded):
        held[1].charge(160_000, "a table", PLACE)


def test_messages_of_no_file_are_not_summed_up():
    """A table may be read for days: what is parsed and let go of again uses nothing up."""
    table = Budget(LIMITS)
    message = table_pb2.Manifest(fragments=[table_pb2.DataFragment(id=1)] * 20)
    message.tag = "a" * 70_000

    for _ in range(100):
        table.admit(message.SerializeToString(), table_pb2.Manifest, PLACE)

"""The memory of messages, estimated from their bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.limits import DEFAULT_LIMITS, MESSAGE_BYTES, NUMBER_BYTES, TYPE_BYTES, estimate
from lanceref.proto import table_pb2

MANIFEST, FILE = "lance.table.Manifest", "lance.table.DataFile"


def test_every_message_inside_counts():
    """A fragment with one data file is two messages: 12 02 12 00."""
    wanted = TYPE_BYTES["lance.table.DataFragment"] + TYPE_BYTES[FILE]

    assert wanted == estimate(bytes.fromhex("1202 1200"), MANIFEST, 10**6)


def test_packed_numbers_count_one_by_one():
    """Twenty varints of two bytes are twenty numbers."""
    data = table_pb2.DataFile(fields=[300] * 20).SerializeToString()

    assert 20 * NUMBER_BYTES == estimate(data, FILE, 10**6)


def test_single_values_cost_nothing():
    """A path is no more in memory than in the bytes."""
    assert 0 == estimate(table_pb2.DataFile(path="a" * 99).SerializeToString(), FILE, 10**6)


def test_the_estimate_stops_above_the_most_that_is_allowed():
    """A million of empty messages are not walked when a few are too many already."""
    found = estimate(b"\x0a\x00" * 10**6, MANIFEST, 10 * MESSAGE_BYTES)

    assert 10 * MESSAGE_BYTES < found < 10 * MESSAGE_BYTES + 10_000


@given(st.binary(max_size=200))
def test_any_bytes_have_an_estimate(data):
    """Bytes that do not parse count as far as they do."""
    assert 0 <= estimate(data, MANIFEST, 10**9)


@pytest.mark.parametrize(("columns", "fragments"), [(1, 20_000), (10, 20_000), (1000, 1000)])
def test_the_manifests_of_large_tables_are_within_the_limits(columns, fragments):
    """Files of the same columns share what is made of their fields."""
    manifest = table_pb2.Manifest()
    for number in range(fragments):
        fragment = manifest.fragments.add(id=number, physical_rows=1_000_000)
        fragment.files.add(
            path=f"{number:048x}.lance",
            fields=range(columns),
            column_indices=range(columns),
            file_major_version=2,
            file_minor_version=1,
            file_size_bytes=10_000_000,
        )
    data = manifest.SerializeToString()

    assert estimate(data, "lance.table.Manifest", 1 << 40) < DEFAULT_LIMITS.expanded(len(data))

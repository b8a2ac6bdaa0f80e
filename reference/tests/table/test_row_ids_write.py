"""Row ids and row versions, written."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.table.row_ids import (
    Run,
    decode_row_ids,
    decode_versions,
    encode_id_parts,
    encode_ids,
    encode_row_ids,
    encode_runs,
    encode_segment,
    encode_spans,
    encode_versions,
    stored_count,
)

CTX = Context("m.manifest")
PLACE = CTX.at(76, 121)


def _back(data: bytes) -> list[int]:
    count = stored_count(data, CTX, PLACE)
    return decode_row_ids(data, count, CTX, PLACE).at(np.arange(count)).tolist()


def test_fresh_ids_are_one_range():
    """Rows 2 and 3 of a table: segment, range, start 2, end 4."""
    assert bytes.fromhex("0a060a0408021004") == encode_row_ids(2, 4)
    assert bytes.fromhex("0a040a021002") == encode_row_ids(0, 2)


def test_fresh_versions_are_one_run():
    """Three rows of version 2: run, span 0 to 3, version."""
    assert bytes.fromhex("0a080a040a0210031002") == encode_versions(3, 2)


@given(st.integers(0, 2**60), st.integers(1, 1000))
def test_fresh_ids_and_versions_come_back(start, count):
    """Every row has its id and the version."""
    offsets = np.arange(count)
    ids = decode_row_ids(encode_row_ids(start, start + count), count, CTX, PLACE)
    versions = decode_versions(encode_versions(count, 7), count, CTX, PLACE)

    assert list(range(start, start + count)) == ids.at(offsets).tolist()
    assert [7] * count == versions.at(offsets).tolist()


@pytest.mark.parametrize(
    ("ids", "held"),
    [
        (range(100), "0a040a021064"),
        (range(100, 200), "0a070a05086410c801"),
        ([9, 10, 11, 200], "0a10220e0a0c08091208000001000200bf00"),
    ],
)
def test_the_smallest_segment_is_written(ids, held):
    """Golden bytes: a range, and four ids too far apart for holes or a bitmap."""
    assert bytes.fromhex(held) == encode_ids(np.array(ids, np.uint64))


def test_parts_are_segments_of_their_own():
    """Golden bytes: 5 and 7 as a bitmap from 5 on, lowest bit first, then the range 150."""
    parts = [np.array([5, 7], np.uint64), np.array([150], np.uint64)]

    assert bytes.fromhex("0a091a07080510081a01050a080a06089601109701") == encode_id_parts(parts)


def test_ranges_that_meet_are_joined():
    """0 to 3 and 3 to 5 are one range; 5 before 3 are not."""
    low, high = np.arange(3, dtype=np.uint64), np.arange(3, 5, dtype=np.uint64)

    assert encode_row_ids(0, 5) == encode_id_parts([low, high])
    assert [3, 4, 0, 1, 2] == _back(encode_id_parts([high, low]))


@pytest.mark.parametrize(
    ("ids", "arm"),
    [
        ([], "range"),
        ([7], "range"),
        ([1, 2, 4, 5, 6], "range_with_bitmap"),
        ([*range(50), *range(51, 200)], "range_with_holes"),
        ([0, 1000], "sorted_array"),
        ([2, 1], "array"),
        ([3, 3], "array"),
    ],
)
def test_the_form_follows_the_sizes(ids, arm):
    """24 bytes and 4 for a hole, an eighth for a slot or 2 for a value: the least is taken."""
    assert arm == encode_segment(np.array(ids, np.uint64)).WhichOneof("segment")


@given(st.lists(st.integers(0, 2**64 - 2), max_size=40))
def test_any_ids_come_back(ids):
    """In their order, whatever they are."""
    assert ids == _back(encode_ids(np.array(ids, np.uint64)))


@given(st.lists(st.integers(1, 5), max_size=60))
def test_any_versions_come_back(versions):
    """Equal neighbours are one run."""
    data = encode_runs(np.array(versions, np.uint64))
    decoded = decode_versions(data, len(versions), CTX, PLACE)

    assert versions == decoded.at(np.arange(len(versions))).tolist()


def test_runs_are_written_with_their_spans():
    """One without rows is left out; how many rows have which version comes back."""
    runs = [
        Run(np.array(span, np.uint64), version)
        for span, version in (([4, 5], 1), ([], 2), ([0, 2], 3))
    ]
    data = encode_spans(runs)

    assert bytes.fromhex("0a0a0a060a04080410061001") == encode_spans(runs[:1])
    held = decode_versions(data, 4, CTX, PLACE)
    assert [1, 1, 3, 3] == held.at(np.arange(4)).tolist()

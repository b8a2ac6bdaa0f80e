"""Sets of rows, as values and as bytes."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.cursor import Cursor
from lanceref.core.errors import FormatError
from lanceref.index.row_set import (
    RowSet,
    distinct,
    encode_row_set,
    encode_treemap,
    intersection,
    parse_row_set,
    parse_treemap,
    row_set,
    union,
)

ROW_5_OF_2 = bytes.fromhex("01000000 02000000 12000000 3a300000 01000000 0000 0000 10000000 0500")

keys = st.lists(st.integers(0, 3 << 32 | 70_000), max_size=50)


def parse(data: bytes) -> RowSet:
    """Parse a set."""
    return parse_row_set(Cursor(memoryview(data), 0, Context("set")))


def of(*values: int) -> RowSet:
    """Return a set of single keys."""
    return row_set(np.array(values, np.uint64))


def test_a_worked_example():
    """Row 5 of fragment 2 has the bytes that the chapter shows, both ways."""
    rows = of(2 << 32 | 5)
    assert encode_row_set(rows) == ROW_5_OF_2
    assert parse(ROW_5_OF_2).keys.tolist() == rows.keys.tolist()
    assert encode_row_set(RowSet()) == bytes(4)


@given(keys)
def test_distinct_keys_are_in_order_and_each_once(values):
    """Whatever their order was; keys in order stay as they are."""
    found = distinct(np.array(values, np.uint64))

    assert sorted(set(values)) == found.tolist()
    assert distinct(found) is found


def test_size_0_is_a_whole_fragment():
    """All its rows are in the set, and a fragment written whole is parsed so."""
    rows = RowSet(of(7).keys, frozenset({1}))
    data = encode_row_set(rows)
    assert data.endswith(struct.pack("<II", 1, 0))
    assert parse(data).whole == {1}
    assert parse(data).offsets(1, 3).tolist() == [0, 1, 2]
    assert parse(data).among(np.array([1 << 32, 7, 8], np.uint64)).tolist() == [0, 1]


@given(keys)
def test_every_set_is_parsed_as_it_was_written(values):
    """Keys come back ascending and once."""
    found = parse(encode_row_set(row_set(np.array(values, np.uint64))))
    assert found.keys.tolist() == sorted(set(values))


@given(keys, keys, st.sets(st.integers(0, 3)), st.sets(st.integers(0, 3)))
def test_union_and_intersection_are_those_of_sets(one, other, whole_one, whole_other):
    """Whole fragments count as all of their rows."""
    left = RowSet(row_set(np.array(one, np.uint64)).keys, frozenset(whole_one))
    right = RowSet(row_set(np.array(other, np.uint64)).keys, frozenset(whole_other))
    asked = np.array([*one, *other, *(number << 32 | 1 for number in range(4))], np.uint64)

    def inside(rows: RowSet) -> set[int]:
        return set(rows.among(asked).tolist())

    assert inside(union([left, right])) == inside(left) | inside(right)
    assert inside(intersection([left, right])) == inside(left) & inside(right)


def test_offsets_are_those_of_one_fragment():
    """Rows after its last one are left out."""
    assert of(3, 1 << 32 | 2, 1 << 32 | 9, 2 << 32).offsets(1, 9).tolist() == [2]


@pytest.mark.parametrize(
    ("data", "clause"),
    [
        (b"\xff\xff\xff\xff", "L.index.rows.count"),
        (ROW_5_OF_2 + b"\x00", "L.index.rows.end"),
        (b"\x02\x00\x00\x00" + ROW_5_OF_2[4:] + bytes(8), "L.index.rows.order"),
        (ROW_5_OF_2[:8] + b"\x13" + ROW_5_OF_2[9:], "L.index.rows.bitmap"),
    ],
)
def test_broken_sets_are_refused(data, clause):
    """Each by the clause that it breaks."""
    with pytest.raises(FormatError) as caught:
        parse(data)
    assert caught.value.clause == clause


@given(keys, st.booleans())
def test_every_treemap_is_parsed_as_it_was_written(values, runs):
    """With and without run containers."""
    ordered = np.array(sorted(set(values)), np.uint64)
    data = encode_treemap(ordered, runs=runs)
    assert parse_treemap(Cursor(memoryview(data), 0, Context("map"))).tolist() == ordered.tolist()
    for broken, clause in ((data + b"\0", "end"), (b"\xff" * 8 + data[8:], "count")):
        with pytest.raises(FormatError) as caught:
            parse_treemap(Cursor(memoryview(broken), 0, Context("map")))
        assert caught.value.clause == f"L.index.treemap.{clause}"

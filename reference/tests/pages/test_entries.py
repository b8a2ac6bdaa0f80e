"""Full-zip entries: the worked string page, lists of vectors, and damage."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.errors import CorruptPage
from lanceref.core.spans import SpanRecorder
from lanceref.pages.entries import (
    MAX_ENTRY_SPANS,
    FullZip,
    Zipped,
    compact,
    cut_entries,
    cut_matrix,
    record,
)
from lanceref.pages.layers import ALL_VALID_ITEM, NULL_AND_EMPTY, NULLABLE_ITEM, Step
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding

from .nesting import layers_of, path_of, shred


def _shape(bits_rep, bits_def, value_bytes, length_bytes, layers, num_items=3):
    """Describe entries by the bytes of their values, or of the lengths of these."""
    bits = None if value_bytes is None else 8 * value_bytes
    encoding = CompressiveEncoding()
    lengths = 8 * length_bytes or None
    return FullZip(layers, bits_rep, bits_def, bits, lengths, num_items, num_items, encoding)


FLAT = layers_of(path_of(Step.LEAF), [NULLABLE_ITEM])
LISTS = layers_of(path_of(Step.LIST, Step.LEAF), [ALL_VALID_ITEM, NULL_AND_EMPTY])
STRINGS = _shape(0, 1, None, 4, FLAT)
VECTORS = _shape(1, 2, 8, 0, LISTS)
WORKED = bytes.fromhex("01 0002000000 6162 0000000000")


def _zipped(data, bounds):
    at = np.array(bounds)
    return Zipped(Context("test"), np.frombuffer(data, np.uint8), 0, at[:-1], at[1:])


def _lists(rows):
    """Zip rows of lists of 8-byte values; return bytes and row index."""
    rep, definition, values, counts = shred(rows, LISTS)
    entries, left = [], iter(values)
    for r, d in zip(rep, definition):
        entries.append(
            bytes([r << 2 | d]) + (int(next(left)).to_bytes(8, "little") if not d else b"")
        )
    bounds, at = [0], 0
    for count in counts:
        bounds.append(bounds[-1] + sum(map(len, entries[at : at + count])))
        at += count
    return b"".join(entries), bounds


def test_worked_string_page():
    """[None, 'ab', ''] is a control word alone, then two values with lengths 2 and 0."""
    zipped = _zipped(WORKED, [0, 1, 8, 13])
    cut = cut_entries(zipped, STRINGS)

    assert [1, 0, 0] == cut.levels.definition.tolist()
    assert ([6, 13], [2, 0]) == (cut.value_starts.tolist(), cut.value_sizes.tolist())
    assert b"ab" == compact(zipped.data, cut.value_starts, cut.value_sizes).tobytes()


def test_fixed_nulls_have_their_bytes():
    """Without lists every entry of fixed width has the same size: rows of a matrix."""
    data = bytes.fromhex("00 01000000 01 ffffffff 00 02000000")
    levels, rows = cut_matrix(_zipped(data, [0, 5, 10, 15]), _shape(0, 1, 4, 0, FLAT))

    assert [0, 1, 0] == levels.definition.tolist()
    assert bytes.fromhex("01000000 ffffffff 02000000") == rows.tobytes()


@pytest.mark.parametrize(("bits", "size"), [(0, 0), (1, 1), (8, 1), (9, 2), (16, 2), (17, 4)])
def test_size_of_the_control_word(bits, size):
    """0, 1, 2 or 4 bytes, by the bits of both levels."""
    assert size == _shape(bits // 2, bits - bits // 2, 8, 0, LISTS).control_bytes


@given(
    st.lists(st.none() | st.lists(st.integers(0, 2**64 - 1), max_size=40), min_size=1, max_size=60)
)
def test_entries_of_rows_are_found(rows):
    """Levels and values of zipped lists come back, for few long rows and many short ones."""
    data, bounds = _lists(rows)
    zipped = _zipped(data, bounds)
    cut = cut_entries(zipped, VECTORS)
    rep, definition, values, _ = shred(rows, LISTS)
    found = compact(zipped.data, cut.value_starts, cut.value_sizes).view("<u8")

    assert rep == cut.levels.rep.tolist()
    assert definition == cut.levels.definition.tolist()
    assert values == found.tolist()


@given(st.lists(st.none() | st.lists(st.integers(0, 9), max_size=5), min_size=1), st.data())
def test_damaged_entries_are_refused_or_still_entries(rows, data):
    """A changed byte or bound gives entries or a CorruptPage, never another error."""
    stored, bounds = _lists(rows)
    changed = bytearray(stored)
    at = data.draw(st.integers(0, len(stored) - 1))
    changed[at] ^= data.draw(st.integers(1, 255))
    if len(bounds) > 2 and data.draw(st.booleans()):
        moved = data.draw(st.integers(1, len(bounds) - 2))
        bounds[moved] = data.draw(st.integers(bounds[moved - 1], bounds[moved + 1]))
    try:
        cut_entries(_zipped(bytes(changed), bounds), VECTORS)
    except CorruptPage as error:
        assert error.clause.startswith("L.page.fullzip.")


@pytest.mark.parametrize(
    ("data", "bounds", "clause"),
    [
        ("01 0003000000 6162 0000000000", [0, 1, 8, 13], "length"),
        ("01 00ffffffff 6162 0000000000", [0, 1, 8, 13], "length"),
        ("01 0002000000 6162 0000000000", [0, 1, 1, 13], "entry"),
        ("01 0002000000 6162 0000000000", [0, 1, 7, 13], "control-word"),
        ("01 0000000000 01", [0, 1, 7], "row-start"),
    ],
)
def test_rows_and_entries_must_agree(data, bounds, clause):
    """Every row is filled exactly by its entries, without lists by one."""
    with pytest.raises(CorruptPage) as caught:
        cut_entries(_zipped(bytes.fromhex(data), bounds), STRINGS)

    assert f"L.page.fullzip.{clause}" == caught.value.clause


@given(st.lists(st.tuples(st.integers(1, 3), st.binary(max_size=90)), min_size=1))
def test_compact_joins_ranges(parts):
    """Values small and large come out one after the other."""
    data = b"".join(b"-" * gap + value for gap, value in parts)
    ends = np.cumsum([gap + len(value) for gap, value in parts])
    sizes = np.array([len(value) for _, value in parts])

    joined = compact(np.frombuffer(data, np.uint8), ends - sizes, sizes)
    assert b"".join(value for _, value in parts) == joined.tobytes()


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        ([(0, 3), (5, 3), (10, 3)], "steps and sizes alike"),
        ([(0, 3), (5, 2), (10, 3)], "another size"),
        ([(0, 3), (4, 3), (10, 3)], "another step"),
        ([(2, 3)], "one"),
        ([(0, 90), (95, 70)], "large ones"),
        ([], "none"),
    ],
)
def test_ways_of_joining_give_the_same(parts, name):
    """Through a table, a mask or slices, whichever fits the ranges."""
    data = bytes(range(200))
    starts, sizes = (
        (np.array(column, np.int64) for column in zip(*parts))
        if parts
        else (
            np.empty(0, np.int64),
            np.empty(0, np.int64),
        )
    )
    joined = compact(np.frombuffer(data, np.uint8), starts, sizes)

    assert b"".join(data[start : start + size] for start, size in parts) == joined.tobytes()


def test_the_parts_of_an_entry_are_owned():
    """Control word, length and value of each; those of nulls are control words alone."""
    spans = SpanRecorder()
    zipped = Zipped(
        Context("test", spans=spans),
        np.frombuffer(WORKED, np.uint8),
        100,
        np.array([0, 1, 8]),
        np.array([1, 8, 13]),
    )
    record(zipped, STRINGS, cut_entries(zipped, STRINGS))
    leaves = [(leaf.name, leaf.start, leaf.end) for leaf in spans.finish(113).leaves()]

    assert sorted(
        [
            ("control word", 100, 101),
            ("control word", 101, 102),
            ("length", 102, 106),
            ("value", 106, 108),
            ("control word", 108, 109),
            ("length", 109, 113),
        ]
    ) == sorted(leaf for leaf in leaves if leaf[1] < leaf[2])


def test_many_entries_are_owned_by_rows():
    """A page of more entries than are worth a span each."""
    spans = SpanRecorder()
    zipped = _zipped(WORKED, [0, 1, 8, 13])
    recorded = Zipped(Context("test", spans=spans), zipped.data, 0, zipped.starts, zipped.ends)
    many = replace(STRINGS, num_items=MAX_ENTRY_SPANS + 1)
    record(recorded, many, cut_entries(zipped, STRINGS))

    assert [("row", 0, 1), ("row", 1, 8), ("row", 8, 13)] == [
        (leaf.name, leaf.start, leaf.end) for leaf in spans.finish(13).leaves()
    ]


def test_levels_may_fill_the_whole_control_word():
    """16 bits each: nothing above them can be wrong, and both come out whole."""
    shape = _shape(16, 16, 0, 0, LISTS)
    words = bytes.fromhex("0000 0100  0300 0100")
    levels = shape.levels(np.frombuffer(words, "<u4"))

    assert [1, 1] == levels.rep.tolist()
    assert [0, 3] == levels.definition.tolist()

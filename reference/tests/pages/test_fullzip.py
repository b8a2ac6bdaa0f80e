"""Full-zip pages: the worked entries, random rows zipped by hand, and every gate."""

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from lanceref.core.context import Context
from lanceref.core.errors import BytesError, CorruptPage
from lanceref.pages.fullzip import describe
from lanceref.pages.layers import ALL_VALID_ITEM, NULL_AND_EMPTY, NULLABLE_ITEM

from .building import LISTS, field_of, flat, opened, path_to, pb, scanned, taken, words, zip_layout
from .building import variable as variable_codec
from .nesting import layers_of, shred

NUMBERS = bytes.fromhex("00 01000000  01 00000000  00 03000000")
STRINGS = bytes.fromhex("01  00 02000000 6162  00 00000000")
STARTS = bytes.fromhex("0001080d")
"""The worked pages of the chapter: [1, null, 3] and [null, "ab", ""], both with one level bit."""


def _numbers(**changes: int) -> pb.PageLayout:
    layout = zip_layout(flat(32), 3, NULLABLE_ITEM, bits_def=1, bits_per_value=32)
    for name, value in changes.items():
        setattr(layout.full_zip_layout, name, value)
    return layout


def _strings() -> pb.PageLayout:
    return zip_layout(variable_codec(), 3, NULLABLE_ITEM, bits_def=1, bits_per_offset=32)


def test_worked_numbers():
    """A null of fixed width owns bytes of any content."""
    page = opened(pa.int32(), _numbers(), 3, NUMBERS)

    assert [1, None, 3] == scanned(page, pa.int32())
    assert [None, 3] == taken(page, pa.int32(), 1, 2)


def test_worked_strings():
    """A null of variable width is a control word; the row index finds the others."""
    page = opened(pa.string(), _strings(), 3, STRINGS, STARTS)

    assert [None, "ab", ""] == scanned(page, pa.string())
    assert ["ab"] == taken(page, pa.string(), 1)


def test_the_message_of_the_page_is_taken_over():
    """One of bits per value and bits per offset is absent."""
    path = path_to(field_of(pa.int32()))
    described = describe(
        _numbers().full_zip_layout, layers_of(path, [NULLABLE_ITEM]), Context("t").at(0)
    )

    assert (1, 32, None, 3) == (
        described.bits_def,
        described.bits_per_value,
        described.bits_per_offset,
        described.num_items,
    )


@pytest.mark.parametrize(
    ("changes", "clause"),
    [
        ({"bits_per_value": 31}, "value-bits"),
        ({"bits_per_value": 0}, "value-bits"),
        ({"bits_def": 17}, "control-bits"),
        ({"bits_rep": 17, "bits_def": 0}, "control-bits"),
        ({"bits_rep": 1}, "repetition"),
        ({"num_items": 4}, "num-items"),
        ({"num_visible_items": 2}, "num-visible"),
        ({"bits_per_value": 64}, "size"),
    ],
)
def test_gates_of_numbers(changes, clause):
    """What the description alone breaks is refused when the page is opened."""
    with pytest.raises(CorruptPage) as caught:
        opened(pa.int32(), _numbers(**changes), 3, NUMBERS)

    assert f"L.page.fullzip.{clause}" == caught.value.clause


def test_missing_parts_are_refused():
    """Neither addressing, no codec, a buffer too many or too few."""
    without = _numbers()
    without.full_zip_layout.ClearField("bits_per_value")
    codec = _numbers()
    codec.full_zip_layout.ClearField("value_compression")
    for layout, buffers, clause in (
        (without, (NUMBERS,), "details"),
        (codec, (NUMBERS,), "values-present"),
        (_numbers(), (NUMBERS, b""), "buffers"),
    ):
        with pytest.raises(CorruptPage) as caught:
            opened(pa.int32(), layout, 3, *buffers)
        assert f"L.page.fullzip.{clause}" == caught.value.clause


@pytest.mark.parametrize(
    ("entries", "clause"),
    [
        (NUMBERS[:5] + b"\2" + NUMBERS[6:], "L.page.fullzip.control-word"),
        (NUMBERS, ""),
    ],
)
def test_control_words_are_held_against_their_bits(entries, clause):
    """Two bits where the levels have one."""
    page = opened(pa.int32(), _numbers(), 3, entries)
    found = ""
    try:
        scanned(page, pa.int32())
    except CorruptPage as error:
        found = error.clause

    assert clause == found


def test_counts_are_held_against_the_entries():
    """A list page that counts another number of entries reads, and a check refuses it."""
    rows = [[1, 2], None, [], [3]]
    layout, entries, starts = _zipped_lists(rows)
    layout.full_zip_layout.num_items += 1
    page = opened(LISTS, layout, 4, entries, starts)
    with pytest.raises(CorruptPage) as caught:
        page.check()

    assert rows == scanned(page, LISTS)
    assert "L.page.fullzip.num-items" == caught.value.clause


def _zipped_lists(rows):
    """Zip lists of int32 as the chapter says it: control word, then the value if visible."""
    layers = layers_of(path_to(field_of(LISTS)), [NULLABLE_ITEM, NULL_AND_EMPTY])
    rep, definition, values, counts = shred(rows, layers)
    data, at, ends = bytearray(), iter(values), []
    for r, d in zip(rep, definition, strict=True):
        data += bytes([r << 2 | d])
        if d <= layers.max_visible:
            data += words(next(at) or 0)
        ends.append(len(data))
    bounds = [0, *(ends[last - 1] for last in np.cumsum(counts))] if rows else [0]
    layout = zip_layout(flat(32), len(rep), NULLABLE_ITEM, NULL_AND_EMPTY)
    zipped = layout.full_zip_layout
    zipped.bits_rep, zipped.bits_def, zipped.bits_per_value = 1, 2, 32
    zipped.num_visible_items = len(values)
    return layout, bytes(data), words(*bounds, width=2)


@given(
    st.lists(
        st.none() | st.lists(st.none() | st.integers(0, 2**31 - 1), max_size=5),
        min_size=1,
        max_size=40,
    ),
    st.data(),
)
def test_zipped_lists_come_back(rows, data):
    """Whole, and any rows of them."""
    layout, entries, starts = _zipped_lists(rows)
    page = opened(LISTS, layout, len(rows), entries, starts)
    wanted = sorted(data.draw(st.sets(st.integers(0, len(rows) - 1), min_size=1)))

    page.check()
    assert rows == scanned(page, LISTS)
    assert [rows[row] for row in wanted] == taken(page, LISTS, *wanted)


@pytest.mark.parametrize(
    ("run_bytes", "runs"), [(1, [1] * 6), (10, [2, 2, 2]), (14, [2, 2, 2]), (30, [6])]
)
def test_a_scan_goes_by_runs(run_bytes, runs, monkeypatch):
    """Rows of five bytes: as many as fit, one at least, never one that was there before."""
    monkeypatch.setattr("lanceref.pages.fullzip.RUN_BYTES", run_bytes)
    layout = zip_layout(flat(32), 6, NULLABLE_ITEM, bits_def=1, bits_per_value=32)
    entries = b"".join(b"\0" + words(i) for i in range(6))
    page = opened(pa.int32(), layout, 6, entries)
    parts = [part.leaf.to_pylist() for part in page.scan(0, 6)]

    assert runs == [len(part) for part in parts]
    assert list(range(6)) == [value for part in parts for value in part]


@pytest.mark.parametrize(("run_bytes", "runs"), [(1, [1, 1, 1]), (8, [2, 1]), (13, [3])])
def test_runs_of_variable_values_end_at_rows(run_bytes, runs, monkeypatch):
    """The worked strings take 1, 7 and 5 bytes."""
    monkeypatch.setattr("lanceref.pages.fullzip.RUN_BYTES", run_bytes)
    page = opened(pa.string(), _strings(), 3, STRINGS, STARTS)

    assert runs == [part.num_rows for part in page.scan(0, 3)]


def test_values_that_grow_make_shorter_runs(monkeypatch):
    """Vectors of 16 nulls take two bytes and become 64: a run of 128 bytes holds two."""
    monkeypatch.setattr("lanceref.pages.fullzip.RUN_BYTES", 128)
    type_ = pa.list_(pa.float32(), 16)
    nulls = pb.CompressiveEncoding(
        fixed_size_list={"items_per_value": 16, "has_validity": True, "values": {"constant": {}}}
    )
    layout = zip_layout(nulls, 5, ALL_VALID_ITEM, bits_per_value=16)
    page = opened(type_, layout, 5, bytes(10))

    assert [2, 2, 1] == [part.num_rows for part in page.scan(0, 5)]


@given(st.lists(st.none() | st.text(max_size=9), min_size=1, max_size=30))
def test_zipped_strings_come_back(rows):
    """Nulls without a length, empty strings with one."""
    parts = [
        b"\1" if row is None else b"\0" + words(len(row.encode())) + row.encode() for row in rows
    ]
    ends = np.append(0, np.cumsum([len(part) for part in parts]))
    layout = zip_layout(variable_codec(), len(rows), NULLABLE_ITEM, bits_def=1, bits_per_offset=32)
    starts = words(*ends.tolist(), width=4)
    page = opened(pa.string(), layout, len(rows), b"".join(parts), starts)

    assert rows == scanned(page, pa.string())


@given(st.integers(0, len(STRINGS) + len(STARTS) - 1), st.integers(1, 255))
def test_damaged_pages_are_refused_or_read(at, mask):
    """Any changed byte: rows, or an error with clause, found and wanted."""
    data = bytearray(STRINGS + STARTS)
    data[at] ^= mask
    entries, starts = bytes(data[: len(STRINGS)]), bytes(data[len(STRINGS) :])
    try:
        page = opened(pa.string(), _strings(), 3, entries, starts)
        assert 3 == len(scanned(page, pa.string()))
    except BytesError as error:
        assert error.clause.startswith("L.page.")
        assert str(error.found) and str(error.wanted)


def test_layers_without_nulls_need_no_control_word():
    """Values alone."""
    layout = zip_layout(flat(32), 2, ALL_VALID_ITEM, bits_per_value=32)

    assert [5, 6] == scanned(opened(pa.int32(), layout, 2, words(5, 6)), pa.int32())

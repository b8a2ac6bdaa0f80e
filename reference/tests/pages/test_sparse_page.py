"""Sparse pages: one structure over each kind of value plane."""

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from lanceref.core.errors import BytesError, CorruptPage

from .building import (
    LISTS,
    V2_3,
    chunk,
    chunk_table,
    flat,
    opened,
    pb3,
    scanned,
    taken,
    variable,
    words,
)
from .sparse_messages import item_layer, list_layer

TEXT = pa.string()
WORDS = [None if i == 1 else f"word {i}" for i in range(4)]


def _layout(layers: list[pb3.SparseStructuralLayer]) -> pb3.PlanarLayout:
    return pb3.PlanarLayout(structure={"sparse": {"layers": layers}})


def _structure(rows: list[object]) -> tuple[pb3.PlanarLayout, list[bytes]]:
    """The layout and structure buffers of nullable numbers or strings, or of lists of them."""
    buffers: list[bytes] = []
    if not any(isinstance(row, list) for row in rows):
        return _layout([item_layer([row is not None for row in rows], buffers)]), buffers
    items = [item for row in rows if row for item in row]
    layers = [list_layer(rows, buffers), item_layer([item is not None for item in items], buffers)]
    return _layout(layers), buffers


def _chunked(rows: list[object]) -> tuple[pb3.PlanarLayout, list[bytes]]:
    """A value for every slot in one chunk; those of nulls are zeros."""
    layout, structure = _structure(rows)
    items = [item for row in rows for item in (row if isinstance(row, list) else [row])]
    if any(isinstance(row, list) for row in rows):
        items = [item for row in rows if row for item in row]
    chunked = layout.values.chunked
    chunked.compression.CopyFrom(flat(32))
    chunked.num_buffers = 1
    stored = chunk(words(*(item or 0 for item in items)), wide=True)
    return layout, [chunk_table((stored, 0), wide=True), stored, *structure]


def _zip(values: list[str]) -> tuple[bytes, bytes]:
    """Zipped strings and their row index."""
    encoded = [value.encode() for value in values]
    parts = [words(len(value)) + value for value in encoded]
    ends = np.append(0, np.cumsum([len(part) for part in parts])).astype(int)
    return b"".join(parts), words(*ends.tolist())


def _set_zipped(zipped: pb3.ZippedValues, count: int) -> None:
    zipped.compression.CopyFrom(variable())
    zipped.bits_per_offset, zipped.num_items, zipped.num_visible_items = 32, count, count


def _zipped(rows: list[str | None]) -> tuple[pb3.PlanarLayout, list[bytes]]:
    """Only the values that are there."""
    layout, structure = _structure(rows)
    present = [row for row in rows if row is not None]
    _set_zipped(layout.values.zipped, len(present))
    return layout, [*_zip(present), *structure]


def _indexed(rows: list[str | None]) -> tuple[pb3.PlanarLayout, list[bytes]]:
    """An index for every slot, 0 for nulls, and the distinct values zipped."""
    layout, structure = _structure(rows)
    items = sorted({row for row in rows if row is not None})
    layout.values.indexed.indices.CopyFrom(flat(32))
    _set_zipped(layout.values.indexed.items, len(items))
    indices = words(*(0 if row is None else items.index(row) for row in rows))
    return layout, [indices, *_zip(items), *structure]


def _read(type_, rows, built):
    layout, buffers = built(rows)
    return opened(type_, layout, len(rows), *buffers, version=V2_3)


def _clause(type_, layout, num_rows, buffers):
    with pytest.raises(CorruptPage) as caught:
        page = opened(type_, layout, num_rows, *buffers, version=V2_3)
        page.check()
        scanned(page, type_)
    return caught.value.clause


def test_worked_page():
    """[1, null, 3, 4, null, 6]: a range of null positions, all six values in the chunk."""
    layout = pb3.PlanarLayout()
    validity = layout.structure.sparse.layers.add().validity
    validity.meaning, validity.num_positions = 1, 2
    range_ = validity.positions.range
    range_.uncompressed_bits_per_value, range_.start, range_.step = 64, 1, 3
    layout.values.chunked.compression.CopyFrom(flat(32))
    layout.values.chunked.num_buffers = 1
    stored = chunk(words(1, 0, 3, 4, 0, 6), wide=True)
    table = chunk_table((stored, 0), wide=True)
    page = opened(pa.int32(), layout, 6, table, stored, version=V2_3)

    assert [1, None, 3, 4, None, 6] == scanned(page, pa.int32())
    assert [None, 6] == taken(page, pa.int32(), 4, 5)


def test_worked_list_page():
    """The chapter's bytes of [[1, 2], null, [], [3]]."""
    layout, buffers = _chunked([[1, 2], None, [], [3]])

    assert bytes.fromhex("20000000") == buffers[0]
    assert bytes.fromhex("00000c00 0000fefe 01000000 02000000 03000000 fefefefe") == buffers[1]
    page = opened(LISTS, layout, 4, *buffers, version=V2_3)
    assert [[1, 2], None, [], [3]] == scanned(page, LISTS)


@pytest.mark.parametrize("built", [_zipped, _indexed])
def test_planes_that_do_not_store_every_slot(built):
    """Valid values alone, or an index for each slot."""
    page = _read(TEXT, WORDS, built)
    page.check()

    assert WORDS == scanned(page, TEXT)
    assert [None, "word 3"] == taken(page, TEXT, 1, 3)


def test_a_dictionary_stands_before_the_structure():
    """Indices in the chunk, the items in the third buffer, then the null positions."""
    layout, structure = _structure(["a", None, "b"])
    chunked = layout.values.chunked
    chunked.compression.CopyFrom(flat(32))
    chunked.dictionary.CopyFrom(variable())
    chunked.num_buffers, chunked.num_dictionary_items = 1, 2
    stored = chunk(words(0, 1, 1), wide=True)
    items = words(32, 20, 0, 1, 2) + b"ab"
    buffers = [chunk_table((stored, 0), wide=True), stored, items, *structure]

    assert ["a", None, "b"] == scanned(opened(TEXT, layout, 3, *buffers, version=V2_3), TEXT)


@pytest.mark.parametrize(("run_bytes", "runs"), [(36, [1, 1, 1, 1]), (108, [2, 2]), (576, [4])])
def test_a_scan_goes_by_runs_of_slots(run_bytes, runs, monkeypatch):
    """Lists of 2, 0, 3 and 0 numbers of four bytes: rows as long as their slots fit, or one."""
    monkeypatch.setattr("lanceref.pages.sparse_page.RUN_BYTES", run_bytes)
    rows = [[1, 2], [], [3, 4, 5], None]
    page = _read(LISTS, rows, _chunked)

    assert runs == [part.num_rows for part in page.scan(0, 4)]
    assert rows == scanned(page, LISTS)


def test_one_value_or_none_for_all_slots():
    """The structure alone has bytes."""
    layout, buffers = _structure([[0, None], None, [0]])
    layout.values.constant.scalar = words(7)
    page = opened(LISTS, layout, 3, *buffers, version=V2_3)
    none, buffers = _structure([[None], None])
    none.values.none.SetInParent()

    assert [[7, None], None, [7]] == scanned(page, LISTS)
    assert [[None], None] == scanned(opened(LISTS, none, 2, *buffers, version=V2_3), LISTS)


def test_slots_that_are_valid_have_values():
    """No value plane at all, or one of no values, under a number that is there."""
    layout, buffers = _structure([[0], None])
    none, _ = _structure([[0], None])
    none.values.none.SetInParent()

    assert "L.page.planar.planes" == _clause(LISTS, layout, 2, buffers)
    assert "L.page.sparse.none" == _clause(LISTS, none, 2, buffers)


def _levels(layout, buffers):
    layout.values.chunked.levels.SetInParent()


def _items(layout, buffers):
    layout.values.chunked.num_items = 9


def _no_codec(layout, buffers):
    layout.values.chunked.ClearField("compression")


@pytest.mark.parametrize(
    ("change", "clause"),
    [
        (_levels, "L.page.sparse.levels"),
        (_items, "L.page.sparse.levels"),
        (_no_codec, "L.page.planar.compression"),
        (lambda layout, buffers: buffers.clear(), "L.page.sparse.values"),
        (lambda layout, buffers: buffers.append(b""), "L.page.sparse.buffers"),
    ],
)
def test_chunked_planes_are_values_alone(change, clause):
    """No levels, a value for each slot, a codec, their buffers."""
    layout, buffers = _chunked([1, None, 3])
    change(layout, buffers)

    assert clause == _clause(pa.int32(), layout, 3, buffers)


def test_zipped_planes_store_what_is_valid():
    """Three values for three valid slots; a fourth is one too many."""
    layout, buffers = _zipped(WORDS)
    more, _ = _zipped(["x", *WORDS[1:]])
    entries, index = _zip(["a", "b", "c", "d"])
    _set_zipped(more.values.zipped, 4)

    assert "L.page.sparse.stored" == _clause(TEXT, more, 4, [entries, index, buffers[2]])
    layout.values.zipped.levels.SetInParent()
    assert "L.page.sparse.levels" == _clause(TEXT, layout, 4, buffers)


def test_indices_are_bounded_by_the_items():
    """Also that of a null slot."""
    layout, buffers = _indexed(WORDS)

    assert "L.page.sparse.index-range" == _clause(
        TEXT, layout, 4, [words(0, 3, 1, 2), *buffers[1:]]
    )
    layout.values.indexed.indices.CopyFrom(flat(64))
    wide = words(0, 0, 1, 2, width=8)
    assert "L.page.sparse.values" == _clause(TEXT, layout, 4, [wide, *buffers[1:]])


NUMBERS = st.none() | st.integers(0, 2**31 - 1)


@given(st.lists(st.none() | st.lists(NUMBERS, max_size=4), min_size=1, max_size=30), st.data())
def test_lists_come_back(rows, data):
    """Whole, and any rows of them."""
    rows = [*rows, [5]]
    page = _read(LISTS, rows, _chunked)
    wanted = sorted(data.draw(st.sets(st.integers(0, len(rows) - 1), min_size=1)))

    page.check()
    assert rows == scanned(page, LISTS)
    assert [rows[row] for row in wanted] == taken(page, LISTS, *wanted)


@given(
    st.sampled_from([_zipped, _indexed]),
    st.lists(st.none() | st.text(max_size=5), min_size=1, max_size=20),
)
def test_strings_come_back(built, rows):
    """From both planes, nulls at either end or everywhere but one row."""
    rows = ["first", *rows]
    page = _read(TEXT, rows, built)

    page.check()
    assert rows == scanned(page, TEXT)


@given(st.sampled_from([_zipped, _indexed]), st.data())
def test_damaged_pages_are_refused_or_read(built, data):
    """Any changed byte of any buffer."""
    layout, buffers = built(WORDS)
    number = data.draw(st.integers(0, len(buffers) - 1))
    changed = bytearray(buffers[number])
    changed[data.draw(st.integers(0, len(changed) - 1))] ^= data.draw(st.integers(1, 255))
    buffers[number] = bytes(changed)
    try:
        assert 4 == len(scanned(opened(TEXT, layout, 4, *buffers, version=V2_3), TEXT))
    except BytesError as error:
        assert error.clause.startswith("L.")
        assert str(error.found) and str(error.wanted)

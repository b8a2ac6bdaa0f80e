"""Hostile pages: bounds before sizes, errors at their place, damage, and pages of one column."""

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from lanceref.core.context import Context
from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.errors import BytesError, CorruptPage, LimitExceeded, Place
from lanceref.core.limits import Limits
from lanceref.file.container import ColumnMetadata, PageMetadata
from lanceref.pages.column import PageColumn, check_required, has_required, open_leaf
from lanceref.pages.layers import ALL_VALID_ITEM, NULL_AND_EMPTY, NULLABLE_ITEM
from lanceref.proto.encodings_v2_0_pb2 import ColumnEncoding
from lanceref.storage import BytesSource

from ..file.in_memory import assert_clean_and_owned, column, findings_of, pages_of, written
from ..file.in_memory import scanned as column_values
from .building import (
    LISTS,
    V2_1,
    V2_2,
    V2_3,
    chunk,
    chunk_table,
    field_of,
    flat,
    item_layer,
    list_layer,
    mini_layout,
    opened,
    path_to,
    pb,
    pb3,
    scanned,
    words,
)
from .test_layouts import NULL_LEVELS, WRITTEN

NUMBERS, TEXT = pa.int32(), pa.string()
WIDE = pa.list_(pa.struct([("a", pa.int32())]), 16)
CODES = (NULLABLE_ITEM, NULL_AND_EMPTY)


def _constant(*layers, **fields):
    return pb.PageLayout(constant_layout={"layers": layers, **fields})


def _chunk_of(*values, levels=(), **fields):
    data = chunk(words(*values), levels=levels)
    layers = CODES if len(levels) == 2 else (NULLABLE_ITEM,) if levels else (ALL_VALID_ITEM,)
    layout = mini_layout(flat(32), len(values), *layers)
    names = ("rep_compression", "def_compression")[-len(levels) :] if levels else ()
    for name in names:
        getattr(layout.mini_block_layout, name).CopyFrom(flat(16))
    return layout, [chunk_table((data, 0)), data]


def _sparse(rows):
    buffers: list[bytes] = []
    items = [item for row in rows if row for item in row]
    layers = [list_layer(rows, buffers), item_layer([item is not None for item in items], buffers)]
    layout = pb3.PlanarLayout(structure={"sparse": {"layers": layers}})
    layout.values.constant.scalar = words(7)
    return layout, buffers


SPARSE, SPARSE_BUFFERS = _sparse([[7, None], None, [], [7]])
LIMITS = {
    "levels of a constant": (LISTS, _constant(*CODES), NULL_LEVELS, 3, V2_2, 63, "limits.levels"),
    "a row of many slots": (
        WIDE, _constant(1, 1, 1, inline_value=words(7)), (), 16, V2_2, 63, "limits.constant",
    ),
    "one vector": (pa.list_(pa.float32(), 1000), _constant(3), (), 1, V2_1, 3999, "limits.row"),
    "slots of a structure": (
        LISTS, SPARSE, SPARSE_BUFFERS, 4, V2_3, 4 * 32 + 3 * 2 - 1, "limits.sparse",
    ),
}  # fmt: skip
"""Type, layout, buffers, rows, version, bytes that do not suffice, clause."""


@pytest.mark.parametrize("name", LIMITS)
def test_memory_is_bounded_before_it_is_taken(name):
    """One byte less than is needed is refused, one more is not refused under that clause."""
    type_, layout, buffers, rows, version, short, clause = LIMITS[name]
    limits = Limits(expansion_bytes=short, expansion_factor=0)
    with pytest.raises(LimitExceeded) as caught:
        scanned(opened(type_, layout, rows, *buffers, version=version, limits=limits), type_)

    assert f"L.page.{clause}" == caught.value.clause
    more = Limits(expansion_bytes=10**6, expansion_factor=0)
    page = opened(type_, layout, rows, *buffers, version=version, limits=more)
    assert len(scanned(page, type_)) == page.num_rows


@pytest.mark.parametrize("structure", ["dense", "sparse"])
@pytest.mark.parametrize("name", ["num_items", "num_visible_items"])
def test_counts_that_no_full_zip_page_can_state_are_refused(structure, name):
    """Zipped values of 2.3 count in 64 bits, the full-zip pages they are read as in 32."""
    layout, buffers = pb3.PlanarLayout(), [words(7, 8)]
    zipped = layout.values.zipped
    zipped.compression.CopyFrom(flat(32))
    zipped.bits_per_value, zipped.num_items, zipped.num_visible_items = 32, 2, 2
    if structure == "dense":
        layout.structure.dense.layers.append(ALL_VALID_ITEM)
        zipped.levels.SetInParent()
    else:
        layout.structure.sparse.layers.append(item_layer([True, True], buffers))
    page = opened(NUMBERS, layout, 2, *buffers, version=V2_3)
    assert [7, 8] == scanned(page, NUMBERS)

    setattr(zipped, name, 2**32)
    with pytest.raises(CorruptPage) as caught:
        opened(NUMBERS, layout, 2, *buffers, version=V2_3)
    assert "L.page.limits.items" == caught.value.clause


@pytest.mark.parametrize("name", [name for name, row in WRITTEN.items() if row[-1]])
@given(data=st.data())
def test_damaged_pages_are_refused_or_read(name, data):
    """Any changed bytes of any buffer: rows, or an error with clause, found and wanted."""
    array, version, metadata, *_ = WRITTEN[name]
    schema = pa.schema([pa.field("c", array.type, metadata=metadata)])
    good = written(pa.Table.from_arrays([array], schema=schema), version)
    end = sum(len(part) + -len(part) % 64 for part in pages_of(good)[0][1])
    damaged = bytearray(good)
    for _ in range(data.draw(st.integers(1, 3))):
        damaged[data.draw(st.integers(0, end - 1))] ^= data.draw(st.integers(1, 255))
    try:
        assert len(array) == len(column_values(column(bytes(damaged))))
    except BytesError as error:
        assert error.clause.startswith("L.")
        assert str(error.found) and str(error.wanted)
    findings_of(bytes(damaged))


def _pages(*pages, gap=0, source=BytesSource, type_=NUMBERS):
    """A column of pages, laid out one after another or apart; where each chunk lies."""
    data, found, chunks, ctx = bytearray(), [], [], Context("test", "decode")
    for values in pages:
        layout, buffers = _chunk_of(*values)
        extents = []
        for buffer in buffers:
            extents.append(Extent(len(data), len(buffer)))
            data += buffer + b"H" * (-len(buffer) % 64)
        data += bytes(gap)
        found.append(PageMetadata(tuple(extents), len(values), 0, layout, ctx.at(0)))
        chunks.append(extents[1])
    source = BytesSource(data)
    metadata = ColumnMetadata(0, tuple(found), ColumnEncoding(), (), ctx.at(0))
    leaf = open_leaf(FileBytes(source, ctx), path_to(field_of(type_)), metadata, V2_1)
    return leaf, source, chunks, data


def _scanned(leaf, start, end):
    return [part.leaf.to_pylist() for part in leaf.scan(start, end)]


def _taken(leaf, rows):
    return [v for part in leaf.take(np.array(rows, np.int64)) for v in part.leaf.to_pylist()]


@given(
    st.lists(st.lists(st.integers(0, 99), min_size=1, max_size=5), min_size=1, max_size=5),
    st.sampled_from([0, 5000]),
    st.data(),
)
def test_any_rows_of_any_pages(pages, gap, data):
    """A range is a piece of all rows, and taken rows are those rows, however far pages lie."""
    leaf, rows = _pages(*pages, gap=gap)[0], [value for page in pages for value in page]
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(rows))] * 2)))
    some = sorted(data.draw(st.sets(st.integers(0, len(rows) - 1))))

    assert rows[start:end] == [value for part in _scanned(leaf, start, end) for value in part]
    assert [rows[row] for row in some] == _taken(leaf, some)


def test_small_pages_are_few_requests():
    """Whole ones in a row are one array; of a take the tables, then the chunks; far ones apart."""
    leaf, source, *_ = _pages([1, 2], [3], [4, 5])
    assert [[1, 2, 3, 4, 5]] == _scanned(leaf, 0, 5)
    assert 1 == source.stats.read_iops
    assert [[2], [3, 4, 5]] == _scanned(leaf, 1, 5)
    leaf, source, *_ = _pages([1, 2], [3], [4, 5])
    assert [2, 3, 5] == _taken(leaf, [1, 2, 4])
    assert 2 == source.stats.read_iops
    assert [1, 4] == _taken(leaf, [0, 3])
    assert 3 == source.stats.read_iops
    leaf, source, *_ = _pages([1, 2], [3], [4, 5], gap=8192)
    assert [2, 3, 5] == _taken(leaf, [1, 2, 4])
    assert 6 == source.stats.read_iops
    assert [[1, 2], [3], [4, 5]] == _scanned(leaf, 0, 5)


@pytest.mark.parametrize("page", [0, 1, 2])
@pytest.mark.parametrize(("at", "value", "clause"), [(0, 1, "num-levels"), (2, 255, "chunk-fill")])
def test_an_error_names_the_chunk_of_its_own_page(page, at, value, clause):
    """Though pages are read together: levels where there are none, values beyond the chunk."""
    leaf, _, chunks, data = _pages([1, 2], [3], [4, 5])
    data[chunks[page].offset + at] = value
    for read in (lambda: _scanned(leaf, 0, 5), lambda: _taken(leaf, [0, 2, 3])):
        with pytest.raises(CorruptPage) as caught:
            read()
        assert (f"L.page.miniblock.{clause}", chunks[page].offset) == (
            caught.value.clause,
            caught.value.offset,
        )


@pytest.mark.parametrize(
    ("bits", "rows", "clause"),
    [(64, 3, "flat.size"), (7, 3, "flat.bits"), (32, 4, "miniblock.num-items")],
)
def test_a_page_after_a_sound_one_passes_its_own_gates(bits, rows, clause):
    """One like the page before is read; one that differs is checked anew."""
    layout, buffers = _chunk_of(0, 1, 2)
    sound = opened(NUMBERS, layout, 3, *buffers)
    alike = opened(NUMBERS, layout, 3, *buffers, before=sound)
    assert [0, 1, 2] == scanned(alike, NUMBERS)
    other = mini_layout(flat(bits), 3, ALL_VALID_ITEM)
    with pytest.raises(CorruptPage) as caught:
        scanned(opened(NUMBERS, other, rows, *buffers, before=sound), NUMBERS)

    assert caught.value.clause.endswith(clause)


POINT = pa.struct([("x", pa.int32()), ("y", pa.int32())])


def _points(*leaves, padding=b"\xfe"):
    """Check a struct whose leaves have these levels: 1 is a null number, 2 a null struct."""
    findings, data, columns = [], bytearray(), []
    ctx = Context("test", "decode", findings=findings)
    for index, levels in enumerate(leaves):
        layout = mini_layout(flat(32), len(levels), NULLABLE_ITEM, NULLABLE_ITEM)
        layout.mini_block_layout.def_compression.CopyFrom(flat(16))
        stored = chunk(words(*range(len(levels))), levels=(levels,)).replace(b"\xfe", padding)
        extents = []
        for buffer in (chunk_table((stored, 0)), stored):
            extents.append(Extent(len(data), len(buffer)))
            data += buffer + b"H" * (-len(buffer) % 64)
        page = PageMetadata(tuple(extents), len(levels), 0, layout, ctx.at(0))
        columns.append(ColumnMetadata(index, (page,), ColumnEncoding(), (), ctx.at(index)))
    PageColumn(FileBytes(BytesSource(bytes(data)), ctx), field_of(POINT), columns, V2_1).check()
    return [finding.clause.removeprefix("L.page.") for finding in findings]


def test_leaves_of_a_struct_are_checked_against_each_other():
    """Each page is sound by itself; a broken one is reported once; lints hide nothing."""
    assert [] == _points([1, 2, 0], [0, 2, 0])
    assert ["siblings.validity"] == _points([0, 2, 0], [0, 0, 0])
    assert ["levels.def-range"] == _points([0, 3, 0], [0, 2, 0])
    assert ["levels.def-range"] * 2 == _points([0, 3, 0], [0, 0, 4])
    assert {"miniblock.padding"} == set(_points([0, 2, 0], [0, 2, 0], padding=b"\0"))
    with pytest.raises(CorruptPage, match=r"L\.page\.siblings\.rows"):
        _points([0, 0, 0], [0, 0])


REQUIRED = pa.field("n", pa.int32(), nullable=False)
STRUCT, LIST = pa.struct([REQUIRED, ("m", pa.int32())]), pa.list_(REQUIRED.with_name("item"))
NULLS = [
    (REQUIRED, [1, 2], False),
    (REQUIRED, [1, None], True),
    (pa.field("s", STRUCT), [{"n": 1, "m": None}, None], False),
    (pa.field("s", STRUCT), [{"n": None, "m": 1}, None], True),
    (pa.field("s", STRUCT, nullable=False), [{"n": 1, "m": 1}, None], True),
    (pa.field("l", LIST), [[1, 2], None, []], False),
    (pa.field("l", LIST), [[1, None], None, []], True),
    (pa.field("m", pa.map_(pa.utf8(), REQUIRED.with_name("value"))), [[("a", None)], None], True),
    (pa.field("l", pa.list_(STRUCT)), [[None, {"n": 1}]], False),
    (pa.field("l", pa.list_(STRUCT)), [[None, {"n": None}]], True),
]


@pytest.mark.parametrize(("field", "rows", "refused"), NULLS)
def test_nulls_of_a_required_field_are_refused(field, rows, refused):
    """But not those that lie under a null."""
    array = pa.array(rows, field.type)
    assert has_required(field)
    if refused:
        with pytest.raises(CorruptPage, match=r"L\.page\.required\.null"):
            check_required(field, array, Place("f", 7))
    else:
        check_required(field, array, Place("f", 7))


def test_entries_of_zipped_pages_are_owned_singly_or_by_rows():
    """Control words, lengths and values are leaves of their own."""
    schema = pa.schema([pa.field("c", TEXT, metadata=WRITTEN["zipped large strings"][2])])
    data = written(pa.Table.from_arrays([pa.array([None, "ab", ""])], schema=schema), "2.1")
    kinds = assert_clean_and_owned(data)

    assert [(0, 1), (1, 2), (2, 6), (6, 8), (8, 9), (9, 13)] == [at for at in kinds if at[1] <= 13]

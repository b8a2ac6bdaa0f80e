"""Layouts of pages: worked bytes, written and read; legal forms that no writer makes; any rows."""

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from lanceref.pages.layers import ALL_VALID_ITEM, NULL_AND_EMPTY, NULLABLE_ITEM

from ..file.in_memory import column, pages_of, written
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
    taken,
    variable,
    words,
    zip_layout,
)
from .nesting import layers_of, shred

TEXT, NUMBERS = pa.string(), pa.int32()
ROWS = [[1, 2], None, [], [3]]
LEVELS = "0100 0000 0100 0100 0100 fefefefefefe 0000 0000 0100 0200 0000 fefefefefefe"
THREE = "01000000 02000000 03000000 fefefefe"
ZIP = {"lance-encoding:structural-encoding": "fullzip", "lance-encoding:compression": "none"}
SPARSE = {"lance-encoding:structural-encoding": "sparse"}
WRITTEN = {
    "chunks of lists, 2.1": (
        pa.array(ROWS, LISTS), "2.1", None, "mini_block_layout",
        ["6000", f"0500 0a00 0a00 0c00 {LEVELS} {THREE}", "04" + "00" * 15],
    ),
    "chunks of lists, 2.2": (
        pa.array(ROWS, LISTS), "2.2", None, "mini_block_layout",
        ["70000000", f"0500 0a00 0a00 0c000000 fefefefefefe {LEVELS} {THREE}", "04" + "00" * 15],
    ),
    "chunks of lists, 2.3": (
        pa.array(ROWS, LISTS), "2.3", None, "structure.dense",
        ["70000000", f"0500 0a00 0a00 0c000000 fefefefefefe {LEVELS} {THREE}", "04" + "00" * 15],
    ),
    "a chunk without levels": (
        pa.array([1, 2, 3], NUMBERS), "2.1", None, "mini_block_layout",
        ["2000", f"0000 0c00 fefefefe {THREE}"],
    ),
    "sparse lists": (
        pa.array(ROWS, LISTS), "2.3", SPARSE, "structure.sparse",
        ["20000000", f"00000c00 0000fefe {THREE}", "0200000000000000 0100000000000000"],
    ),
    "zipped strings: a null is a control word alone": (
        pa.array([None, "ab", ""]), "2.1", ZIP, "full_zip_layout",
        ["01 00 02000000 6162 00 00000000", "00 01 08 0d"],
    ),
    "zipped large strings": (
        pa.array(["a"], pa.large_string()), "2.1", ZIP, "full_zip_layout",
        ["0100000000000000 61", "00 09"],
    ),
    "zipped numbers: a null keeps its bytes": (
        pa.array([5, None], pa.int16()), "2.1", ZIP, "full_zip_layout", ["00 0500 01 0000"],
    ),
    "zipped lists: rows begin at 0, 3 and 4": (
        pa.array([[5], None, [6, 7]], pa.list_(pa.int16())), "2.1", ZIP, "full_zip_layout",
        ["02 0500 03 02 0600 00 0700", "00 03 04 0a"],
    ),
    "nulls need no buffer": (pa.nulls(2, NUMBERS), "2.1", None, "constant_layout", []),
    "levels of nulls are raw in 2.1": (
        pa.array([[None], [], None], LISTS), "2.1", None, "constant_layout",
        ["0100 0100 0100", "0100 0300 0200"],
    ),
    "one value in the description": (
        pa.array([7, 7, 7], NUMBERS), "2.2", None, "constant_layout", [],
    ),
    "one value and raw levels": (
        pa.array([[7], [], None], LISTS), "2.2", None, "constant_layout",
        ["0100 0100 0100", "0000 0200 0100"],
    ),
    "one string in a buffer": (
        pa.array(["abc"] * 3), "2.2", None, "constant_layout",
        ["02000000 08000000 03000000 00000000 03000000 616263"],
    ),
    "one long binary in a buffer": (
        pa.array([b"a" * 33] * 3, pa.binary(33)), "2.2", None, "constant_layout",
        ["01000000 21000000" + "61" * 33],
    ),
    "empty structs": (pa.array([{}, {}], pa.struct([])), "2.2", None, "constant_layout", []),
}  # fmt: skip
"""Array, version, metadata, arms of the layout, buffers."""


@pytest.mark.parametrize(
    ("array", "version", "metadata", "arms", "buffers"), WRITTEN.values(), ids=WRITTEN
)
def test_pages_are_written_byte_for_byte_and_read_back(array, version, metadata, arms, buffers):
    """The worked pages of the chapters."""
    schema = pa.schema([pa.field("c", array.type, metadata=metadata)])
    data = written(pa.Table.from_arrays([array], schema=schema), version)
    ((layout, found),) = pages_of(data)
    for arm in arms.split("."):
        assert layout.HasField(arm)
        layout = getattr(layout, arm)

    assert [bytes.fromhex(part) for part in buffers] == found
    assert array.to_pylist() == column_values(column(data)).to_pylist()


def _mini(values, count, *layers, **fields):
    layout = mini_layout(values, count, *layers)
    for name, value in fields.items():
        part = getattr(layout.mini_block_layout, name)
        if isinstance(value, int):
            setattr(layout.mini_block_layout, name, value)
        else:
            part.CopyFrom(value)
    return layout


def _constant(*layers, **fields):
    return pb.PageLayout(constant_layout={"layers": layers, **fields})


def _planar(kind, *layers, **fields):
    layout = pb3.PlanarLayout(structure={"dense": {"layers": layers}})
    getattr(layout.values, kind).SetInParent()
    for name, value in fields.items():
        setattr(getattr(layout.values, kind), name, value)
    return layout


ABC = bytes.fromhex("02000000 08000000 03000000 00000000 03000000 616263")
CODES = {"rep_compression": flat(16), "def_compression": flat(16)}
COUNTED = {**CODES, "num_rep_values": 4, "num_def_values": 4}
NULL_LEVELS = (words(1, 0, 1, 1, width=2), words(1, 1, 3, 2, width=2))
"""The levels of [[null, null], [], null]."""

SEVENS, NONES = [[7, 7], [], None], [[None, None], [], None]
SEVEN_LEVELS = (NULL_LEVELS[0], words(0, 0, 2, 1, width=2))
NULL_CHUNK = chunk(words(7, 0, 9), levels=([0, 1, 0],))
ITEM_CHUNK = chunk(words(1, 0, 1), levels=([0, 1, 0],))
ITEMS = words(32, 20, 0, 1, 2) + b"pq"
INDEXED = {"dictionary": variable(), "num_dictionary_items": 2}
READ = {
    "a null owns a value": (
        NUMBERS, _mini(flat(32), 3, NULLABLE_ITEM, def_compression=flat(16)),
        [chunk_table((NULL_CHUNK, 0)), NULL_CHUNK], [7, None, 9], V2_1,
    ),
    "indices into strings": (
        TEXT, _mini(flat(32), 3, NULLABLE_ITEM, def_compression=flat(16), **INDEXED),
        [chunk_table((ITEM_CHUNK, 0)), ITEM_CHUNK, ITEMS], ["q", None, "q"], V2_1,
    ),
    "values alone need no control word": (
        NUMBERS, zip_layout(flat(32), 2, ALL_VALID_ITEM, bits_per_value=32), [words(5, 6)], [5, 6],
        V2_1,
    ),
    "a value beside raw levels": (
        LISTS, _constant(ALL_VALID_ITEM, NULL_AND_EMPTY, inline_value=words(7)), SEVEN_LEVELS,
        SEVENS, V2_2,
    ),
    "a string beside raw levels": (
        pa.list_(TEXT), _constant(ALL_VALID_ITEM, NULL_AND_EMPTY), (ABC, *SEVEN_LEVELS),
        [["abc", "abc"], [], None], V2_2,
    ),
    "nulls beside an unused value": (
        LISTS, _constant(NULLABLE_ITEM, NULL_AND_EMPTY, inline_value=words(7)), NULL_LEVELS, NONES,
        V2_2,
    ),
    "levels with codecs": (
        LISTS, _constant(NULLABLE_ITEM, NULL_AND_EMPTY, **COUNTED), NULL_LEVELS, NONES, V2_2,
    ),
    "definition levels alone": (
        pa.struct([("x", pa.int32())]),
        _constant(NULLABLE_ITEM, NULLABLE_ITEM, def_compression=flat(16), num_def_values=3),
        (b"", words(2, 1, 2, width=2)), [None, {"x": None}, None], V2_2,
    ),
    "a bit": (pa.bool_(), _constant(ALL_VALID_ITEM, inline_value=b"\1"), [], [True] * 3, V2_2),
    "the null type": (pa.null(), _constant(NULLABLE_ITEM), [], [None] * 3, V2_2),
    "a scalar of 2.3": (
        NUMBERS, _planar("constant", ALL_VALID_ITEM, scalar=words(7)), [], [7] * 4, V2_3,
    ),
    "no values of 2.3": (NUMBERS, _planar("none", NULLABLE_ITEM), [], [None] * 4, V2_3),
}  # fmt: skip
"""Type, layout, buffers, rows, version."""


@pytest.mark.parametrize(("type_", "layout", "buffers", "rows", "version"), READ.values(), ids=READ)
def test_forms_that_no_writer_makes_are_read(type_, layout, buffers, rows, version):
    """Whole, checked, and single rows."""
    page = opened(type_, layout, len(rows), *buffers, version=version)
    page.check()

    assert rows == scanned(page, type_)
    assert [rows[0], rows[-1]] == taken(page, type_, 0, len(rows) - 1)


def _zipped_lists(rows):
    """Zip lists of int32 as the chapter has it: control word, then the value if visible."""
    layers = layers_of(path_to(field_of(LISTS)), [NULLABLE_ITEM, NULL_AND_EMPTY])
    rep, definition, values, counts = shred(rows, layers)
    data, left, ends = bytearray(), iter(values), [0]
    for r, d in zip(rep, definition, strict=True):
        data += bytes([r << 2 | d])
        if d <= layers.max_visible:
            data += words(next(left) or 0)
        ends.append(len(data))
    bounds = [ends[at] for at in np.append(0, np.cumsum(counts))]
    fields = {"bits_rep": 1, "bits_def": 2, "bits_per_value": 32, "num_visible_items": len(values)}
    layout = zip_layout(flat(32), len(rep), NULLABLE_ITEM, NULL_AND_EMPTY, **fields)
    return opened(LISTS, layout, len(rows), bytes(data), words(*bounds, width=2))


def _sparse_lists(rows):
    """A value for every slot in one chunk; the structure as positions and counts."""
    buffers: list[bytes] = []
    items = [item for row in rows if row for item in row]
    layers = [list_layer(rows, buffers), item_layer([item is not None for item in items], buffers)]
    layout = pb3.PlanarLayout(structure={"sparse": {"layers": layers}})
    layout.values.chunked.compression.CopyFrom(flat(32))
    layout.values.chunked.num_buffers = 1
    data = chunk(words(*(item or 0 for item in items)), wide=True)
    parts = chunk_table((data, 0), wide=True), data
    return opened(LISTS, layout, len(rows), *parts, *buffers, version=V2_3)


def _constant_lists(rows):
    """Levels beside a value, which is 7."""
    layers = layers_of(path_to(field_of(LISTS)), [NULLABLE_ITEM, NULL_AND_EMPTY])
    rep, definition, *_ = shred(rows, layers)
    layout = _constant(NULLABLE_ITEM, NULL_AND_EMPTY, inline_value=words(7))
    buffers = words(*rep, width=2), words(*definition, width=2)
    return opened(LISTS, layout, len(rows), *buffers, version=V2_2)


NUMBER = st.integers(0, 2**31 - 1)


BUILDERS = [
    (_zipped_lists, NUMBER),
    (_sparse_lists, NUMBER),
    (_constant_lists, st.just(7)),
]


@pytest.mark.parametrize(("build", "item"), BUILDERS)
@given(data=st.data())
def test_lists_laid_out_by_hand_come_back(build, item, data):
    """Whole, checked, and any rows of them."""
    lists = st.none() | st.lists(st.none() | item, max_size=5)
    rows = [*data.draw(st.lists(lists, max_size=25)), [data.draw(item)]]
    page = build(rows)
    wanted = sorted(data.draw(st.sets(st.integers(0, len(rows) - 1), min_size=1)))

    page.check()
    assert rows == scanned(page, LISTS)
    assert [rows[row] for row in wanted] == taken(page, LISTS, *wanted)


RUNS = [
    ("lanceref.pages.fullzip.RUN_BYTES", 1, "zipped", [1] * 6),
    ("lanceref.pages.fullzip.RUN_BYTES", 14, "zipped", [2, 2, 2]),
    ("lanceref.pages.fullzip.RUN_BYTES", 30, "zipped", [6]),
    ("lanceref.pages.constant.RUN_BYTES", 8, "constant", [2, 2, 1]),
    ("lanceref.pages.planar.RUN_BYTES", 36, "sparse", [1, 1, 1, 1]),
    ("lanceref.pages.planar.RUN_BYTES", 108, "sparse", [2, 2]),
    ("lanceref.pages.planar.RUN_BYTES", 576, "sparse", [4]),
]


@pytest.mark.parametrize(("name", "run_bytes", "kind", "runs"), RUNS)
def test_a_scan_goes_by_runs_of_rows(name, run_bytes, kind, runs, monkeypatch):
    """As many rows as fit, one at least, however they are laid out."""
    monkeypatch.setattr(name, run_bytes)
    if kind == "sparse":
        page = _sparse_lists([[1, 2], [], [3, 4, 5], None])
    elif kind == "constant":
        page = opened(NUMBERS, _constant(1, inline_value=words(7)), 5, version=V2_2)
    else:
        layout = zip_layout(flat(32), 6, NULLABLE_ITEM, bits_def=1, bits_per_value=32)
        page = opened(NUMBERS, layout, 6, b"".join(b"\0" + words(i) for i in range(6)))

    assert runs == [part.num_rows for part in page.scan(0, page.num_rows)]

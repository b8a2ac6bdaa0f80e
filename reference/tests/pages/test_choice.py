"""Layouts of pages: worked bytes, cuts, what the writer chooses, pages read together, and maps."""

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from lanceref.codecs.encoder_inputs import dictionary_parts, stored_values, validity_of
from lanceref.codecs.values import Fixed, Variable
from lanceref.core.context import Context
from lanceref.core.errors import CorruptPage, DataRefused
from lanceref.file.arrow_schema import schema_of
from lanceref.pages.column import assemble
from lanceref.pages.layers import Layer, Nested
from lanceref.pages.leafvalues import leaf_array

from ..file.in_memory import assert_written, column, opened, pages_of, scanned, taken, written

PLACE = Context("test").at(0)
LIST = pa.list_(pa.int64())
FAR = [2**62 + 7 * i for i in range(5)]
VECTORS = [[float(i)] * 64 for i in range(2)]
LAYOUTS = [
    ([None, None], pa.int64(), "2.1", 0, "constant_layout"),
    ([7, 7], pa.int64(), "2.1", 2, "mini_block_layout"),
    ([7, None], pa.int64(), "2.2", 2, "constant_layout"),
    ([0.0, -0.0], pa.float64(), "2.2", 2, "mini_block_layout"),
    ([True, None, True], pa.bool_(), "2.2", 2, "constant_layout"),
    ([False] * 9, pa.bool_(), "2.2", 0, "constant_layout"),
    (["a" * 40] * 2, pa.string(), "2.2", 1, "constant_layout"),
    ([b"a" * 32] * 2, pa.binary(32), "2.2", 0, "constant_layout"),
    (["ab", "ba"], pa.string(), "2.2", 2, "mini_block_layout"),
    (["ab" * 150, "a" * 300], pa.string(), "2.2", 2, "full_zip_layout"),
    ([[1, 1], [1, 1]], pa.list_(pa.int8(), 2), "2.2", 2, "mini_block_layout"),
    (FAR, pa.int64(), "2.2", 2, "mini_block_layout"),
    ([[1, 2], None], LIST, "2.2", 3, "mini_block_layout"),
    (["a" * 255, "b"], pa.string(), "2.2", 2, "mini_block_layout"),
    (["a" * 256, "b"], pa.string(), "2.2", 2, "full_zip_layout"),
    ([["a" * 256], ["b"]], pa.list_(pa.string()), "2.2", 2, "full_zip_layout"),
    (VECTORS, pa.list_(pa.float32(), 64), "2.2", 1, "full_zip_layout"),
    ([[None, None]], pa.list_(pa.int8(), 2), "2.2", 1, "full_zip_layout"),
    ([{}, {}], pa.struct([]), "2.2", 0, "constant_layout"),
]
"""Rows, type, version, number of buffers, layout."""


def _pages(rows, type_, version, structural=None):
    metadata = {"lance-encoding:structural-encoding": structural} if structural else None
    schema = pa.schema([pa.field("c", type_, metadata=metadata)])
    return written(pa.Table.from_arrays([pa.array(rows, type_)], schema=schema), version)


@pytest.mark.parametrize(("rows", "type_", "version", "buffers", "layout"), LAYOUTS)
def test_rows_take_a_layout_by_what_they_hold(rows, type_, version, buffers, layout):
    """Nulls, one value, narrow and wide values; in 2.1 only nulls are constant."""
    ((message, found),) = pages_of(_pages(rows, type_, version))

    assert (buffers, layout) == (len(found), message.WhichOneof("layout"))


PLANES = [
    ([7, 7], pa.int64(), None, "dense", "constant"),
    ([7, None], pa.int64(), None, "sparse", "constant"),
    ([None, None], pa.int64(), None, "sparse", "none"),
    (FAR, pa.int64(), "sparse", "dense", "chunked"),
    ([*FAR, None], pa.int64(), None, "dense", "chunked"),
    ([*FAR, None], pa.int64(), "sparse", "sparse", "chunked"),
    (["a" * 300, None], pa.string(), "sparse", "sparse", "zipped"),
    (["a" * 300, None], pa.string(), None, "dense", "zipped"),
    (["abc", "abc"], pa.string(), None, "dense", "chunked"),
    ([{}, None], pa.struct([]), None, "sparse", "none"),
    (
        [[[{"a": 1}, {"a": 2}]], None],
        pa.list_(pa.list_(pa.struct([("a", pa.int64())]), 2)),
        None,
        "sparse",
        "chunked",
    ),
]
"""Rows, type, what is asked for, structure, values."""


@pytest.mark.parametrize(("rows", "type_", "structural", "structure", "values"), PLANES)
def test_a_page_of_2_3_is_sparse_when_it_must_be_or_may_be(
    rows, type_, structural, structure, values
):
    """Constants with levels and lists of fixed-size lists must be; nullable columns if asked."""
    data = _pages(rows, type_, "2.3", structural)
    ((message, _),) = pages_of(data)

    assert structure == message.structure.WhichOneof("codec")
    assert values == message.values.WhichOneof("codec")
    assert rows == scanned(column(data)).to_pylist()


@pytest.mark.parametrize("version", ["2.1", "2.2"])
def test_what_has_no_page_before_2_3_is_refused(version):
    """The sparse layout, and empty structs that are null; rows hold no nulls and no bits at all."""
    with pytest.raises(DataRefused, match="sparse"):
        _pages(FAR, pa.int64(), version, "sparse")
    with pytest.raises(DataRefused, match="empty structs"):
        _pages([{}, None], pa.struct([]), version)
    row = pa.field("c", pa.struct([("x", pa.int8())]), metadata={"packed": "true"})
    with pytest.raises(DataRefused, match="'x'"):
        written(
            pa.Table.from_arrays([pa.array([{"x": None}], row.type)], schema=pa.schema([row])),
            version,
        )
    bits = row.with_type(pa.struct([("x", pa.bool_())]))
    with pytest.raises(ValueError, match="whole bytes"):
        written(pa.table([[{"x": True}]], schema=pa.schema([bits])), version)


ITEMS, NESTED = pa.list_(pa.int8()), pa.list_(pa.list_(pa.int8()))
CUTS = [
    ([[1]] * 100_000, ITEMS, [100_000]),
    ([[]] * 65_534 + [[1]], ITEMS, [65_535]),
    ([[]] * 65_535 + [[1]], ITEMS, [65_535, 1]),
    ([[]] * 70_000 + [[1, 2]] * 40_000 + [[3]] * 10, ITEMS, [65_535, 35_000, 9_475]),
    ([None] * 70_000, ITEMS, [70_000]),
    ([[None], []] * 40_000, ITEMS, [43_690, 36_310]),
    ([[1], []] * 35_000 + [None, [None]], ITEMS, [43_690, 26_312]),
    ([[[1]], []] * 30_000, NESTED, [43_690, 16_310]),
    ([[[1], []], []] * 20_000, NESTED, [21_845, 18_155]),
    ([[[]] * 60_000, [[1]], []], NESTED, [3]),
]
"""Rows, type, rows of each page; a single row above the budget cannot be cut."""


@pytest.mark.parametrize(("rows", "type_", "pages"), CUTS)
def test_a_page_is_cut_before_its_levels_pass_the_budget(rows, type_, pages):
    """Entries without a value count; 16 KiB of levels; lists without any item are one page."""
    data = _pages(rows, type_, "2.2")
    found = opened(data).columns[0].pages

    assert pages == [page.num_rows for page in found]
    assert rows == scanned(column(data)).to_pylist()
    kinds = [(page.encoding, page.encoding.WhichOneof("layout")) for page in found]
    assert 1 == len({str(getattr(encoding, kind).layers) for encoding, kind in kinds})


ARRAYS = [
    pa.array([1, None, 3], pa.int16()),
    pa.array([True, None, False] * 7),
    pa.array(["a", None, "", "bcd"]),
    pa.array([b"xy", b""], pa.large_binary()),
    pa.array([[1, None], None, [3, 4]], pa.list_(pa.int8(), 2)),
    pa.array([[[1], None]] * 2, pa.list_(pa.list_(pa.int8(), 1), 2)),
    pa.array([{"x": 1, "y": 2.5}] * 2, pa.struct([("x", pa.int8()), ("y", pa.float32())])),
    pa.nulls(3),
]


@given(st.sampled_from(ARRAYS), st.integers(0, 2), st.integers(0, 20))
def test_stored_values_of_any_slice_read_as_the_array(array, start, count):
    """Bits begin at the first and end clear; strings are cut to their bytes."""
    array = array.slice(start, count)
    values = stored_values(array)

    assert (
        array.to_pylist() == leaf_array(array.type, values, validity_of(array), PLACE).to_pylist()
    )
    if isinstance(values, Variable):
        assert values.offsets[0] == 0
        assert values.offsets[-1] == len(values.data)
    if isinstance(values, Fixed) and values.bits == 1 and values.count % 8:
        assert values.data[-1] >> values.count % 8 == 0


@pytest.mark.parametrize("key", [pa.int8(), pa.uint16(), pa.int64()])
def test_arrow_dictionaries_keep_the_width_of_their_keys(key):
    """Null items are dropped and keys moved; a slice stores the whole dictionary."""
    keys = pa.array([2, 1, 0, None, 2], key)
    array = pa.DictionaryArray.from_arrays(keys, pa.array(["a", None, "b"])).slice(1)
    stored, items = dictionary_parts(array)

    assert (key.bit_width, 4, b"ab") == (stored.bits, stored.count, bytes(items.data))
    numbers = stored.data.view(key.to_pandas_dtype())
    assert [0, 1] == numbers[[1, 3]].tolist()
    assert numbers.max() < items.count
    assert [False, True, False, True] == validity_of(array).tolist()


NUMBERS, LISTS = pa.int32(), pa.list_(pa.int32())
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
    assert_written(array, version, metadata, arms, [*map(bytes.fromhex, buffers)])


@pytest.mark.parametrize("rows", [[[n] for n in range(30)], [None, *["12345678"] * 20]])
def test_rows_of_zipped_pages_lie_where_the_index_says(rows):
    """270 bytes of lists, 261 of texts: more than an index of single bytes can tell."""
    table = pa.table(
        [pa.array(rows)], pa.schema([pa.field("c", pa.array(rows).type, metadata=ZIP)])
    )
    reader = column(written(table, "2.1"))

    assert rows == taken(reader, range(len(rows))).to_pylist() == scanned(reader).to_pylist()


@pytest.mark.parametrize(("batches", "items"), [(32, 128), (33, 4)])
def test_items_are_kept_as_often_as_keys_can_number_them(batches, items):
    """Four in each batch, under keys of one signed byte; then each of them once."""
    rows = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3] * 2, pa.int8()), list("abcd"))
    ((message, _),) = pages_of(written([pa.table({"c": rows})] * batches, "2.1"))

    assert items == message.mini_block_layout.num_dictionary_items


def _three_pages():
    """Return a file of three pages of one chunk each, and where the chunks lie."""
    tables = [pa.table({"c": pa.array(rows, NUMBERS)}) for rows in ([1, 2], [3], [4, 5])]
    data = written(tables, "2.1", cache_bytes=1)
    return data, [page.extents[1].offset for page in opened(data).columns[0].pages]


@pytest.mark.parametrize("page", [0, 1, 2])
@pytest.mark.parametrize(("at", "value", "clause"), [(0, 1, "num-levels"), (2, 255, "chunk-fill")])
def test_an_error_names_the_chunk_of_its_own_page(page, at, value, clause):
    """Though pages are read together: levels where there are none, values beyond the chunk."""
    data, chunks = _three_pages()
    damaged = bytearray(data)
    damaged[chunks[page] + at] = value
    reader = column(bytes(damaged))
    for read in (lambda: scanned(reader), lambda: taken(reader, [0, 2, 3])):
        with pytest.raises(CorruptPage) as caught:
            read()
        assert (f"L.page.miniblock.{clause}", chunks[page]) == (
            caught.value.clause,
            caught.value.offset,
        )


@pytest.mark.parametrize(("entry", "key"), [(False, 1), (True, None)])
def test_a_null_entry_or_key_of_a_map_is_refused(entry, key):
    """With one, pyarrow ends the process."""
    (field,) = schema_of(pa.schema([("m", pa.map_(pa.int8(), pa.int8()))])).fields
    layers = (Layer(1, None, np.arange(2)), Layer(1, np.array([entry])))
    leaf = Nested(layers, pa.array([key], pa.int8()))
    with pytest.raises(CorruptPage, match="1 null"):
        assemble(field, [leaf, leaf], PLACE)

"""Choice of layouts by the writer, cuts of pages, and values as pages store them."""

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from hypothesis import given
from lanceref.codecs.encoder_inputs import dictionary_parts, stored_values, validity_of
from lanceref.codecs.values import Fixed, Variable
from lanceref.core.context import Context
from lanceref.core.errors import DataRefused
from lanceref.pages.leafvalues import leaf_array

from ..file.in_memory import column, opened, pages_of, scanned, written

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

"""Pages of 0.1: stored bytes by hand, what they read as, and what has no page."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lanceref.core.errors import DataRefused, NotStorable

from ..file.in_memory import assert_reads_as, column, opened, scanned, taken, written
from ..file.stored_columns import null_list_with_items
from .building import i64

STRUCTS = [{"x": 1, "n": None}, None, {"x": None, "n": None}]
PAGES = {
    "numbers: what lies below a null is stored": (
        pa.array([1, None, 3], pa.int32()),
        bytes.fromhex("01000000 00000000 03000000"),
        [1, 0, 3],
    ),
    "bits, the lowest first, null is false": (
        pa.array([True, None, False, True] * 3)[1:],
        bytes.fromhex("cc04"),
        [False, False, True, True, False, False, True, True, False, False, True],
    ),
    "vectors are their items": (
        pa.array([[1, 2, 3], [4, 5, 6]], pa.list_(pa.int8(), 3)),
        bytes(range(1, 7)),
        [[1, 2, 3], [4, 5, 6]],
    ),
    "bytes before absolute offsets; empty is null": (
        pa.array(["a", None, "", "bcd"]),
        b"abcd" + i64(0, 1, 1, 1, 4),
        ["a", None, None, "bcd"],
    ),
    "offsets of lists, then items": (
        pa.array([[7, 8], None, [], [9]], pa.list_(pa.int8())),
        bytes.fromhex("00000000 02000000 02000000 02000000 03000000 070809"),
        [[7, 8], [], [], [9]],
    ),
    "items below a null list stay": (
        null_list_with_items()[1:],
        bytes.fromhex("00000000 03000000 04000000 01020304"),
        [[1, 2, 3], [4]],
    ),
    "structs are their children": (
        pa.array(STRUCTS),
        bytes.fromhex("0100000000000000 0000000000000000 0000000000000000"),
        [{"x": x, "n": None} for x in (1, 0, 0)],
    ),
    "a null key is the key below it": (
        pa.DictionaryArray.from_arrays(pa.array([0, None, 1, 0], pa.int8()), ["aa", "b"]),
        bytes([0, 0, 1, 0]),
        ["aa", "aa", "b", "aa"],
    ),
    "an empty value of a dictionary is null": (
        pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), ["", "b"]),
        bytes([0, 1]),
        [None, "b"],
    ),
    "pages go out depth first": (
        pa.array([{"l": ["ab"], "n": 5}]),
        bytes.fromhex("00000000 01000000 6162 0800000000000000 0a00000000000000 0500000000000000"),
        [{"l": ["ab"], "n": 5}],
    ),
}
"""Array, the first bytes of its file, what it reads as."""


@pytest.mark.parametrize(("array", "stored", "values"), PAGES.values(), ids=PAGES)
def test_pages_are_stored_byte_for_byte_and_read_back(array, stored, values):
    """In one batch by the bytes, in batches of one row by the values."""
    table = pa.table({"c": array})

    assert stored == written(table, "0.1")[: len(stored)]
    for rows in (1, 2, 1024):
        reader = column(written(table, "0.1", group_rows=rows))
        assert values == scanned(reader).to_pylist()
        assert [values[0], values[-1], values[-1]] == (
            taken(reader, [0, len(values) - 1, len(values) - 1]).to_pylist()
        )


def test_values_of_dictionaries_are_pages_of_their_own():
    """Strings as bytes and offsets, numbers as they are; the schema states where and how many."""
    coded = {
        "s": pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), ["aa", "b"]),
        "n": pa.DictionaryArray.from_arrays(
            pa.array([1, 0], pa.int8()), pa.array([5, 6], pa.int8())
        ),
    }
    data = written(pa.table(coded), "0.1")
    text, numbers = (field.dictionary for field in opened(data).manifest.schema.fields)

    assert (2, 2) == (text[1], numbers[1])
    assert i64(text[0] - 3, text[0] - 1, text[0]) == data[text[0] : text[0] + 24]
    assert b"aab" == data[text[0] - 3 : text[0]]
    assert b"\5\6" == data[numbers[0] : numbers[0] + 2]


NO_PAGE = {
    "map": pa.map_(pa.string(), pa.int8()),
    "binary of no bytes": pa.binary(0),
    "vectors of strings": pa.list_(pa.string(), 2),
    "lists of maps": pa.list_(pa.map_(pa.string(), pa.int8())),
    "dictionary of bits": pa.dictionary(pa.int8(), pa.bool_()),
    "empty struct": pa.struct([]),
}


@pytest.mark.parametrize("type_", NO_PAGE.values(), ids=NO_PAGE)
def test_types_without_a_page_are_refused(type_):
    """As an OSError, which the oracle raises."""
    with pytest.raises(NotStorable) as refusal:
        written(pa.table({"c": pa.nulls(1, type_)}), "0.1")

    assert isinstance(refusal.value, OSError)


def test_another_dictionary_and_no_rows_are_refused():
    """The official writer would change the rows of the one; the other has no data file."""
    parts = [pa.array(["a", "b"]).dictionary_encode(), pa.array(["c"]).dictionary_encode()]
    with pytest.raises(DataRefused):
        written([pa.table({"d": part}) for part in parts], "0.1", group_rows=2)
    with pytest.raises(DataRefused):
        written(pa.table({"a": pa.array([], pa.int8())}), "0.1")


N = 100
TABLE = pa.table(
    {
        "a": pa.array(range(N), pa.int64()),
        "s": pa.array([f"row {i}" for i in range(N)]),
        "b": pa.array([i % 3 == 0 for i in range(N)]),
        "l": pa.array([[[str(j)] * (i % 2) for j in range(i % 4)] for i in range(N)]),
        "v": pa.FixedSizeListArray.from_arrays(pa.array(range(2 * N), pa.float32()), 2),
        "t": pa.array([{"x": i, "y": [i % 2 == 0] * (i % 3)} for i in range(N)]),
        "n": pa.array([[None] * (i % 3) for i in range(N)], pa.list_(pa.null())),
    }
)
FILES = {rows: written(TABLE, "0.1", group_rows=rows) for rows in (1, 7, 1024)}


@pytest.mark.parametrize("rows", FILES)
@given(data=st.data())
@settings(max_examples=15)
def test_scans_and_takes_begin_and_end_in_any_batch(rows, data):
    """Every column; also the same row twice."""
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, N)] * 2)))
    some = sorted(data.draw(st.lists(st.integers(0, N - 1), max_size=20)))
    file = opened(FILES[rows])
    for number, name in enumerate(TABLE.column_names):
        reader, values = column(file, number), TABLE[name].to_pylist()
        assert values[start:end] == scanned(reader, start, end).to_pylist()
        assert [values[row] for row in some] == taken(reader, some).to_pylist()


def test_columns_are_read_with_and_without_fast_forms():
    """In one batch and in many."""
    for data in FILES.values():
        for number, name in enumerate(TABLE.column_names):
            assert_reads_as(TABLE[name].combine_chunks(), data, number)


def test_a_column_of_many_batches_is_few_requests():
    """Its pages lie one after another; runs end with batches and grow beside wide columns."""
    file = opened(written(TABLE.select(["a"]), "0.1", group_rows=1))
    reader, stats = column(file), file.bytes.source.stats
    stats.incremental()
    assert N == len(scanned(reader))
    assert (1, 8 * N) == (stats.read_iops, stats.read_bytes)

    two = pa.table({name: pa.array(range(300_000), pa.int64()) for name in "ab"})
    file = opened(written(two, "0.1", group_rows=7000))
    reader = column(file)
    file.bytes.source.stats.incremental()
    assert not any(len(part) % 7000 for part in list(reader.scan(0, 300_000))[:-1])
    assert 43 == file.bytes.source.stats.read_iops

    items = pa.array([0.0] * (3000 * 512), pa.float64())
    wide = pa.FixedSizeListArray.from_arrays(items, 512)
    file = opened(written(pa.table({"s": ["x"] * 3000, "v": wide}), "0.1"))
    narrow = [len(part) for part in column(file, 0).scan(0, 3000)]
    assert len(narrow) == 2
    assert narrow[0] < narrow[1]

"""The 0.1 file and its pages: bytes by hand, its writer, whole checks, memory, what has no page."""

import lanceref
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.errors import BytesError, DataRefused, LimitExceeded, NotStorable, Truncated
from lanceref.core.limits import Limits
from lanceref.file.arrow_schema import schema_of
from lanceref.file_0_1.data_file import open_legacy
from lanceref.file_0_1.writer import LegacyWriter
from lanceref.proto import table_pb2
from lanceref.storage import BytesSource

from ..file.in_memory import (
    BytesSink,
    assert_clean_and_owned,
    assert_reads_as,
    column,
    opened,
    scanned,
    taken,
    written,
)
from ..file.stored_columns import null_list_with_items
from .building import WORKED, i64, metadata_of, read, with_metadata

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
    parts = [pa.array(["a", None]).dictionary_encode("encode"), pa.array(["c"]).dictionary_encode()]
    for rows in (2, 3):  # of a batch
        with pytest.raises(DataRefused):
            written([pa.table({"d": part}) for part in parts], "0.1", group_rows=rows)
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


DATA = written(WORKED, "0.1")
POSITION, _ = metadata_of(DATA)
MIXED = pa.table(
    {
        "a": pa.array([1, None, 3, 4], pa.int32()),
        "s": pa.array(["x", "", None, "yz"]),
        "l": pa.array([[{"b": True}], None, [], [{"b": False}]]),
        "d": pa.array(["p", "q", "p", None]).dictionary_encode(),
        "v": pa.array([[1.0, 2.0]] * 4, pa.list_(pa.float32(), 2)),
        "f": [0.0, -1.5, None, float("nan")],
    }
)
DAMAGED = written(MIXED, "0.1", group_rows=3)


def test_the_worked_example_is_311_bytes():
    """Page, statistics, manifest, metadata, footer; one read opens it."""
    file = open_legacy(BytesSource(DATA), Context("f"))
    manifest = table_pb2.Manifest.FromString(DATA[112:172])

    assert 311 == len(DATA)
    assert bytes.fromhex("ac00000000000000 0000 0200 4c414e43") == DATA[-16:]
    assert bytes.fromhex("3c000000") == DATA[108:112]
    assert (3, 1, 172, 295) == (
        file.num_rows, file.metadata.num_batches, POSITION, len(DATA) - 16,
    )  # fmt: skip
    assert 1 == file.bytes.source.stats.read_iops
    assert (1, "lance", "0.1") == (
        manifest.version, manifest.data_format.file_format, manifest.data_format.version,
    )  # fmt: skip
    assert WORKED.schema == file.manifest.schema.arrow
    assert {"a": [1, 0, 3]} == read(DATA)
    field = file.manifest.schema.fields[0]
    assert file.open_field(field) is file.open_field(field)


def test_a_file_names_its_writer_and_keeps_metadata():
    """Not the oracle, unless asked to."""
    sink = BytesSink()
    writer = LegacyWriter(sink, schema_of(WORKED.schema))
    writer.write_batch(WORKED.to_batches()[0])
    assert 3 == writer.finish()
    assert b"lanceref" in sink.data
    field = pa.field("a", pa.int8(), metadata={"k": "v"})
    schema = pa.schema([field], metadata={"key": "value"})
    data = written(pa.table({"a": pa.array([1], pa.int8())}, schema=schema), "0.1")
    assert opened(data).manifest.schema.arrow.equals(schema, check_metadata=True)


@pytest.mark.parametrize("rows", [1, 2, 1024])
@pytest.mark.parametrize(
    "table", [WORKED, MIXED, MIXED.select(["l"])], ids=["worked", "mixed", "lists"]
)
def test_what_is_written_is_clean_and_every_byte_has_one_owner(table, rows):
    """No finding, no gap, nothing unreferenced."""
    kinds = assert_clean_and_owned(written(table, "0.1", group_rows=rows))

    assert "unreferenced" not in kinds.values()


def test_a_file_is_opened_by_its_name(tmp_path):
    """The manifest inside gives names and types; without one nothing describes the pages."""
    path, bare = tmp_path / "f.lance", tmp_path / "bare.lance"
    path.write_bytes(DAMAGED)
    bare.write_bytes(with_metadata(DATA, lambda message: message.ClearField("manifest_position")))
    file = lanceref.open_file(path)
    some = lanceref.open_file(path, ["l", "a"]).read(plain=True)

    assert (MIXED.schema, 4) == (file.schema, file.num_rows())
    assert str(read(DAMAGED)) == str(file.read().to_pydict())  # one value is NaN
    assert file.read().select(["l", "a"]) == some
    with pytest.raises(BytesError) as refusal:
        lanceref.open_file(bare)
    assert "L.legacy.manifest.position" == refusal.value.clause
    with pytest.raises(LimitExceeded):
        lanceref.open_file(path, limits=Limits(expansion_bytes=20, expansion_factor=0)).read()


def test_memory_is_bounded_and_a_shrunken_file_is_refused():
    """One page named for every batch costs memory without costing bytes of the file."""
    table = pa.table({"a": pa.array(range(10_000), pa.int64())})
    data = written(table, "0.1")
    limits = Limits(expansion_bytes=50, expansion_factor=0)
    with pytest.raises(LimitExceeded):
        scanned(column(data, limits=limits))

    class Shrunk(BytesSource):
        """Gives fewer bytes than its size promises once it is opened."""

        def read(self, offset: int, size: int) -> memoryview:
            """Read half of what is asked for."""
            return super().read(offset, size // 2 if size > 5000 else size)

    with pytest.raises(Truncated):
        scanned(column(open_legacy(Shrunk(data), Context("f"))))

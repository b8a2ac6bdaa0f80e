"""An adapter's output: what is accepted as a table, and the sizes that are refused."""

import json
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from lance_conformance.comparison.accepted_types import canonical_type, schema_difference
from lance_conformance.protocol import decoded_size, ipc_size
from lance_conformance.protocol.output import BASE_BYTES, InvalidOutput, output_limit, read_output
from lance_conformance.suite.json_tables import to_json

REPEATED = pa.array(["x" * 9000] * 9).dictionary_encode()
TABLE = pa.table({"a": [1, 2, 3], "b": ["x", None, "z"]})


def file(batches: list[pa.RecordBatch], compression: str | None = None) -> bytes:
    """Return an Arrow IPC file."""
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_file(sink, batches[0].schema, options=options) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return bytes(sink.getvalue())


def write(path: Path, table: pa.Table, compression: str | None = None) -> Path:
    """Write an Arrow IPC file."""
    path.write_bytes(file(table.to_batches(), compression))
    return path


@pytest.mark.parametrize("compression", [None, "zstd", "lz4"])
def test_a_table_is_read(tmp_path, compression):
    """The table comes back, also after its file was shortened."""
    path = write(tmp_path / "out", TABLE, compression)
    table = read_output(path)
    path.write_bytes(b"")

    assert TABLE.equals(table)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: None, "the output cannot be opened"),
        (lambda path: path.symlink_to(write(path.with_name("other"), TABLE)), "cannot be opened"),
        (lambda path: path.mkdir(), "not a regular file"),
        (lambda path: path.touch(), "not a valid Arrow IPC file"),
        (lambda path: path.write_bytes(b"ARROW1" + bytes(60) + b"ARROW1"), "a footer of 0"),
        (lambda path: write(path, pa.table({"a": pa.nulls(9000, pa.int64())})), "a file of"),
        (lambda path: write(path, pa.table({"a": pa.nulls(9000, pa.int64())}), "zstd"), "decodes"),
        (lambda path: write(path, pa.table({"a": pa.nulls(2**31 - 1)})), "decodes to"),
        (lambda path: write(path, pa.table({"a": REPEATED})), "decodes to"),
    ],
)
def test_what_is_no_table_or_too_large_is_refused(tmp_path, make, message):
    """A file that is no plain Arrow file, or decodes to more than is allowed, is a bad output."""
    make(tmp_path / "out")

    with pytest.raises(InvalidOutput, match=message):
        read_output(tmp_path / "out", 40_000)


def test_damage_is_a_bad_output(tmp_path):
    """Whatever byte of a file is changed, it is read or refused with InvalidOutput."""
    data = write(tmp_path / "out", TABLE, "lz4").read_bytes()
    for at in range(len(data)):
        (tmp_path / "out").write_bytes(data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :])
        try:
            read_output(tmp_path / "out", BASE_BYTES)
        except InvalidOutput:
            continue


SAME = [
    (pa.string(), pa.large_string()),
    (pa.string(), pa.string_view()),
    (pa.binary(), pa.large_binary()),
    (pa.list_(pa.string()), pa.large_list(pa.large_string())),
    (pa.string(), pa.dictionary(pa.int8(), pa.string())),
    (pa.struct([("x", pa.string())]), pa.struct([pa.field("x", pa.large_string(), False)])),
    (pa.list_(pa.int8(), 3), pa.list_(pa.field("element", pa.int8()), 3)),
]

OTHER = [
    (pa.string(), pa.binary()),
    (pa.int32(), pa.uint32()),
    (pa.list_(pa.int8(), 3), pa.list_(pa.int8(), 4)),
    (pa.list_(pa.int8()), pa.list_(pa.int8(), 4)),
    (pa.timestamp("us"), pa.timestamp("us", "UTC")),
    (pa.struct([("x", pa.int8())]), pa.struct([("y", pa.int8())])),
]


@pytest.mark.parametrize(("ours", "theirs"), SAME)
def test_types_that_count_as_one(ours, theirs):
    """Offset widths, dictionaries, item names and nullability make no other type."""
    assert canonical_type(ours) == canonical_type(theirs)


@pytest.mark.parametrize(("ours", "theirs"), OTHER)
def test_types_that_differ(ours, theirs):
    """Any other difference is a mismatch that names both types."""
    difference = schema_difference(pa.schema([("c", ours)]), pa.schema([("c", theirs)]), {})

    assert difference is not None
    assert str(theirs) in difference


WORD = "x" * 1000
WORDS = pa.array([WORD, None, "", WORD])
DICTIONARY = WORDS.dictionary_encode()
RUNS = pa.RunEndEncodedArray.from_arrays([3, 5], [WORD, None])
FIXED = pa.FixedSizeListArray.from_arrays(DICTIONARY, 2)
STRUCT = pa.StructArray.from_arrays([DICTIONARY, pa.array([1, 2, 3, 4], pa.int64())], ["a", "b"])
MAP = pa.MapArray.from_arrays(pa.array([0, 1, 4], pa.int32()), pa.array(["k"] * 4), DICTIONARY)
LISTS = pa.ListArray.from_arrays(pa.array([0, 1, 4], pa.int32()), DICTIONARY)

VIEWS = pa.ListViewArray.from_arrays(
    pa.array([0, 0, 0], pa.int32()), pa.array([4, 4, 0], pa.int32()), WORDS
)


@pytest.mark.parametrize(
    ("array", "size"),
    [
        (DICTIONARY, 2000),
        (DICTIONARY.slice(1), 1000),
        (RUNS, 3000),
        (RUNS.slice(2), 1000),
        (WORDS.cast(pa.string_view()), 2000),
        (FIXED, 2000),
        (FIXED.slice(1), 1000),
        (STRUCT, 2032),
        (MAP, 2004),
        (LISTS, 2000),
        (LISTS.slice(1), 1000),
        (VIEWS, 4000),
        (pa.array([], DICTIONARY.type), 0),
        (WORDS, 0),
        (pa.array([[1], [2]]), 0),
    ],
)
def test_each_row_counts_what_it_shows(array, size):
    """A value counts in each row that repeats it; types that repeat nothing count nothing."""
    assert size == decoded_size.decoded_bytes(pa.table({"a": array}))


PLENTY = 2**60


def test_dictionaries_rows_and_batches_count():
    """Values of a dictionary, rows without a buffer, and each batch take something."""
    words = pa.array(["x" * 50_000]).dictionary_encode()
    empty = pa.record_batch([pa.nulls(0)], ["a"])

    assert 50_000 <= ipc_size.bytes_to_decode(file([pa.record_batch([words], ["a"])]), PLENTY)
    rows = pa.record_batch([pa.nulls(10**9)], ["a"])
    assert 10**9 <= ipc_size.bytes_to_decode(file([rows]), PLENTY)
    assert 100 * 1000 <= ipc_size.bytes_to_decode(file([empty] * 100), PLENTY)


NAN = float("nan")


@pytest.mark.parametrize(
    ("array", "values"),
    [
        (pa.array([1, None, -3], pa.int32()), [1, None, -3]),
        (pa.array([2**64 - 1], pa.uint64()), ["18446744073709551615"]),
        (pa.array([0.1, NAN, float("-inf"), -0.0]), [0.1, "NaN", "-Infinity", -0.0]),
        (pa.array([1.5], pa.float16()), [1.5]),
        (pa.array([Decimal("1.20")], pa.decimal128(10, 2)), ["1.20"]),
        (pa.array([5, None], pa.timestamp("ns", "UTC")), ["5", None]),
        (pa.array([7], pa.date32()), ["7"]),
        (pa.array([7], pa.duration("ms")), ["7"]),
        (pa.array([b"\x00\xff"], pa.binary()), ["00ff"]),
        (pa.array([True, None]), [True, None]),
        (pa.array([[1, None], None, []], pa.list_(pa.int64())), [["1", None], None, []]),
        (pa.array([[b"a"]], pa.list_(pa.binary(1), 1)), [["61"]]),
        (pa.array([{"a": 2**53, "b": None}, None]), [["9007199254740992", None], None]),
        (pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int8())), [[["k", 1]]]),
        (pa.array(["x", None, "x"]).dictionary_encode(), ["x", None, "x"]),
        (pa.array([bytes(16)], pa.uuid()), ["00" * 16]),
        (pa.nulls(2), [None, None]),
    ],
    ids=lambda one: str(one.type) if isinstance(one, pa.Array) else None,
)
def test_values_by_hand(array, values):
    """Each type has its form; what JSON numbers would lose is text."""
    table = pa.table({"c": array})

    (column,) = json.loads(to_json(table))["columns"]

    assert "c" == column["name"]
    assert values == column["values"]
    assert [str(value) for value in values] == [str(value) for value in column["values"]]


def test_what_is_allowed_grows_with_what_is_expected():
    """A large table may take more than the bytes that any may take."""
    assert BASE_BYTES == output_limit(pa.table({}))
    assert BASE_BYTES + 4 * TABLE.nbytes == output_limit(TABLE)

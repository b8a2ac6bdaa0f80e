"""The writer of data files: bytes by hand, rows it refuses, forms it stores, pages it begins."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from time import sleep

import lanceref
import numpy as np
import pyarrow as pa
import pytest
from lanceref.blobs.descriptors import BLOB_DESCRIPTOR, PREPARED, described_schema, holds_blobs
from lanceref.core.errors import DataRefused, NotStorable, SchemaRefused
from lanceref.core.file_versions import V2_0
from lanceref.data_file.file_writer import FileWriter
from lanceref.file.arrow_schema import schema_of, stored_form
from lanceref.file.column_io import page_policy
from lanceref.file.schema import BLOB_EXTENSION, LanceSchema
from lanceref.json.jsonb import document
from pylanceref.file import LanceFileReader, LanceFileWriter

from .files import WORKED_FILE
from .in_memory import BytesSink, column, pages_of, scanned, written

ROWS = pa.table({"a": pa.array([1, None, 3], pa.int32())})


def test_the_worked_file_is_written_byte_for_byte():
    """One column `a` int32 [1, null, 3] gives the 348 bytes of the container chapter."""
    assert WORKED_FILE == written(ROWS, "2.0")
    assert WORKED_FILE == written([ROWS.slice(0, 0), ROWS], "2.0")


def test_global_buffers_are_numbered_from_one_and_padded():
    """A buffer of three bytes takes 64, and entry 1 of the table names it."""
    sink = BytesSink()
    writer = FileWriter(sink, schema_of(ROWS.schema), V2_0, page_policy(1))
    numbers = [writer.add_global_buffer(b"abc"), writer.add_global_buffer(b"")]
    writer.write_batch(ROWS.to_batches()[0])
    assert 3 == writer.num_rows
    writer.finish()

    assert [1, 2] == numbers
    assert b"abc" + b"H" * 61 == sink.data[:64]
    entries = np.frombuffer(sink.data[-40 - 48 : -40], "<u8").reshape(3, 2)
    assert [[0, 3], [64, 0]] == entries[1:].tolist()


X = pa.field("x", pa.int8(), nullable=False)
UNDER_NULL = pa.StructArray.from_arrays(
    [pa.array([1, None], pa.int8())], fields=[X], mask=pa.array([False, True])
)
BAD_ROWS = {
    "no column": (pa.record_batch([pa.array([1])], ["b"]), "missing the column `a`"),
    "a null": (pa.record_batch([ROWS["a"].chunk(0)], ["a"]), "marked non-null"),
    "a type": (pa.record_batch([pa.array([1], pa.int8())], ["a"]), "does not match"),
}


@pytest.mark.parametrize(("batch", "message"), BAD_ROWS.values(), ids=BAD_ROWS)
def test_rows_that_do_not_fit_the_schema_are_refused(batch, message):
    """A missing column, another type, a null where none may be."""
    schema = schema_of(pa.schema([pa.field("a", pa.int32(), nullable=False)]))
    with pytest.raises(DataRefused, match=message):
        FileWriter(BytesSink(), schema, V2_0, page_policy(1)).write_batch(batch)


def test_nulls_of_children_count_unless_their_struct_is_null():
    """As the oracle has it; 0.1 has no null structs."""
    schema = schema_of(pa.schema([("a", pa.struct([X]))]))
    batch = pa.record_batch([pa.array([{"x": None}], pa.struct([("x", pa.int8())]))], ["a"])
    with pytest.raises(DataRefused, match="the field `x` contained null"):
        FileWriter(BytesSink(), schema, V2_0, page_policy(1)).write_batch(batch)
    table = pa.table({"a": UNDER_NULL})
    assert [{"x": 1}, None] == scanned(column(written(table, "2.1"))).to_pylist()
    with pytest.raises(DataRefused, match="the field `x` contained null"):
        written(table, "0.1")


BATCH = pa.record_batch({"a": [1, 2, 3]})


def _closed_again(library, path):
    writer = library(path)
    writer.write_batch(BATCH)
    assert 3 == writer.close()
    writer.write_batch(BATCH)


def _wrong(batch=BATCH, **given):
    return lambda library, path: library(path, BATCH.schema, **given).write_batch(batch)


WRONG_CALLS = {
    "no batch": (_wrong(5), TypeError),
    "page of nothing": (_wrong(max_page_bytes=0), ValueError),
    "0.1": (_wrong(version="0.1"), NotImplementedError),
    **{f"v {name!r}": (_wrong(version=name), ValueError) for name in ("1", "2", "v2", "3.0", "")},
    "column": (_wrong(BATCH.rename_columns(["b"])), ValueError),
    "no schema": (lambda library, path: library(path).close(), ValueError),
    "name": (lambda library, path: library(path, pa.schema([("a.b", pa.int8())])), RuntimeError),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG_CALLS)
def test_wrong_calls_are_refused(tmp_path, name):
    """With the class that pylance raises; a closed file stays whole and takes no rows."""
    call, error = WRONG_CALLS[name]
    with pytest.raises(error):
        call(LanceFileWriter, str(tmp_path / "x"))
    with pytest.raises(DataRefused, match="closed"):
        _closed_again(LanceFileWriter, tmp_path / "y")
    assert 3 == LanceFileReader(tmp_path / "y").num_rows()


@pytest.mark.oracle
@pytest.mark.parametrize("name", WRONG_CALLS)
def test_the_oracle_refuses_them_too(tmp_path, name):
    """The same classes."""
    from lance.file import LanceFileWriter as Theirs

    call, error = WRONG_CALLS[name]
    with pytest.raises(error):
        call(Theirs, str(tmp_path / "x"))


def test_threads_take_turns_to_write(tmp_path, monkeypatch):
    """No batch is written while another is."""
    turn = Lock()

    def write_batch(*_):
        assert turn.acquire(blocking=False)
        sleep(0.001)
        turn.release()

    monkeypatch.setattr(FileWriter, "write_batch", write_batch)
    with LanceFileWriter(tmp_path / "x", ROWS.schema) as writer, ThreadPoolExecutor(3) as pool:
        assert [None] * 9 == [*pool.map(writer.write_batch, [ROWS] * 9)]


BLOB, SPARSE = {"lance-encoding:blob": "true"}, {"lance-encoding:structural-encoding": "Sparse"}
BLOB_2 = pa.field("b", PREPARED, metadata={"ARROW:extension:name": BLOB_EXTENSION})
KINDS = pa.utf8(), pa.list_(pa.int8())
PACKED = [pa.field("c", pa.struct([("a", one)]), metadata={"packed": "true"}) for one in KINDS]
NOT_STORED = {
    "maps in 2.1": (pa.field("c", pa.map_(pa.string(), pa.int8())), "2.1", NotStorable),
    "lists of structs in 2.1": (pa.field("c", pa.list_(PACKED[0].type, 2)), "2.1", NotStorable),
    "packed texts in 2.1": (PACKED[0], "2.1", NotStorable),
    "sparse pages in 2.2": (pa.field("c", pa.int8(), metadata=SPARSE), "2.2", DataRefused),
    "packed lists": (PACKED[1], "2.2", NotStorable),
    "blobs in 2.3": (pa.field("c", pa.large_binary(), metadata=BLOB), "2.3", NotStorable),
    "blobs in lists": (
        pa.field("l", pa.list_(pa.field("", pa.large_binary(), metadata=BLOB))), "2.1", NotStorable,
    ),
    "views in 2.0": (pa.field("c", pa.string_view()), "2.0", DataRefused),
    "descriptors in 2.1": (BLOB_2, "2.1", DataRefused),
    "a dot": (pa.field("a.b", pa.int8()), "2.1", SchemaRefused),
}  # fmt: skip


@pytest.mark.parametrize(("field", "version", "error"), NOT_STORED.values(), ids=NOT_STORED)
def test_a_type_the_version_does_not_have_is_refused(tmp_path, field, version, error):
    """And no file is left."""
    with pytest.raises(error):
        writer = LanceFileWriter(tmp_path / "f", pa.schema([field]), version=version)
        with writer:
            writer.write_batch(pa.record_batch([pa.array([[b"x"]], field.type)], ["l"]))

    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize(("version", "depth"), [("2.0", 20), ("2.1", 49), ("2.3", 60)])
def test_lists_deeper_than_messages_are_refused(tmp_path, version, depth):
    """The encoding of a fixed-size list has that of its items, and 49 are written but not read."""
    column = pa.array([1, 2])
    for _ in range(depth):
        column = pa.FixedSizeListArray.from_arrays(column, 1)
    with pytest.raises(NotStorable, match="nested too deep"):
        lanceref.write_file(tmp_path / "f", pa.table({"c": column}), version=version)

    assert [] == list(tmp_path.iterdir())


def test_a_chunk_that_its_word_cannot_state_is_refused(tmp_path):
    """Words of 2.1 have 12 bits for units of 8 bytes: values of nearly 32 KiB, and levels."""
    random = np.random.default_rng(1)
    values = [None if i % 10 == 0 else random.bytes(12) for i in range(2200)]
    metadata = {"lance-encoding:minichunk-size": "32767"}
    table = pa.table([values], pa.schema([pa.field("c", pa.binary(), metadata=metadata)]))
    with pytest.raises(DataRefused, match="32768 at most"):
        lanceref.write_file(tmp_path / "f", table, version="2.1")
    lanceref.write_file(tmp_path / "f", table, version="2.2")

    assert table == lanceref.open_file(tmp_path / "f").read()


DOCUMENT = document('{"a":1}')
FORMS = {
    "json": (pa.array(['{"a":1}', None], pa.json_()), pa.large_binary(), [DOCUMENT, None]),
    "view": (pa.array(["x", None], pa.string_view()), pa.string(), ["x", None]),
    "uuid": (pa.array([b"a" * 16], pa.uuid()), pa.binary(16), [b"a" * 16]),
    "list of views": (
        pa.array([["x"], None], pa.list_(pa.string_view())), pa.list_(pa.string()), [["x"], None],
    ),
    "struct of views": (
        pa.array([{"v": b"x"}, None], pa.struct([("v", pa.binary_view())])),
        pa.struct([("v", pa.binary())]), [{"v": b"x"}, None],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("array", "type_", "values"), FORMS.values(), ids=FORMS)
def test_other_forms_become_the_stored_one(array, type_, values):
    """At any depth, nulls stay; what is stored so already is not copied."""
    field = schema_of(pa.schema([("c", array.type)])).fields[0]
    found = stored_form(array, field)
    same = pa.nulls(3, type_)

    assert (type_, values) == (found.type, found.to_pylist())
    assert same is stored_form(same, schema_of(pa.schema([("c", type_)])).fields[0])


def test_views_and_json_are_stored_in_0_1_and_other_text_is_not():
    """Before anything is written."""
    table = pa.table(
        {"s": pa.array(["x", "y"], pa.string_view()), "j": pa.array(['{"a":1}'] * 2, pa.json_())}
    )
    data = written(table, "0.1")
    assert ["x", "y"] == scanned(column(data, 0)).to_pylist()
    assert [DOCUMENT] * 2 == scanned(column(data, 1)).to_pylist()
    with pytest.raises(DataRefused):
        written(pa.table({"c": pa.array(["{"], pa.json_())}), "0.1")


PREPARED_ROWS = [
    ({"kind": 0, "data": b"abc"}, [0, 0, 3, 0, ""]),
    (None, None),
    ({"kind": 0, "data": b""}, [0, 64, 0, 0, ""]),
    ({"kind": 0}, [0, 64, 0, 0, ""]),
    ({"kind": 1, "blob_id": 3, "blob_size": 5, "position": 7}, [1, 7, 5, 3, ""]),
    ({"kind": 2, "blob_id": 4, "blob_size": 6}, [2, 0, 6, 4, ""]),
    ({"kind": 3, "blob_id": 1, "uri": "x", "blob_size": 2, "position": 1}, [3, 1, 2, 1, "x"]),
]
"""A prepared row, and the descriptor that is stored of it."""


def _prepared(path, rows, library=LanceFileWriter, version="2.2"):
    batch = pa.record_batch([pa.array(rows, PREPARED)], schema=pa.schema([BLOB_2]))
    with library(str(path), batch.schema, version=version) as writer:
        writer.write_batch(batch)
    return path.read_bytes()


@pytest.mark.parametrize("version", ["2.2", "2.3"])
def test_prepared_rows_become_descriptors(tmp_path, version):
    """Inline bytes go into the file; the row states where the others lie."""
    data = _prepared(tmp_path / "x", [row for row, _ in PREPARED_ROWS], version=version)
    found = LanceFileReader(tmp_path / "x").read_all().to_table()["b"].to_pylist()

    assert b"abcH" == data[:4]
    assert [shown for _, shown in PREPARED_ROWS] == [row and list(row.values()) for row in found]


@pytest.mark.oracle
@pytest.mark.parametrize("version", ["2.2", "2.3"])
def test_files_of_prepared_rows_are_the_oracles(tmp_path, version):
    """All bytes, but the order of map entries."""
    from lance.file import LanceFileWriter as Theirs

    rows = [row for row, _ in PREPARED_ROWS]
    ours = _prepared(tmp_path / "ours", rows, version=version)
    assert sorted(ours) == sorted(_prepared(tmp_path / "theirs", rows, Theirs, version))


@pytest.mark.parametrize(
    ("row", "text"), [({"kind": 6, "uri": "x"}, "row 0: kind 6"), ({"kind": None}, "kind None")]
)
def test_rows_that_are_not_prepared_are_refused(tmp_path, row, text):
    """A file alone has no place beside it, and no file is left."""
    with pytest.raises(DataRefused, match=text):
        _prepared(tmp_path / "x", [row])
    given = pa.struct([("data", pa.large_binary()), ("uri", pa.utf8())])
    batch = pa.record_batch(
        [pa.array([{"data": b"a"}], given)], schema=pa.schema([BLOB_2.with_type(given)])
    )
    with pytest.raises(DataRefused, match="prepared"), LanceFileWriter(tmp_path / "x") as writer:
        writer.write_batch(batch)
    assert not list(tmp_path.iterdir())


def test_a_file_names_descriptors_without_ids():
    """The field keeps its id wherever it is; what is around it stays."""
    inner = pa.struct([BLOB_2, pa.field("k", pa.int8(), metadata={"a": "b"})])
    schema = schema_of(pa.schema([pa.field("l", pa.list_(inner)), pa.field("x", pa.int8())]))
    found = described_schema(schema)
    blob, other = found.fields[0].children[0].children

    assert [True, False] == [holds_blobs(field) for field in schema.fields]
    assert found.fields[1] is schema.fields[1]
    assert blob.id == schema.fields[0].children[0].children[0].id
    assert blob.is_descriptor
    assert [(-1, -1)] * 5 == [(part.id, part.parent_id) for part in blob.children]
    assert {"a": "b"} == other.metadata
    assert BLOB_DESCRIPTOR == found.arrow.field("l").type.value_type.field("b").type
    assert described_schema(LanceSchema(())) == LanceSchema(())


def test_the_cache_is_divided_among_the_fields():
    """Each field queues 8 MiB by default, else its share; pages have 32 MiB at most by default."""
    assert 8 << 20 == page_policy(3).cache_bytes
    assert 1000 == page_policy(3, 3000).cache_bytes
    assert 77 == page_policy(3, None, 77).max_page_bytes
    assert 32 << 20 == page_policy(1).max_page_bytes


QUEUED = {
    "numbers": pa.array([1, 2], pa.int64()),
    "strings": pa.array(["abc", ""]),
    "vectors": pa.array([[1, None]], pa.list_(pa.int32(), 2)),
    "a slice": pa.array([1, 2, 3], pa.int8()).slice(1),
    "nulls": pa.array([None if i % 7 == 3 else i % 100 for i in range(1000)], pa.int8()),
}


def _pages(path, array, cache_bytes):
    schema = pa.schema([("c", array.type)])
    with LanceFileWriter(path, schema, version="2.1", data_cache_bytes=cache_bytes) as writer:
        for part in (array, array.slice(0, 1)):
            writer.write_batch(pa.record_batch([part], schema=schema))
    return len(pages_of(Path(path).read_bytes()))


@pytest.mark.parametrize("name", QUEUED)
def test_a_page_begins_when_the_cache_is_passed(name, tmp_path):
    """A cache of exactly the bytes of an array keeps it; one byte less writes it as a page."""
    array = QUEUED[name]

    assert 1 == _pages(str(tmp_path / "kept"), array, array.nbytes)
    assert 2 == _pages(str(tmp_path / "full"), array, array.nbytes - 1)

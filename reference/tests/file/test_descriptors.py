"""Blob descriptors on their way into a file."""

import pyarrow as pa
import pytest
from lanceref.core.errors import DataRefused
from lanceref.data_file.descriptors import BLOB_DESCRIPTOR, PREPARED, described_schema, holds_blobs
from lanceref.file.arrow_schema import schema_of
from lanceref.file.schema import BLOB_EXTENSION, LanceSchema
from pylanceref.file import LanceFileReader, LanceFileWriter

METADATA = {"ARROW:extension:name": BLOB_EXTENSION}
FIELD = pa.field("b", PREPARED, metadata=METADATA)
ROWS = [
    {"kind": 0, "data": b"abc"},
    None,
    {"kind": 0, "data": b""},
    {"kind": 0},
    {"kind": 1, "blob_id": 3, "blob_size": 5, "position": 7},
    {"kind": 2, "blob_id": 4, "blob_size": 6},
    {"kind": 3, "blob_id": 1, "uri": "x", "blob_size": 2, "position": 1},
]
SHOWN = [
    [0, 0, 3, 0, ""],
    None,
    [0, 64, 0, 0, ""],
    [0, 64, 0, 0, ""],
    [1, 7, 5, 3, ""],
    [2, 0, 6, 4, ""],
    [3, 1, 2, 1, "x"],
]


def _batch(rows: list, field: pa.Field = FIELD) -> pa.RecordBatch:
    return pa.record_batch([pa.array(rows, field.type)], schema=pa.schema([field]))


@pytest.mark.parametrize("version", ["2.2", "2.3"])
def test_prepared_rows_become_descriptors(tmp_path, version: str) -> None:
    """Inline bytes go into the file; where the others lie, the row says."""
    path = tmp_path / "x.lance"
    with LanceFileWriter(path, version=version) as writer:
        writer.write_batch(_batch(ROWS))

    assert path.read_bytes()[:4] == b"abcH"
    rows = LanceFileReader(path).read_all().to_table()["b"].to_pylist()
    assert [row and list(row.values()) for row in rows] == SHOWN


def test_a_file_names_descriptors_without_ids() -> None:
    """The field keeps its id wherever it is; what is around it stays."""
    inner = pa.struct([FIELD, pa.field("k", pa.int8(), metadata={"a": "b"})])
    schema = schema_of(pa.schema([pa.field("l", pa.list_(inner)), pa.field("x", pa.int8())]))
    found = described_schema(schema)

    assert [holds_blobs(field) for field in schema.fields] == [True, False]
    assert found.fields[1] is schema.fields[1]
    (item,) = found.fields[0].children
    blob, other = item.children
    assert blob.id == schema.fields[0].children[0].children[0].id
    assert blob.is_descriptor
    assert [(part.id, part.parent_id) for part in blob.children] == [(-1, -1)] * 5
    assert other.metadata == {"a": "b"}
    assert found.arrow.field("l").type.value_type.field("b").type == BLOB_DESCRIPTOR
    assert described_schema(LanceSchema(())) == LanceSchema(())


@pytest.mark.parametrize(
    ("row", "type_", "text"),
    [
        ({"data": b"a"}, pa.struct([("data", pa.large_binary()), ("uri", pa.utf8())]), "prepared"),
        ({"kind": 6, "uri": "x"}, PREPARED, "row 0: kind 6"),
        ({"kind": None}, PREPARED, "kind None"),
    ],
)
def test_rows_that_are_not_prepared_are_refused(tmp_path, row, type_, text: str) -> None:
    """A file alone has no place beside it."""
    with (
        pytest.raises(DataRefused, match=text),
        LanceFileWriter(tmp_path / "x.lance") as writer,
    ):
        writer.write_batch(_batch([row], FIELD.with_type(type_)))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("version", ["2.0", "2.1"])
def test_blobs_of_the_second_kind_need_2_2(tmp_path, version: str) -> None:
    """No file is left."""
    with pytest.raises(DataRefused, match="not available for field 'b'"):
        LanceFileWriter(tmp_path / "x.lance", pa.schema([FIELD]), version=version)
    assert not list(tmp_path.iterdir())


@pytest.mark.oracle
@pytest.mark.parametrize("version", ["2.2", "2.3"])
def test_files_are_the_oracles(tmp_path, version: str) -> None:
    """All bytes, but the order of map entries."""
    import lance.file

    found = []
    for library, name in ((lance.file.LanceFileWriter, "theirs"), (LanceFileWriter, "ours")):
        with library(str(tmp_path / name), pa.schema([FIELD]), version=version) as writer:
            writer.write_batch(_batch(ROWS))
        found.append(sorted((tmp_path / name).read_bytes()))
    assert found[0] == found[1]

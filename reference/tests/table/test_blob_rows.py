"""Rows of a blob column, as they come in."""

import pyarrow as pa
import pytest
from lanceref.blobs.blob_writer import LONG, NOWHERE, SHORT, ExternalBlobs, Payload, blob_rows
from lanceref.core.errors import DataRefused
from lanceref.data_file.descriptors import EXTERNAL, Descriptor
from lanceref.proto import table_pb2

ANYWHERE = ExternalBlobs(anywhere=True)
INGEST = ExternalBlobs(ingest=True)


def _bytes(row: object) -> bytes | None:
    assert row is None or isinstance(row, Payload)
    return None if row is None else b"".join(row.parts())


@pytest.mark.parametrize(
    "array",
    [
        pa.array([b"a", b"bc", None, b""], pa.binary()).slice(1),
        pa.array([b"bc", None, b""], pa.binary_view()),
        pa.array([{"data": b"bc"}, None, {"data": b""}], SHORT),
        pa.array([{}, {"data": b"bc"}, None, {"data": b""}], LONG).slice(1),
    ],
    ids=["binary", "view", "short", "long"],
)
def test_bytes_are_the_blob(array: pa.Array) -> None:
    """In every form that rows have; an empty blob is not null."""
    assert [_bytes(row) for row in blob_rows(array, "b", NOWHERE)] == [b"bc", None, b""]


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ({}, "row 1 must set exactly one of `data` and `uri`"),
        ({"data": b"a", "uri": "u:x"}, "must set exactly one"),
        ({"uri": "u:x", "position": 1}, "must set both"),
        ({"uri": "u:x", "size": 1}, "must set both"),
        ({"data": b"a", "position": 1, "size": 1}, "`uri` is null"),
        ({"uri": "u:x", "position": 1, "size": 0}, "greater than zero"),
        ({"uri": "relative"}, "not a valid absolute URI"),
        ({"uri": "/absolute"}, "not a valid absolute URI"),
    ],
)
def test_a_row_that_is_no_blob_is_refused(row: dict, text: str) -> None:
    """The error says which row of which field."""
    array = pa.array([{"data": b"a"}, row], LONG)
    with pytest.raises(DataRefused, match=text):
        list(blob_rows(array, "b", ANYWHERE))


def test_a_uri_is_kept_where_the_table_may_hold_it() -> None:
    """Below a base that is no root of a table it is relative to that; elsewhere it is refused."""
    bases = tuple(
        table_pb2.BasePath(id=number, path=path, is_dataset_root=root)
        for number, path, root in [(1, "/t", True), (2, "file:///b", False), (3, "/b/c", False)]
    )
    array = pa.array([{"uri": "file:///b/x"}, {"uri": "/b/y", "position": 3, "size": 4}], LONG)
    assert list(blob_rows(array, "b", ExternalBlobs(bases=bases))) == [
        Descriptor(EXTERNAL, 0, 0, 2, "x"),
        Descriptor(EXTERNAL, 3, 4, 2, "y"),
    ]
    for uri in ("file:///t/x", "/t/x", "/bb", "/b", "/b/", "x"):
        with pytest.raises(DataRefused, match="outside registered external bases"):
            list(blob_rows(pa.array([{"uri": uri}], LONG), "b", ExternalBlobs(bases=bases)))
    (found,) = blob_rows(pa.array([{"uri": "s3://b/x"}], LONG), "b", ANYWHERE)
    assert found == Descriptor(EXTERNAL, 0, 0, 0, "s3://b/x")


def test_an_object_is_taken_in(tmp_path) -> None:
    """All of it, or its range."""
    path = tmp_path / "x"
    path.write_bytes(b"0123456789")
    rows = [{"uri": f"file://{path}"}, {"uri": str(path), "position": 3, "size": 4}]
    found = blob_rows(pa.array(rows, LONG), "b", INGEST)
    assert [_bytes(row) for row in found] == [b"0123456789", b"3456"]


def test_an_object_that_is_not_there_is_refused(tmp_path) -> None:
    """Or that ends before the range does."""
    path = tmp_path / "x"
    with pytest.raises(DataRefused, match="Not found"):
        list(blob_rows(pa.array([{"uri": str(path)}], LONG), "b", INGEST))
    path.write_bytes(b"0123456789")
    rows = pa.array([{"uri": str(path), "position": 8, "size": 3}], LONG)
    (row,) = blob_rows(rows, "b", INGEST)
    with pytest.raises(DataRefused, match="fill whole buffer"):
        _bytes(row)


def test_descriptions_are_no_blobs() -> None:
    """What a read without the bytes returns cannot be written again."""
    rows = pa.array([{"position": 1, "size": 2}])

    with pytest.raises(DataRefused, match="holds no bytes"):
        list(blob_rows(rows, "b", NOWHERE))

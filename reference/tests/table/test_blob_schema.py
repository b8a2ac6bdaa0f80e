"""Blob fields, as a table declares them."""

import pyarrow as pa
import pytest
from lanceref.blobs.blob_writer import LONG, SHORT, declared_schema
from lanceref.core.errors import DataRefused, NotStorable
from lanceref.core.file_versions import V2_0, V2_1, V2_2, V2_3
from lanceref.data_file.descriptors import PREPARED
from lanceref.file.schema import BLOB_EXTENSION
from pylanceref.blob import blob_field

FIRST = pa.field("b", pa.large_binary(), metadata={"lance-encoding:blob": "TRUE", "k": "v"})
SECOND = {"ARROW:extension:name": BLOB_EXTENSION}


def _declared(field: pa.Field, version=V2_2) -> pa.Field:
    (found,) = declared_schema(pa.schema([field]), version)
    return found


def test_the_first_kind_becomes_the_second_from_2_2_on() -> None:
    """Its other metadata stays; before 2.2 it stays what it is."""
    assert _declared(FIRST, V2_1) == FIRST
    for version in (V2_2, V2_3):
        found = _declared(FIRST, version)
        assert found.type == SHORT
        assert found.metadata == {b"k": b"v", b"ARROW:extension:name": b"lance.blob.v2"}


@pytest.mark.parametrize(
    ("given", "type_"), [(SHORT, SHORT), (LONG, LONG), (PREPARED, SHORT)], ids=["2", "4", "6"]
)
def test_every_form_of_rows_is_declared(given: pa.DataType, type_: pa.DataType) -> None:
    """As bytes and URI, with a range where rows may have one."""
    assert _declared(pa.field("b", given, metadata=SECOND)).type == type_
    assert _declared(blob_field("b", nullable=False)).type == LONG


def test_fields_inside_others_are_found() -> None:
    """In structs, lists and maps; fields without blobs stay as they are."""
    plain = pa.field("p", pa.list_(pa.field("x", pa.dictionary(pa.int8(), pa.utf8()), False)))
    nested = pa.struct([plain, FIRST])
    for type_ in (
        pa.list_(nested),
        pa.large_list(nested),
        pa.list_(nested, 2),
        pa.map_(pa.utf8(), nested),
    ):
        given = pa.field("f", type_, metadata={"k": "v"})
        found = _declared(given)
        assert found.metadata == given.metadata
        assert str(found.type) == str(given.type).replace(
            "large_binary", "struct<data: large_binary, uri: string>"
        )
    assert _declared(plain) == plain


def test_what_cannot_be_declared_is_refused() -> None:
    """Blobs of the second kind before 2.2, and under a type that rows do not have."""
    with pytest.raises(NotStorable, match=r"requires file version >= 2.2 \(got 2.0\)"):
        _declared(blob_field("b"), V2_0)
    with pytest.raises(DataRefused, match=r"unrecognized layout \['data'\]"):
        _declared(pa.field("b", pa.struct([("data", pa.binary())]), metadata=SECOND))

"""Index requests, checked."""

from __future__ import annotations

import pyarrow as pa
import pytest
from lanceref.file.arrow_schema import schema_of
from lanceref.index.full_text.parameters import DocumentGranularity
from pylanceref.errors import ColumnMissing, ColumnRefused
from pylanceref.index_request import index_request
from pylanceref.indices import IndexConfig

SCHEMA = schema_of(
    pa.schema([("i", pa.int8()), ("l", pa.list_(pa.int8())), ("a", pa.struct([("b", pa.int8())]))])
)


def test_a_type_by_name_or_by_its_configuration():
    """Case does not matter; parameters go along, those by keyword only for full text."""
    request = index_request(SCHEMA, ["i"], "btree", {"k": 1})
    assert (request.kind.name, request.column, request.parameters) == ("BTREE", "i", {})
    request = index_request(SCHEMA, "a.b", IndexConfig("bitmap", {"q": 2}), {})
    assert (request.kind.name, request.parameters) == ("BITMAP", {"q": 2})


def test_columns_are_named_as_in_the_schema():
    """Whatever the case asked for, the very name first; odd names are put in backticks."""
    odd = pa.struct([("user-id", pa.int8()), ("Key", pa.int8())])
    schema = schema_of(pa.schema([("aB", pa.int8()), ("Ab", pa.int8()), ("row-id", odd)]))
    for asked, path in (
        ("Ab", "Ab"),
        ("AB", "aB"),
        ("`row-id`.`user-id`", "row-id.user-id"),
        ("row-id.user-id", "row-id.user-id"),
        ("`ROW-ID`.key", "row-id.Key"),
    ):
        assert index_request(schema, asked, "BTREE", {}).column == path


@pytest.mark.parametrize(
    ("column", "index_type", "error"),
    [
        ("zz", "BTREE", ColumnMissing),
        ("i", "NOPE", NotImplementedError),
        (["i", "l"], "BTREE", NotImplementedError),
        ("l", "BTREE", ColumnRefused),
        ("i", "LABEL_LIST", ColumnRefused),
        ("i", 5, TypeError),
        ("i", IndexConfig("nope"), NotImplementedError),
    ],
)
def test_what_is_refused(column, index_type, error):
    """With the classes that pylance raises."""
    with pytest.raises(error):
        index_request(SCHEMA, column, index_type, {})


def test_a_full_text_index_says_what_is_a_document():
    """By keyword whatever says the rest; elements have a name of their own, and need a list."""
    schema = schema_of(pa.schema([("s", pa.utf8()), ("l", pa.list_(pa.utf8())), ("i", pa.int8())]))
    element = {"document_granularity": DocumentGranularity.LIST_ELEMENT}
    for given in ("FTS", IndexConfig("inverted", {"with_position": True})):
        assert index_request(schema, "l", given, element).named == "l_list_element"
        assert index_request(schema, "l", given, {}).named == "l"
    assert index_request(schema, "i", "BTREE", element).named == "i"
    with pytest.raises(ValueError, match="'s' has no List layer"):
        index_request(schema, "s", "FTS", element)
    with pytest.raises(ColumnRefused, match=r"must be string, .* got int8"):
        index_request(schema, "i", "FTS", {})
    with pytest.raises(RuntimeError, match=r"'l\[\*\]' does not exist"):
        index_request(schema, "l[*]", "FTS", element)

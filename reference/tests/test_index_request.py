"""Index requests, checked."""

from __future__ import annotations

import pyarrow as pa
import pytest
from lanceref.file.schema_write import schema_of
from lanceref.index_request import index_request
from lanceref.indices import IndexConfig

SCHEMA = schema_of(
    pa.schema([("i", pa.int8()), ("l", pa.list_(pa.int8())), ("a", pa.struct([("b", pa.int8())]))])
)


def test_a_type_by_name_or_by_its_configuration():
    """Case does not matter; parameters go along, those by keyword only for full text."""
    request = index_request(SCHEMA, ["i"], "btree", {"k": 1})
    assert (request.kind.name, request.column, request.parameters) == ("BTREE", "i", {})
    request = index_request(SCHEMA, "a.b", IndexConfig("bitmap", {"q": 2}), {})
    assert (request.kind.name, request.parameters) == ("BITMAP", {"q": 2})


@pytest.mark.parametrize(
    ("column", "index_type", "error"),
    [
        ("zz", "BTREE", KeyError),
        ("i", "NOPE", NotImplementedError),
        (["i", "l"], "BTREE", NotImplementedError),
        ("l", "BTREE", TypeError),
        ("i", "LABEL_LIST", TypeError),
        ("i", 5, TypeError),
        ("i", IndexConfig("nope"), NotImplementedError),
    ],
)
def test_what_is_refused(column, index_type, error):
    """With the classes that pylance raises."""
    with pytest.raises(error):
        index_request(SCHEMA, column, index_type, {})

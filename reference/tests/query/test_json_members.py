"""Members of documents that calls stand for."""

import pyarrow as pa
import pytest
from lanceref.query.dialect import parse_expression
from lanceref.query.expression import Binder
from lanceref.query.json_members import member_of

SCHEMA = pa.schema(
    [pa.field("j", pa.json_()), pa.field("s", pa.struct([pa.field("k", pa.large_binary())]))]
)


@pytest.mark.parametrize(
    ("text", "member"),
    [
        ("json_get_int(j, 'a')", ("j\0a", pa.int64())),
        ("JSON_GET_STRING((j), '$.a')", ("j\0$.a", pa.utf8())),
        ("json_get_bool(s.k, 'a')", ("s.k\0a", pa.bool_())),
        ("json_get_float(json_get(json_get(j, 'a'), 'b'), 'c')", ("j\0a\0b\0c", pa.float64())),
        ("json_get_int(json_extract(j, 'a'), 'b')", None),
        ("json_get(j, 'a')", None),
        ("json_get_int('{}', 'a')", None),
        ("json_get_int(json_get(j, 0), 'b')", None),
        ("json_get_int(j, s.k)", None),
        ("lower(j)", None),
    ],
)
def test_calls_of_typed_functions_are_members(text, member):
    """Of a column, by names that are written out."""
    assert member_of(parse_expression(text), Binder(SCHEMA)) == member

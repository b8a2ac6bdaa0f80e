"""Functions of queries over documents."""

import pyarrow as pa
import pylanceref
import pytest
from hypothesis import strategies as st
from lanceref.core.errors import QueryFailed
from pylanceref.sql.expression import bind as bind_sql

DOCUMENTS = [
    '{"a":1,"c":[1,"two",3.5,null,true],"d":{"e":{"f":"deep"}},"n":null,"s":"12"}',
    '[1,2,{"a":5},"x"]',
    '"just"',
    None,
    '{"a":7,"c":"none","d":[{"e":1},{"e":2}],"s":"3"}',
]
DATA = pa.array(DOCUMENTS)


def _call(name, *arguments):
    batch = pa.record_batch({"j": DATA})
    given = ", ".join(["j", *map(repr, arguments)])
    return bind_sql(f"{name}({given})", batch.schema).evaluate(batch).to_pylist()


@pytest.mark.parametrize(
    ("name", "arguments", "values"),
    [
        ("json_extract", ["$.a"], ["1", None, None, None, "7"]),
        ("json_extract", ["$.d[*].e"], ['{"f":"deep"}', None, None, None, "[1,2]"]),
        ("json_extract", ["$.n"], ["null", None, None, None, None]),
        ("json_exists", ["$.n"], [True, False, False, None, False]),
        ("json_exists", ["$[0]"], [False, True, False, None, False]),
        ("json_array_length", ["$.c"], [5, None, None, None, 0]),
        ("json_array_length", ["$"], [0, 4, 0, None, 0]),
        ("json_array_length", ["$.c[*]"], [0, None, None, None, 0]),
        ("json_array_contains", ["$.c", "two"], [True, False, False, None, False]),
        ("json_array_contains", ["$.c", "null"], [True, False, False, None, False]),
        ("json_array_contains", ["$", 1], [False, True, False, None, False]),
        ("json_get_int", ["a"], [1, None, None, None, 7]),
        ("json_get_int", ["1"], [None, 2, None, None, None]),
        ("json_get_int", [1], [None, 2, None, None, None]),
        ("json_get_float", ["s"], [12.0, None, None, None, 3.0]),
        ("json_get_string", ["a"], ["1", None, None, None, "7"]),
        ("json_get_string", ["n"], [None] * 5),
        ("json_get_bool", ["zz"], [None] * 5),
    ],
)
def test_values_by_hand(name, arguments, values):
    """Null where the document is null or has no such value."""
    assert values == _call(name, *arguments)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("int", '"x"'),
        ("int", "[]"),
        ("int", "1e20"),
        ("float", '"0x1"'),
        ("bool", "1"),
        ("string", "{}"),
        ("bool", '"t"'),
        ("int", '" 3 "'),
    ],
)
def test_values_of_another_type_are_errors(name, value):
    """No value is null because it does not fit."""
    with pytest.raises(QueryFailed, match="Failed to convert"):
        batch = pa.record_batch({"j": [f'{{"k":{value}}}']})
        bind_sql(f"json_get_{name}(j, 'k')", batch.schema).evaluate(batch)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text() | st.floats(-9, 9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


NUMBERS = ["true", "false", "1", "1.5", "-2.5", "0.5", "-0.5", "1e20", "1e-7", "1e15", "[]", "{}"]
NUMBERS += [f'"{one}"' for one in ("12", "x", "1e3", " 3 ", "TRUE", "t", "yes", "", "nan", "+5")]
NUMBERS += ["12345678901234567890", '"9223372036854775808"', "9223372036854775807", "null"]

PATHS = ["$", "$.a", "$.c[*]", "$.d[*].e", "$.n", "$[0]", "$[*]", "$.c[0 to 2]", "$.*", "$.c[last]"]
EXPRESSIONS = [
    f"json_{name}(data, '{path}')"
    for name in ("extract", "exists", "array_length")
    for path in PATHS
]
EXPRESSIONS += [f"json_array_contains(data, '$.c', {one})" for one in ("'two'", "1", "'1'", "true")]
EXPRESSIONS += ["json_get(data, 'c')", "json_get(data, 0)", "json_extract(data, '$.')"]


def _answer(table, expression):
    try:
        return table.to_table(columns={"x": expression})["x"].to_pylist()
    except pa.ArrowInvalid:
        return "an error"


@pytest.mark.oracle
def test_the_oracle_finds_the_same(tmp_path):
    """In documents of all shapes, and of every kind of value that is to become another."""
    import lance

    shapes = [(DOCUMENTS, EXPRESSIONS)]
    kinds = [f"json_get_{kind}(data, 'k')" for kind in ("int", "float", "bool", "string")]
    shapes += [([f'{{"k":{one}}}'], kinds) for one in NUMBERS]
    for number, (documents, expressions) in enumerate(shapes):
        root = str(tmp_path / str(number))
        rows = pa.table({"data": pa.array(documents, pa.json_())})
        theirs = lance.write_dataset(rows, root, data_storage_version="2.2")
        ours = pylanceref.dataset(root)
        for one in expressions:
            wanted, found = _answer(theirs, one), _answer(ours, one)
            assert str(wanted) == str(found), (documents, one)

"""Computed columns and the functions that Lance adds: types, nulls, documents, geometries."""

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
import shapely
from lanceref.core.errors import QueryRefused
from pylanceref.sql.columns import bind as bind_sql
from pylanceref.sql.columns import bind_columns, take_columns

from tests.index.tables import write

SCHEMA = pa.schema(
    [
        pa.field("i", pa.int8(), nullable=False),
        pa.field("st", pa.struct([("a", pa.int8())])),
        ("s", pa.utf8()),
    ]
)
BATCH = pa.record_batch([pa.array([1, 2], pa.int8()), [{"a": 5}, None], ["x", None]], schema=SCHEMA)


def test_expressions_by_name():
    """Renamed columns keep type and nullability, and a literal is required."""
    computed = bind_columns({"c": "i", "p": "i + 1", "one": "1", "a": "st.a", "no": "null"}, SCHEMA)
    wanted = pa.schema(
        [
            pa.field("c", pa.int8(), nullable=False),
            pa.field("p", pa.int8(), nullable=False),
            pa.field("one", pa.int64(), nullable=False),
            pa.field("a", pa.int8()),
            pa.field("no", pa.null()),
        ]
    )

    assert wanted == computed.schema
    assert {"i", "st"} == computed.columns
    assert {"i", "st.a"} == computed.paths
    first = {"c": 1, "p": 2, "one": 1, "a": 5, "no": None}
    assert [first, {"c": 2, "p": 3, "one": 1, "a": None, "no": None}] == computed.batch(
        BATCH
    ).to_pylist()


def test_no_columns():
    """A batch without computed columns still counts its rows."""
    assert 2 == bind_columns({}, SCHEMA).batch(BATCH).num_rows


@pytest.mark.parametrize("text", ["nope", "i +", "i + 0.5", "count(i)"])
def test_wrong_expressions_are_refused(text):
    """Wrong expressions are refused before anything is read."""
    with pytest.raises(QueryRefused):
        bind_columns({"x": text}, SCHEMA)


def test_a_renamed_column_is_what_is_stored():
    """A renamed column keeps dictionary, extension type and metadata."""
    inner = pa.field("m", pa.int32(), metadata={"q": "w"})
    schema = pa.schema(
        [
            pa.field("d", pa.dictionary(pa.int32(), pa.utf8()), metadata={"k": "v"}),
            pa.field("u", pa.struct([inner])),
        ]
    )
    batch = pa.record_batch(
        [
            pa.array(["a", None]).dictionary_encode(),
            pa.array([{"m": 1}, None], schema.field(1).type),
        ],
        schema=schema,
    )
    computed = bind_columns({"x": "(d)", "y": "u.m", "z": "upper(d)"}, schema)

    assert computed.schema.field("x").equals(schema.field("d").with_name("x"), check_metadata=True)
    assert computed.schema.field("y").equals(inner.with_name("y"), check_metadata=True)
    assert computed.schema.field("z").type == pa.utf8()
    rows = computed.batch(batch)
    assert rows.schema == computed.schema
    assert rows.to_pylist() == [{"x": "a", "y": 1, "z": "A"}, {"x": None, "y": None, "z": None}]


DICTIONARY = pa.dictionary(pa.int32(), pa.utf8())
NARROW = pa.dictionary(pa.int8(), pa.utf8())
WORDS = {"x": ["u", "v", None, "u"], "z": ["u", "v", None, "u"], "y": ["a", None, "c", "u"]}

KEPT = """
coalesce(x, 'z')
coalesce(y, x)
coalesce(z, x)
coalesce(z, 'q')
coalesce(null, x)
nullif(x, 'u')
nullif(coalesce(x, 'a'), 'u')
greatest(x, y)
least(x, 'v')
least(x, z)
x = 'u'
""".strip().splitlines()


@pytest.mark.oracle
def test_the_oracle_keeps_the_same_dictionaries(tmp_path):
    """Types and values of returned dictionaries are the oracle's."""
    import lance

    types = [("x", DICTIONARY), ("z", NARROW), ("y", pa.utf8())]
    lance.write_dataset(pa.table(WORDS).cast(pa.schema(types)), str(tmp_path / "t"))
    theirs, ours = (
        library.dataset(str(tmp_path / "t")).to_table(columns={text: text for text in KEPT})
        for library in (lance, pylanceref)
    )
    assert theirs.schema.types == ours.schema.types
    assert theirs.to_pydict() == ours.to_pydict()
    assert {DICTIONARY, NARROW, pa.utf8(), pa.bool_()} == {*ours.schema.types}


POINT_NAME = {"ARROW:extension:name": "geoarrow.point"}
POINT = pa.struct([pa.field(axis, pa.float64()) for axis in "xy"])

GEOMETRIES = pa.schema(
    [
        pa.field("p", POINT, metadata=POINT_NAME),
        pa.field("t", pa.utf8()),
        pa.field("s", pa.struct([pa.field("q", POINT, metadata=POINT_NAME)])),
        pa.field("n", pa.int64()),
    ]
)
INSIDE, OUTSIDE = {"x": 1.0, "y": 1.0}, {"x": 9.0, "y": 1.0}

GEOMETRY_ROWS = pa.record_batch(
    [
        pa.array([INSIDE, OUTSIDE, None], POINT),
        pa.array(["POINT(1 1)", "LINESTRING(0 0,9 9)", "POINT EMPTY"]),
        pa.array([{"q": one} for one in (INSIDE, OUTSIDE, None)], GEOMETRIES.field("s").type),
        pa.array([1, 2, 3]),
    ],
    schema=GEOMETRIES,
)
BOX = "st_geomfromtext('POLYGON((0 0,4 0,4 4,0 4,0 0))')"


def run(text: str) -> list[object]:
    """Return what an expression is for each row."""
    return bind_sql(text, GEOMETRIES).evaluate(GEOMETRY_ROWS).to_pylist()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"st_intersects(p, {BOX})", [True, False, None]),
        (f"st_contains({BOX}, p)", [True, False, None]),
        (f"ST_DISJOINT(t, {BOX})", [False, False, True]),
        ("st_equals(p, t)", [True, False, None]),
        (f"st_distance({BOX}, p)", [0, 5, None]),
        ("st_touches(p, 'LINESTRING(1 1,2 2)')", [True, False, None]),
        (
            f"st_intersects(p, st_geomfromwkb(X'{shapely.Point(9, 1).wkb.hex()}'))",
            [False, True, None],
        ),
        ("st_intersects(st_geomfromtext(t), p)", [True, False, None]),
        (f"st_covers({BOX}, 'POINT(4 4)') and st_coveredby('POINT(4 4)', {BOX})", [True] * 3),
        ("st_crosses(t, 'LINESTRING(0 2,2 0)')", [False, True, False]),
        (f"st_overlaps('POLYGON((1 1,9 1,9 9,1 1))', {BOX})", [True] * 3),
    ],
)
def test_what_they_return(text, found):
    """Geometry functions take columns and literals, and are null where one is null."""
    assert run(text) == found


@pytest.mark.parametrize(
    "text", ["st_intersects(n, p)", "st_within(p)", f"st_geomfromtext({BOX}, 1)"]
)
def test_what_is_no_geometry_is_refused(text):
    """Arguments that are no geometries are refused before reading."""
    with pytest.raises(QueryRefused):
        run(text)


DOCUMENTS = [
    '{"a":1,"c":[1,"two",3.5,null,true],"d":{"e":{"f":"deep"}},"n":null,"s":"12"}',
    '[1,2,{"a":5},"x"]',
    '"just"',
    None,
    '{"a":7,"c":"none","d":[{"e":1},{"e":2}],"s":"3"}',
]
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
def test_the_oracle_reads_documents_alike(tmp_path):
    """Documents of all shapes and values of all kinds give the oracle's answers."""
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


def test_columns_or_expressions(tmp_path):
    """Taken rows come in the order asked for, as columns or expressions."""
    table = pa.table({"n": [1, 2, 3], "st": [{"a": 4, "b": 5}] * 3})
    snapshot = write(table, tmp_path)._snapshot
    rows = np.array([2, 0, 2])

    assert {"n": [3, 1, 3]} == take_columns(snapshot, rows, ["n"]).to_pydict()
    found = take_columns(snapshot, rows, {"x": "n * 2", "y": "st.b", "at": "_rowoffset"})
    assert {"x": [6, 2, 6], "y": [5, 5, 5], "at": [2, 0, 2]} == found.to_pydict()

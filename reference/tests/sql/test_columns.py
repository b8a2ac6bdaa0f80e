"""Computed columns, by hand."""

from __future__ import annotations

import pyarrow as pa
import pytest
from lanceref.core.errors import QueryRefused
from pylanceref.sql.columns import bind_columns

SCHEMA = pa.schema(
    [
        pa.field("i", pa.int8(), nullable=False),
        pa.field("st", pa.struct([("a", pa.int8())])),
        ("s", pa.utf8()),
    ]
)
BATCH = pa.record_batch([pa.array([1, 2], pa.int8()), [{"a": 5}, None], ["x", None]], schema=SCHEMA)


def test_expressions_by_name():
    """A column keeps its type and its nulls, a literal has none."""
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
    """The rows are still counted."""
    assert 2 == bind_columns({}, SCHEMA).batch(BATCH).num_rows


@pytest.mark.parametrize("text", ["nope", "i +", "i + 0.5", "count(i)"])
def test_wrong_expressions_are_refused(text):
    """Before anything is read."""
    with pytest.raises(QueryRefused):
        bind_columns({"x": text}, SCHEMA)


def test_a_renamed_column_is_what_is_stored():
    """Its dictionary, its extension type and its metadata stay; a function sees plain values."""
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
KEPT = [
    ("coalesce(x, 'z')", DICTIONARY, ["u", "v", "z", "u"]),
    ("coalesce(y, x)", DICTIONARY, ["a", "v", "c", "u"]),
    ("coalesce(z, x)", DICTIONARY, ["u", "v", None, "u"]),
    ("coalesce(z, 'q')", NARROW, ["u", "v", "q", "u"]),
    ("coalesce(null, x)", DICTIONARY, ["u", "v", None, "u"]),
    ("nullif(x, 'u')", DICTIONARY, [None, "v", None, None]),
    ("nullif(coalesce(x, 'a'), 'u')", DICTIONARY, [None, "v", "a", None]),
    ("greatest(x, y)", DICTIONARY, ["u", "v", "c", "u"]),
    ("least(x, 'v')", DICTIONARY, ["u", "v", "v", "u"]),
    ("least(x, z)", pa.utf8(), ["u", "v", None, "u"]),
    ("x = 'u'", pa.bool_(), [True, False, None, True]),
]


def words():
    """Return words, those of two columns in dictionaries."""
    types = [("x", DICTIONARY), ("z", NARROW), ("y", pa.utf8())]
    return pa.table(WORDS).cast(pa.schema(types))


@pytest.mark.parametrize(("text", "type_", "wanted"), KEPT)
def test_a_function_that_returns_an_argument_keeps_its_dictionary(text, type_, wanted):
    """The widest of several, where it takes such; what is computed is in none."""
    (batch,) = words().combine_chunks().to_batches()
    computed = bind_columns({"c": text}, batch.schema)
    assert computed.schema.field("c").type == type_
    assert computed.batch(batch)["c"].to_pylist() == wanted
    upper = bind_columns({"c": "coalesce(upper(x), x)"}, batch.schema)
    assert upper.schema.field("c").type == pa.utf8()


@pytest.mark.oracle
def test_the_oracle_keeps_the_same_dictionaries(tmp_path):
    """The same types and values."""
    import lance
    import pylanceref

    lance.write_dataset(words(), str(tmp_path / "t"))
    given = {f"c{number}": text for number, (text, _, _) in enumerate(KEPT)}
    theirs, ours = (
        library.dataset(str(tmp_path / "t")).to_table(columns=given)
        for library in (lance, pylanceref)
    )
    assert theirs.schema.types == ours.schema.types
    assert theirs.to_pydict() == ours.to_pydict()

"""JSON columns: what names lead to in many documents at once."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.errors import Place
from lanceref.json import jsonb as jsontext
from lanceref.json.json_path import column_at
from lanceref.json.jsonb import texts

KEYS = st.sampled_from(["a", "b", "é", "aa", ""])
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text(max_size=3)
)
DOCUMENTS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=6,
)


def stored(*documents: str | None) -> pa.Array:
    """Return documents as a column holds them."""
    return pa.array(
        [None if one is None else jsontext.document(one) for one in documents], pa.large_binary()
    )


@pytest.mark.parametrize(
    ("documents", "found"),
    [
        (['{"a":1}', '{"b":2}', None, "[1]", "7", "{}"], pa.array([1, *[None] * 5])),
        (['{"a":-1,"b":{"a":2}}', '{"a":70000}'], pa.array([-1, 70000])),
        (['{"a":"x"}', '{"a":null}', '{"a":""}'], pa.array(["x", None, ""])),
        (['{"a":true}', '{"a":false}'], pa.array([True, False])),
        (['{"a":2.5}', '{"a":-0.0}'], pa.array([2.5, -0.0])),
        (["{}", "null"], pa.nulls(2)),
    ],
)
def test_single_values_of_one_type_are_a_column(documents, found):
    """What is nowhere is null."""
    assert column_at(stored(*documents), ["a"]).equals(found)


def test_names_lead_through_objects():
    """A member of a member; what is no object on the way has none."""
    documents = stored('{"a":{"b":5}}', '{"a":[5]}', '{"b":5}')

    assert column_at(documents, ["a", "b"]).to_pylist() == [5, None, None]


@pytest.mark.parametrize(
    "documents",
    [['{"a":1}', '{"a":1.5}'], ['{"a":[]}'], ['{"a":18446744073709551615}'], ['{"a":{"b":1}}']],
)
def test_other_values_are_left_to_a_closer_look(documents):
    """Several types, no single value, and what int64 does not hold."""
    assert column_at(stored(*documents), ["a"]) is None


@given(st.lists(st.dictionaries(KEYS, DOCUMENTS, max_size=4) | DOCUMENTS, min_size=1, max_size=12))
def test_as_the_documents_read_one_by_one(documents):
    """The column holds what the text of each document says, or there is no column."""
    column = stored(*map(json.dumps, documents))
    place = Place("a document", 0, 0)
    shown = [json.loads(one) for one in texts(column, Context(place.file), place).to_pylist()]
    expected = [one.get("a") if isinstance(one, dict) else None for one in shown]
    types = {type(one) for one in expected if one is not None}

    found = column_at(column, ["a"])

    if len(types) > 1 or types & {dict, list}:
        assert found is None
    else:
        assert found.to_pylist() == expected


@given(st.data())
def test_any_bytes_are_a_column_or_none(data):
    """A byte that is changed changes values or takes the column away, and nothing else."""
    document = bytearray(jsontext.document('{"a":"text","b":[1,2],"é":-70000}'))
    at = data.draw(st.integers(0, len(document) - 1))
    document[at] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(document)))

    for one in (bytes(document), bytes(document[:cut])):
        found = column_at(pa.array([one, None], pa.large_binary()), ["é"])
        assert found is None or (len(found) == 2 and found.validate(full=True) is None)

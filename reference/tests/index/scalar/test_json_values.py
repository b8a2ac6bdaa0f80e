"""JSON values: what a path finds, as a column."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from lanceref.core.errors import OperationRefused
from lanceref.file.arrow_schema import schema_of
from lanceref.index.scalar.json import check_path, extract, found_in
from lanceref.index.training import Run, Training
from lanceref.json import jsonb as jsontext


def given(*texts: str | None) -> Training:
    """Return rows of documents that are in no table, one per run."""
    keys = np.zeros(1, np.uint64)
    runs = [Run(0, stored(text), keys, keys.astype(np.int64)) for text in texts]
    (field,) = schema_of(pa.schema([pa.field("documents", pa.large_binary())])).fields
    return Training(field, (), computed=runs)


def stored(text: str | None) -> pa.Array:
    """Return a document as a column holds it."""
    return pa.array([None if text is None else jsontext.document(text)], pa.large_binary())


def column(*texts: str | None, path: str = "a", type_: pa.DataType | None = None) -> pa.Array:
    """Return the values of one path."""
    rows = extract(given(*texts), path, type_)
    values = pa.concat_arrays([run.values for run in rows.runs()])
    assert values.type == rows.type
    return values


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (['{"a":1}', '{"a":null}', "{}", None, "[1]", "7"], pa.array([1, *[None] * 5], pa.int64())),
        (['{"a":1.5}', '{"a":2}'], pa.array([1.5, 2.0])),
        (['{"a":18446744073709551615}', '{"a":1}'], pa.array([2.0**64, 1.0])),
        (['{"a":null}', '{"a":"é"}'], pa.array([None, "é"])),
        (['{"a":true}', '{"a":false}'], pa.array([True, False])),
        (["{}"], pa.array([None], pa.utf8())),
    ],
)
def test_the_first_value_says_the_type(texts, values):
    """Nothing but nulls is text."""
    assert column(*texts).equals(values)


@pytest.mark.parametrize(
    "texts",
    [
        ['{"a":1}', '{"a":2.5}'],
        ['{"a":"x"}', '{"a":1}'],
        ['{"a":true}', '{"a":0}'],
        ['{"a":[1]}'],
        ['{"a":{}}'],
        ['{"a":1}', '{"a":9223372036854775808}'],
    ],
)
def test_values_of_two_types_are_refused(texts):
    """Lists and objects are no values at all."""
    with pytest.raises(OperationRefused, match="JSON path 'a'"):
        column(*texts)


def test_a_known_type_is_kept():
    """Also where another would be found."""
    assert column('{"a":1}', type_=pa.float64()).equals(pa.array([1.0]))
    with pytest.raises(OperationRefused):
        column('{"a":1}', type_=pa.utf8())


def test_more_than_one_value_is_an_array():
    """Paths lead below members and into arrays."""
    assert list(found_in(stored('{"a":{"b":[4,5]}}'), "$.a.b[1]")) == [5]
    assert list(found_in(stored('{"a":[4,5]}'), "a[*]")) == [[4, 5]]


def test_a_path_must_be_one():
    """Before anything is read."""
    with pytest.raises(OperationRefused, match="InvalidJsonPath"):
        check_path("..a")

"""Tests of tables as JSON: values by hand, and nothing of them is lost."""

from __future__ import annotations

import json
from decimal import Decimal

import pyarrow as pa
import pytest
from lance_conformance.json_tables import to_json

NAN = float("nan")


@pytest.mark.parametrize(
    ("array", "values"),
    [
        (pa.array([1, None, -3], pa.int32()), [1, None, -3]),
        (pa.array([2**64 - 1], pa.uint64()), ["18446744073709551615"]),
        (pa.array([0.1, NAN, float("-inf"), -0.0]), [0.1, "NaN", "-Infinity", -0.0]),
        (pa.array([1.5], pa.float16()), [1.5]),
        (pa.array([Decimal("1.20")], pa.decimal128(10, 2)), ["1.20"]),
        (pa.array([5, None], pa.timestamp("ns", "UTC")), ["5", None]),
        (pa.array([7], pa.date32()), ["7"]),
        (pa.array([7], pa.duration("ms")), ["7"]),
        (pa.array([b"\x00\xff"], pa.binary()), ["00ff"]),
        (pa.array([True, None]), [True, None]),
        (pa.array([[1, None], None, []], pa.list_(pa.int64())), [["1", None], None, []]),
        (pa.array([[b"a"]], pa.list_(pa.binary(1), 1)), [["61"]]),
        (pa.array([{"a": 2**53, "b": None}, None]), [["9007199254740992", None], None]),
        (pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int8())), [[["k", 1]]]),
        (pa.array(["x", None, "x"]).dictionary_encode(), ["x", None, "x"]),
        (pa.array([bytes(16)], pa.uuid()), ["00" * 16]),
        (pa.nulls(2), [None, None]),
    ],
    ids=lambda one: str(one.type) if isinstance(one, pa.Array) else None,
)
def test_values_by_hand(array, values):
    """Each type has its form; what JSON numbers would lose is text."""
    table = pa.table({"c": array})

    (column,) = json.loads(to_json(table))["columns"]

    assert "c" == column["name"]
    assert values == column["values"]
    assert [str(value) for value in values] == [str(value) for value in column["values"]]


def test_chunks_and_slices_are_joined():
    """Only values count, wherever they lie."""
    array = pa.chunked_array([pa.array([["a"], ["b", "c"]]).slice(1), pa.array([["d"]])])

    (column,) = json.loads(to_json(pa.table({"c": array})))["columns"]

    assert [["b", "c"], ["d"]] == column["values"]

"""Columns that indices are built over."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pylanceref
import pytest
from lance_conformance.campaigns.answers.columns import ORDERED, documents, geometries, lists


@pytest.mark.parametrize("name", sorted(ORDERED))
def test_every_value_can_be_written(tmp_path, name):
    """A filter by the text of a value finds its row, and NaN those of no row's value alone."""
    column = ORDERED[name]
    dataset = pylanceref.write_dataset(
        pa.table({"c": pa.array(column.values, column.type)}), tmp_path
    )
    for row, value in enumerate(column.values):
        condition = f"c = {column.written(value)}"
        found = dataset.to_table(filter=condition, columns=[], with_row_id=True)["_rowid"]
        assert row in found.to_pylist(), condition


def test_what_is_drawn_is_the_same_for_the_same_seed():
    """Runs of equal values, some of them null."""
    column = ORDERED["int64"]
    drawn = column.drawn(Random(1), 500, 10)
    assert drawn == column.drawn(Random(1), 500, 10)
    assert (len(drawn), drawn.type) == (500, column.type)
    assert 0 < drawn.null_count < 250
    changes = sum(a != b for a, b in zip(drawn.to_pylist(), drawn.to_pylist()[1:], strict=False))
    assert changes < 50


def test_columns_of_lists_documents_and_geometries():
    """Each is of its type."""
    assert lists(ORDERED["int8"]).drawn(Random(1), 9).type == pa.list_(pa.int8())
    assert lists(ORDERED["utf8"], large=True).type == pa.large_list(pa.utf8())
    assert documents("bool").written('{"a": true}') == "true"
    assert documents("string").written('{"a": "x"}') == "'x'"
    for name in ("point", "linestring", "polygon", "box", "wkb", "wkt"):
        column = geometries(f"geoarrow.{name}")
        assert column.extension == f"geoarrow.{name}"
        assert len(column.drawn(Random(1), 9)) == 9
        assert column.written(1).startswith("'POLYGON")

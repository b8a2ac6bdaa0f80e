"""Segments against rows."""

from __future__ import annotations

import lanceref
import pyarrow as pa
import pytest
from lanceref.index.scalar import bitmap, btree

from .tables import write

TABLE = pa.table({"f": [1.0, None, float("nan"), 4.0, 1.0]})


@pytest.mark.parametrize("kind", ["BTREE", "BITMAP"])
@pytest.mark.parametrize("stable", [False, True])
def test_a_whole_index_has_every_row(tmp_path, kind, stable):
    """Deleted rows may be there as well; added ones are not covered."""
    dataset = write(TABLE, tmp_path, max_rows_per_file=3, enable_stable_row_ids=stable)
    dataset.create_scalar_index("f", kind)
    dataset.delete("f = 4")
    dataset.insert(TABLE)
    assert lanceref.validate(dataset.uri, deep=True) == []


@pytest.mark.parametrize("kind", ["BTREE", "BITMAP"])
def test_a_row_that_is_missing_or_wrong_is_reported(tmp_path, kind, monkeypatch):
    """An index built over other values is whole in itself."""
    trained = btree.trained

    def other(training):
        values, keys = trained(training)
        return pa.array([9.0, *values.to_pylist()[1:]]), keys

    def fewer(training):
        values, keys = trained(training)
        return values.slice(1), keys[1:]

    for number, wrong in enumerate((other, fewer)):
        dataset = write(TABLE, tmp_path / f"{number}")
        monkeypatch.setattr(btree, "trained", wrong)
        monkeypatch.setattr(bitmap, "trained", wrong)
        dataset.create_scalar_index("f", kind)
        (finding,) = lanceref.validate(dataset.uri, deep=True)
        assert finding.clause == "L.index.segment.complete"
        assert "row 0" in finding.found

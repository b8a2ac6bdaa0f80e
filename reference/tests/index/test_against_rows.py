"""Segments against rows."""

from __future__ import annotations

from dataclasses import replace

import lanceref
import pyarrow as pa
import pytest
from lanceref.index import index_type
from lanceref.index.training import Training
from pylanceref.indices import IndexConfig

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
    trained = index_type.trained

    def other(training):
        values, keys = trained(training)
        return pa.array([9.0, *values.to_pylist()[1:]]), keys

    def fewer(training):
        values, keys = trained(training)
        return values.slice(1), keys[1:]

    for number, wrong in enumerate((other, fewer)):
        dataset = write(TABLE, tmp_path / f"{number}")
        monkeypatch.setattr(index_type, "trained", wrong)
        dataset.create_scalar_index("f", kind)
        (finding,) = lanceref.validate(dataset.uri, deep=True)
        assert finding.clause == "L.index.segment.complete"
        assert "row 0" in finding.found


MANY = {
    "LABEL_LIST": [["a", "b"], [], None, ["b", None, "b"], ["c"]],
    "NGRAM": ["apple", "", None, "apply", "ab"],
    "FM": ["apple", "", None, "a\x00b", "ab"],
    "MINHASHLSH": ["one two", "", None, "two three", "three"],
}


def asked(kind: str) -> str | IndexConfig:
    """Return what is asked for: FM has no word of its own."""
    return IndexConfig("fm", {}) if kind == "FM" else kind


@pytest.mark.parametrize("kind", MANY)
def test_what_is_held_of_a_row_is_compared_as_a_whole(tmp_path, kind):
    """Labels, tokens and signatures; rows without any are nowhere."""
    values = pa.array(MANY[kind])
    dataset = write(pa.table({"c": values}), tmp_path, max_rows_per_file=3)
    dataset.create_scalar_index("c", asked(kind))
    dataset.delete("_rowoffset = 4")
    dataset.insert(pa.table({"c": values}))
    assert lanceref.validate(dataset.uri, deep=True) == []


@pytest.mark.parametrize("kind", MANY)
def test_other_labels_tokens_and_signatures_are_reported(tmp_path, kind, monkeypatch):
    """Those of the next row, in an index that is whole in itself."""
    dataset = write(pa.table({"c": pa.array(MANY[kind])}), tmp_path)
    runs = Training.runs

    def shifted(training):
        for run in runs(training):
            order = pa.array([*range(1, len(run.values)), 0])
            yield replace(run, values=run.values.take(order))

    with monkeypatch.context() as patch:
        patch.setattr(Training, "runs", shifted)
        dataset.create_scalar_index("c", asked(kind))
    (finding,) = lanceref.validate(dataset.uri, deep=True)
    assert finding.clause == "L.index.segment.complete"

"""Tests of twins: operations of the reference as those of pylance."""

from __future__ import annotations

import importlib
from pathlib import Path

import pyarrow as pa
import pylanceref
import pytest
from lance_conformance.adapters.twin import twin
from pylanceref.bitmap import Bitmap
from pylanceref.operation import LanceOperation as Op

pytestmark = pytest.mark.oracle


def test_a_twin_says_the_same(tmp_path: Path) -> None:
    """Fragments, fields, schemas and maps are carried over at any depth."""
    from lance_conformance.adapters import pylance

    pylanceref.write_dataset(pa.table({"a": [1, 2]}), tmp_path)
    (fragment,) = pylanceref.dataset(tmp_path).get_fragments()
    merged, schema = fragment.merge_columns({"b": "a + 1"})
    lance = importlib.import_module("lance")

    made = twin(pylance._PLACES, Op.Merge([merged], schema))
    edit = twin(pylance._PLACES, Op.UpdateConfig(config_updates=Op.UpdateMap({"k": None}, True)))

    assert isinstance(made, lance.LanceOperation.Merge)
    assert merged.to_json() == made.fragments[0].to_json()
    assert schema.to_pyarrow() == made.schema.to_pyarrow()
    assert ({"k": None}, True) == (edit.config_updates.updates, edit.config_updates.replace)


def test_a_bitmap_is_a_set() -> None:
    """Releases before 14.0.2 take the fragments of an index as a set, and as nothing else."""
    made = twin([], Bitmap([0, 3]))

    assert set is type(made)
    assert {0, 3} == made


def test_a_class_that_is_nowhere() -> None:
    """An operation pylance does not have is no silent None."""
    with pytest.raises(LookupError):
        twin([], Op.ReserveFragments(1))

"""Undeclared types."""

from __future__ import annotations

import pyarrow as pa
import pylanceref
import pytest
from lanceref.index.registry import kind_by_files

LISTS = pa.array([["a"], ["b"], None], pa.list_(pa.string()))


@pytest.mark.parametrize(
    ("column", "name"),
    [("s", "INVERTED"), ("s", "BTREE"), ("s", "BITMAP"), ("l", "LABEL_LIST"), ("s", "ZONEMAP")],
)
def test_files_tell_the_type(tmp_path, column, name):
    """Of those that early releases wrote; another is not known."""
    rows = pa.table({"s": ["a", "b", None], "l": LISTS})
    dataset = pylanceref.write_dataset(rows, tmp_path / "t")
    dataset.create_scalar_index(column, name)
    (segment,) = dataset._snapshot.indices.segments
    field = {one.name: one for one in dataset._snapshot.manifest.schema.fields}[column]
    kind = kind_by_files(segment, field)
    assert (None if name == "ZONEMAP" else name) == (None if kind is None else kind.name)
    segment.entry.ClearField("index_details")
    known = dataset._snapshot.indices.of([segment.entry]).known
    assert [] == [one.kind.name for one in known if name == "ZONEMAP"]
    assert all(one.kind.name == name for one in known)

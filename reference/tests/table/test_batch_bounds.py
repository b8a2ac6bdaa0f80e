"""Bounds of batches, by hand."""

from __future__ import annotations

import pyarrow as pa
from lanceref.file.schema import project
from lanceref.table.rows import batch_bounds

from ..sql.written import write

TABLE = pa.table({"n": [3, 1, None, 7, 9, 8], "s": list("abcdef"), "l": [[1]] * 6})


def test_bounds_of_each_batch(tmp_path):
    """Of the fields that have statistics."""
    dataset = write(
        TABLE.drop_columns("l"), tmp_path, data_storage_version="0.1", max_rows_per_group=3
    )
    (rows,) = dataset._snapshot.fragments
    fields = project(dataset._snapshot.manifest.schema, ["n", "s"])
    (_, n), (_, s) = batch_bounds(rows.columns, fields)

    assert [3, 3] == n.rows.to_pylist()
    assert ([1, 0], [1, 7], [3, 9]) == tuple(
        one.to_pylist() for one in (n.nulls, n.least, n.greatest)
    )
    assert (["a", "d"], ["c", "f"]) == (s.least.to_pylist(), s.greatest.to_pylist())


def test_other_files_have_none(tmp_path):
    """From 2.0 on."""
    dataset = write(TABLE, tmp_path)
    (rows,) = dataset._snapshot.fragments

    assert [] == list(batch_bounds(rows.columns, dataset._snapshot.manifest.schema.fields))

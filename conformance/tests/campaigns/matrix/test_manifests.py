"""Manifests of two writers, compared."""

from __future__ import annotations

import shutil

import pyarrow as pa
from lance_conformance.campaigns.matrix.manifests import manifest_differences
from pylanceref.dataset import write_dataset

ROWS = pa.table({"a": range(4)})


def test_the_same_twice_tells_no_difference(tmp_path):
    """Names, times and ids are by chance."""
    for name in ("x", "y"):
        write_dataset(ROWS, tmp_path / name, max_rows_per_file=2).delete("a = 1")

    assert [] == manifest_differences(tmp_path / "x", tmp_path / "y")


def test_what_is_written_otherwise_is_told(tmp_path):
    """By the place in the message."""
    write_dataset(ROWS, tmp_path / "x", max_rows_per_file=2)
    shutil.copytree(tmp_path / "x", tmp_path / "y")
    write_dataset(ROWS, tmp_path / "x", mode="append")
    write_dataset(ROWS.slice(1), tmp_path / "y", mode="append")

    found = manifest_differences(tmp_path / "x", tmp_path / "y")
    assert ["fragments[2].physical_rows: expected 4, found 3"] == found

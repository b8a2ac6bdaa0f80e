"""Tests of the adapter of Daft's integration, where that is."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

pytest.importorskip("daft_lance")


def test_what_is_written_is_scanned_and_changed(tmp_path: Path) -> None:
    """Rows, filters, parts, versions and a new column go to Daft and come back."""
    from lance_conformance.adapters import daft_lance
    from lance_conformance.adapters.scanned import Scan
    from lance_conformance.adapters.skeleton import write_table

    source, uri = str(tmp_path / "in.arrow"), str(tmp_path / "t.lance")
    write_table(source, pa.table({"a": [1, 2, 3], "s": ["x", None, "z"]}))
    asked = {"uri": uri, "input": source}
    daft_lance.write(asked | {"mode": "create", "version": "2.1"})
    daft_lance.write(asked | {"mode": "append"})
    first = daft_lance.scan(Scan(uri, 1, None, None, None, 0))
    found = daft_lance.scan(Scan(uri, None, ["s"], "a > 1", 3, 0))

    assert {"a": [1, 2, 3], "s": ["x", None, "z"]} == first.to_pydict()
    assert ["s"] == found.column_names
    assert 3 == found.num_rows


def test_indices_and_compactions_are_made(tmp_path: Path) -> None:
    """Two fragments become one, and a filter finds through the index."""
    from lance_conformance.adapters import daft_lance
    from lance_conformance.adapters.scanned import Scan
    from lance_conformance.adapters.skeleton import NotClaimed, write_table

    source, uri = str(tmp_path / "in.arrow"), str(tmp_path / "t.lance")
    write_table(source, pa.table({"a": [1, 2, 3]}))
    for mode in ("create", "append"):
        daft_lance.write({"uri": uri, "input": source, "mode": mode})
    daft_lance.mutate({"uri": uri, "verb": "compact"})
    daft_lance.mutate(
        {"uri": uri, "verb": "create_index", "args": {"column": "a", "type": "BTREE"}}
    )
    found = daft_lance.scan(Scan(uri, None, None, "a = 2", None, 0))

    assert [2, 2] == found["a"].to_pylist()
    assert 1 == len(list((tmp_path / "t.lance" / "_indices").iterdir()))
    with pytest.raises(NotClaimed):
        daft_lance.mutate({"uri": uri, "verb": "delete", "args": {"predicate": "a = 1"}})

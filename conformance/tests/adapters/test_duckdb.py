"""Tests of the adapter of DuckDB's extension, where the extension is."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

pytest.importorskip("duckdb_extension_lance")


def test_statements_write_change_and_search(tmp_path: Path) -> None:
    """Rows are written by COPY, changed by statements, and searched by table functions."""
    from lance_conformance.adapters import duckdb
    from lance_conformance.adapters.skeleton import write_table

    held = duckdb.connection()
    rows = pa.table({"a": [1, 2, 3], "v": pa.array([[0.0, 1.0], [1.0, 1.0], [5.0, 5.0]])})
    write_table(str(tmp_path / "in.arrow"), rows)
    uri, out = str(tmp_path / "t.lance"), str(tmp_path / "out.arrow")
    duckdb.write(held, {"uri": uri, "input": str(tmp_path / "in.arrow"), "mode": "create"})
    change = {"predicate": "a = 2"}
    duckdb.mutate(held, {"uri": uri, "verb": "delete", "args": change})
    nearest = {"column": "v", "q": ["0", "0"], "k": 1, "nprobes": 1}
    duckdb.search(held, {"uri": uri, "out": out, "columns": ["a"], "nearest": nearest})

    with pa.OSFile(out) as source:
        found = pa.ipc.open_file(source).read_all()

    assert [1] == found["a"].to_pylist()

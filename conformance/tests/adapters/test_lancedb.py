"""Tests of LanceDB's adapter, where the library is."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

pytest.importorskip("lancedb")


def test_what_is_written_is_read_taken_and_found(tmp_path: Path) -> None:
    """The operations of a table go through its folder and its name."""
    from lance_conformance.adapters import lancedb
    from lance_conformance.adapters.skeleton import write_table

    rows = pa.table({"a": [1, 2, 3], "v": pa.array([[0.0, 1.0], [1.0, 1.0], [5.0, 5.0]])})
    rows = rows.set_column(1, "v", rows["v"].cast(pa.list_(pa.float32(), 2)))
    write_table(str(tmp_path / "in.arrow"), rows)
    request = {"uri": str(tmp_path / "t.lance"), "out": str(tmp_path / "out.arrow")}

    def asked(op: str, **more: object) -> pa.Table:
        answer = lancedb.OPERATIONS[op](request | more)
        with pa.OSFile(answer["out"]) as source:
            return pa.ipc.open_file(source).read_all()

    given = {"input": str(tmp_path / "in.arrow"), "mode": "create", "version": "2.1"}
    lancedb.OPERATIONS["write.dataset"](request | given)
    lancedb.OPERATIONS["mutate"](request | {"verb": "delete", "args": {"predicate": "a = 2"}})
    nearest = {"column": "v", "q": ["0", "0"], "k": 1}

    assert [1, 3] == asked("dataset.read")["a"].to_pylist()
    assert [3] == asked("dataset.take", offsets=["1"])["a"].to_pylist()
    assert [3] == asked("index.search", filter={"sql": "a > 1"})["a"].to_pylist()
    assert [1] == asked("index.search", nearest=nearest)["a"].to_pylist()

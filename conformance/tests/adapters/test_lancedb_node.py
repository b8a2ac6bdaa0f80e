"""Tests of LanceDB's adapter for Node.js, where `NODE_HOME` is a folder with the package."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import lance_conformance
import pyarrow as pa
import pytest
from lance_conformance.adapters.skeleton import write_table
from lance_conformance.session import DEFAULT_LIMITS, Session

ADAPTER = Path(lance_conformance.__file__).parent / "adapters" / "lancedb.mjs"
NODE = shutil.which("node")

pytestmark = pytest.mark.skipif(
    NODE is None or not (Path(os.environ.get("NODE_HOME", "")) / "node_modules/@lancedb").is_dir(),
    reason="@lancedb/lancedb is missing",
)


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    """Start the adapter."""
    assert NODE
    session = Session([NODE, str(ADAPTER)], tmp_path / "scratch")
    yield session
    session.close()


def test_what_is_written_is_read_taken_and_found(session: Session, tmp_path: Path) -> None:
    """The operations of a table go through its folder and its name."""
    source, out = str(tmp_path / "in.arrow"), str(tmp_path / "out.arrow")
    rows = pa.table({"a": [1, 2, 3], "v": pa.array([[0.0, 1.0], [1.0, 1.0], [5.0, 5.0]])})
    rows = rows.set_column(1, "v", rows["v"].cast(pa.list_(pa.float32(), 2)))
    write_table(source, rows)
    request = {"uri": str(tmp_path / "t.lance"), "out": out}

    def asked(op: str, **more: object) -> list[int]:
        session.ask(op, request | more, DEFAULT_LIMITS)
        with pa.OSFile(out) as held:
            return pa.ipc.open_file(held).read_all()["a"].to_pylist()

    given = {"input": source, "mode": "create", "version": "2.1"}
    session.ask("write.dataset", request | given, DEFAULT_LIMITS)
    gone = {"verb": "delete", "args": {"predicate": "a = 2"}}
    session.ask("mutate", request | gone, DEFAULT_LIMITS)

    assert [1, 3] == asked("dataset.read")
    assert [3] == asked("dataset.take", offsets=["1"])
    assert [3] == asked("index.search", filter={"sql": "a > 1"})
    assert [1] == asked("index.search", nearest={"column": "v", "q": ["0", "0"], "k": 1})

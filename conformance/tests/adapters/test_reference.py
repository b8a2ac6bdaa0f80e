"""Tests of the adapters over pylance's names: the reference and the oracle agree on a real file."""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
import pytest
from lance_conformance import oracle
from lance_conformance.output import read_output
from lance_conformance.session import Limits, Session

LIMITS = Limits(20, 2048)
TABLE = pa.table({"a": list(range(10)), "b": [str(n) for n in range(10)]})


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["reference", "pylance"])
def test_every_claimed_operation_answers(name: str, tmp_path: Path) -> None:
    """Files and datasets are read whole, in part and by rows; facts and versions are returned."""
    uri, path = str(tmp_path / "table.lance"), str(tmp_path / "data.lance")
    oracle.lance().write_dataset(TABLE, uri, data_storage_version="2.1")
    with oracle.lance_file().LanceFileWriter(path, TABLE.schema, version="2.0") as writer:
        writer.write_batch(TABLE)
    session = Session(
        [sys.executable, "-m", f"lance_conformance.adapters.{name}"], tmp_path / "scratch"
    )
    out = tmp_path / "out.arrow"

    def ask(op: str, **fields: object) -> dict[str, object]:
        answer = session.ask(op, fields, LIMITS)
        assert answer.response is not None, answer.detail + answer.stderr
        assert "ok" in answer.response, answer.response
        return dict(answer.response["ok"])

    def table(op: str, **fields: object) -> list[int]:
        ask(op, out=str(out), **fields)
        return list(read_output(out)["a"].to_pylist())

    assert list(range(10)) == table("file.read", path=path)
    assert [2, 3] == table("file.read", path=path, ranges=[["2", "4"]], columns=["a"])
    assert [0, 9] == table("file.read", path=path, rows=["0", "9"])
    assert list(range(10)) == table("dataset.read", uri=uri, version="1")
    assert [4, 5] == table("dataset.read", uri=uri, offset="4", limit="2", columns=["a"])
    assert [0, 9] == table("dataset.take", uri=uri, offsets=["0", "9"])
    assert "2.0" == ask("file.inspect", path=path)["version"]
    assert "10" == ask("file.inspect", path=path)["num_rows"]
    assert "1" == ask("dataset.versions", uri=uri)["latest"]
    (tmp_path / "data.lance").write_bytes(b"not Lance")
    refused = session.ask("file.read", {"path": path, "out": str(out)}, LIMITS)
    session.close()

    assert refused.response is not None
    assert "reject" in refused.response

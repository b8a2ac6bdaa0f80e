"""Tests of the adapters of engines: what a request becomes."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from lance_conformance.adapters.scanned import Scan, claims, operations, scan_of
from lance_conformance.adapters.skeleton import NotClaimed
from lance_conformance.protocol import check_response


def test_a_request_becomes_a_scan() -> None:
    """Text becomes numbers; what is not asked for is None."""
    asked = {"uri": "t", "columns": ["a"], "filter": {"sql": "a > 1"}, "limit": "3", "offset": "1"}

    assert Scan("t", None, ["a"], "a > 1", 3, 1) == scan_of(asked)
    assert Scan("t", 7, None, None, None, 0) == scan_of({"uri": "t", "version": "7"})
    assert Scan("t", "old", None, None, None, 0) == scan_of({"uri": "t", "tag": "old"})


@pytest.mark.parametrize("asked", [{"with": ["_rowid"]}, {"branch": "b"}])
def test_what_no_engine_has_is_a_gap(asked: dict[str, object]) -> None:
    """Row ids and branches are not claimed, and nothing is scanned."""
    read = operations(lambda scan: pytest.fail("scanned"))["dataset.read"]
    with pytest.raises(NotClaimed):
        read({"uri": "t", "out": "o", **asked})


def test_messages_keep_to_the_protocol(tmp_path: Path) -> None:
    """Both what an engine says of itself and what it answers."""
    hello = claims({"name": "e", "version": "1", "language": "c"}, {"features": ["blob"]})
    out = str(tmp_path / "out.arrow")
    table = pa.table({"a": [1]})
    body = operations(lambda scan: table)["dataset.read"]({"uri": "t", "out": out})

    assert [] == check_response("hello", {"id": 0, "ok": hello})
    assert [] == check_response("dataset.read", {"id": 1, "ok": body})
    with pa.OSFile(out) as source:
        assert table == pa.ipc.open_file(source).read_all()

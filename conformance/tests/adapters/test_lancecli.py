"""Tests of the adapter of `lancecli`, where the command is."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pylanceref
import pytest

pytest.importorskip("lancecli")

ROWS = pa.table({"a": pa.array([1, 2, 3], pa.int32()), "s": ["x", None, "z"]})


@pytest.fixture
def table(tmp_path: Path) -> str:
    """Give a table of two versions."""
    uri = str(tmp_path / "t.lance")
    pylanceref.write_dataset(ROWS, uri)
    pylanceref.write_dataset(ROWS.slice(1, 1), uri, mode="append")
    return uri


def taken(answer: dict[str, object]) -> pa.Table:
    """Return the table that an answer points at."""
    with pa.OSFile(str(answer["out"])) as source:
        return pa.ipc.open_file(source).read_all()


def test_lines_of_json_become_a_table_again(table: str, tmp_path: Path) -> None:
    """Types are those that the command tells; filters, versions and offsets go to it."""
    from lance_conformance.adapters import lancecli
    from lance_conformance.adapters.scanned import Scan

    out = str(tmp_path / "out.arrow")
    request = {"uri": table, "out": out}
    first = lancecli.scan(Scan(table, 1, None, None, None, 0))
    found = lancecli.search(request | {"filter": {"sql": "a > 1"}, "columns": ["a"]})

    assert ROWS == first
    assert [2, 3, 2] == taken(found)["a"].to_pylist()
    assert ["z", "x"] == taken(lancecli.take(request | {"offsets": ["2", "0"]}))["s"].to_pylist()
    assert "2" == lancecli.versions(request)["latest"]


def test_refusals_and_gaps_are_told_apart(table: str, tmp_path: Path) -> None:
    """A command that fails is a refusal; what JSON cannot say is not asked for."""
    from lance_conformance.adapters import lancecli
    from lance_conformance.adapters.scanned import Scan
    from lance_conformance.adapters.skeleton import NotClaimed

    dated = str(tmp_path / "dated.lance")
    pylanceref.write_dataset(pa.table({"d": pa.array([0], pa.date32())}), dated)

    with pytest.raises(lancecli.Refused):
        lancecli.scan(Scan(str(tmp_path / "nothing.lance"), None, None, None, None, 0))
    with pytest.raises(NotClaimed, match="date32"):
        lancecli.scan(Scan(dated, None, None, None, None, 0))
    with pytest.raises(NotClaimed, match="offsets"):
        lancecli.scan(Scan(table, None, None, None, None, 1))

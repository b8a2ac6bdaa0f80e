"""Tests of the adapter of Polars' plugin, where the plugin is."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

pytest.importorskip("polars_lance")


@pytest.fixture
def table(tmp_path: Path) -> str:
    """Give a table of three rows that the plugin wrote."""
    from lance_conformance.adapters import polars_lance
    from lance_conformance.adapters.skeleton import write_table

    write_table(str(tmp_path / "in.arrow"), pa.table({"a": [1, 2, 3], "s": ["x", None, "z"]}))
    uri = str(tmp_path / "t.lance")
    polars_lance.write({"uri": uri, "input": str(tmp_path / "in.arrow"), "mode": "create"})
    return uri


def test_what_is_written_is_scanned(table: str) -> None:
    """Filters, parts and columns go to the plugin; values keep their types."""
    from lance_conformance.adapters import polars_lance
    from lance_conformance.adapters.scanned import Scan

    whole = polars_lance.scan(Scan(table, None, None, None, None, 0))
    found = polars_lance.scan(Scan(table, None, ["s"], "a > 1", None, 0))
    part = polars_lance.scan(Scan(table, None, ["a"], None, 1, 1))

    assert {"a": [1, 2, 3], "s": ["x", None, "z"]} == whole.to_pydict()
    assert pa.int64() == whole.schema.field("a").type
    assert {"s": [None, "z"]} == found.to_pydict()
    assert {"a": [2]} == part.to_pydict()


@pytest.mark.parametrize(
    "asked", [{"version": "2.1"}, {"version": "2.0", "options": {"enable_stable_row_ids": True}}]
)
def test_what_the_plugin_cannot_choose_is_a_gap(asked: dict[str, object], tmp_path: Path) -> None:
    """Nothing is written where a choice would be passed over."""
    from lance_conformance.adapters import polars_lance
    from lance_conformance.adapters.skeleton import NotClaimed

    request = {"uri": str(tmp_path / "t"), "input": "none", "mode": "create", **asked}
    with pytest.raises(NotClaimed):
        polars_lance.write(request)

    assert not (tmp_path / "t").exists()

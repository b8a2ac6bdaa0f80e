"""Tests of showing what an index holds: a row for each member of each set."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pylanceref
import pytest
from lance_conformance.adapters.dumping import TYPES, dump
from lance_conformance.adapters.searching import TYPES as SEARCHED
from lance_conformance.adapters.skeleton import NotClaimed
from lance_conformance.output import read_output

VALUES = {
    "BTREE": pa.array([3, None, 3], pa.int32()),
    "BITMAP": pa.array([3, None, 3], pa.int32()),
    "LABEL_LIST": pa.array([["a", "a"], None, []]),
    "NGRAM": pa.array(["abc", None, "x"]),
    "ZONEMAP": pa.array([3, None, 5], pa.int32()),
    "BLOOMFILTER": pa.array([3, None, 5], pa.int32()),
    "INVERTED": pa.array(["fox fox", None, "dog"]),
}

HELD = {
    "BTREE": {"value": [None, 3, 3], "row": [1, 0, 2]},
    "BITMAP": {"value": [None, 3, 3], "row": [1, 0, 2]},
    "LABEL_LIST": {"value": ["a", None], "row": [0, 1], "list": [True, False]},
    "NGRAM": {"token": [0, 15516], "row": [1, 0]},
    "INVERTED": {"token": ["dog", "fox"], "row": [2, 0], "frequency": [1, 2]},
}


@pytest.mark.parametrize("type_", TYPES)
def test_what_is_held(type_: str, tmp_path: Path) -> None:
    """By value, then by row; zones as they are stored."""
    uri, out = str(tmp_path / "table.lance"), tmp_path / "out.arrow"
    pylanceref.write_dataset(pa.table({"c": VALUES[type_]}), uri).create_scalar_index("c", type_)
    body = dump({"uri": uri, "index": "c_idx", "out": str(out), "version": "2"})
    found = read_output(out)

    assert str(found.num_rows) == body["num_rows"]
    if type_ in HELD:
        assert HELD[type_] == found.to_pydict()
    else:
        assert [3] == found["zone_length"].to_pylist()


def test_every_type_that_is_asked_is_shown() -> None:
    """Types that are asked are shown but FM, whose texts have no order, and two others."""
    assert SEARCHED == [*TYPES, "FM", "JSON", "RTREE"]


def test_a_type_without_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is not claimed, and says so by its name."""
    uri = str(tmp_path / "table.lance")
    pylanceref.write_dataset(pa.table({"c": [1]}), uri).create_scalar_index("c", "BTREE")
    monkeypatch.setattr("lance_conformance.adapters.dumping._CONTENTS", {})

    with pytest.raises(NotClaimed, match="BTREE"):
        dump({"uri": uri, "index": "c_idx", "out": str(tmp_path / "out.arrow")})

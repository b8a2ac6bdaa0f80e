"""Tests of what a commit left behind."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pylanceref
import pytest
from lance_conformance.left_behind import contradiction, manifest_facts


def test_facts_of_a_manifest(tmp_path: Path) -> None:
    """Numbers of 64 bits are text, lists are there when empty, the transaction is named."""
    pylanceref.write_dataset(pa.table({"a": [1, 2]}), tmp_path)
    facts = manifest_facts(tmp_path)

    assert ("1", 0, []) == (facts["version"], facts["max_fragment_id"], facts["indices"])
    assert {"operation": "overwrite", "read_version": "0"} == facts["transaction"]
    assert "2" == facts["fragments"][0]["physical_rows"]


@pytest.mark.parametrize(
    ("expected", "differs"),
    [
        ({"a": "1"}, False),
        ({"b": [{"c": 1}, {}]}, False),
        ({"gone": None}, False),
        ({"a": None}, True),
        ({"gone": "1"}, True),
        ({"b": [{"c": 1}]}, True),
        ({"b": [{"c": 2}, {}]}, True),
        ({"a": {"c": 1}}, True),
    ],
)
def test_a_subset_is_enough(expected: dict[str, object], differs: bool) -> None:
    """What is expected must be there and equal; lists are whole, null stands for absence."""
    found = {"a": "1", "b": [{"c": 1, "d": 2}, {"c": 5}]}

    assert differs == (contradiction(expected, found, "manifest") is not None)

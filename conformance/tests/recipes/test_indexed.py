"""Tests of tables with an index: the same steps by either writer."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pylanceref
import pytest
from lance_conformance.recipes.indexed import COLUMN, DELETED, NAME, Indexed, made

VALUES = pa.array([n if n % 3 else None for n in range(12)], pa.int32())


def test_what_the_steps_leave(tmp_path: Path) -> None:
    """Twelve rows but one in three fragments; the index covers two of them; then what comes."""
    seen = []
    steps = Indexed(VALUES, "BTREE", {"zone_size": 4}, "2.2", True, seen.append)
    steps(pylanceref, str(tmp_path / "table.lance"))
    dataset = pylanceref.dataset(str(tmp_path / "table.lance"))
    (index,) = dataset.list_indices()

    assert [n for n in range(12) if n != DELETED] == dataset.to_table()["id"].to_pylist()
    assert VALUES.to_pylist() == steps.table[COLUMN].to_pylist()
    assert (NAME, {0, 1}) == (index["name"], set(index["fragment_ids"]))
    assert 3 == dataset.index_statistics(NAME)["indices"][0]["num_pages"]
    assert [4] == [one.version for one in seen]


@pytest.mark.oracle
@pytest.mark.parametrize("type_", ["BTREE", "INVERTED"])
def test_both_write_the_same_files(type_: str, tmp_path: Path) -> None:
    """By name, but for the uuids; who wrote them is kept."""
    values = VALUES.cast(pa.utf8())
    names = {}
    for by in ("oracle", "reference"):
        found = made(Indexed(values, type_), pa.table({}), by=by)()
        assert by == found.made_by
        names[by] = sorted(Path(name).name for name in found.files if "_indices" in name)

    assert names["oracle"] == names["reference"]

"""Rows by their ids, by hand."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import RowNotFound
from lanceref.search.row_locator import positions_of_ids

from ..sql.written import without, write

TABLE = pa.table({"n": range(10)})


@pytest.mark.parametrize("stable", [False, True])
def test_ids_are_found_in_any_order(stable, tmp_path):
    """Also repeated; deleted rows are left out."""
    dataset = write(TABLE, tmp_path, max_rows_per_file=4, enable_stable_row_ids=stable)
    dataset = without(dataset, {0: [1], 1: [0]})
    ids = dataset.to_table(with_row_id=True)["_rowid"].to_pylist()
    gone = 1
    asked = [ids[5], ids[0], gone, ids[5], ids[3]]

    assert [5, 0, 5, 3] == positions_of_ids(dataset._snapshot, asked).tolist()
    assert [7, 0, 7, 5] == dataset._take_rows(asked, ["n"])["n"].to_pylist()
    assert [] == positions_of_ids(dataset._snapshot, []).tolist()


def test_addresses_of_no_row_are_refused(tmp_path):
    """Behind a fragment, or of none; an unknown stable id is only left out."""
    dataset = write(TABLE, tmp_path)
    for address in (10, 1 << 32):
        with pytest.raises(RowNotFound):
            positions_of_ids(dataset._snapshot, [0, address])

    (tmp_path / "s").mkdir()
    stable = write(TABLE, tmp_path / "s", enable_stable_row_ids=True)
    assert [0] == positions_of_ids(stable._snapshot, [0, 99]).tolist()


@pytest.mark.parametrize("stable", [False, True])
def test_rows_are_found_without_a_data_file(stable, tmp_path):
    """The manifest says how many rows fragments have: an index alone answers."""
    dataset = write(TABLE, tmp_path, max_rows_per_file=4, enable_stable_row_ids=stable)
    ids = dataset.to_table(with_row_id=True)["_rowid"].to_pylist()
    for path in Path(dataset.uri, "data").iterdir():
        path.unlink()
    snapshot = pylanceref.dataset(dataset.uri)._snapshot
    assert [9, 4] == positions_of_ids(snapshot, [ids[9], ids[4]]).tolist()

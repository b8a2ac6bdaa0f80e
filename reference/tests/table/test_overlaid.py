"""Columns below overlays: which value a row shows."""

from __future__ import annotations

import lanceref
import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lanceref.core.errors import FormatError
from lanceref.table.file_entries import OverlaidColumn, Patch

from tests.overlaid import ROWS, overlay, table


class Held:
    """A column of an array."""

    def __init__(self, array, run=2):
        self.array, self.type, self.num_rows, self.run = array, array.type, len(array), run

    def scan(self, start, end):
        """Yield runs."""
        for at in range(start, end, self.run):
            yield self.array.slice(at, min(self.run, end - at))

    def take(self, rows):
        """Return rows."""
        return self.array.take(pa.array(rows))

    def check(self):
        """Pass."""


def test_rows_show_the_newest_value(tmp_path):
    """In a scan, in a part of one, taken one by one, and beside deleted rows."""
    dataset = table(tmp_path / "t")
    overlay(dataset, [0, 2], {"a": [100, 102]}, [0])
    found = overlay(dataset, [[2], [0, 1]], {"a": [202, 0], "s": ["X", None]}, [0, 1])

    assert [100, 1, 202, 3, 4, 5] == found.to_table()["a"].to_pylist()
    assert ["X", None, "c", "d", "e", "f"] == found.to_table()["s"].to_pylist()
    assert [202, 3] == found.to_table(columns=["a"], offset=2, limit=2)["a"].to_pylist()
    assert [202, 5, 100] == found.take([2, 5, 0], ["a"])["a"].to_pylist()
    assert [202] == found.to_table(filter="a = 202")["a"].to_pylist()
    found.delete("a = 100")
    assert [1, 202, 3, 4, 5] == pylanceref.dataset(found.uri).to_table()["a"].to_pylist()


@pytest.mark.parametrize("rows", [{"x": [101]}, {"n": [{"x": 101}]}])
def test_a_field_below_a_struct_lies_alone_or_in_it(tmp_path, rows):
    """The other field and the struct stay."""
    found = overlay(table(tmp_path / "t"), [1], rows, [3])

    assert [{"x": 0, "y": 0}, {"x": 101, "y": 1}] == found.to_table()["n"].to_pylist()[:2]
    assert ROWS["n"].to_pylist()[2:] == found.to_table()["n"].to_pylist()[2:]


def test_fewer_values_than_offsets_are_refused(tmp_path):
    """With the place of the file's descriptor."""
    found = overlay(table(tmp_path / "t"), [0, 1], {"a": [7]}, [0])
    with pytest.raises(FormatError) as caught:
        found.to_table()

    assert "L.table.overlay.values" == caught.value.clause
    assert ["L.table.overlay.values"] == [
        one.clause for one in lanceref.validate(found.uri, deep=True)
    ]


PATCHES = st.lists(st.dictionaries(st.integers(0, 9), st.none() | st.integers(0, 99)), max_size=4)


@settings(max_examples=50)
@given(PATCHES, st.integers(0, 10), st.integers(0, 10), st.integers(1, 4))
def test_every_way_to_the_rows_shows_the_same(patches, start, end, run):
    """A loop over the patches says what."""
    wanted = list(range(100, 110))
    held = []
    for patch in patches:
        for row, value in patch.items():
            wanted[row] = value
        offsets = np.array(sorted(patch), np.int64)
        values = pa.array([patch[row] for row in sorted(patch)], pa.int64())
        held.append(Patch((), offsets, Held(values), 0))
    column = OverlaidColumn(Held(pa.array(range(100, 110), pa.int64()), run), held)

    scanned = [value for array in column.scan(start, end) for value in array.to_pylist()]
    assert wanted[start:end] == scanned
    assert wanted[start:end] == column.take(np.arange(start, max(start, end))).to_pylist()


@pytest.mark.oracle
def test_the_oracle_shows_the_same(tmp_path, monkeypatch):
    """Of a table that we made, with lists, structs and deleted rows; and its own we read."""
    monkeypatch.setenv("LANCE_ENABLE_UNSTABLE_DATA_OVERLAY_FILES", "1")
    import lance

    dataset = table(tmp_path / "t", enable_stable_row_ids=True)
    overlay(dataset, [0, 2], {"a": [100, 102]}, [0])
    overlay(dataset, [1], {"n": [{"x": 9, "y": 8}]}, [3, 4])
    lance.dataset(dataset.uri).delete("a = 4")
    ours, theirs = pylanceref.dataset(dataset.uri), lance.dataset(dataset.uri)
    system = ["_rowid", "_row_last_updated_at_version"]

    columns = [*ROWS.column_names, *system]
    assert theirs.to_table(columns).to_pylist() == ours.to_table(columns).to_pylist()
    theirs.optimize.compact_files()
    again = pylanceref.dataset(dataset.uri)
    assert ours.to_table(columns).to_pylist() == again.to_table(columns).to_pylist()


@pytest.mark.parametrize(
    ("offsets", "fields"), [([1], [3]), ([1], [4]), ([[1], [0]], [3, 4]), ([1], [3, 4])]
)
def test_lists_are_covered_whole(tmp_path, offsets, fields):
    """Parts of one, or other rows of each part, are refused."""
    rows = pa.table({"k": [1, 2], "l": [[{"x": 1, "y": 2}], []]})
    dataset = pylanceref.write_dataset(rows, str(tmp_path / "t"), data_storage_version="2.1")
    assert [3, 4] == dataset._snapshot.manifest.message.fragments[0].files[0].fields[-2:]
    names = {3: "x", 4: "y"}
    values = {"l": [[{names[one]: 7 for one in fields}]]}
    found = overlay(dataset, offsets, values, fields)
    if offsets == [1] and len(fields) == 2:
        assert [{"x": 7, "y": 7}] == found.to_table()["l"].to_pylist()[1]
        return
    with pytest.raises(FormatError) as caught:
        found.to_table()
    assert "L.table.overlay.coverage" == caught.value.clause

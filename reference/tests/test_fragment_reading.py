"""Reading a fragment."""

from __future__ import annotations

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import RowNotFound

ROWS = pa.table({"a": range(10), "b": [f"{i}" for i in range(10)]})


@pytest.fixture
def fragment(tmp_path):
    """The second of two fragments of five rows, of which one is deleted."""
    made = pylanceref.write_dataset(ROWS, tmp_path / "t", max_rows_per_file=5)
    made.delete("a = 6")
    return made.get_fragments()[1]


def test_a_scan_has_its_arguments_by_position_too(fragment):
    """In the order of pylance; of a scanner and of batches all are named."""
    wanted = {"columns": ["a"], "filter": "a > 5", "limit": 2, "offset": 1}

    assert [8, 9] == fragment.to_table(["a"], "a > 5", 2, 1)["a"].to_pylist()
    assert fragment.to_table(**wanted) == fragment.to_table(["a"], "a > 5", 2, 1)
    assert ["a", "_rowid"] == fragment.to_table(["a"], None, None, None, True).column_names
    assert fragment.to_table(**wanted) == fragment.scanner(**wanted).to_table()
    assert fragment.to_table(**wanted) == pa.Table.from_batches(fragment.to_batches(**wanted))
    frame = fragment.to_pandas(["a"], "a > 5", 2, 1, None, True)
    assert (["a", "_rowid"], [8, 9]) == (list(frame.columns), list(frame["a"]))
    with pytest.raises(TypeError, match="takes at most 1 positional"):
        fragment.scanner(["a"])


def test_rows_are_counted_and_taken_by_position(fragment):
    """Deleted rows are none."""
    assert (4, 5, 1) == (fragment.count_rows(), fragment.physical_rows, fragment.num_deletions)
    assert 2 == fragment.count_rows("a > 7")
    assert [9, 5, 7] == fragment.take([3, 0, 1], ["a"])["a"].to_pylist()
    assert [5, 7] == fragment.head(2)["a"].to_pylist()
    assert [7] == fragment.open_session(["a"]).take([1])["a"].to_pylist()
    with pytest.raises(RowNotFound):
        fragment.take([4])


def test_a_fragment_tells_of_itself(fragment):
    """What the manifest says of it."""
    assert 1 == fragment.fragment_id == fragment.metadata.id
    assert ROWS.schema == fragment.schema
    assert fragment.metadata.files == fragment.data_files()
    assert fragment.deletion_file().startswith("_deletions/1-")

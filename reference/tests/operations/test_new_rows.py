"""New rows of a table."""

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import DataRefused
from lanceref.operations.new_rows import consecutive_runs, give_ids, write_new_rows
from lanceref.proto import table_pb2
from lanceref.storage.protocol import Draft
from lanceref.transactions.row_lineage import moved_ids
from pylanceref.file import LanceFileReader

from tests.operations.tables import table


def test_rows_are_written_in_the_schema_of_the_table(tmp_path):
    """Into files of a bounded number of rows; the table does not change."""
    made = table(tmp_path)
    batches = made.to_batches()
    new = write_new_rows(made._snapshot, batches, Draft(), max_rows=4)

    assert [4, 4, 1] == [one.physical_rows for one in new.fragments]
    assert [0, 1, 3, 4] == list(new.fragments[0].files[0].fields)
    assert 9 == len(pylanceref.dataset(tmp_path))


def test_a_failure_leaves_no_file(tmp_path):
    """The second batch is of another type."""
    made = table(tmp_path)
    before = sorted(one.name for one in (tmp_path / "data").iterdir())
    wrong = pa.record_batch({"a": ["x"], "b": [1], "s": [{"x": 1, "y": "1"}]})
    with pytest.raises(DataRefused):
        write_new_rows(made._snapshot, [*made.to_batches(), wrong], Draft())

    assert before == sorted(one.name for one in (tmp_path / "data").iterdir())


def test_rows_of_a_scan_fill_their_pages(tmp_path):
    """Small parts of large arrays count with their own bytes: 2 MiB are one page."""
    made = pylanceref.write_dataset(pa.table({"a": range(3)}), tmp_path)
    rows = pa.record_batch({"a": pa.array(range(2 << 20))})
    parts = [rows.slice(start, 4096) for start in range(0, 256 * 1024, 4096)]

    (fragment,) = write_new_rows(made._snapshot, parts, Draft()).fragments

    file = LanceFileReader(str(tmp_path / "data" / fragment.files[0].path))
    assert [len(column.pages) for column in file.metadata().columns] == [1]


def test_ids_go_with_the_rows():
    """The first rows have them, in their order; a fragment without any has an empty list."""
    fragments = [table_pb2.DataFragment(physical_rows=2) for _ in range(3)]
    give_ids(fragments, [np.array([7], np.uint64), np.array([], "u8"), np.array([3, 9], "u8")])

    assert [[7, 3], [9], []] == [moved_ids(one).tolist() for one in fragments]
    assert all(one.HasField("inline_row_ids") for one in fragments)


def test_ids_are_cut_where_they_do_not_go_on():
    """Neighbours stay together: a merge gives each run of them a segment."""
    assert [[7], [3, 4, 5], [9]] == [
        part.tolist() for part in consecutive_runs(np.array([7, 3, 4, 5, 9], np.uint64))
    ]

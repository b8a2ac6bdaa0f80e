"""Rows that pass a filter."""

import lanceref
import numpy as np
import pyarrow as pa
import pytest
from lanceref.query.rows import chosen_rows, condition


@pytest.fixture
def table(tmp_path):
    """Three fragments of ten thousand rows, with some deleted."""
    wide = pa.array(np.random.default_rng(7).random((30_000, 16)).reshape(-1))
    data = pa.table({"a": range(30_000), "v": pa.FixedSizeListArray.from_arrays(wide, 16)})
    made = lanceref.write_dataset(data, tmp_path, max_rows_per_file=10_000)
    made.delete("a in (5, 10005)")
    return made


def _chosen(table, text, offset=0, limit=None):
    wanted = condition(table._snapshot, text)
    found = chosen_rows(table._snapshot.fragments, wanted, offset, limit)
    return [(rows.fragment.id, positions.tolist()) for rows, positions in found]


def test_positions_count_live_rows(table):
    """Row 6 is the sixth that is left of its fragment."""
    assert [(0, [5]), (1, [5])] == _chosen(table, "a in (6, 10006)")


def test_offset_and_limit_count_rows_that_pass(table):
    """Over fragments; once there are enough no other is looked at."""
    assert [(1, [5]), (2, [0])] == _chosen(table, "a in (6, 10006, 20000, 20001)", 1, 2)
    table.io_stats_incremental()
    _chosen(table, "a < 3", 0, 2)
    one = table.io_stats_incremental().read_bytes
    _chosen(table, "a < 3")
    assert one < table.io_stats_incremental().read_bytes / 2


def test_a_selective_filter_reads_few_other_bytes(table):
    """The column of the filter is read, of the other one two rows."""
    table.io_stats_incremental()
    found = table.to_table(["v"], filter="a in (7, 20007)")
    few = table.io_stats_incremental().read_bytes
    table.to_table(["v"])
    whole = table.io_stats_incremental().read_bytes

    assert 2 == len(found)
    assert few < whole / 8


@pytest.mark.parametrize("text", ["a % 2 = 0", "a % 1000 = 6", "a < 7", "a > 29000", "a = -1"])
def test_many_or_few_rows_are_the_same_rows(table, text):
    """Whether they are taken or scanned for."""
    every = table.to_table(with_row_id=True)
    mask = condition(table._snapshot, text).filter.mask(
        every.select(["a"]).combine_chunks().to_batches()[0]
    )

    assert every.filter(pa.array(mask)).equals(table.to_table(filter=text, with_row_id=True))
    assert int(mask.sum()) == table.count_rows(text)

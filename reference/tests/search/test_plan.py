"""Which rows are looked at, by hand."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from lanceref.search.index_plan import Known, bounded_fields, boundings, possible_ranges
from pylanceref.sql.columns import condition

from ..sql.written import without, write

TABLE = pa.table(
    {"n": range(100), "f": [float(n) for n in range(100)], "l": [[n] for n in range(100)]}
)


@pytest.fixture
def old(tmp_path):
    """Ten batches of ten rows in one file of 0.1; three rows are deleted."""
    dataset = write(
        TABLE.drop_columns("l"), tmp_path, data_storage_version="0.1", max_rows_per_group=10
    )
    return without(dataset, {0: [0, 12, 99]})


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("n = 25", [(18, 28)]),
        ("n = 25 or n = 3", [(0, 97)]),
        ("n in (5, 95)", [(0, 97)]),
        ("n < 5 and f >= 0", [(0, 9)]),
        ("n >= 90", [(88, 97)]),
        ("n > 1000", []),
        ("f between 15 and 24", [(9, 28)]),
        ("f > 50", [(0, 97)]),
        ("n is null", []),
    ],
)
def test_batches_that_can_hold_no_row_are_left_out(old, text, wanted):
    """Positions count the live rows."""
    snapshot = old._snapshot
    asked = condition(snapshot, text)

    assert tuple(wanted) == possible_ranges(asked.bounds, snapshot.fragments[0])
    assert sum(end - start for start, end in wanted) == asked.num_candidates(snapshot.fragments[0])


def test_files_without_statistics_are_looked_at_whole(tmp_path):
    """Those from 2.0 on."""
    snapshot = write(TABLE, tmp_path, data_storage_version="2.0")._snapshot
    (rows,) = snapshot.fragments

    asked = condition(snapshot, "n = 1")
    assert asked.bounds
    assert ((0, 100),) == possible_ranges(asked.bounds, rows)


def test_system_columns_and_lists_have_no_bounds(old):
    """What is stored otherwise than it reads has none either."""
    snapshot = old._snapshot
    predicate = condition(snapshot, "_rowid = 3 and n = 1").filter.predicate

    assert ["_rowid", "n"] == [one.path for one in boundings(predicate)]
    assert ["n"] == [one.path for one, _ in bounded_fields(predicate, snapshot.manifest.schema)]


def test_an_exact_plan_is_believed(old):
    """The filter is not asked about what a plan is sure of."""

    class Index:
        """Knows three rows."""

        def ask(self, rows):
            mask = np.zeros(rows.num_rows, np.bool_)
            mask[[1, 2, 5]] = True
            return Known(mask, True)

    snapshot = old._snapshot
    bound = condition(snapshot, "n = 77")
    sure = type(bound)(bound.filter, bound.projection, Index())

    assert [1, 2, 5] == sure.positions(snapshot.fragments[0]).tolist()
    assert 3 == sure.num_candidates(snapshot.fragments[0])

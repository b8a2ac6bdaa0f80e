"""Rows that pass a filter and how they are read."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from lanceref.search import rows as query_rows
from lanceref.search.projection import scan_projection
from lanceref.search.rows import Passed, passing_rows, read_passed
from pylanceref.sql.columns import condition

from ..sql.written import without, write

NUM_ROWS = 200_000
TABLE = pa.table(
    {
        "n": pa.array(range(NUM_ROWS)),
        "wide": pa.array([f"{n:0100d}" for n in range(NUM_ROWS)]),
        "st": pa.array([{"a": n, "b": f"{n:0100d}"} for n in range(NUM_ROWS)]),
    }
)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """Two fragments; some rows are deleted."""
    written = write(TABLE, tmp_path_factory.mktemp("rows"), max_rows_per_file=150_000)
    return without(written, {0: [0, 7, 99_999]})


def bytes_of(dataset, **scan) -> tuple[pa.Table, int]:
    """Return what a scan finds, and the bytes it reads."""
    dataset.io_stats_incremental()
    return dataset.to_table(**scan), dataset.io_stats_incremental().read_bytes


def test_a_selective_filter_reads_less(dataset):
    """Only its own column, and of the others what passes."""
    everything = bytes_of(dataset)[1]
    own = bytes_of(dataset, columns=["n"])[1]
    found, late = bytes_of(dataset, filter="n = 99998")

    assert [99_998] == found["n"].to_pylist()
    assert late < own + everything / 20
    assert bytes_of(dataset, filter="n = -1")[1] <= own * 1.1


def test_late_materialization_says_what_is_read_for_every_row(dataset):
    """None, all, or some of the columns; the rows are the same."""
    late, few = bytes_of(dataset, columns=["wide", "n"], filter="n = 5", late_materialization=True)
    early, all_ = bytes_of(
        dataset, columns=["wide", "n"], filter="n = 5", late_materialization=False
    )
    some = bytes_of(dataset, columns=["wide", "n"], filter="n = 5", late_materialization=["wide"])

    assert late == early == some[0]
    assert few * 5 < all_
    assert some[1] <= few


def test_only_the_parts_that_are_asked_for_are_read(dataset):
    """By the filter and by the projection."""
    part = bytes_of(dataset, columns=["st.a"], filter="st.a > 5")[1]

    assert part * 5 < bytes_of(dataset, columns=["st"])[1]
    assert (
        bytes_of(dataset, columns={"x": "st.a + 1"})[1] * 5 < bytes_of(dataset, columns=["st"])[1]
    )


def test_a_limit_ends_the_reading(dataset):
    """After the run that had enough rows."""
    assert (
        bytes_of(dataset, columns=["n"], filter="n >= 0", limit=5)[1]
        < (bytes_of(dataset, columns=["n"], filter="n >= 0")[1])
    )


@pytest.mark.parametrize(
    ("text", "count"), [("n >= 0", NUM_ROWS - 3), ("n % 3 = 0", 66_665), ("n < 10", 8)]
)
@pytest.mark.parametrize("run", [1 << 16, 1000])
def test_many_and_few_rows_are_read_alike(dataset, text, count, run, monkeypatch):
    """By a scan or one by one, in runs of any size."""
    monkeypatch.setattr(query_rows, "RUN_ROWS", run)
    found = dataset.to_table(filter=text, columns=["st", "n"])

    assert count == found.num_rows == dataset.count_rows(text)
    assert found["n"].to_pylist() == [one["a"] for one in found["st"].to_pylist()]


def test_offset_and_limit_count_rows_that_pass(dataset):
    """Over fragments too."""
    snapshot = dataset._snapshot
    wanted = condition(snapshot, "n % 50000 = 1")
    found = [
        (passed.rows.fragment.id, *passed.positions.tolist())
        for passed in passing_rows(snapshot.fragments, wanted, 1, 2)
    ]

    assert [(0, 49_999), (0, 99_998)] == found
    assert [] == list(passing_rows(snapshot.fragments, wanted, 0, 0))


def test_positions_are_read_in_batches(dataset):
    """Of the size asked for."""
    snapshot = dataset._snapshot
    projection = scan_projection(snapshot.manifest.schema, ["n"])
    positions = np.array([0, 5, 6, 7], np.int64)
    batches = read_passed(Passed(snapshot.fragments[0], positions), projection, 3)

    assert [[1, 6, 8], [9]] == [batch["n"].to_pylist() for batch in batches]


def test_pages_are_skipped_by_their_statistics(tmp_path):
    """In files of 0.1: fewer bytes, the same rows."""
    table = TABLE.select(["n", "wide"]).slice(0, 50_000)
    old = write(table, tmp_path, data_storage_version="0.1", max_rows_per_group=1000)
    old.to_table(limit=1)
    with_, few = bytes_of(old, filter="n = 41500")
    without_, many = bytes_of(old, filter="n = 41500", use_stats=False)

    assert with_ == without_
    assert [41_500] == with_["n"].to_pylist()
    assert few * 5 < many

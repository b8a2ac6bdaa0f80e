"""Rows by filter, id or list: found, ordered, cut into batches and read."""

import pyarrow as pa
import pylanceref
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.errors import RowNotFound
from lanceref.search.row_locator import positions_of_ids
from lanceref.search.rows import Condition
from pylanceref.scanner import ColumnOrdering, resize_batches, sort_order

from ..index.tables import write

SIZES = st.lists(st.integers(0, 9), max_size=6)


def batches(sizes):
    """Return batches of these sizes, counting on."""
    at = 0
    for size in sizes:
        yield pa.record_batch({"n": pa.array(range(at, at + size), pa.int64())})
        at += size


@given(SIZES, st.integers(1, 12))
def test_strict_batches_have_one_size(sizes, rows):
    """All but the last, and nothing is lost; of rows without columns too."""
    found = list(resize_batches(batches(sizes), rows, None, strict=True))
    bare = resize_batches((batch.select([]) for batch in batches(sizes)), rows, None, strict=True)

    assert [batch.num_rows for batch in found] == [batch.num_rows for batch in bare]
    assert list(range(sum(sizes))) == [n for batch in found for n in batch["n"].to_pylist()]
    assert all(rows == batch.num_rows for batch in found[:-1])
    assert all(0 < batch.num_rows <= rows for batch in found)


@given(SIZES, st.integers(0, 80))
def test_bytes_bound_batches(sizes, size_bytes):
    """Of 8 bytes a row; a row alone may be larger."""
    found = list(resize_batches(batches(sizes), 100, size_bytes, strict=False))

    assert list(range(sum(sizes))) == [n for batch in found for n in batch["n"].to_pylist()]
    assert all(batch.nbytes <= max(size_bytes, 8) for batch in found if size_bytes)


@given(st.lists(st.tuples(st.none() | st.integers(0, 3), st.none() | st.integers(0, 3))))
def test_order_is_that_of_tuples(rows):
    """Two keys, nulls last."""
    keys = [pa.array([row[n] for row in rows], pa.int8()) for n in (0, 1)]
    found = sort_order(keys, [ColumnOrdering("a"), ColumnOrdering("b")]).tolist()
    wanted = sorted(range(len(rows)), key=lambda at: [(one is None, one or 0) for one in rows[at]])

    assert wanted == found


TABLE = pa.table({"n": range(10)})


@pytest.mark.parametrize("stable", [False, True])
def test_ids_are_found_in_any_order(stable, tmp_path):
    """Also repeated; deleted rows are left out."""
    dataset = write(TABLE, tmp_path, max_rows_per_file=4, enable_stable_row_ids=stable)
    dataset.delete("n in (1, 4)")
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


@pytest.fixture(scope="module")
def five(tmp_path_factory):
    """Five fragments of 20 rows, the last of which no index covers."""
    table = pa.table({"n": range(100), "m": [one % 10 for one in range(100)]})
    root = tmp_path_factory.mktemp("five")
    written = write(table.slice(0, 80), root, max_rows_per_file=20)
    written.create_scalar_index("n", "BTREE")
    written.create_scalar_index("m", "BITMAP")
    return pylanceref.write_dataset(table.slice(80), root / "t", mode="append")


@pytest.mark.parametrize(
    ("asked", "visited"),
    [
        ("n = 7", {0, 4}),
        ("n in (7, 45)", {0, 2, 4}),
        ("n = 1000", {4}),
        ("not (n = 7)", {0, 1, 2, 3, 4}),
        ("n = 7 and m = 7", {0, 4}),
        ("n = 7 or n = 61", {0, 3, 4}),
        ("n = 7 or m = 3", {0, 1, 2, 3, 4}),
        ("n >= 40 and n < 45 and not (m = 3)", {2, 4}),
        ("n = 7 and m + 1 = 8", {0, 4}),
    ],
)
def test_a_question_goes_to_the_fragments_of_its_rows(five, asked, visited, monkeypatch):
    """And to those that no index covers; what is found is what a scan finds."""
    opened, seen, passed = pylanceref.dataset(five.uri), set(), Condition.passed

    def spied(wanted, rows, early=()):
        seen.add(rows.fragment.id)
        return passed(wanted, rows, early)

    scanned = five.to_table(filter=asked, use_scalar_index=False)
    monkeypatch.setattr(Condition, "passed", spied)

    assert scanned == opened.to_table(filter=asked)
    assert visited == seen


NUM_ROWS = 200_000


MANY = pa.table(
    {
        "n": pa.array(range(NUM_ROWS)),
        "wide": pa.array([f"{n:0100d}" for n in range(NUM_ROWS)]),
        "st": pa.array([{"a": n, "b": f"{n:0100d}"} for n in range(NUM_ROWS)]),
    }
)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """Two fragments; some rows are deleted."""
    written = write(MANY, tmp_path_factory.mktemp("rows"), max_rows_per_file=150_000)
    written.delete("n in (0, 7, 99999)")
    return written


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

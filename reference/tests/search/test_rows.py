"""Rows by filter, id or list, of one version: found, ordered, cut into batches and read."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pylanceref
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.comparison import sort_order
from lanceref.core.context import Context
from lanceref.core.errors import NotFound, RowNotFound
from lanceref.file.schema import parse_schema
from lanceref.proto.file_pb2 import Field
from lanceref.search.row_locator import positions_of_ids
from lanceref.search.rows import Condition
from lanceref.search.snapshot import positions_of, scan_projection, take_projection
from pylanceref.scanner import resize_batches

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
    found = sort_order(keys, [(True, False), (True, False)]).tolist()
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


@pytest.mark.parametrize(
    ("stable", "ids", "version"), [(False, [0, 2, 1 << 32, 2 << 32], 1), (True, [0, 2, 3, 4], 3)]
)
def test_rows_have_addresses_ids_and_versions(stable, ids, version, tmp_path):
    """Of four rows one is deleted; that a fifth is of version 3 is known by its stable id."""
    dataset = write(TABLE[:4], tmp_path, max_rows_per_file=3, enable_stable_row_ids=stable)
    dataset.delete("n = 1")
    dataset.insert(TABLE[9:])
    versions = ["_row_created_at_version", "_row_last_updated_at_version"]
    found = dataset.to_table(columns=["_rowaddr", "_rowid", *versions])

    wanted = [0, 2, 1 << 32, 2 << 32], ids, [1, 1, 1, version], [1, 1, 1, version]
    assert [*wanted] == [column.to_pylist() for column in found.columns]


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
        *(("n = 7", {0, 4}), ("n in (7, 45)", {0, 2, 4}), ("n = 1000", {4})),
        ("not (n = 7)", {0, 1, 2, 3, 4}),
        *(("n = 7 and m = 7", {0, 4}), ("n = 7 or n = 61", {0, 3, 4})),
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
    third = dataset.to_table(filter="n % 3 = 0 and n < 90000")
    assert [f"{n:0100d}" for n in range(3, 90_000, 3)] == third["wide"].to_pylist()
    assert [99_998] == found["n"].to_pylist()
    assert late < own + everything / 20
    assert bytes_of(dataset, filter="n = -1")[1] <= own * 1.1


def test_row_numbers_are_checked_before_anything_is_read():
    """Lists, arrays of both libraries, any integer type."""
    for rows in ([2, 0], np.array([2, 0], np.uint8), pa.array([2, 0], pa.int16())):
        assert [2, 0] == positions_of(rows, 3).tolist()
    assert [] == positions_of([], 0).tolist()
    for rows, error in (
        ([3], RowNotFound),
        ([2**64 - 1], RowNotFound),
        ([-1], OverflowError),
        ([2**64], OverflowError),
        (np.array([-1]), RowNotFound),
    ):
        with pytest.raises(error):
            positions_of(rows, 3)


def test_positions_are_integers():
    """Positions that are no integers raise TypeError, whatever holds them."""
    for rows in ([1.5], pa.array([1.0]), np.array([0.0])):
        with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
            positions_of(rows, 4)
    assert [] == positions_of([], 4).tolist()


NESTED = pa.list_(pa.list_(pa.int8(), 2), 2)


@pytest.mark.parametrize("columns", [["a"], ["a", "n"], ["n"], []])
@pytest.mark.parametrize("version", ["0.1", "2.1"])
def test_batches_are_cut_at_the_same_rows(tmp_path, columns, version):
    """Of 30 rows in fragments of 20, one deleted: 8, 8 and the rest, whatever is read."""
    rows = pa.table({"a": range(30), "n": pa.array([[[n, n], [n, 1]] for n in range(30)], NESTED)})
    made = pylanceref.write_dataset(
        rows, tmp_path, max_rows_per_file=20, data_storage_version=version
    )
    made.delete("a = 3")
    scanner = made.scanner(columns=columns, batch_size=8, with_row_id=True)
    batches = list(scanner.to_batches())

    assert [8, 8, 3, 8, 2] == [batch.num_rows for batch in batches]
    kept = rows.filter(pc.field("a") != 3).select(columns)
    assert kept == pa.Table.from_batches(batches).select(columns)


PLACE = Context("m")


def _field(number, parent, name, type_, nullable=True):
    return Field(id=number, parent_id=parent, name=name, logical_type=type_, nullable=nullable)


SCHEMA = parse_schema(
    [
        _field(0, -1, "a", "int64", nullable=False),
        _field(1, -1, "s", "struct"),
        _field(2, 1, "x", "int32", nullable=False),
        _field(3, 1, "t", "struct"),
        _field(4, 3, "p", "string"),
        _field(5, 3, "q", "string"),
    ],
    {},
    PLACE,
    PLACE.at(0),
)


def test_a_nested_part_is_null_where_its_parents_are():
    """So it is nullable where anything above it is, in its type and in its values."""
    projection = scan_projection(SCHEMA, ["s.x"])
    (field,) = projection.fields
    struct = pa.array([{"x": 1}, None], field.arrow.type)

    assert projection.schema.field("s.x").nullable
    assert [1, None] == projection.batch(2, [struct])["s.x"].to_pylist()


def test_only_what_is_asked_for_is_read():
    """Pruned fields; a struct that is also asked for whole is read once."""
    (one,) = scan_projection(SCHEMA, ["s.t.p"]).fields
    (whole,) = scan_projection(SCHEMA, ["s.x", "s"]).fields

    assert [1, 3, 4] == [field.id for field in one.flat()]
    assert 5 == len(list(whole.flat()))


@pytest.mark.parametrize("name", ["z", "s.z", "a.x", "s.t.z", "", "."])
@pytest.mark.parametrize("resolve", [scan_projection, take_projection])
def test_an_unknown_name_is_not_found(name, resolve):
    """A name that no field has is not found, at any depth."""
    with pytest.raises(NotFound):
        resolve(SCHEMA, [name])

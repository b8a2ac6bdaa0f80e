"""Scanner face: rows, batches, plans and refused arguments, by hand and as with the oracle."""

import pickle
import re

import pyarrow as pa
import pylanceref
import pyroaring
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.table.hand_made import FIELDS, put
from tests.table.manifests import minimal


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """Three fragments of 6, 1 and 9 rows; rows 1, 2 and 5 of the first are deleted."""
    entry = {"file_type": 1, "id": 1, "num_deleted_rows": 3}
    root = put(
        tmp_path_factory.mktemp("scan") / "t",
        minimal(
            fields=FIELDS,
            fragments=[
                {"id": 0, "physical_rows": 6, "deletion_file": entry},
                {"id": 4, "physical_rows": 1},
                {"id": 7, "physical_rows": 9},
            ],
            schema_metadata={"k": b"v"},
            reader_feature_flags=1,
            writer_feature_flags=1,
        ),
    )
    (root / "_deletions").mkdir()
    (root / "_deletions" / "0-0-1.bin").write_bytes(pyroaring.BitMap([1, 2, 5]).serialize())
    return pylanceref.dataset(root)


LIVE = [0, 3, 4, 4 << 32, *((7 << 32) + row for row in range(9))]
"""Addresses of the rows that are left."""

NUMBERS = st.none() | st.integers(0, 20)


@given(NUMBERS, NUMBERS, st.none() | st.integers(1, 20))
def test_limit_and_offset_cut_the_list_of_live_rows(dataset, limit, offset, batch_size):
    """Any of them; no batch is larger than asked, none crosses a fragment, none is empty."""
    scanner = dataset.scanner(["_rowaddr", "a"], limit=limit, offset=offset, batch_size=batch_size)
    wanted = LIVE[offset or 0 :][:limit]
    batches = list(scanner.to_batches())

    assert wanted == scanner.to_table()["_rowaddr"].to_pylist()
    if limit is None and offset is None:
        assert len(wanted) == scanner.count_rows()
    assert all(0 < batch.num_rows <= (batch_size or 8192) for batch in batches)
    assert all(1 == len({v >> 32 for v in batch["_rowaddr"].to_pylist()}) for batch in batches)


def test_schemas_and_readers(dataset):
    """The schema keeps the table's metadata; a reader streams the rows; no scan is pickled."""
    scanner = dataset.scanner(["a"], with_row_id=True)

    assert dataset.schema == scanner.dataset_schema
    assert pa.schema([("a", pa.int32()), ("_rowid", pa.uint64())]) == scanner.projected_schema
    assert {b"k": b"v"} == scanner.projected_schema.metadata
    assert scanner.to_reader().read_all() == scanner.to_table()
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(scanner)


def test_a_plan_can_be_run_and_measured(tmp_path):
    """Rows of the result, rows that were looked at, requests and bytes."""
    made = pylanceref.write_dataset(pa.table({"a": range(100), "b": range(100)}), tmp_path)
    plan = made.scanner(["b"], filter="a < 50").analyze_plan()
    assert re.search(
        r"^ +LanceRead: projection=\[a\].*output_rows=50.*rows_scanned=100", plan, re.M
    )
    assert re.search(r"bytes_read=[1-9]\d*, iops=[1-9]\d*, requests=[1-9]", plan)
    assert "Take: columns=(b), projection=[b], source=stream" in made.scanner(
        ["b"], filter="a < 50"
    ).explain_plan(True)
    assert "output_rows=100" in made.scanner().analyze_plan()


def test_what_was_read_is_told_at_the_end(tmp_path):
    """Once for a scan, when its last batch was taken; a scan that is not run is silent."""
    pylanceref.write_dataset(pa.table({"a": range(100), "b": range(100)}), tmp_path)
    told = []
    for asked in ({}, {"filter": "a < 50"}, {"columns": ["b"], "limit": 3}):
        scanner = pylanceref.dataset(tmp_path).scanner(**asked, scan_stats_callback=told.append)
        assert [] == told
        scanner.to_table()
        (one,) = told
        assert one.iops == one.requests > 0 < one.bytes_read
        assert one.all_counts["bytes_read"] == one.bytes_read
        told.clear()


def test_the_environment_says_how_long_batches_are(tmp_path, monkeypatch):
    """The environment sets the length of batches unless the caller does."""
    made = pylanceref.write_dataset(pa.table({"a": range(100)}), tmp_path)
    monkeypatch.setenv("LANCE_DEFAULT_BATCH_SIZE", "30")
    assert [30, 30, 30, 10] == [one.num_rows for one in made.to_batches()]
    assert [50, 50] == [one.num_rows for one in made.to_batches(batch_size=50)]


def test_a_fast_search_looks_where_an_index_knows(tmp_path):
    """Fragments that an index does not cover are left out; where none is asked all are read."""
    rows = pa.table({"i": range(10), "j": range(10), "k": range(10), "s": ["abc"] * 10})
    made = pylanceref.write_dataset(rows, tmp_path)
    made.create_scalar_index("i", "BTREE")
    made.create_scalar_index("s", "NGRAM")
    made.insert(rows.slice(0, 5))
    made.create_scalar_index("k", "BITMAP")

    def found(**scan) -> list[int]:
        return made.to_table(["i"], fast_search=True, **scan)["i"].to_pylist()

    assert [0, 1, 2] == found(filter="i < 3") == found(filter="i < 3 and k < 3")
    assert [2] == found(filter="i < 3 and j > 1")
    assert [0, 1, 2, 0, 1, 2] == found(filter="j < 3") == found(filter="i < 3 or j < 3")
    assert 6 == len(found(filter="i < 3", use_scalar_index=False))
    assert 15 == len(found()) == len(found(filter="contains(s, 'a')"))
    assert 10 == len(found(filter="contains(s, 'abc')"))


def test_indices_are_not_asked_for_deleted_rows(tmp_path):
    """These pass a filter as others do."""
    made = pylanceref.write_dataset({"i": [0, 1, 2, 3, 4]}, tmp_path, enable_stable_row_ids=True)
    made.delete("i = 2")
    made.create_scalar_index("i", "BITMAP")
    found = made.to_table(filter="i < 4", include_deleted_rows=True, with_row_id=True)
    assert [0, 1, None, 3] == found["_rowid"].to_pylist()


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({"limit": "2"}, TypeError),
        ({"batch_size": 1 << 32}, ValueError),
        ({"strict_batch_size": True, "batch_size_bytes": 9}, ValueError),
        ({"filter": 5}, TypeError),
        ({"filtr": "i = 1"}, TypeError),
    ],
)
def test_wrong_arguments_are_refused(given, kind, dataset):
    """When the scan is described; more are held to pylance in `test_reading`."""
    with pytest.raises(kind):
        dataset.scanner(**given)

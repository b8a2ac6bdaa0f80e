"""Merges that write columns, not rows."""

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import EditFailed

ROWS = pa.table({"k": range(9), "a": range(9), "b": [f"t{n}" for n in range(9)]})


def _table(module, root, *, stable=False):
    made = module.write_dataset(ROWS, root, max_rows_per_file=3, enable_stable_row_ids=stable)
    made.delete("k = 4")
    return module.dataset(root)


def _merge(made, rows, condition=None):
    return made.merge_insert("k").when_matched_update_all(condition).write_mode("rewrite_columns")


@pytest.mark.parametrize("stable", [False, True])
def test_matched_rows_get_values_where_they_are(tmp_path, stable):
    """Fragments without a matched row stay; the omitted column has its old file."""
    made = _table(pylanceref, tmp_path, stable=stable)
    before = made.to_table(["k", "b"], with_row_id=True)
    rows = pa.table({"k": [8, 4, 1, 77], "a": [80, 40, 10, 770]})

    result = _merge(made, rows).execute(rows)
    assert {"num_inserted_rows": 0, "num_updated_rows": 2, "num_deleted_rows": 0} == result
    assert before.equals(made.to_table(["k", "b"], with_row_id=True))
    assert [0, 10, 2, 3, 5, 6, 7, 80] == made.to_table()["a"].to_pylist()
    files = [[file.fields for file in one.data_files()] for one in made.get_fragments()]
    assert [[[0, -2, 2], [1]], [[0, 1, 2]], [[0, -2, 2], [1]]] == files
    operation = made.get_transactions(1)[0].operation
    assert ("rewrite_columns", [1]) == (operation.update_mode, operation.fields_modified)
    if stable:
        updated = made.to_table(["_row_last_updated_at_version"]).column(0).to_pylist()
        assert [1, 3, 1, 1, 1, 1, 1, 3] == updated


def test_a_condition_leaves_rows_as_they_are(tmp_path):
    """Also when none is left."""
    made = _table(pylanceref, tmp_path)
    rows = pa.table({"k": [1, 2], "a": [20, 30]})
    assert 1 == _merge(made, rows, "source.a > 25").execute(rows)["num_updated_rows"]
    assert [0, 1, 30] == made.to_table()["a"].to_pylist()[:3]
    assert 0 == _merge(made, rows, "source.a > 99").execute(rows)["num_updated_rows"]


@pytest.mark.parametrize(
    ("build", "columns", "why"),
    [
        (
            lambda one: one.when_matched_update_all().when_not_matched_insert_all(),
            "ka",
            "inserting",
        ),
        (lambda one: one.when_matched_delete(), "ka", "must update"),
        (lambda one: one.when_matched_fail(), "ka", "must update"),
        (
            lambda one: one.when_matched_update_all().when_not_matched_by_source_delete(),
            "ka",
            "removes rows",
        ),
        (lambda one: one.when_matched_update_all(), "k", "no column besides"),
        (lambda one: one.when_matched_update_all(), "kab", "nothing to skip"),
    ],
)
def test_other_merges_cannot_be_written_so(tmp_path, build, columns, why):
    """The error says why."""
    made = _table(pylanceref, tmp_path)
    with pytest.raises(EditFailed, match=why):
        build(made.merge_insert("k")).write_mode("rewrite_columns").execute(
            ROWS.slice(1, 1).select(list(columns))
        )
    with pytest.raises(ValueError, match="Invalid write_mode: foo"):
        made.merge_insert("k").write_mode("foo")


def _labels(root):
    """Return a table with an index on its key and one on its lists, in two fragments."""
    rows = pa.table({"k": range(6), "l": [[number] for number in range(6)], "x": range(6)})
    made = pylanceref.write_dataset(rows, root, max_rows_per_file=3, data_storage_version="2.1")
    made.create_scalar_index("k", "BTREE")
    made.create_scalar_index("l", "LABEL_LIST")
    return made


def _found(root, label):
    return (
        pylanceref.dataset(root).to_table(["k"], filter=f"array_has(l, {label})")["k"].to_pylist()
    )


def test_lists_that_are_written_anew_leave_their_index(tmp_path):
    """The index has the old items."""
    made = _labels(tmp_path)

    made.merge_insert("k").when_matched_update_all().execute(
        pa.table({"k": [1, 2], "l": [[9], [4]]})
    )

    operation = pylanceref.dataset(tmp_path).get_transactions(1)[0].operation
    assert sorted(operation.fields_modified) == [1, 2]
    assert [_found(tmp_path, label) for label in (1, 9, 4)] == [[], [1], [2, 4]]


def test_items_that_are_written_anew_leave_the_index_of_their_list(tmp_path):
    """An Update that names the column of the items alone, as columns of a fragment are named."""
    made = _labels(tmp_path)
    new = pa.table({"k": [1, 2], "l": [[9], [4]]})
    fragment, fields = made.get_fragments()[0].update_columns(new, left_on="k", right_on="k")

    operation = pylanceref.LanceOperation.Update(
        updated_fragments=[fragment], fields_modified=fields, update_mode="rewrite_columns"
    )
    pylanceref.LanceDataset.commit(tmp_path, operation, read_version=made.version)

    assert fields == [2]
    assert [_found(tmp_path, label) for label in (1, 9, 4)] == [[], [1], [2, 4]]


def _written(module, root, kind, build, mode, use_index):
    """Return what a merge did to a table, read by the reference."""
    made = _table(module, root, stable=True)
    if kind:
        made.create_scalar_index("k", kind)
    merge = build(made.merge_insert("k")).write_mode(mode).use_index(use_index)
    result = merge.execute(pa.table({"k": [1, 2, 8, 88], "a": [100, 200, 800, 8800]}))
    after = pylanceref.dataset(root)
    operation = after.get_transactions(1)[0].operation
    return (
        result,
        operation.update_mode,
        sorted(operation.fields_modified),
        operation.updated_fragment_offsets,
        {
            one.fragment_id: [file.fields for file in one.data_files()]
            for one in after.get_fragments()
        },
        sorted(map(str, after.to_table().to_pylist())),
        after.to_table(["_row_last_updated_at_version"], filter="k < 9")[0].to_pylist().count(1),
    )


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("kind", "mode", "use_index"),
    [
        (None, "rewrite_columns", True),
        (None, "auto", True),
        ("BTREE", "auto", True),
        ("BTREE", "auto", False),
        ("BTREE", "rewrite_rows", True),
        ("BITMAP", "auto", True),
    ],
)
@pytest.mark.parametrize("inserts", [False, True])
def test_the_oracle_writes_the_same(tmp_path, kind, mode, use_index, inserts):
    """Files, fields, offsets and rows; with an index it chooses columns by itself."""
    import lance

    if inserts and mode == "rewrite_columns":
        return

    def build(merge):
        merge = merge.when_matched_update_all()
        return merge.when_not_matched_insert_all() if inserts else merge

    found = [
        _written(module, str(tmp_path / name), kind, build, mode, use_index)
        for module, name in ((lance, "theirs"), (pylanceref, "ours"))
    ]
    assert found[0] == found[1]
    lance.dataset(str(tmp_path / "ours")).validate()

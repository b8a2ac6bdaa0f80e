"""Merges of other rows, and what a merge would do."""

from pathlib import Path

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import DataRefused, EditFailed, QueryRefused, SchemaRefused
from pylanceref import DatasetBasePath
from tests.index.tables import write
from tests.operations.tables import column, table

SOURCE = pa.table({"a": [2, 3, 100], "b": [1, 2, 3]})


def test_what_cannot_be_merged_is_refused(tmp_path):
    """No keys, no action, other columns, a match that may not be; nothing changes."""
    made = table(tmp_path)
    for keys in (None, [], "zz"):
        with pytest.raises(QueryRefused):
            made.merge_insert(keys)
    with pytest.raises(QueryRefused, match="not configured"):
        made.merge_insert("a").execute(SOURCE)
    with pytest.raises(SchemaRefused):
        made.merge_insert("a").when_matched_update_all().execute(pa.table({"a": ["x"]}))
    with pytest.raises(SchemaRefused):
        made.merge_insert("a").when_matched_update_all().execute(pa.table({"a": [1], "d": [1]}))
    with pytest.raises(EditFailed, match="a = 2"):
        made.merge_insert("a").when_matched_fail().execute(SOURCE)
    assert 2 == made.version


def test_a_merge_can_be_committed_later(tmp_path):
    """The transaction of a merge is returned and can be committed later."""
    made = table(tmp_path)
    merge = made.merge_insert("a").when_matched_update_all().when_not_matched_insert_all()
    transaction, result = merge.execute_uncommitted(SOURCE)

    assert (2, 3) == (made.version, result["num_updated_rows"] + result["num_inserted_rows"])
    assert 10 == len(pylanceref.LanceDataset.commit(made, transaction))


def test_the_primary_key_is_the_default(tmp_path):
    """Without keys the field that is marked as primary key is joined on."""
    key = pa.field("a", pa.int64(), False, {"lance-schema:unenforced-primary-key": "true"})
    data = pa.table({"a": [1, 2], "b": [1, 1]}, schema=pa.schema([key, ("b", pa.int64())]))
    made = pylanceref.write_dataset(data, tmp_path)
    made.merge_insert().when_matched_update_all().execute(pa.table({"a": [2], "b": [7]}))

    assert [1, 7] == column(made, "b")


def test_a_merge_that_is_made_again_must_fit_the_newer_schema(tmp_path):
    """Somebody dropped a column in between: what is to be written has one too many."""
    made = pylanceref.write_dataset(pa.table({"a": [1, 2], "d": [1, 2]}), tmp_path)
    pylanceref.dataset(tmp_path).drop_columns(["d"])
    pylanceref.dataset(tmp_path).delete("a = 1")
    merge = made.merge_insert("a").when_matched_update_all()

    with pytest.raises(SchemaRefused):
        merge.execute(pa.table({"a": [1], "d": [7]}))
    assert {"a": [2]} == pylanceref.dataset(tmp_path).to_table().to_pydict()


@pytest.mark.parametrize("version", ["0.1", "2.1"])
def test_a_source_may_leave_columns_out(tmp_path, version):
    """They stay as they were, in a table of 0.1 too."""
    rows = pa.table({"a": [1, 2], "b": ["x", "y"]})
    made = pylanceref.write_dataset(rows, tmp_path, data_storage_version=version)
    merge = made.merge_insert("a").when_matched_update_all().when_not_matched_insert_all()
    merge.execute(pa.table({"a": [2, 3]}))

    assert {"a": [1, 2, 3], "b": ["x", "y", None]} == made.to_table().to_pydict()


@pytest.mark.oracle
@pytest.mark.parametrize("act", ["when_matched_delete", "when_not_matched_by_source_delete"])
@pytest.mark.parametrize(
    "source",
    [
        {"k": [1], "other": [1]},
        {"k": [1], "s": [5]},
        {"k": pa.array([1], pa.int32())},
        {"k": ["1"]},
        {"k": pa.array([None, 1], pa.int64()), "other": [1, 2]},
    ],
)
def test_of_a_merge_that_only_deletes_the_keys_count(tmp_path, act, source):
    """Whatever else rows have, and in any type that can be cast."""
    import lance

    left = []
    for library in (lance, pylanceref):
        path = str(tmp_path / library.__name__)
        dataset = library.write_dataset(pa.table({"k": [1, 2, 3], "s": ["a", "b", "c"]}), path)
        getattr(dataset.merge_insert("k"), act)().execute(pa.table(source))
        left.append(library.dataset(path).to_table()["k"].to_pylist())
    assert [[2, 3] if act == "when_matched_delete" else [1]] * 2 == left


REQUIRED = pa.schema([pa.field("k", pa.int64()), pa.field("i", pa.int64(), nullable=False)])
"""Of a table whose second column cannot be left out."""


def _inserted(module, path, keys):
    rows = pa.table({"k": [1, 2], "i": [3, 4]}, REQUIRED)
    merge = module.write_dataset(rows, path).merge_insert("k")
    source = pa.table({"k": pa.array(keys, pa.int64())})
    return merge.when_matched_update_all().when_not_matched_insert_all().execute(source)


def test_no_rows_lack_no_column(tmp_path):
    """Rows do, also where all are matched."""
    done = {"num_inserted_rows": 0, "num_updated_rows": 0, "num_deleted_rows": 0}
    assert done == _inserted(pylanceref, tmp_path / "none", [])
    for keys in ([1], [9]):
        with pytest.raises(EditFailed, match="non-nullable"):
            _inserted(pylanceref, tmp_path / f"{keys}", keys)


LETTERS = pa.table({"id": range(4), "v": ["a", "b", "c", "d"]})


@pytest.mark.parametrize(
    ("describe", "told"),
    [
        (lambda m: m.when_matched_update_all("target.id > 1"), "[update, update_if]"),
        (lambda m: m.when_matched_delete(), "[delete]"),
        (lambda m: m.when_matched_fail(), "[fail]"),
        (lambda m: m.when_not_matched_by_source_delete(), "[delete_unmatched]"),
        (lambda m: m.when_not_matched_by_source_delete("id > 2"), "[delete_unmatched, delete_if]"),
        (lambda m: m.when_not_matched_insert_all(), "[insert]"),
    ],
)
def test_actions_are_told(tmp_path, describe, told):
    """The plan of a merge names each of its actions."""
    assert told in describe(write(LETTERS, tmp_path).merge_insert("id")).explain_plan()


def test_an_analyzed_merge_changes_nothing(tmp_path):
    """What it would do is counted; its files are gone again."""
    dataset = write(LETTERS, tmp_path)
    files = sorted(Path(dataset.uri).rglob("*.*"))
    merge = dataset.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
    plan = merge.analyze_plan(pa.table({"id": [3, 4], "v": ["x", "y"]}))

    assert (
        "num_files_written=1, num_inserted_rows=1, num_updated_rows=1, num_deleted_rows=0]" in plan
    )
    assert 0 < int(plan.partition("metrics=[bytes_written=")[2].partition(",")[0])
    assert files == sorted(Path(dataset.uri).rglob("*.*"))
    assert LETTERS == dataset.to_table()


TABLE = pa.table({"a": [1, 2], "b": [1, 2]})


def test_new_rows_go_to_the_bases_asked_for(tmp_path):
    """In turn; the root by its URI, or as the first of all."""
    bases = [DatasetBasePath(str(tmp_path / name), name) for name in ("one", "two")]
    made = pylanceref.write_dataset(TABLE, tmp_path / "t", initial_bases=bases)
    merges = (
        (lambda merge: merge, None),
        (lambda merge: merge.target_bases(["two"]), 2),
        (lambda merge: merge.target_bases([made.uri, "two"]), None),
    )
    for number, (directed, home) in enumerate(merges):
        merge = made.merge_insert("a").when_not_matched_insert_all()
        directed(merge).execute(pa.table({"a": [100 + number], "b": [0]}))
        newest = made.get_fragments()[-1]
        assert [home] == [file.base_id for file in newest.data_files()]
    unknown = made.merge_insert("a").when_not_matched_insert_all().target_bases(["three"])
    with pytest.raises(DataRefused, match="not found in available bases"):
        unknown.execute(pa.table({"a": [1000], "b": [0]}))
    assert len(TABLE) + len(merges) == pylanceref.dataset(made.uri).count_rows()


def test_an_index_is_not_explained(tmp_path):
    """Unless it is not to be used."""
    dataset = write(LETTERS, tmp_path)
    dataset.create_scalar_index("id", "BTREE")
    merge = dataset.merge_insert("id").when_matched_update_all()
    with pytest.raises(EditFailed, match="does not support explain_plan"):
        merge.explain_plan()

    assert "HashJoinExec" in merge.use_index(False).explain_plan()

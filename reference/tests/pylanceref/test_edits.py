"""Rows that are deleted, updated and merged, as by the oracle."""

import importlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import lanceref
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import DataRefused, EditFailed, QueryRefused, SchemaRefused
from pylanceref import DatasetBasePath
from tests.index.tables import write
from tests.operations.tables import column, table


def test_an_edit_that_does_not_fit_changes_nothing(tmp_path):
    """Neither the version nor the files, nor what is open where it is made again and fails then."""
    made = table(tmp_path)
    before = sorted(one.name for one in tmp_path.rglob("*"))
    for call in (
        lambda: made.delete("zz = 1"),
        lambda: made.update({"zz": "1"}),
        lambda: made.update({"a": "1"}, where="a +"),
    ):
        with pytest.raises(QueryRefused):
            call()

    assert (2, before) == (made.version, sorted(one.name for one in tmp_path.rglob("*")))
    other = pylanceref.dataset(tmp_path)
    other.delete("a = 3")
    other.drop_columns(["b"])
    with pytest.raises(QueryRefused):
        made.delete("a = 3 or b = 7")
    assert 2 == made.version


@pytest.mark.parametrize(("second", "joined"), [("a = 3", True), ("a in (2, 3)", False)])
def test_deletes_of_the_same_fragment_both_count(tmp_path, second, joined):
    """Different rows are joined in a bitmap; where a row is the same the second looks again."""
    one, other = table(tmp_path), pylanceref.dataset(tmp_path)
    one.delete("a = 2")
    told = other.delete(second)

    assert ([0, 4, 5, 6, 7, 8, 9], 4) == (column(other, "a"), other.version)
    assert {"num_deleted_rows": 1} == told
    path = other.get_fragments()[0].deletion_file()
    assert joined == path.endswith(".bin")


def test_updates_of_one_row_come_one_after_the_other(tmp_path):
    """Nothing is lost: four threads add one, five times each."""
    pylanceref.write_dataset(pa.table({"a": [0], "k": ["x"]}), tmp_path)

    def count(_):
        made = pylanceref.dataset(tmp_path)
        for _ in range(5):
            made.update({"a": "a + 1"}, where="k = 'x'", conflict_retries=200)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(count, range(4)))

    assert [20] == column(pylanceref.dataset(tmp_path), "a")


def _replaced(maker, uri):
    """A column of the only fragment in a file of its own: an edit of it has to be made again."""
    made = maker.dataset(uri)
    held = made.get_fragment(0).metadata.files[0]
    version = held.file_major_version, held.file_minor_version
    path = f"{uri}/data/new.lance"
    with maker.file.LanceFileWriter(path, version=f"{version[0]}.{version[1]}") as writer:
        writer.write_batch(pa.table({"b": [5] * 4}))
    group = maker.LanceOperation.DataReplacementGroup(
        0, maker.fragment.DataFile("new.lance", [1], [0], *version)
    )
    operation = maker.LanceOperation.DataReplacement([group])
    maker.LanceDataset.commit(uri, operation, read_version=made.version)


def _update(made, where="a > 1"):
    made.update({"b": "7"}, where=where)


def _merged(made):
    merge = made.merge_insert("a").when_matched_update_all().when_not_matched_insert_all()
    merge.execute(pa.table({"a": [1, 9], "b": [5, 6]}))


@pytest.mark.parametrize("edit", [_update, _merged])
@pytest.mark.parametrize("versions", [("2.0", "2.1"), ("2.1", "2.0"), ("2.2", "2.3")])
def test_an_edit_that_is_made_again_keeps_its_file_version(tmp_path, maker, edit, versions):
    """That of the table as the edit found it, though an overwrite has another since."""
    uri = str(tmp_path)
    rows = pa.table({"a": range(4), "b": range(4)})
    maker.write_dataset(rows, uri, data_storage_version=versions[0])
    _replaced(maker, uri)
    maker.write_dataset(rows, uri, mode="overwrite", data_storage_version=versions[1])
    edit(maker.dataset(uri, version=1))

    files = [one.metadata.files[0] for one in pylanceref.dataset(uri).get_fragments()]
    found = [f"{file.file_major_version}.{file.file_minor_version}" for file in files]
    assert [versions[1], versions[0]] == found


def _merge(made, where):
    merge = made.merge_insert("a").when_not_matched_insert_all()
    merge.when_not_matched_by_source_delete(where).execute(pa.table({"a": [90], "b": [1]}))


@pytest.mark.parametrize("edit", [lambda made, where: made.delete(where), _update, _merge])
def test_an_edit_over_a_restore_is_made_again_where_it_takes_whole_fragments(tmp_path, maker, edit):
    """After a delete of one row and a restore; an edit of the row and of others is refused."""
    uri = str(tmp_path)
    maker.write_dataset(pa.table({"a": range(20), "b": range(20)}), uri, max_rows_per_file=5)
    maker.dataset(uri).delete("a = 1")
    maker.dataset(uri, version=1).restore()
    with pytest.raises(OSError, match="Restore"):
        edit(maker.dataset(uri, version=1), "a < 8")
    assert 3 == pylanceref.dataset(uri).version

    edit(maker.dataset(uri, version=1), "a < 5")
    made = pylanceref.dataset(uri)
    assert 4 == made.version
    assert 15 == made.count_rows("a >= 5 and a < 20 and b = a")


def test_a_fragment_without_rows_is_told_of_as_it_was(tmp_path, maker):
    """Two deletes of different rows that leave none: the second tells of it twice."""
    uri = str(tmp_path)
    rows = pa.table({"a": range(10)})
    maker.write_dataset(rows, uri, max_rows_per_file=5, enable_v2_manifest_paths=True)
    other = maker.dataset(uri)
    maker.dataset(uri).delete("a < 3")
    other.delete("a in (3, 4)")

    made = pylanceref.dataset(uri)
    told = made.read_transaction(3).operation
    assert [0] == list(told.deleted_fragment_ids)
    assert [(0, 2)] == [
        (one.id, one.deletion_file.num_deleted_rows) for one in told.updated_fragments
    ]
    assert [5, 6, 7, 8, 9] == made.to_table()["a"].to_pylist()
    assert not lanceref.validate(uri)


@pytest.mark.oracle
def test_an_update_made_again_without_its_column(tmp_path):
    """D.txn.update-again-by-place: both take no row where none is found; only ours refuses then."""
    rows = pa.table({"k": [1, 2, 3], "f": [1, 2, 3], "s": ["a", "b", "a"]})
    for name in ("lance", "pylanceref"):
        maker, path = importlib.import_module(name), tmp_path / name
        made = maker.write_dataset(rows, path)
        made.update({"s": "'x'"}, where="s = 'b'")
        made.drop_columns(["k"])
        made.update({"f": "9"}, where="f = 1")
        first = [maker.dataset(path, version=1) for _ in range(2)]

        assert {"num_rows_updated": 0} == first[0].update({"f": "k"}, where="s = 'b'")
        if name == "pylanceref":
            with pytest.raises(QueryRefused, match="k"):
                first[1].update({"f": "k"}, where="s = 'a'")
        else:
            first[1].update({"f": "k"}, where="s = 'a'")
            assert {9, 2, 3} == set(column(pylanceref.dataset(path), "f"))


def test_inserted_rows_need_what_cannot_be_null(tmp_path, maker):
    """A column of the table that the source has not, whether a row is inserted or not."""
    made = maker.write_dataset(pa.table({"k": [1, 2]}), tmp_path)
    made.add_columns({"c": "'x'"})
    merge = made.merge_insert("k").when_matched_update_all().when_not_matched_insert_all()

    with pytest.raises(OSError, match=r'target column\(s\) \["c"\] are non-nullable'):
        merge.execute(pa.table({"k": [1]}))
    made.merge_insert("k").when_matched_update_all().execute(pa.table({"k": [1]}))


def test_a_column_of_typed_nulls_in_0_1_is_written(tmp_path, maker):
    """Later files have it in the manifest alone."""
    made = maker.write_dataset(pa.table({"k": [1]}), tmp_path, data_storage_version="0.1")
    made.add_columns({"c": "cast(null as string)"})

    assert [{"k": 1, "c": None}] == maker.dataset(tmp_path).to_table().to_pylist()


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

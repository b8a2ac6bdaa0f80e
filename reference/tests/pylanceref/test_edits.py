"""Edits of rows: deletes, updates, and edits that are made again."""

import importlib
from concurrent.futures import ThreadPoolExecutor

import lanceref
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import QueryRefused
from tests.operations.tables import column, table


def test_an_edit_that_does_not_fit_changes_nothing(tmp_path):
    """Neither the version nor the files."""
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


def _updated(made):
    made.update({"b": "7"}, where="a > 1")


def _merged(made):
    merge = made.merge_insert("a").when_matched_update_all().when_not_matched_insert_all()
    merge.execute(pa.table({"a": [1, 9], "b": [5, 6]}))


@pytest.mark.parametrize("edit", [_updated, _merged])
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


def _delete(made, where):
    made.delete(where)


def _update(made, where):
    made.update({"b": "7"}, where=where)


def _merge(made, where):
    merge = made.merge_insert("a").when_not_matched_insert_all()
    merge.when_not_matched_by_source_delete(where).execute(pa.table({"a": [90], "b": [1]}))


@pytest.mark.parametrize("edit", [_delete, _update, _merge])
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

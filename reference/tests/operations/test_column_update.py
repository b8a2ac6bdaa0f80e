"""New values for some rows of a fragment."""

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import EvolutionRefused
from lanceref.operations.column_update import update_columns
from pylanceref.operation import LanceOperation
from pyroaring import BitMap

from tests.operations.tables import column, table


def test_a_file_holds_the_columns_of_all_rows(tmp_path):
    """The old entry becomes a tombstone; deleted rows are not among the offsets."""
    snapshot = table(tmp_path)._snapshot
    right = pa.table({"k": [1, 3], "b": [-1, -3]})
    made = update_columns(snapshot, snapshot.fragments[0], right, "a", "k")

    assert [[0, -2, 3, 4], [1]] == [list(file.fields) for file in made.fragment.files]
    assert ([1], [3]) == (made.fields, list(BitMap.deserialize(made.offsets)))


@pytest.mark.parametrize(
    ("right", "left_on", "text"),
    [
        (pa.table({"k": [1], "zz": [1]}), "a", "does not exist in left side"),
        (pa.table({"k": [1], "_rowid": [1]}), "a", "metadata column"),
        (pa.table({"k": [1], "b": [1]}), "zz", "left side"),
        (pa.table({"b": [1]}), "a", "right side"),
    ],
)
def test_what_is_not_there_is_refused(tmp_path, right, left_on, text):
    """Columns and keys on both sides."""
    snapshot = table(tmp_path)._snapshot
    with pytest.raises(EvolutionRefused, match=text):
        update_columns(snapshot, snapshot.fragments[0], right, left_on, "k")


def test_documents_get_new_values(tmp_path):
    """JSON is given as text, and may become null."""
    made = pylanceref.write_dataset(
        pa.table({"a": [1, 2, 3], "j": pa.array(['{"x":1}', None, '{"x":3}'], pa.json_())}),
        tmp_path,
    )
    new = pa.array(['{"u":1}', None], pa.json_())
    right = pa.table({"_rowid": pa.array([1, 2], pa.uint64()), "j": new})
    fragment, fields = made.get_fragments()[0].update_columns(right)
    update = LanceOperation.Update(updated_fragments=[fragment], fields_modified=fields)
    after = pylanceref.LanceDataset.commit(made, update, read_version=made.version)
    assert ['{"x":1}', '{"u":1}', None] == column(after, "j")


@pytest.mark.parametrize("how", ["a fragment", "a merge"])
def test_documents_are_stored_as_such(tmp_path, how):
    """Values of an extension type keep it: texts of documents are written as documents."""
    texts = pa.array(['{"a":1}', None, '{"a":3}'], pa.json_())
    made = pylanceref.write_dataset(pa.table({"k": [1, 2, 3], "j": texts, "z": [0] * 3}), tmp_path)
    right = pa.table({"k": [2, 3], "j": pa.array(['{"b":2}', None], pa.json_())})
    if how == "a merge":
        made.create_scalar_index("k", "BTREE")
        made.merge_insert("k").when_matched_update_all().execute(right)
        assert made.get_fragments()[0].metadata.id == 0
    else:
        fragment, fields = made.get_fragments()[0].update_columns(right, left_on="k")
        update = LanceOperation.Update(updated_fragments=[fragment], fields_modified=fields)
        made = pylanceref.LanceDataset.commit(made, update, read_version=made.version)

    assert ['{"a":1}', '{"b":2}', None] == column(pylanceref.dataset(tmp_path), "j")


EARLY = pa.table({"k": [0, 1], "i": [5, 6], "s": ["a", "b"]})
"""Rows of a table of 0.1."""


def test_a_null_that_an_early_file_cannot_hold_is_refused(tmp_path):
    """Of integers none, of texts any; a null of a row that is not updated is not looked at."""
    made = pylanceref.write_dataset(EARLY, tmp_path, data_storage_version="0.1")
    snapshot = made._snapshot

    def updated(keys: list[int], numbers: list[int | None]) -> None:
        right = pa.table({"k": keys, "i": pa.array(numbers, pa.int64()), "s": [None] * len(keys)})
        right = right.set_column(2, "s", right["s"].cast(pa.string()))
        update_columns(snapshot, snapshot.fragments[0], right, "k", "k")

    updated([0, 9], [7, None])
    with pytest.raises(EvolutionRefused, match="'i' has null values of type: int64"):
        updated([0, 1], [7, None])


@pytest.mark.oracle
def test_the_oracle_refuses_the_same_null(tmp_path):
    """In a column of 0.1 that is updated by a key."""
    import lance

    made = lance.write_dataset(EARLY, tmp_path, data_storage_version="0.1")
    right = pa.table({"k": [0], "i": pa.array([None], pa.int64())})
    with pytest.raises(ValueError, match="'i' has null values of type: Int64"):
        made.get_fragment(0).update_columns(right, left_on="k")


@pytest.mark.oracle
def test_both_readers_see_the_new_values(tmp_path):
    """By row id, committed as an Update in columns mode that says which rows."""
    import lance

    made = table(tmp_path, stable=True)
    right = pa.table({"_rowid": pa.array([0, 3], pa.uint64()), "b": [-1, -3]})
    fragment, fields, offsets = made.get_fragments()[0].update_columns(right, with_offsets=True)
    update = LanceOperation.Update(
        updated_fragments=[fragment],
        fields_modified=fields,
        update_mode="rewrite_columns",
        updated_fragment_offsets={0: offsets},
    )
    after = pylanceref.LanceDataset.commit(made, update, read_version=made.version)
    theirs = lance.dataset(tmp_path)
    columns = ["a", "b", "_row_last_updated_at_version"]

    assert [-1, 20, -3, 40] == column(after, "b")[:4]
    assert theirs.to_table(columns).equals(after.to_table(columns))
    assert [3, 1, 3, 1] == theirs.to_table(columns)["_row_last_updated_at_version"].to_pylist()[:4]
    theirs.validate()


@pytest.mark.oracle
def test_the_first_column_of_an_early_file_is_updated(tmp_path):
    """D.legacy.first-given-up: both leave the same entries, and only ours reads the others."""
    import lance

    rows = pa.table({"k": range(5), "i": range(5)})
    source = pa.table({"i": [1, 2], "k": [50, 60]})
    for maker in (lance, pylanceref):
        uri = str(tmp_path / maker.__name__)
        made = maker.write_dataset(rows, uri, data_storage_version="0.1")
        fragment, fields = made.get_fragment(0).update_columns(source, "i", "i")
        update = maker.LanceOperation.Update(updated_fragments=[fragment], fields_modified=fields)
        maker.LanceDataset.commit(uri, update, read_version=1)
        files = pylanceref.dataset(uri).get_fragment(0).metadata.files

        assert [[-2, 1], [0]] == [list(file.fields) for file in files]
        assert [0, 50, 60, 3, 4] == pylanceref.dataset(uri).to_table()["k"].to_pylist()
        with pytest.raises(pa.ArrowInvalid, match="out of range"):
            lance.dataset(uri).to_table()

"""Rows: written, updated, deleted, and files of others taken in."""

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import NotFound, SchemaRefused
from lanceref.operations.new_data import external_file, give_ids, write_new_rows
from lanceref.operations.update import remove, update_columns
from lanceref.proto import table_pb2
from lanceref.storage.protocol import Draft
from lanceref.transactions.row_lineage import moved_ids
from pylanceref.file import LanceFileReader, LanceFileWriter
from pylanceref.fragment import DataFile, FragmentMetadata, LanceFragment
from pylanceref.operation import DatasetBasePath, LanceOperation

from tests.operations.tables import column, table


def test_a_fragment_of_which_no_row_goes_stays_as_it_is(tmp_path):
    """Deleting no row of a fragment writes no file."""
    table(tmp_path)
    (first, *_) = pylanceref.dataset(tmp_path).get_fragments()
    removal = remove(first._snapshot, [(first._rows, np.array([], np.int64))], Draft())

    assert [first._rows.fragment.message] == removal.updated
    assert first.metadata == first.delete("a > 1000")


NARROW = {"s": pa.array([{"x": 1}] * 9, pa.struct([("x", pa.int32())]))}

WIDE = {
    "text": pa.array(["a"] * 9),
    "truth": pa.array([True] * 9),
    "list": pa.array([[1]] * 9, pa.list_(pa.int8())),
    "vector": pa.array([[1.0] * 3] * 9, pa.list_(pa.float32(), 3)),
}


@pytest.mark.oracle
@pytest.mark.parametrize("columns", [NARROW, *({"s": one} for one in WIDE.values())])
@pytest.mark.parametrize("where", ["k % 3 != 1", "true", None])
def test_moved_rows_keep_the_ids_of_the_oracle(tmp_path, columns, where):
    """The rows of each fragment, moved ones too, have the ids that the oracle gives them."""
    import lance

    held = []
    for module in (lance, pylanceref):
        path = str(tmp_path / module.__name__)
        made = module.write_dataset(
            pa.table({"k": range(9), **columns}),
            path,
            max_rows_per_file=3,
            enable_stable_row_ids=True,
        )
        made.delete("k % 3 = 1 and k > 3")
        made.update({"k": "k + 1"}, where)
        fragments = pylanceref.dataset(path)._snapshot.manifest.message.fragments
        held.append([moved_ids(one).tolist() for one in fragments])

    assert held[0] == held[1]


def test_rows_of_a_scan_fill_their_pages(tmp_path):
    """Slices of large arrays count with their own bytes."""
    made = pylanceref.write_dataset(pa.table({"a": range(3)}), tmp_path)
    rows = pa.record_batch({"a": pa.array(range(2 << 20))})
    parts = [rows.slice(start, 4096) for start in range(0, 256 * 1024, 4096)]

    (fragment,) = write_new_rows(made._snapshot, parts, Draft()).fragments

    file = LanceFileReader(str(tmp_path / "data" / fragment.files[0].path))
    assert [len(column.pages) for column in file.metadata().columns] == [1]


def test_ids_go_with_the_rows():
    """Given ids belong to the first rows of the fragments."""
    fragments = [table_pb2.DataFragment(physical_rows=2) for _ in range(3)]
    give_ids(fragments, [np.array([7], np.uint64), np.array([], "u8"), np.array([3, 9], "u8")])

    assert [[7, 3], [9], []] == [moved_ids(one).tolist() for one in fragments]
    assert all(one.HasField("inline_row_ids") for one in fragments)


ROWS = pa.table({"a": [1, 2], "s": [{"x": 1, "y": "a"}, {"x": 2, "y": "b"}]})


@pytest.fixture
def beside(tmp_path):
    """A table, and beside its file others: whole, of one column, of a strange one."""
    beside = pylanceref.write_dataset(ROWS, tmp_path)
    for name, rows in (
        ("whole", ROWS),
        ("part", ROWS.select(["a"])),
        ("odd", pa.table({"zz": [1]})),
    ):
        with LanceFileWriter(str(tmp_path / "data" / f"{name}.lance")) as writer:
            writer.write_batch(rows)
    return beside


def test_a_whole_file_becomes_a_fragment(beside):
    """A file of another writer becomes a fragment of the table."""
    fragment = LanceFragment.create_from_file("whole.lance", beside, 3)
    assert (3, 2) == (fragment.id, fragment.physical_rows)
    after = pylanceref.LanceDataset.commit(beside.uri, LanceOperation.Append([fragment]), 1)
    assert pa.concat_tables([ROWS, ROWS]).equals(after.to_table().combine_chunks())


def test_other_files_are_refused(beside):
    """Missing files, unknown fields and partial files are refused."""
    with pytest.raises(NotFound, match="none"):
        external_file(beside._snapshot, "none.lance")
    with pytest.raises(SchemaRefused, match="zz"):
        DataFile.create(beside, "odd.lance")
    with pytest.raises(SchemaRefused, match="missing=\\[s, x, y\\]"):
        external_file(beside._snapshot, "part.lance", whole=True)


@pytest.mark.parametrize("how", ["a fragment", "a merge"])
def test_documents_are_stored_as_such(tmp_path, how):
    """Texts of JSON columns are stored as documents by updates and merges."""
    texts = pa.array(['{"a":1}', None, '{"a":3}'], pa.json_())
    made = pylanceref.write_dataset(pa.table({"k": [1, 2, 3], "j": texts, "z": [0] * 3}), tmp_path)
    right = pa.table({"k": [2, 3], "j": pa.array(['{"b":2}', None], pa.json_())})
    if how == "a merge":
        made.create_scalar_index("k", "BTREE")
        made.merge_insert("k").when_matched_update_all("source.k < 3").execute(right.slice(0, 0))
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
    """Nulls of numbers are refused in 0.1 for updated rows that live only."""
    made = pylanceref.write_dataset(EARLY, tmp_path, data_storage_version="0.1")
    snapshot = made._snapshot

    def updated(keys: list[int], numbers: list[int | None]) -> None:
        right = pa.table({"k": keys, "i": pa.array(numbers, pa.int64()), "s": [None] * len(keys)})
        right = right.set_column(2, "s", right["s"].cast(pa.string()))
        update_columns(snapshot, snapshot.fragments[0], right, "k", "k")

    updated([0, 9], [7, None])
    with pytest.raises(SchemaRefused, match="'i' has null values of type: int64"):
        updated([0, 1], [7, None])
    made.delete("k = 1")
    snapshot = made._snapshot
    updated([0, 1], [7, None])


@pytest.mark.oracle
def test_both_readers_see_the_new_values(tmp_path):
    """Both read updated columns and the versions of their rows."""
    import lance

    made = table(tmp_path, stable=True)
    right = pa.table({"_rowid": pa.array([0, 3], pa.uint64()), "b": [-1, -3]})
    snapshot = made._snapshot
    new = update_columns(snapshot, snapshot.fragments[0], right, "_rowid", "_rowid")
    update = LanceOperation.Update(
        updated_fragments=[FragmentMetadata.from_message(new.fragment)],
        fields_modified=new.fields,
        update_mode="rewrite_columns",
        updated_fragment_offsets={0: new.offsets},
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
    """D.legacy.first-given-up: only ours reads what both wrote."""
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


def _updated(dataset, right):
    fragment, fields = dataset.get_fragment(0).update_columns(right, left_on="id")
    update = LanceOperation.Update(updated_fragments=[fragment], fields_modified=fields)
    after = pylanceref.LanceDataset.commit(dataset, update, read_version=dataset.version)
    return after.to_table(blob_handling="all_binary")


def test_blobs_of_some_rows_are_replaced(tmp_path):
    """Replaced blobs leave others, nulls and structs as they were."""
    blobs = pylanceref.blob_array([b"one", b"two", b"", None])
    info = pa.StructArray.from_arrays(
        [pa.array(list("abcd")), blobs],
        fields=[pa.field("name", pa.string()), pylanceref.blob_field("blob")],
    )
    rows = pa.table({"id": [1, 2, 3, 4], "p": blobs, "info": info})
    dataset = pylanceref.write_dataset(rows, tmp_path, data_storage_version="2.2")
    right = pa.table({"id": [2], "p": pylanceref.blob_array([b"NEW"]), "info": info[:1]})
    after = _updated(dataset, right)

    assert [b"one", b"NEW", b"", None] == after["p"].to_pylist()
    deep = after["info"].combine_chunks()
    assert ["a", "a", "c", "d"] == deep.field("name").to_pylist()
    assert [b"one", b"one", b"", None] == deep.field("blob").to_pylist()


def test_uris_below_a_base_are_taken(tmp_path):
    """URIs below a base are kept in new columns and values."""
    (tmp_path / "base").mkdir()
    inside, outside = tmp_path / "base" / "in.bin", tmp_path / "out.bin"
    inside.write_bytes(b"inside")
    outside.write_bytes(b"outside")
    bases = [DatasetBasePath(str(tmp_path / "base"), "b")]
    rows = pa.table({"id": [1, 2]})
    dataset = pylanceref.write_dataset(
        rows, tmp_path / "t", data_storage_version="2.2", initial_bases=bases
    )
    dataset.add_columns(pa.table({"p": pylanceref.blob_array([inside.as_uri(), b"y"])}))

    assert [b"inside", b"y"] == [one.read() for one in dataset.take_blobs("p", indices=[0, 1])]
    right = pa.table({"id": [2], "p": pylanceref.blob_array([inside.as_uri()])})
    assert [b"inside"] * 2 == _updated(dataset, right)["p"].to_pylist()
    right = pa.table({"id": [2], "p": pylanceref.blob_array([outside.as_uri()])})
    with pytest.raises(ValueError, match="outside registered external bases"):
        dataset.get_fragment(0).update_columns(right, left_on="id")

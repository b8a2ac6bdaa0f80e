"""Fragment face: rows, changes for a later commit, and fragments that are committed later."""

import pyarrow as pa
import pylanceref
import pyroaring
import pytest
from lanceref.core.errors import CommitConflict, NotFound, NotStorable, SchemaRefused
from pylanceref import LanceDataset, LanceOperation, Transaction, dataset, write_dataset
from pylanceref.fragment import LanceFragment, write_fragments
from tests.file.files import WORKED_FILE
from tests.operations.tables import table
from tests.table.hand_made import FIELDS, FORM, put
from tests.table.manifests import data_file, fragment, minimal

FILE = data_file(file_minor_version=0, path="worked.lance", file_size_bytes=348)


@pytest.fixture
def pair(tmp_path):
    """Two fragments over the worked file of 1, null, 3; in the second row 1 is deleted."""
    entry = {"file_type": 1, "id": 5, "read_version": 1, "num_deleted_rows": 1}
    fragments = [
        fragment(2, FILE, physical_rows=3),
        fragment(6, FILE, physical_rows=3, deletion_file=entry),
    ]
    flags = {"reader_feature_flags": 1, "writer_feature_flags": 1}
    root = put(
        tmp_path / "t", minimal(fields=FIELDS, data_format=FORM, fragments=fragments, **flags)
    )
    (root / "data" / "worked.lance").write_bytes(WORKED_FILE)
    (root / "_deletions").mkdir()
    (root / "_deletions" / "6-1-5.bin").write_bytes(pyroaring.BitMap([1]).serialize())
    return pylanceref.dataset(root)


def test_its_rows_are_those_of_the_fragment(pair):
    """Scan, head, take, batches; positions count what is left."""
    second = pair.get_fragments()[1]
    ids = [(6 << 32), (6 << 32) + 2]

    assert {"a": [1, 3]} == second.to_table().to_pydict()
    assert {"a": [3], "_rowid": ids[1:]} == second.to_table(offset=1, with_row_id=True).to_pydict()
    assert {"a": [1]} == second.head(1).to_pydict()
    assert {"a": [3, 1, 3]} == second.take([1, 0, 1]).to_pydict()
    assert {"_rowaddr": [ids[1]]} == second.take([1], columns=["_rowaddr"]).to_pydict()
    assert [1, 1] == [batch.num_rows for batch in second.to_batches(batch_size=1)]


def test_a_fragment_is_changed_for_a_later_commit(tmp_path):
    """Rows taken out, columns added in each way; the dataset is as it was."""
    made = table(tmp_path)
    first, second = made.get_fragments()

    assert 2 == first.delete("a = 2").num_deletions
    assert second.delete("a > 0") is None
    grown, schema = first.merge_columns({"d": "a + 1"})
    assert ([5], 5) == (grown.files[-1].fields, schema.fields()[-1].id())
    assert [5] == first.merge_columns(pa.table({"d": range(4)}))[0].files[-1].fields
    assert [5] == second.merge(pa.table({"a": [7], "d": ["x"]}), "a")[0].files[-1].fields
    function = lambda batch: pa.record_batch({"d": batch["a"]})  # noqa: E731
    assert [5] == first.merge_columns(function, ["a"])[0].files[-1].fields
    assert (2, ["a", "b", "s"]) == (made.version, pylanceref.dataset(tmp_path).schema.names)


def test_a_fragment_is_opened_by_its_id(tmp_path):
    """It knows its files; another id is none. One of all rows gets the id that is asked for."""
    made = pylanceref.write_dataset(pa.table({"a": range(5), "b": range(5)}), tmp_path)
    fragment = pylanceref.LanceFragment(made, 0)
    name = fragment.data_files()[0].path
    assert f"LanceFileFragment(id=0, data_files=['{name}'])" == repr(fragment)
    with pytest.raises(ValueError, match="does not exist: 7"):
        pylanceref.LanceFragment(made, 7)
    with pytest.warns(DeprecationWarning):
        assert name == fragment.metadata.files[0].path()
    assert 7 == LanceFragment.create(tmp_path / "new", TABLE, 7).id
    with pytest.raises(ValueError, match="empty"):
        LanceFragment.create(tmp_path / "new", TABLE.slice(0, 0))


def test_a_session_takes_the_same_columns(tmp_path):
    """A session takes the same rows as the fragment, with addresses if asked for."""
    made = pylanceref.write_dataset(pa.table({"a": range(5), "b": range(5)}), tmp_path)
    fragment = made.get_fragments()[0]
    session = fragment.open_session(["a"])
    assert fragment.take([3, 1], ["a"]) == session.take([3, 1])
    assert ["a", "b", "_rowaddr"] == fragment.open_session(None, True).take([1]).column_names
    twice = fragment.open_session({"x": "a * 2"}, True).take(pa.array([2]))
    assert {"x": [4], "_rowaddr": [2]} == twice.to_pydict()


TABLE = pa.table({"a": pa.array([1, 2, 3], pa.int32()), "b": ["x", "y", "z"]})
Append, Overwrite = LanceOperation.Append, LanceOperation.Overwrite


def test_fragments_become_rows_by_their_commit(tmp_path):
    """Of a new table, then after its rows; the number of a fragment comes with the commit."""
    given = {"max_rows_per_file": 2, "return_transaction": True}
    made = write_fragments(TABLE, tmp_path, mode="create", **given)
    ds = LanceDataset.commit(tmp_path, made)
    assert TABLE.equals(ds.to_table())
    assert 1 == write_fragments(TABLE, ds, **given).read_version

    more = [write_fragments(TABLE.slice(i, 1), tmp_path)[0] for i in range(3)]
    assert 3 == dataset(tmp_path).count_rows()
    ds = LanceDataset.commit(ds, Append(more), read_version=1, commit_message="hi")

    assert pa.concat_tables([TABLE, TABLE]).equals(ds.to_table())
    assert [0, 1, 2, 3, 4] == [fragment.fragment_id for fragment in ds.fragments]


def test_no_version_is_made_that_could_not_be_read(tmp_path):
    """A field without its column is refused, and the table is as it was."""
    ds, (made,) = write_dataset(TABLE, tmp_path), write_fragments(TABLE, tmp_path)
    made.files[0].column_indices[0] = -1
    with pytest.raises(OSError, match="could not be read"):
        LanceDataset.commit(ds, Append([made]), 1)
    assert TABLE.equals(dataset(tmp_path).to_table())


def test_a_transaction_keeps_its_uuid_and_properties(tmp_path):
    """Both are in the version it made."""
    fragments = write_fragments(TABLE, tmp_path, mode="create")
    given = Transaction(0, Overwrite(TABLE.schema, fragments), transaction_properties={"k": "v"})
    ds = LanceDataset.commit(tmp_path, given)

    stored = ds._snapshot.manifest.transaction
    assert (given.uuid, {"k": "v"}) == (stored.uuid, dict(stored.transaction_properties))
    with pytest.raises(ValueError, match="commit_message"):
        LanceDataset.commit(tmp_path, given, commit_message="m")


def test_an_append_names_what_it_has_read(tmp_path):
    """And exists only after that; a thing that is no operation is refused."""
    ds = write_dataset(TABLE, tmp_path)
    fragments = write_fragments(TABLE, tmp_path)
    with pytest.raises(ValueError, match="read_version is required"):
        LanceDataset.commit(ds, Append(fragments))
    with pytest.raises(TypeError, match="operation must be"):
        LanceDataset.commit(ds, "append")
    with pytest.raises(NotFound):
        LanceDataset.commit(tmp_path / "other", Append(fragments), 1)
    LanceDataset.commit(tmp_path, Overwrite(TABLE.schema, fragments))

    with pytest.raises(CommitConflict):
        LanceDataset.commit(tmp_path, Append(fragments), 1)


def test_files_of_old_and_new_versions_do_not_mix(tmp_path):
    """Nor are dictionaries of 0.1 known to a commit by hand."""
    old = write_fragments(TABLE, tmp_path / "f", mode="create", data_storage_version="0.1")
    ds = write_dataset(TABLE, tmp_path / "t")
    for operation in (Append(old), Overwrite(TABLE.schema, old)):
        with pytest.raises(SchemaRefused, match="cannot be mixed"):
            LanceDataset.commit(ds, operation, 1)

    keyed = pa.table({"d": pa.array(["a"]).dictionary_encode()})
    files = write_fragments(keyed, tmp_path / "d", mode="create", data_storage_version="0.1")
    with pytest.raises(NotStorable, match="write_dataset only"):
        LanceDataset.commit(tmp_path / "d", Overwrite(keyed.schema, files))


def test_versions_apart_need_names_of_v2(tmp_path):
    """The names of V1 leave no room for them; offsets of updated rows are bitmaps."""
    ds = write_dataset(TABLE, tmp_path, enable_v2_manifest_paths=False)
    with pytest.raises(OSError, match="v1 manifest paths"):
        LanceDataset.commit(ds, Append([]), 1, detached=True)
    update = LanceOperation.Update(updated_fragment_offsets={0: b"no bitmap"})
    with pytest.raises(ValueError, match="RoaringBitmap"):
        LanceDataset.commit(ds, update, 1)

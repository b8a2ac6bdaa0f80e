"""Fragment face."""

import pyarrow as pa
import pylanceref
import pyroaring
import pytest
from lanceref.core.errors import RowNotFound
from pylanceref import DatasetBasePath

from .file.files import WORKED_FILE
from .operations.tables import table
from .table.hand_made import put
from .table.manifests import data_file, fragment, minimal

FIELDS = [{"name": "a", "id": 0, "parent_id": -1, "logical_type": "int32", "nullable": True}]
FORM = {"file_format": "lance", "version": "2.0"}
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


def test_a_fragment_says_what_the_manifest_says(pair):
    """Id, counts, deletion file, data files."""
    first, second = pair.get_fragments()
    (file,) = second.data_files()

    assert [2, 6] == [first.fragment_id, second.fragment_id]
    assert [(3, 3, 0), (2, 3, 1)] == [
        (one.count_rows(), one.physical_rows, one.num_deletions) for one in (first, second)
    ]
    assert [None, "_deletions/6-1-5.bin"] == [first.deletion_file(), second.deletion_file()]
    assert ("worked.lance", [0], [0], 2, 0, 348, None) == (
        file.path,
        file.fields,
        file.column_indices,
        file.file_major_version,
        file.file_minor_version,
        file.file_size_bytes,
        file.base_id,
    )
    assert pair.schema == second.schema
    assert 6 == pair.get_fragment(6).fragment_id and pair.get_fragment(3) is None


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


@pytest.mark.parametrize(("rows", "error"), [([2], RowNotFound), ([-1], OverflowError)])
def test_a_row_that_is_not_there_is_refused(rows, error, pair):
    """Two rows are left."""
    with pytest.raises(error):
        pair.get_fragments()[1].take(rows)


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
    """It knows its files; another id is none."""
    made = pylanceref.write_dataset(pa.table({"a": range(5), "b": range(5)}), tmp_path)
    fragment = pylanceref.LanceFragment(made, 0)
    name = fragment.data_files()[0].path
    assert f"LanceFileFragment(id=0, data_files=['{name}'])" == repr(fragment)
    assert [0] == list(made.fragment_ids())
    fragment.validate()
    with pytest.raises(ValueError, match="does not exist: 7"):
        pylanceref.LanceFragment(made, 7)


def test_a_session_takes_the_same_columns(tmp_path):
    """With addresses if asked for."""
    made = pylanceref.write_dataset(pa.table({"a": range(5), "b": range(5)}), tmp_path)
    fragment = made.get_fragments()[0]
    session = fragment.open_session(["a"])
    assert fragment.take([3, 1], ["a"]) == session.take([3, 1])
    assert ["a", "b", "_rowaddr"] == fragment.open_session(None, True).take([1]).column_names
    twice = fragment.open_session({"x": "a * 2"}, True).take(pa.array([2]))
    assert {"x": [4], "_rowaddr": [2]} == twice.to_pydict()


def test_old_names_warn(tmp_path):
    """They still work."""
    made = pylanceref.write_dataset(pa.table({"a": range(5)}), tmp_path)
    metadata = made.get_fragments()[0].metadata
    with pytest.warns(DeprecationWarning):
        (file,) = metadata.data_files()
    with pytest.warns(DeprecationWarning):
        assert file.path == file.path()
    with pytest.warns(DeprecationWarning):
        assert [0] == file.field_ids()


@pytest.mark.parametrize("mode", ["create", "append", "overwrite"])
def test_written_fragments_come_as_a_transaction(tmp_path, mode):
    """It is committed as it is; bases that a new table gets come with it."""
    table = pa.table({"a": [1, 2]})
    bases = [DatasetBasePath(str(tmp_path / "b"), "b")] if mode == "create" else None
    if mode != "create":
        pylanceref.write_dataset(table, tmp_path / "t")
    transaction = pylanceref.fragment.write_fragments(
        table, str(tmp_path / "t"), mode=mode, return_transaction=True, initial_bases=bases
    )
    made = pylanceref.LanceDataset.commit(str(tmp_path / "t"), transaction)
    assert (4 if mode == "append" else 2) == made.count_rows()
    assert (["b"] if bases else []) == [one.name for one in made.base_paths().values()]

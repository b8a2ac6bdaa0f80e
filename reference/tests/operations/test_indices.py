"""Indices of a table: built, staged, merged and brought up to date."""

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import OperationRefused
from pylanceref.indices import IndexConfig
from pylanceref.operation import Index
from pylanceref.transactions import index_message

NAME = "12345678-1234-1234-1234-123456789abc"
TEXTS = ["red fox", "red dog", "cow", None]


def staged_table(root):
    """Four rows in four fragments."""
    rows = pa.table({"s": TEXTS, "i": range(4)})
    return pylanceref.write_dataset(rows, root / "t", max_rows_per_file=1)


def words_found(dataset, text):
    """Numbers of the rows that hold a word."""
    return sorted(dataset.to_table(full_text_query=text, columns=["i"])["i"].to_pylist())


def test_a_segment_staged_by_many_is_finished_once(tmp_path):
    """Staged parts of four writers become one segment."""
    dataset = staged_table(tmp_path)
    for one in range(4):
        dataset.create_scalar_index(
            "s", "INVERTED", name="x", replace=False, index_uuid=NAME, fragment_ids=[one]
        )
    assert not (tmp_path / "t/_indices" / NAME / "metadata.lance").exists()
    dataset.merge_index_metadata(NAME, "inverted")
    names = {path.name for path in (tmp_path / "t/_indices" / NAME).iterdir()}
    assert {"metadata.lance", "part_0_docs.lance", "staging"} < names
    own = Index(NAME, "x", [0], dataset.version, {0, 1, 2, 3}, 0)
    made = pylanceref.LanceOperation.CreateIndex([own], [])
    dataset = pylanceref.LanceDataset.commit(dataset.uri, made, read_version=dataset.version)
    assert [0, 1] == words_found(dataset, "red")
    assert [] == words_found(dataset, "Red,")[2:]


def test_a_segment_is_finished_when_it_is_committed(tmp_path):
    """Committing a staged part finishes it under its uuid."""
    dataset = staged_table(tmp_path)
    part = dataset.create_index_uncommitted("s", "INVERTED", fragment_ids=[0, 1])
    assert all(file.path.startswith("staging/part_0_") for file in part.files)
    dataset.commit_existing_index_segments("s_idx", "s", [part])
    (entry,) = dataset._snapshot.manifest.indices
    assert index_message(part).uuid == entry.uuid
    assert "metadata.lance" in {file.path for file in entry.files}
    assert [0, 1] == words_found(dataset, "red")
    assert [2] == words_found(dataset, "cow")


def test_only_staged_text_is_merged(tmp_path):
    """Other types, bad uuids and empty folders are refused."""
    dataset = staged_table(tmp_path)
    with pytest.raises(NotImplementedError, match="BITMAP has no metadata to merge"):
        dataset.merge_index_metadata(NAME, "BITMAP")
    with pytest.raises(ValueError, match="no longer supports"):
        dataset.merge_index_metadata(NAME, "BTREE")
    with pytest.raises(ValueError, match="Invalid UUID"):
        dataset.merge_index_metadata("x", "INVERTED")
    with pytest.raises(OperationRefused, match="No partition metadata"):
        dataset.merge_index_metadata(NAME, "INVERTED")


THIRTY = pa.table({"i": range(30), "s": [f"w{n % 5}" for n in range(30)], "l": [["a"]] * 30})


def test_a_segment_of_its_own_has_the_parameters_of_the_others(tmp_path):
    """A new segment has the parameters of the index."""
    extended = pylanceref.write_dataset(THIRTY, tmp_path / "t")
    extended.create_scalar_index("i", IndexConfig("zonemap", {"rows_per_zone": 7}))
    extended.insert(THIRTY)
    extended.optimize.optimize_indices(num_indices_to_merge=0)
    found = extended.index_statistics("i_idx")["indices"]
    assert [one["rows_per_zone"] for one in found] == [7, 7]
    versions = [one["version"] for one in extended.list_indices()]
    assert versions == [1, 3]

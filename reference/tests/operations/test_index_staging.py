"""Staged segments, finished."""

from __future__ import annotations

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import OperationRefused
from pylanceref.operation import Index
from pylanceref.transactions import index_message

NAME = "12345678-1234-1234-1234-123456789abc"
TEXTS = ["red fox", "red dog", "cow", None]


def table(root):
    """Four rows in four fragments."""
    rows = pa.table({"s": TEXTS, "i": range(4)})
    return pylanceref.write_dataset(rows, root / "t", max_rows_per_file=1)


def found(dataset, text):
    """Numbers of the rows that hold a word."""
    return sorted(dataset.to_table(full_text_query=text, columns=["i"])["i"].to_pylist())


def test_a_segment_staged_by_many_is_finished_once(tmp_path):
    """Its files lie beside those that were staged, and tell its type."""
    dataset = table(tmp_path)
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
    assert [0, 1] == found(dataset, "red")
    assert [] == found(dataset, "Red,")[2:]


def test_a_segment_is_finished_when_it_is_committed(tmp_path):
    """Under its uuid."""
    dataset = table(tmp_path)
    part = dataset.create_index_uncommitted("s", "INVERTED", fragment_ids=[0, 1])
    assert all(file.path.startswith("staging/part_0_") for file in part.files)
    dataset.commit_existing_index_segments("s_idx", "s", [part])
    (entry,) = dataset._snapshot.manifest.indices
    assert index_message(part).uuid == entry.uuid
    assert "metadata.lance" in {file.path for file in entry.files}
    assert [0, 1] == found(dataset, "red")
    assert [2] == found(dataset, "cow")


def test_only_staged_text_is_merged(tmp_path):
    """Other types, other uuids and folders without parts are refused."""
    dataset = table(tmp_path)
    with pytest.raises(NotImplementedError, match="BITMAP has no metadata to merge"):
        dataset.merge_index_metadata(NAME, "BITMAP")
    with pytest.raises(ValueError, match="no longer supports"):
        dataset.merge_index_metadata(NAME, "BTREE")
    with pytest.raises(ValueError, match="Invalid UUID"):
        dataset.merge_index_metadata("x", "INVERTED")
    with pytest.raises(OperationRefused, match="No partition metadata"):
        dataset.merge_index_metadata(NAME, "INVERTED")

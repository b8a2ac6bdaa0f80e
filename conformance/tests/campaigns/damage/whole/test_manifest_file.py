"""Manifest file: what is not changed stays, and a change is what a reader finds."""

from pathlib import Path

import lanceref
import pyarrow as pa
import pylanceref
import pytest
from lance_conformance.campaigns.damage.whole.manifest_file import ManifestFile, edited, latest


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A table of two versions with an index."""
    made = pylanceref.write_dataset(pa.table({"id": [1, 2, 3]}), str(tmp_path / "table"))
    made.create_scalar_index("id", "BTREE")
    return tmp_path / "table"


def test_an_unchanged_manifest_is_read_as_before(root):
    """Rows, index and transaction are still there."""
    with edited(root) as file:
        assert 1 == len(file.indices.indices)

    opened = pylanceref.dataset(str(root))
    assert [1, 2, 3] == opened.to_table()["id"].to_pylist()
    assert ["id_idx"] == [index.name for index in opened.describe_indices()]
    assert [] == lanceref.validate(str(root), deep=True)


def test_a_change_is_found_in_the_latest_version(root):
    """The version before it stays as it was."""
    with edited(root) as file:
        file.message.table_metadata["a"] = "b"

    assert "b" == ManifestFile.load(latest(root)).message.table_metadata["a"]
    assert {"a": "b"} == pylanceref.dataset(str(root)).metadata
    assert {} == pylanceref.dataset(str(root), version=1).metadata

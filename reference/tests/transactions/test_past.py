"""What a commit looks up in its table."""

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.context import Context
from lanceref.core.errors import LanceError, NotFound
from lanceref.proto import table_pb2
from lanceref.storage import LocalStore
from lanceref.transactions.manifest_builder import StoredVersions


def test_versions_sizes_and_lineage_are_read_from_the_store(tmp_path):
    """Three rows with the ids 0 to 2, made by version 1."""
    pylanceref.write_dataset(pa.table({"a": [1, 2, 3]}), tmp_path, enable_stable_row_ids=True)
    past = StoredVersions(LocalStore(tmp_path), Context("t"))
    before = past.manifest(1)
    fragment = before.fragments[0]
    file = fragment.message.files[0]

    assert file.file_size_bytes == past.file_size(before, file)
    assert [0, 1, 2] == past.lineage(before, fragment, "_rowid").tolist()
    assert [1, 1, 1] == past.lineage(before, fragment, "_row_created_at_version").tolist()
    assert [] == past.deleted(before, fragment).tolist()
    with pytest.raises(LanceError):
        past.file_size(before, table_pb2.DataFile(path="none.lance"))
    with pytest.raises(NotFound):
        past.manifest(7)

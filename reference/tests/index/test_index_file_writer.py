"""Files of an index, written; that what was written is read is in test_index_file."""

from __future__ import annotations

import pyarrow as pa
import pytest
from lanceref.core.errors import DataRefused
from lanceref.core.file_versions import V0_1, V2_0, V2_1, V2_2
from lanceref.index.index_file import version_for, write_index_file
from lanceref.storage import LocalStore


def test_nothing_is_left_of_a_file_that_failed(tmp_path):
    """A batch of another type stops it."""
    store, schema = LocalStore(tmp_path), pa.schema([pa.field("n", pa.uint32(), nullable=False)])
    with pytest.raises(DataRefused):
        write_index_file(store, "g.lance", schema, V2_1, [pa.record_batch({"n": ["x"]})], {})
    assert not store.exists("g.lance")


def test_versions_follow_the_data():
    """2.0 is the first there is."""
    assert [version_for(one) for one in (V0_1, V2_0, V2_2)] == [V2_0, V2_0, V2_2]

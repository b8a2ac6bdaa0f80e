"""Filters of the keys of flushed generations."""

from __future__ import annotations

import numpy as np
import pytest
from lanceref.core.context import Context
from lanceref.core.errors import CorruptPage
from lanceref.explain import explain
from lanceref.index.mem_wal.shard_log import FILE, parse_key_filter
from lanceref.storage import BytesSource


def test_a_filter_is_blocks_of_eight_words():
    """Two blocks; word 9 is the second of the second."""
    words = np.zeros(16, "<u4")
    words[9] = 7
    blocks = parse_key_filter(BytesSource(words.tobytes()), Context(FILE))

    assert (2, 8) == blocks.shape
    assert 7 == blocks[1, 1] == blocks.sum()


@pytest.mark.parametrize("size", [0, 1, 31, 33, 100])
def test_another_size_is_refused(size):
    """None at all, and parts of a block."""
    with pytest.raises(CorruptPage) as caught:
        parse_key_filter(BytesSource(bytes(size)), Context(FILE))

    assert "L.index.mem-wal.key-filter" == caught.value.clause


@pytest.mark.parametrize(("size", "findings"), [(64, 0), (65, 1)])
def test_explain_owns_every_byte(size, findings, tmp_path):
    """Of a filter that is right; of another it says what is wrong."""
    (tmp_path / FILE).write_bytes(bytes(size))
    found = explain(tmp_path / FILE)

    assert findings == len(found.findings)
    assert (found.unowned == []) is (not findings)


@pytest.mark.oracle
def test_the_oracle_writes_such_a_filter(tmp_path):
    """Beside a generation that it has flushed, not empty, and every byte has an owner."""
    import lance
    import pyarrow as pa

    key = pa.field("id", pa.int64(), False, {"lance-schema:unenforced-primary-key": "true"})
    schema = pa.schema([key, pa.field("v", pa.int64())])
    table = pa.table({"id": [1, 2, 3], "v": [1, 2, 3]}, schema=schema)
    dataset = lance.write_dataset(table, tmp_path / "t")
    dataset.initialize_mem_wal()
    with dataset.mem_wal_writer("00000000-0000-0000-0000-000000000007") as writer:
        writer.put(pa.table({"id": [5, 6], "v": [1, 2]}, schema=schema))
    (path,) = (tmp_path / "t").rglob(FILE)
    found = explain(path)

    assert ([], []) == (found.findings, found.unowned)
    assert any(path.read_bytes())

"""Posting rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from lanceref.index.full_text.parameters import Analysis, Settings
from lanceref.index.full_text.partition_writer import (
    CompactOccurrences,
    PostingRows,
    count_occurrences,
    postings_schema,
)


@pytest.mark.parametrize("format_version", [1, 2, 3])
def test_rows_do_not_depend_on_how_many_are_made_at_once(format_version):
    """Three tokens of 700 documents; of the positions each block has its own."""
    settings = Settings(Analysis(with_position=True), format_version)
    documents = np.repeat(np.arange(700, dtype=np.uint32), 4)
    tokens = np.tile(np.array([0, 1, 1, 2], np.uint32), 700)
    held = CompactOccurrences.of(
        count_occurrences(tokens, documents, np.tile(np.arange(4, dtype=np.uint32), 700))
    )
    rows = PostingRows(settings, np.full(700, 4, np.uint32))
    counts, schema = np.array([700] * 3), postings_schema(settings)
    found = rows.batch(held.between(0, 3), counts, schema)
    assert [700] * 3 == found["_length"].to_pylist()
    assert [6, 6, 6] == [len(one) for one in found["_posting"]]
    if format_version > 1:
        assert [0, 0, 0] == [one[0].as_py() for one in found["_position_block_offset"]]
    parts = [rows.batch(held.between(token, token + 1), counts[:1], schema) for token in range(3)]
    assert pa.concat_batches(parts) == found

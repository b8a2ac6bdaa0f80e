"""Sharded batches: the rows of a rank."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pylanceref._dataset.sharded_batch_iterator import ShardedBatchIterator

from ..sql.written import write


def _rows(*arguments, **named) -> list[int]:
    with pytest.warns(UserWarning, match="deprecated"):
        batches = list(ShardedBatchIterator(*arguments, **named))
    return [value for batch in batches for value in batch["i"].to_pylist()]


def test_the_rows_of_a_rank(tmp_path):
    """By fragments, by batches; a path is opened."""
    dataset = write(pa.table({"i": range(20)}), tmp_path, max_rows_per_file=5)

    assert [*range(5, 10), *range(15, 20)] == _rows(dataset.uri, 1, 2)
    assert [4, 5, 6, 7, 12, 13, 14, 15] == _rows(dataset, 1, 2, granularity="batch", batch_size=4)
    assert [18, 19] == _rows(dataset, 1, 2, granularity="batch", batch_size=18)
    with pytest.raises(NotImplementedError, match="with_row_id"):
        _rows(dataset, 1, 2, granularity="batch", with_row_id=True)
    with pytest.raises(ValueError, match="Unrecognized granularity: row"):
        _rows(dataset, 1, 2, granularity="row")

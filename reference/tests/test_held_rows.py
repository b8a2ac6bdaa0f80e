"""A table made of batches is held against the sizes of the files it is read from."""

import pyarrow as pa
import pytest
from lanceref.core.errors import LimitExceeded
from lanceref.core.limits import Limits, bound_table

LIMITS = Limits(expansion_bytes=1000, expansion_factor=16)
BATCH = pa.record_batch({"a": pa.array([1] * 100, pa.int64())})


def test_batches_pass_until_they_are_too_many():
    """A batch has 800 bytes: the second one is too much for a file of no bytes."""
    batches = bound_table([BATCH] * 2, LIMITS, "f", lambda: 0)

    assert BATCH is next(batches)
    with pytest.raises(LimitExceeded, match=r"to_batches\(\) streams"):
        next(batches)


def test_the_files_that_are_read_allow_more():
    """1,000 + 16 * 100 bytes hold three batches of 800."""
    assert 3 == len(list(bound_table([BATCH] * 3, LIMITS, "f", lambda: 100)))

"""Opening 0.1 files, sound and damaged."""

import pyarrow as pa
import pytest
from lanceref.core.context import Context
from lanceref.core.errors import BytesError
from lanceref.file_0_1.check import check_legacy
from lanceref.storage import BytesSource

from .building import WORKED, opened, read, written

MIXED = pa.table(
    {
        "a": pa.array([1, None, 3, 4], pa.int32()),
        "s": pa.array(["x", "", None, "yz"]),
        "l": pa.array([[{"b": True}], None, [], [{"b": False}]]),
        "d": pa.array(["p", "q", "p", None]).dictionary_encode(),
        "v": pa.array([[1.0, 2.0]] * 4, pa.list_(pa.float32(), 2)),
    }
)


def test_a_file_is_opened_by_its_end():
    """4 KiB hold what describes a small file: one request."""
    file = opened(written(WORKED))
    assert (3, 1) == (file.num_rows, file.metadata.num_batches)
    assert 1 == file.bytes.source.stats.read_iops


def test_readers_of_a_field_are_kept():
    """A second scan does not look at the page table again."""
    file = opened(written(WORKED))
    field = file.manifest.schema.fields[0]
    assert file.open_field(field) is file.open_field(field)


def test_one_byte_changed_gives_rows_or_an_error():
    """Every byte of a file set to four values: no other exception, clause and place are filled."""
    data = written(MIXED, 3)
    refused = 0
    for at in range(len(data)):
        for value in (0, 1, 127, 255):
            damaged = data[:at] + bytes([value]) + data[at + 1 :]
            try:
                read(damaged)
            except BytesError as error:
                refused += 1
                assert error.clause
                assert error.found is not None
    assert refused > 100


def test_every_prefix_and_suffix_is_refused():
    """Nothing else than an error, and validate does not stop with one."""
    data = written(MIXED, 3)
    for size in range(0, len(data), 5):
        for part in (data[:size], data[size + 1 :]):
            with pytest.raises(BytesError):
                read(part)
            check_legacy(BytesSource(part), Context("f", findings=[]))

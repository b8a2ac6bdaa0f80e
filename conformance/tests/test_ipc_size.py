"""Tests of the size that an Arrow IPC file declares, found without decoding it."""

from __future__ import annotations

import struct

import pyarrow as pa
import pytest
from lance_conformance import ipc_size

PLENTY = 2**60


def file(batch: pa.RecordBatch, times: int = 1, compression: str | None = None) -> bytes:
    """Return an Arrow IPC file."""
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_file(sink, batch.schema, options=options) as writer:
        for _ in range(times):
            writer.write_batch(batch)
    return bytes(sink.getvalue())


@pytest.mark.parametrize("compression", [None, "zstd", "lz4"])
def test_compressed_buffers_count_as_they_decode(compression: str | None) -> None:
    """The bytes are those of the decoded column, and little more."""
    batch = pa.record_batch([pa.nulls(100_000, pa.int64())], ["a"])
    takes = ipc_size.decoding(file(batch, 3, compression), PLENTY)

    assert 3 * batch.nbytes <= takes < 2 * 3 * batch.nbytes


def test_dictionaries_rows_and_batches_count() -> None:
    """Values of a dictionary, rows without a buffer, and each batch take something."""
    words = pa.array(["x" * 50_000]).dictionary_encode()
    empty = pa.record_batch([pa.nulls(0)], ["a"])

    assert 50_000 <= ipc_size.decoding(file(pa.record_batch([words], ["a"])), PLENTY)
    rows = pa.record_batch([pa.nulls(10**9)], ["a"])
    assert 10**9 <= ipc_size.decoding(file(rows), PLENTY)
    assert 100 * 1000 <= ipc_size.decoding(file(empty, 100), PLENTY)


def test_the_sum_ends_above_the_limit() -> None:
    """What follows is not looked at: heads of batches after it may be broken."""
    batch = pa.record_batch([pa.nulls(1000, pa.int64())], ["a"])
    data = file(batch, 3)
    most = ipc_size.decoding(file(batch), PLENTY)

    assert most < ipc_size.decoding(data, most)


@pytest.mark.parametrize("data", [b"", b"ARROW1", b"ARROW1" + bytes(4) + b"ARROW1", bytes(99)])
def test_what_is_no_file_is_refused(data: bytes) -> None:
    """Without a mark at both ends and a footer between them there is no size."""
    with pytest.raises((ValueError, struct.error)):
        ipc_size.decoding(data, PLENTY)

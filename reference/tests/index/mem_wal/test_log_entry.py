"""Entries of a log."""

from __future__ import annotations

import contextlib
import io
import random
import uuid

import numpy as np
import pyarrow as pa
import pytest
from lanceref.core.context import Context
from lanceref.core.errors import BytesError, LanceError, LimitExceeded
from lanceref.index.mem_wal.shard_log import (
    LogEntry,
    entry_path,
    parse_entry,
    positions,
    read_entries,
)
from lanceref.storage import open_store

from .logs import write_entry

SHARD = uuid.UUID(int=7)
CTX = Context("t")
ROWS = pa.table({"i": [1, 2], "_tombstone": [False, True]})


@pytest.fixture
def store(tmp_path):
    """A store."""
    return open_store(str(tmp_path))


def stream(rows: pa.Table, options=None, **metadata: str) -> bytes:
    """Return an entry's bytes."""
    out = io.BytesIO()
    rows = rows.replace_schema_metadata(metadata)
    with pa.ipc.new_stream(out, rows.schema, options=options) as writer:
        writer.write_table(rows)
    return out.getvalue()


def test_what_is_written_is_read(store):
    """Rows and fences, by position."""
    write_entry(store, SHARD, 1, LogEntry(1, 1, ROWS))
    write_entry(store, SHARD, 2, LogEntry(2, None, None))
    write_entry(store, SHARD, 3, LogEntry(2, 4, ROWS))
    assert positions(store, SHARD) == [1, 2, 3]
    found = dict(read_entries(store, SHARD, 0, CTX))
    assert found[1].rows.equals(ROWS)
    assert [(one.writer_epoch, one.generation) for one in found.values()] == [
        (1, 1),
        (2, None),
        (2, 4),
    ]
    assert [position for position, _ in read_entries(store, SHARD, 2, CTX)] == [3]


def test_a_missing_position_is_refused(store):
    """Rows would be missing."""
    for position in (1, 3):
        write_entry(store, SHARD, position, LogEntry(1, 1, ROWS))
    with pytest.raises(BytesError) as caught:
        list(read_entries(store, SHARD, 0, CTX))
    assert caught.value.clause == "L.index.mem-wal.positions"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"ARROW1",
        stream(ROWS),
        stream(ROWS, writer_epoch="x", generation="1"),
        stream(ROWS, writer_epoch="1"),
        stream(ROWS.select(["i"]), writer_epoch="1", generation="1"),
        stream(pa.table({"_tombstone": [1]}), writer_epoch="1", generation="1"),
        stream(
            pa.table({"_tombstone": pa.array([None], pa.bool_())}), writer_epoch="1", generation="1"
        ),
    ],
)
def test_damage_is_refused(data):
    """No stream, no epoch, no generation, no mark of what is deleted."""
    with pytest.raises(BytesError) as caught:
        parse_entry(data, CTX)
    assert caught.value.clause == "L.index.mem-wal.entry"


def test_little_bytes_do_not_expand():
    """What a stream claims is held against its size first."""
    rows = pa.table({"z": np.zeros(12_000_000), "_tombstone": np.zeros(12_000_000, np.bool_)})
    packed = pa.ipc.IpcWriteOptions(compression="zstd")
    with pytest.raises(LimitExceeded):
        parse_entry(stream(rows, packed, writer_epoch="1", generation="1"), CTX)


def test_only_lance_errors_escape(store):
    """Whatever bytes change."""
    source = random.Random(2)
    write_entry(store, SHARD, 1, LogEntry(1, 1, ROWS))
    file = store.open(entry_path(SHARD, 1))
    whole = bytes(file.read(0, file.size))
    for _ in range(300):
        data = bytearray(whole)
        data[source.randrange(len(data))] ^= 1 << source.randrange(8)
        with contextlib.suppress(LanceError):
            parse_entry(bytes(data), CTX)

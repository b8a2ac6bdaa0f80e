"""MemWAL: buckets, hashes and filters of keys, manifests of shards, entries of a log."""

import datetime
import io
import math
import subprocess
import sys
import uuid

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.errors import CorruptPage, FormatError, LimitExceeded
from lanceref.index.mem_wal import shard_log
from lanceref.index.mem_wal.sharding import buckets
from lanceref.inspection import explain
from lanceref.proto.mem_wal_pb2 import ShardManifest
from lanceref.storage import BytesSource, open_store


def test_the_hash_is_that_of_rust():
    """Of nothing, as its standard hasher begins and ends; of more, as Python's with a key of 0."""
    assert 0xD1FBA762150C532C == shard_log.sip_hash(b"")
    code = "print(*(hash(bytes(range(n))) % 2**64 for n in range(1, 18)))"
    told = subprocess.check_output([sys.executable, "-c", code], env={"PYTHONHASHSEED": "0"})
    assert [*map(int, told.split())] == [shard_log.sip_hash(bytes(range(n))) for n in range(1, 18)]


def test_every_column_of_a_key_counts():
    """In their order; words of 4 and of 8 bytes differ."""
    wide, narrow = (pa.chunked_array([[1, 2]], type_) for type_ in (pa.int64(), pa.int32()))
    text, octets = pa.chunked_array([["a", "b"]]), pa.chunked_array([[b"a", b"b"]])
    every = [(wide,), (narrow,), (text,), (octets,), (wide, text), (text, wide)]
    found = [number for columns in every for number in shard_log.key_hashes(columns).tolist()]

    assert 12 == len(set(found))
    wanted = [shard_log.sip_hash(one) for one in (b"\0\1\0\0\0", b"\0a\xff")]
    assert wanted == [found[2], found[4]]
    assert shard_log.sip_hash(b"\0\1" + bytes(7) + b"\0a\xff") == found[8]


DAY = datetime.date(2020, 1, 1)


@pytest.mark.parametrize(
    ("values", "type_", "expected"),
    [
        ([1, 2, 3, None], pa.int32(), [2, 7, 1, 0]),
        ([1, 2], pa.int8(), [2, 7]),
        ([1, 2], pa.uint8(), [2, 7]),
        ([1, 2**31 + 5], pa.uint32(), [2, 6]),
        ([1, -1, 2**40], pa.int64(), [4, 0, 2]),
        ([1, 2**63 + 1], pa.uint64(), [4, 2]),
        (["a", "b", "", "abcde", "é日", None], pa.string(), [1, 5, 0, 4, 5, 0]),
        (["a", "abcde"], pa.large_string(), [1, 4]),
        ([True, False, None], pa.bool_(), [2, 6, 0]),
        ([1.25, 0.0, -0.0, math.nan], pa.float32(), [0, 6, 6, 3]),
        ([1.25, 0.0, -0.0, math.nan], pa.float64(), [0, 4, 4, 5]),
        ([DAY], pa.date32(), [7]),
        ([5], pa.timestamp("us"), [7]),
        ([5], pa.time32("s"), [6]),
        ([5], pa.time64("us"), [7]),
    ],
)
def test_worked_buckets(values, type_, expected):
    """Of 8, as the official writer computes them."""
    assert buckets(pa.array(values, type_), 8).tolist() == expected


SHARD = uuid.UUID("11111111-2222-3333-4444-555555555555")
CTX = Context("t")


def manifest(version: int, **values) -> ShardManifest:
    """Return a version of the shard."""
    found = ShardManifest(version=version, writer_epoch=1, current_generation=3, **values)
    found.shard_id.uuid = SHARD.bytes
    return found


@pytest.fixture
def store(tmp_path):
    """A store."""
    return open_store(str(tmp_path))


def test_worked_names():
    """64 digits, the lowest first."""
    assert shard_log.reversed_binary(1) == "1" + "0" * 63
    assert shard_log.reversed_binary(6) == "011" + "0" * 61
    assert shard_log.parse_reversed("011" + "0" * 61 + ".binpb", ".binpb") == 6
    for name in (
        shard_log.HINT,
        "1.binpb",
        "2" * 64 + ".binpb",
        "1" * 64,
        "x" + "0" * 63 + ".binpb",
    ):
        assert shard_log.parse_reversed(name, ".binpb") is None


@given(st.integers(0, 2**64 - 1))
def test_names_are_parsed(number):
    """Every number comes back."""
    assert shard_log.parse_reversed(f"{shard_log.reversed_binary(number)}.x", ".x") == number


def test_versions_are_listed_and_read(store):
    """Ascending; what has other names is passed over."""
    assert shard_log.versions(store, SHARD) == []
    for version in (3, 1, 2):
        shard_log.write_manifest(store, SHARD, manifest(version))
    assert shard_log.versions(store, SHARD) == [1, 2, 3]
    assert shard_log.read_manifest(store, SHARD, 3, CTX) == manifest(3)
    store.put("_mem_wal/other/manifest/x", b"")
    assert list(shard_log.shards(store)) == [SHARD]


ROWS = pa.table({"i": [1, 2], "_tombstone": [False, True]})


def stream(rows: pa.Table, options=None, **metadata: str) -> bytes:
    """Return an entry's bytes."""
    out = io.BytesIO()
    rows = rows.replace_schema_metadata(metadata)
    with pa.ipc.new_stream(out, rows.schema, options=options) as writer:
        writer.write_table(rows)
    return out.getvalue()


def test_what_is_written_is_read(store):
    """Rows and fences, by position."""
    shard_log.write_entry(store, SHARD, 1, shard_log.LogEntry(1, 1, ROWS))
    shard_log.write_entry(store, SHARD, 2, shard_log.LogEntry(2, None, None))
    shard_log.write_entry(store, SHARD, 3, shard_log.LogEntry(2, 4, ROWS))
    assert shard_log.positions(store, SHARD) == [1, 2, 3]
    found = dict(shard_log.read_entries(store, SHARD, 0, CTX))
    assert found[1].rows.equals(ROWS)
    assert [(one.writer_epoch, one.generation) for one in found.values()] == [
        (1, 1),
        (2, None),
        (2, 4),
    ]
    assert [position for position, _ in shard_log.read_entries(store, SHARD, 2, CTX)] == [3]


def test_little_bytes_do_not_expand():
    """What a stream claims is held against its size first."""
    rows = pa.table({"z": np.zeros(12_000_000), "_tombstone": np.zeros(12_000_000, np.bool_)})
    packed = pa.ipc.IpcWriteOptions(compression="zstd")
    with pytest.raises(LimitExceeded):
        shard_log.parse_entry(stream(rows, packed, writer_epoch="1", generation="1"), CTX)


def test_folders_elsewhere_and_parts_of_blocks_are_refused(store):
    """A generation lies beside the log, and a filter has whole blocks."""
    broken = manifest(1, sstables=[{"generation": 1, "path": "../a"}]).SerializeToString()
    store.put(shard_log.manifest_path(SHARD, 1), broken)
    with pytest.raises(FormatError) as caught:
        shard_log.read_manifest(store, SHARD, 1, CTX)
    assert caught.value.clause == "L.index.mem-wal.sstables"
    with pytest.raises(CorruptPage) as caught:
        shard_log.parse_key_filter(BytesSource(bytes(33)), Context(shard_log.FILE))
    assert caught.value.clause == "L.index.mem-wal.key-filter"


def test_every_byte_of_the_log_has_an_owner(store, tmp_path):
    """The name of a file tells `explain` what it is."""
    shard_log.write_manifest(store, SHARD, manifest(1))
    shard_log.write_entry(store, SHARD, 1, shard_log.LogEntry(1, 1, ROWS))
    (tmp_path / shard_log.FILE).write_bytes(bytes(64))
    for path in (shard_log.manifest_path(SHARD, 1), shard_log.entry_path(SHARD, 1), shard_log.FILE):
        found = explain(tmp_path / path)
        assert ([], []) == (found.findings, found.unowned)
        assert (tmp_path / path).stat().st_size == sum(found.bytes_per_kind().values())

"""Manifests of shards."""

from __future__ import annotations

import contextlib
import random
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.errors import FormatError, LanceError
from lanceref.index.mem_wal.shard_log import (
    HINT,
    manifest_path,
    parse_reversed,
    read_manifest,
    reversed_binary,
    shards,
    versions,
)
from lanceref.proto.mem_wal_pb2 import ShardManifest
from lanceref.storage import open_store

from .logs import write_manifest

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
    assert reversed_binary(1) == "1" + "0" * 63
    assert reversed_binary(6) == "011" + "0" * 61
    assert parse_reversed("011" + "0" * 61 + ".binpb", ".binpb") == 6
    for name in (HINT, "1.binpb", "2" * 64 + ".binpb", "1" * 64, "x" + "0" * 63 + ".binpb"):
        assert parse_reversed(name, ".binpb") is None


@given(st.integers(0, 2**64 - 1))
def test_names_are_parsed(number):
    """Every number comes back."""
    assert parse_reversed(f"{reversed_binary(number)}.x", ".x") == number


def test_versions_are_listed_and_read(store):
    """Ascending; what has other names is passed over."""
    assert versions(store, SHARD) == []
    for version in (3, 1, 2):
        write_manifest(store, SHARD, manifest(version))
    assert versions(store, SHARD) == [1, 2, 3]
    assert read_manifest(store, SHARD, 3, CTX) == manifest(3)
    store.put("_mem_wal/other/manifest/x", b"")
    assert list(shards(store)) == [SHARD]


def put(store, message: ShardManifest, version: int = 1) -> None:
    """Store a manifest as a version."""
    store.put(manifest_path(SHARD, version), message.SerializeToString())


@pytest.mark.parametrize(
    ("message", "clause"),
    [
        (manifest(2), "manifest-name"),
        (ShardManifest(version=1), "manifest-name"),
        (manifest(1, sstables=[{"generation": 3, "path": "a"}]), "sstables"),
        (
            manifest(1, sstables=[{"generation": 2, "path": "a"}, {"generation": 1, "path": "b"}]),
            "sstables",
        ),
        (manifest(1, sstables=[{"generation": 1, "path": ""}]), "sstables"),
        (manifest(1, sstables=[{"generation": 1, "path": "../a"}]), "sstables"),
    ],
)
def test_damage_is_refused(store, message, clause):
    """Another version or shard, generations that are not there yet, folders elsewhere."""
    put(store, message)
    with pytest.raises(FormatError) as caught:
        read_manifest(store, SHARD, 1, CTX)
    assert caught.value.clause == f"L.index.mem-wal.{clause}"


def test_only_lance_errors_escape(store):
    """Whatever bytes change."""
    source = random.Random(1)
    whole = manifest(1, sstables=[{"generation": 1, "path": "a"}]).SerializeToString()
    for _ in range(300):
        data = bytearray(whole)
        data[source.randrange(len(data))] ^= 1 << source.randrange(8)
        store.put(manifest_path(SHARD, 1), bytes(data[: source.randint(0, len(data))]))
        with contextlib.suppress(LanceError):
            read_manifest(store, SHARD, 1, CTX)

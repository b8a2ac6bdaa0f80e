"""The log of a table is checked as a whole."""

import uuid

import pyarrow as pa
import pytest
from lanceref.core.context import Context
from lanceref.explain import explain
from lanceref.index.mem_wal.shard_log import (
    LogEntry,
    check_log,
    entry_path,
    manifest_path,
)
from lanceref.proto.mem_wal_pb2 import ShardManifest
from lanceref.storage import open_store

from .logs import write_entry, write_manifest

SHARD = uuid.UUID(int=3)


@pytest.fixture
def root(tmp_path):
    """A shard of two versions, an entry and a fence."""
    store = open_store(tmp_path)
    for version in (1, 2):
        manifest = ShardManifest(version=version, writer_epoch=version, current_generation=1)
        manifest.shard_id.uuid = SHARD.bytes
        write_manifest(store, SHARD, manifest)
    rows = pa.table({"a": [1, 2], "_tombstone": [False, True]})
    write_entry(store, SHARD, 1, LogEntry(1, 1, rows))
    write_entry(store, SHARD, 2, LogEntry(2, None, None))
    return tmp_path


def _clauses(root):
    findings = []
    check_log(open_store(root), Context("log", findings=findings))
    return [finding.clause for finding in findings]


def test_a_whole_log_has_no_findings(root):
    """Nothing is said of versions and entries that are right."""
    assert [] == _clauses(root)


def test_every_broken_version_is_told(root):
    """One that is no message does not keep the next one from being read."""
    (root / manifest_path(SHARD, 1)).write_bytes(b"\xff")
    path = root / manifest_path(SHARD, 2)
    path.rename(root / manifest_path(SHARD, 4))

    assert ["L.index.mem-wal.manifest", "L.index.mem-wal.manifest-name"] == _clauses(root)


def test_entries_are_held_against_the_latest_version(root):
    """A position that is missing after what was flushed, and an entry that is none."""
    (root / entry_path(SHARD, 1)).unlink()
    assert ["L.index.mem-wal.positions"] == _clauses(root)

    (root / entry_path(SHARD, 1)).write_bytes(b"ARROW")
    assert ["L.index.mem-wal.entry"] == _clauses(root)


@pytest.mark.parametrize("path", [manifest_path(SHARD, 2), entry_path(SHARD, 1)])
def test_every_byte_has_an_owner(root, path):
    """The name of a file of the log tells `explain` what it is."""
    explained = explain(root / path)

    assert [] == explained.findings
    assert [] == explained.unowned

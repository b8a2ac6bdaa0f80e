"""Limits on hostile bytes."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import lanceref
import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import LanceError, LimitExceeded
from lanceref.core.limits import DEFAULT_LIMITS, Limits
from lanceref.proto import file_pb2, table_pb2, transaction_pb2
from lanceref.table.manifest import encode_manifest
from pylanceref.file import LanceFileReader

from .table.manifests import parse

ROOM_BYTES = 16 * 2**20
"""What a busy process may hold besides."""


def test_output_may_grow_with_the_file():
    """The bound of one run is a constant plus a factor of the file's size."""
    limits = Limits(expansion_bytes=100, expansion_factor=3)

    assert 100 + 3 * 7 == limits.expanded(7)


def test_the_defaults_stay_below_the_goal_for_damaged_files():
    """64 MiB + 16 times the file's size is the goal: the default leaves room beside the output."""
    assert DEFAULT_LIMITS.expanded(1000) <= 64 * 2**20 + 16 * 1000


def _peak_bytes(call: Callable[[], object]) -> int:
    """Return how far memory rises above what it is now while a forked child makes a call."""
    pid = os.fork()
    if pid == 0:
        with suppress(LanceError):
            call()
        os._exit(0)
    _, status, usage = os.wait4(pid, 0)
    assert 0 == status
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return 1024 * usage.ru_maxrss - pages * resource.getpagesize()


def _fields() -> bytes:
    """Return a field of a schema for each of many numbers."""
    shape = file_pb2.Field(parent_id=-1, logical_type="int8", type=2)
    manifest = table_pb2.Manifest()
    for number in range(1, 60_000):
        shape.name, shape.id = str(number), number
        manifest.fields.append(shape)
    return manifest.SerializeToString()


SHAPES: dict[str, Callable[[], bytes]] = {
    "fragments": lambda: table_pb2.Manifest(fragments=[{}]).SerializeToString() * 300_000,
    "fields": _fields,
    "unknown fields": lambda: b"\x98\x06\x01" * 300_000,
    "indices": lambda: b"",
}
"""What is appended to a manifest to fill it with many small entries."""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
@pytest.mark.parametrize("name", SHAPES)
def test_a_manifest_of_many_small_entries_costs_no_more_than_the_limits(tmp_path, name):
    """Opening, validating and explaining take 64 MiB and 16 bytes for each that is read."""
    uri = str(tmp_path / "t")
    pylanceref.write_dataset(pa.table({"a": range(10)}), uri)
    (path,) = (tmp_path / "t" / "_versions").glob("*.manifest")
    calls = (
        lambda: pylanceref.dataset(uri).to_table(),
        lambda: lanceref.validate(uri),
        lambda: lanceref.explain(path),
    )
    sound = [_peak_bytes(call) for call in calls]
    message = parse(path.read_bytes()).message
    message.MergeFromString(SHAPES[name]())
    indices = [table_pb2.IndexMetadata()] * (400_000 if name == "indices" else 0)
    path.write_bytes(encode_manifest(message, transaction_pb2.Transaction(), indices, {}))
    size = path.stat().st_size
    del message, indices

    most = 64 * 2**20 + 16 * size + ROOM_BYTES
    for call, before in zip(calls, sound, strict=True):
        assert _peak_bytes(call) - before <= most


def test_a_table_of_constants_is_streamed_but_not_held(tmp_path):
    """7 million equal numbers are few bytes in the file, and 56 MB in memory."""
    uri = str(tmp_path / "t")
    rows = pa.table({"a": pa.array(np.zeros(7_000_000, np.int64))})
    written = pylanceref.write_dataset(
        rows, uri, data_storage_version="2.2", max_rows_per_file=7_000_000
    )
    (path,) = (tmp_path / "t" / "data").glob("*.lance")

    with pytest.raises(LimitExceeded, match="to_batches"):
        written.to_table()
    with pytest.raises(LimitExceeded, match="to_batches"):
        LanceFileReader(path).read_all().to_table()
    assert 7_000_000 == sum(batch.num_rows for batch in written.to_batches())
    more = pylanceref.dataset(uri, limits=Limits(expansion_bytes=2**28))
    assert 7_000_000 == more.to_table().num_rows

"""Shard manifests: what a shard of the log holds, version after version.

A shard is written by one writer at a time, the one of the highest epoch. Its log has positions from
1 on; what lies up to a position has been flushed into tables, one a generation.

Layout: `_mem_wal/{shard}/manifest/{version}.binpb`, a `ShardManifest`, the version as 64 binary
digits, the lowest first; `version_hint.json` beside them names one, `{"version":2}`.

Clauses: L.index.mem-wal.manifest, L.index.mem-wal.manifest-name, L.index.mem-wal.sstables
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from itertools import pairwise

from lanceref.core.context import Context
from lanceref.core.cursor import FileBytes
from lanceref.core.errors import CommitConflict, FormatError, OutOfRange
from lanceref.core.wire import parse_message
from lanceref.proto.mem_wal_pb2 import ShardManifest
from lanceref.storage import Source, Store

FOLDER = "_mem_wal"
HINT = "version_hint.json"
SUFFIX = ".binpb"
DIGITS = 64


def reversed_binary(number: int) -> str:
    """Return a number as binary digits, the lowest first."""
    return f"{number:0{DIGITS}b}"[::-1]


def parse_reversed(name: str, suffix: str) -> int | None:
    """Return the number that a file is named by, None for another name."""
    digits = name.removesuffix(suffix)
    if not name.endswith(suffix) or len(digits) != DIGITS or digits.strip("01"):
        return None
    return int(digits[::-1], 2)


def shard_folder(shard: uuid.UUID) -> str:
    """Return where a shard lies below the table's root."""
    return f"{FOLDER}/{shard}"


def shards(store: Store) -> Iterator[uuid.UUID]:
    """Yield the shards that have files, in order."""
    names = {entry.path.split("/")[1] for entry in store.walk(FOLDER)}
    for name in sorted(names):
        try:
            found = uuid.UUID(name)
        except ValueError:
            continue
        if str(found) == name:
            yield found


def manifest_path(shard: uuid.UUID, version: int) -> str:
    """Return where a version of a shard lies."""
    return f"{shard_folder(shard)}/manifest/{reversed_binary(version)}{SUFFIX}"


def read_manifest(store: Store, shard: uuid.UUID, version: int, ctx: Context) -> ShardManifest:
    """Read a version of a shard. Raises FormatError, NotFound."""
    path = manifest_path(shard, version)
    source = store.open(path)
    own = Context(path, ctx.stage, limits=ctx.limits)
    manifest = parse_manifest(source, own)
    named = manifest.version, manifest.shard_id.uuid
    if named != (version, shard.bytes):
        raise FormatError(
            "L.index.mem-wal.manifest-name",
            own.at(0, source.size),
            found=f"version {named[0]} of {named[1].hex()}",
            wanted=f"version {version} of {shard.hex}",
        )
    return manifest


def parse_manifest(source: Source, ctx: Context) -> ShardManifest:
    """Parse a version of a shard, whatever its name. Raises FormatError."""
    clause, place = "L.index.mem-wal.manifest", ctx.at(0, source.size)
    cursor = FileBytes(source, ctx).whole("shard manifest", clause)
    manifest = parse_message(cursor, ShardManifest, "shard manifest", clause)
    generations = [one.generation for one in manifest.sstables]
    rising = all(one < other for one, other in pairwise(generations))
    if not rising or any(one >= manifest.current_generation for one in generations):
        raise OutOfRange(
            "L.index.mem-wal.sstables",
            place,
            found=f"generations {generations[:8]}",
            wanted=f"rising ones below {manifest.current_generation}",
        )
    for one in manifest.sstables:
        if not one.path or "/" in one.path or one.path.startswith("."):
            raise FormatError(
                "L.index.mem-wal.sstables", place, found=one.path[:80], wanted="a folder's name"
            )
    return manifest


def check_manifest(source: Source, ctx: Context) -> None:
    """Parse a version of a shard for `explain` and `validate`."""
    with ctx.piece():
        parse_manifest(source, ctx)


def versions(store: Store, shard: uuid.UUID) -> list[int]:
    """Return the versions of a shard, ascending."""
    names = store.list(f"{shard_folder(shard)}/manifest")
    found = (parse_reversed(name, SUFFIX) for name in names)
    return sorted(version for version in found if version is not None)


def latest_manifest(store: Store, shard: uuid.UUID, ctx: Context) -> ShardManifest | None:
    """Read the latest version of a shard, None for one that has none. Raises FormatError."""
    known = versions(store, shard)
    return read_manifest(store, shard, known[-1], ctx) if known else None


def write_manifest(store: Store, shard: uuid.UUID, manifest: ShardManifest) -> None:
    """Write the next version of a shard. Raises CommitConflict when there is one already."""
    data = manifest.SerializeToString(deterministic=True)
    if not store.put_if_absent(manifest_path(shard, manifest.version), data):
        raise CommitConflict("MemWal", "MemWal", manifest.version, retryable=False)
    hint = json.dumps({"version": manifest.version}, separators=(",", ":"))
    store.put(f"{shard_folder(shard)}/manifest/{HINT}", hint.encode())

"""Shards of the memory write-ahead log: manifests, version after version, and entries.

A shard is written by one writer at a time, the one of the highest epoch. Its log has positions from
1 on; what lies up to a position has been flushed into tables, one a generation. An entry holds rows
that were written together, or is a fence: another writer took over. A writer takes a shard over
before it writes: a manifest of a higher epoch tells others that they have lost it, and a fence
after the last entry lies where a writer of an earlier epoch would write next, so that its write
fails. No entry is ever replaced.

Layout: `_mem_wal/{shard}/manifest/{version}.binpb`, a `ShardManifest`, the version as 64 binary
digits, the lowest first; `version_hint.json` beside them names one, `{"version":2}`.
`_mem_wal/{shard}/wal/{position}.arrow`, the position in such digits: an Arrow stream of the columns
of the table and `_tombstone`, bool: the row of this key is deleted. The metadata of its schema has
`writer_epoch` and `generation`; a fence has no columns but `fence_sentinel`, `true`.

The key filter, a split-block Bloom filter, knows which primary keys a flushed generation may have.
It only saves a look at the keys themselves, in `_pk_index`; a reader need not use it. The hash of a
key is SipHash-1-3 with a key of zeros, over the columns of the primary key one after the other,
each a zero byte and then its value: integers of 32 and 64 bits little-endian, text and a byte 0xff,
bytes after their number (u64). How values of other types are hashed is not known.

Layout: `_mem_wal/{shard}/{generation}/bloom_filter.bin`: blocks of eight u32 words.

Clauses: L.index.mem-wal.manifest, L.index.mem-wal.manifest-name, L.index.mem-wal.sstables,
L.index.mem-wal.entry, L.index.mem-wal.positions, L.index.mem-wal.epoch, L.index.mem-wal.fence,
L.index.mem-wal.newest, L.index.mem-wal.key-filter
"""

from __future__ import annotations

import io
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from struct import pack

import numpy as np
import pyarrow as pa

from lanceref.core import errors
from lanceref.core.context import Context, expect
from lanceref.core.cursor import Extent, FileBytes, parse_message
from lanceref.index.bloom import BLOCK_BYTES, WORDS, Blocks, Hashes
from lanceref.proto.mem_wal_pb2 import ShardManifest
from lanceref.storage import Source, Store
from lanceref.table.arrow_file import expanded_stream_bytes, own_arrow_stream

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
    found = f"version {manifest.version} of {manifest.shard_id.uuid.hex()}"
    wanted, place = f"version {version} of {shard.hex}", own.at(0, source.size)
    expect("L.index.mem-wal.manifest-name", found, wanted, place, errors.FormatError)
    return manifest


def parse_manifest(source: Source, ctx: Context) -> ShardManifest:
    """Parse a version of a shard, whatever its name. Raises FormatError."""
    clause, place = "L.index.mem-wal.manifest", ctx.at(0, source.size)
    cursor = FileBytes(source, ctx).whole("shard manifest", clause)
    manifest = parse_message(cursor, ShardManifest, "shard manifest", clause)
    generations = [one.generation for one in manifest.sstables]
    rising = all(one < other for one, other in pairwise(generations))
    if not rising or any(one >= manifest.current_generation for one in generations):
        wanted = f"rising ones below {manifest.current_generation}"
        raise errors.OutOfRange("L.index.mem-wal.sstables", place, generations[:8], wanted)
    for one in manifest.sstables:
        if not one.path or "/" in one.path or one.path.startswith("."):
            found = f"path {one.path[:80]!r}"
            raise errors.FormatError("L.index.mem-wal.sstables", place, found, "a folder's name")
    return manifest


def versions(store: Store, shard: uuid.UUID) -> list[int]:
    """Return the versions of a shard, ascending."""
    return _numbered(store, f"{shard_folder(shard)}/manifest", SUFFIX)


def _numbered(store: Store, folder: str, suffix: str) -> list[int]:
    numbers = (parse_reversed(name, suffix) for name in store.list(folder))
    return sorted(number for number in numbers if number is not None)


def write_manifest(store: Store, shard: uuid.UUID, manifest: ShardManifest) -> None:
    """Write a version of a shard, and the hint that names it. Raises CommitConflict."""
    data = manifest.SerializeToString(deterministic=True)
    _put(store, manifest_path(shard, manifest.version), data, manifest.version)
    store.put(f"{shard_folder(shard)}/manifest/{HINT}", b'{"version":%d}' % manifest.version)


def _put(store: Store, path: str, data: bytes, number: int) -> None:
    if not store.put_if_absent(path, data):
        raise errors.CommitConflict("MemWal", "MemWal", number, retryable=False)


ENTRY = "L.index.mem-wal.entry"
ENTRY_SUFFIX = ".arrow"
TOMBSTONE = "_tombstone"
EPOCH = b"writer_epoch"
GENERATION = b"generation"
FENCE = b"fence_sentinel"


@dataclass(frozen=True, slots=True)
class LogEntry:
    """An entry; a fence has neither generation nor rows."""

    writer_epoch: int
    generation: int | None
    rows: pa.Table | None


def entry_path(shard: uuid.UUID, position: int) -> str:
    """Return the path of the entry at a position of a shard's log."""
    return f"{shard_folder(shard)}/wal/{reversed_binary(position)}{ENTRY_SUFFIX}"


def positions(store: Store, shard: uuid.UUID) -> list[int]:
    """Return the positions of the log, ascending."""
    return _numbered(store, f"{shard_folder(shard)}/wal", ENTRY_SUFFIX)


def read_entries(
    store: Store, shard: uuid.UUID, after: int, ctx: Context
) -> Iterator[tuple[int, LogEntry]]:
    """Yield the entries after a position. Raises FormatError, also when one is missing."""
    rest = [one for one in positions(store, shard) if one > after]
    for wanted, position in enumerate(rest, after + 1):
        path = entry_path(shard, position)
        expect("L.index.mem-wal.positions", position, wanted, errors.Place(path, 0))
        source = store.open(path)
        own = Context(path, ctx.stage, limits=ctx.limits)
        yield position, parse_entry(_whole(source, own), own)


def _whole(source: Source, ctx: Context) -> bytes:
    """Return the bytes of an entry. Raises LimitExceeded."""
    return bytes(FileBytes(source, ctx).whole("entry", ENTRY).data)


def parse_entry(data: bytes, ctx: Context) -> LogEntry:
    """Parse one entry of a log. Raises CorruptPage, LimitExceeded."""
    place = ctx.at(0, len(data))
    budget = ctx.limits.expanded(len(data))
    try:
        size = expanded_stream_bytes(pa.py_buffer(data))
        rows = pa.ipc.open_stream(data).read_all() if size <= budget else pa.table({})
        rows.validate(full=True)
    except (pa.ArrowException, OSError, EOFError, ValueError, KeyError, MemoryError) as error:
        raise errors.CorruptPage(ENTRY, place, f"{error}", "an Arrow stream") from error
    if size > budget:
        raise errors.LimitExceeded(ENTRY, place, f"{size} bytes", f"at most {budget}")
    metadata = rows.schema.metadata or {}
    epoch = _number(metadata, EPOCH, place)
    if metadata.get(FENCE) == b"true":
        return LogEntry(epoch, None, None)
    marks = rows.schema.get_field_index(TOMBSTONE)
    if marks < 0 or rows.schema.field(marks).type != pa.bool_() or rows[marks].null_count:
        wanted = f"{TOMBSTONE}, bool without nulls"
        raise errors.CorruptPage(ENTRY, place, f"columns {rows.schema.names}", wanted)
    return LogEntry(epoch, _number(metadata, GENERATION, place), rows)


def _number(metadata: dict[bytes, bytes], key: bytes, place: errors.Place) -> int:
    """Return a number of the metadata. Raises CorruptPage."""
    text = metadata.get(key, b"")
    if not text.isdigit() or len(text) > 20:
        raise errors.CorruptPage(ENTRY, place, f"{key!r} = {text[:40]!r}", "a number")
    return int(text)


def check_entry(source: Source, ctx: Context) -> None:
    """Parse an entry for `explain` and `validate`. Raises FormatError."""
    data = _whole(source, ctx)
    parse_entry(data, ctx)
    if ctx.spans is not None:
        own_arrow_stream(ctx, pa.py_buffer(data), ENTRY)


def write_entry(store: Store, shard: uuid.UUID, position: int, entry: LogEntry) -> None:
    """Write an entry or a fence. Raises CommitConflict when the position is taken."""
    metadata = {EPOCH: b"%d" % entry.writer_epoch}
    if entry.rows is None:
        metadata[FENCE] = b"true"
        rows = pa.table({})
    else:
        metadata[GENERATION] = b"%d" % (entry.generation or 0)
        rows = entry.rows
    rows = rows.replace_schema_metadata(metadata)
    out = io.BytesIO()
    with pa.ipc.new_stream(out, rows.schema) as stream:
        stream.write_table(rows.combine_chunks())
    _put(store, entry_path(shard, position), out.getvalue(), position)


def take_over(store: Store, shard: uuid.UUID, ctx: Context) -> tuple[ShardManifest, int]:
    """Become the writer of a shard; return its manifest, and the position of the next entry.

    Raises CommitConflict when another writer takes it over at the same time, FormatError.
    """
    known = versions(store, shard)
    own = ShardManifest(current_generation=1)
    own.shard_id.uuid = shard.bytes
    if known:
        own.CopyFrom(read_manifest(store, shard, known[-1], ctx))
    own.version, own.writer_epoch = own.version + 1, own.writer_epoch + 1
    write_manifest(store, shard, own)  # L.index.mem-wal.epoch: before anything else is written
    if not known:
        return own, 1
    fence = max([own.replay_after_wal_entry_position, *positions(store, shard)]) + 1
    # L.index.mem-wal.fence
    write_entry(store, shard, fence, LogEntry(own.writer_epoch, None, None))
    return own, fence + 1


def newest_rows(rows: Iterable[pa.Table], key: Sequence[str]) -> pa.Table:
    """Return the rows of a scan over tables with `_tombstone`, the oldest table first.

    Of each primary key the last row counts, and no row where that is a tombstone: the key was
    deleted. Rows keep their order; `_tombstone` is left out.
    """
    joined = pa.concat_tables(rows)
    last = dict[tuple[object, ...], int]()
    for row, values in enumerate(zip(*(joined[name].to_pylist() for name in key), strict=True)):
        last[values] = row  # L.index.mem-wal.newest
    newest_places = np.sort(np.fromiter(last.values(), np.int64, len(last)))
    newest = joined.take(pa.array(newest_places))
    return newest.filter(pa.compute.invert(newest[TOMBSTONE])).drop_columns([TOMBSTONE])


def check_log(store: Store, ctx: Context) -> None:
    """Report what is wrong with every version of every shard, and the entries after the latest."""
    for shard in shards(store):
        flushed = 0
        for version in versions(store, shard):
            with ctx.piece():
                manifest = read_manifest(store, shard, version, ctx)
                flushed = manifest.replay_after_wal_entry_position
        with ctx.piece():
            for _ in read_entries(store, shard, flushed, ctx):
                pass


MASK = 2**64 - 1
START = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
"""State of SipHash before the first word."""

VALUES: dict[pa.DataType, Callable[..., bytes]] = {
    pa.int32(): lambda value: pack("<xi", value),
    pa.int64(): lambda value: pack("<xq", value),
    pa.string(): lambda value: b"\0" + value.encode() + b"\xff",
    pa.binary(): lambda value: pack("<xQ", len(value)) + value,
}
"""What is hashed of a value, by type."""


def key_hashes(columns: Sequence[pa.ChunkedArray]) -> Hashes | None:
    """Return the hash of the key of each row, uint64, None where a type is of others: (rows,)."""
    if not all(column.type in VALUES for column in columns):
        return None
    parts = [map(VALUES[column.type], column.to_pylist()) for column in columns]
    return np.fromiter((sip_hash(b"".join(key)) for key in zip(*parts, strict=True)), np.uint64)


def sip_hash(data: bytes) -> int:
    """Return SipHash-1-3 of bytes: one round a word of 64 bits, three at the end."""
    state = START
    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) % 256])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at : at + 8], "little")
        first, second, third, fourth = _round(*state[:3], state[3] ^ word)
        state = first ^ word, second, third, fourth
    state = state[0], state[1], state[2] ^ 0xFF, state[3]
    for _ in range(3):
        state = _round(*state)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


def _round(first: int, second: int, third: int, fourth: int) -> tuple[int, int, int, int]:
    first = (first + second) & MASK
    second = _rotated(second, 13) ^ first
    first = _rotated(first, 32)
    third = (third + fourth) & MASK
    fourth = _rotated(fourth, 16) ^ third
    first = (first + fourth) & MASK
    fourth = _rotated(fourth, 21) ^ first
    third = (third + second) & MASK
    second = _rotated(second, 17) ^ third
    return first, second, _rotated(third, 32), fourth


def _rotated(word: int, bits: int) -> int:
    return ((word << bits) | (word >> (64 - bits))) & MASK


FILE = "bloom_filter.bin"
CLAUSE = "L.index.mem-wal.key-filter"


def parse_key_filter(source: Source, ctx: Context) -> Blocks:
    """Return the blocks of a filter, [blocks, 8]. Raises CorruptPage."""
    size = source.size
    blocks, rest = divmod(size, BLOCK_BYTES)
    if rest or not blocks:
        wanted = f"a multiple of {BLOCK_BYTES}"
        raise errors.CorruptPage(CLAUSE, ctx.at(0, size), f"{size} bytes", wanted)
    cursor = FileBytes(source, ctx).cursor(Extent(0, size), "key filter", CLAUSE)
    words = cursor.array("<u4", blocks * WORDS, "words", CLAUSE)
    return words.reshape(blocks, WORDS).astype(np.uint32, copy=False)

"""Log entries: rows that were written together, or the sign that another writer took over.

Layout: `_mem_wal/{shard}/wal/{position}.arrow`, the position as 64 binary digits, the lowest first:
an Arrow stream of the columns of the table and `_tombstone`, bool: the row of this key is deleted.
Its schema's metadata has `writer_epoch` and `generation`; a fence has no columns but
`fence_sentinel`, `true`.

Clauses: L.index.mem-wal.entry, L.index.mem-wal.positions
"""

from __future__ import annotations

import io
import uuid
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from lanceref.core.context import Context
from lanceref.core.cursor import FileBytes
from lanceref.core.errors import CommitConflict, CorruptPage, LimitExceeded, Place
from lanceref.index.mem_wal.shard_manifest import parse_reversed, reversed_binary, shard_folder
from lanceref.storage import Source, Store
from lanceref.table.arrow_file import expanded_stream_bytes, own_arrow_stream

SUFFIX = ".arrow"
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
    """Return where an entry lies."""
    return f"{shard_folder(shard)}/wal/{reversed_binary(position)}{SUFFIX}"


def positions(store: Store, shard: uuid.UUID) -> list[int]:
    """Return the positions of the log, ascending."""
    names = store.list(f"{shard_folder(shard)}/wal")
    found = (parse_reversed(name, SUFFIX) for name in names)
    return sorted(position for position in found if position is not None)


def read_entries(
    store: Store, shard: uuid.UUID, after: int, ctx: Context
) -> Iterator[tuple[int, LogEntry]]:
    """Yield the entries behind a position. Raises FormatError, also when one is missing."""
    for count, position in enumerate(one for one in positions(store, shard) if one > after):
        path = entry_path(shard, position)
        if position != after + 1 + count:
            raise CorruptPage(
                "L.index.mem-wal.positions",
                Place(path, 0),
                found=f"position {position}",
                wanted=f"position {after + 1 + count}",
            )
        source = store.open(path)
        own = Context(path, ctx.stage, limits=ctx.limits)
        yield position, parse_entry(_whole(source, own), own)


def _whole(source: Source, ctx: Context) -> bytes:
    """Return the bytes of an entry. Raises LimitExceeded."""
    return bytes(FileBytes(source, ctx).whole("entry", "L.index.mem-wal.entry").data)


def parse_entry(data: bytes, ctx: Context) -> LogEntry:
    """Parse an entry. Raises CorruptPage, LimitExceeded."""
    place = ctx.at(0, len(data))
    budget = ctx.limits.expanded(len(data))
    try:
        size = expanded_stream_bytes(pa.py_buffer(data))
        rows = pa.ipc.open_stream(data).read_all() if size <= budget else pa.table({})
        rows.validate(full=True)
    except (pa.ArrowException, OSError, EOFError, ValueError, KeyError, MemoryError) as error:
        raise CorruptPage(
            "L.index.mem-wal.entry", place, found=f"{error}", wanted="an Arrow stream"
        ) from error
    if size > budget:
        raise LimitExceeded(
            "L.index.mem-wal.entry", place, found=f"{size} bytes", wanted=f"at most {budget}"
        )
    metadata = rows.schema.metadata or {}
    epoch = _number(metadata, EPOCH, place)
    if metadata.get(FENCE) == b"true":
        return LogEntry(epoch, None, None)
    marks = rows.schema.get_field_index(TOMBSTONE)
    if marks < 0 or rows.schema.field(marks).type != pa.bool_() or rows[marks].null_count:
        raise CorruptPage(
            "L.index.mem-wal.entry",
            place,
            found=f"columns {rows.schema.names}",
            wanted=f"{TOMBSTONE}, bool without nulls",
        )
    return LogEntry(epoch, _number(metadata, GENERATION, place), rows)


def _number(metadata: dict[bytes, bytes], key: bytes, place: Place) -> int:
    """Return a number of the metadata. Raises CorruptPage."""
    text = metadata.get(key, b"")
    if not text.isdigit() or len(text) > 20:
        raise CorruptPage(
            "L.index.mem-wal.entry", place, found=f"{key!r} = {text[:40]!r}", wanted="a number"
        )
    return int(text)


def check_entry(source: Source, ctx: Context) -> None:
    """Parse an entry for `explain` and `validate`."""
    with ctx.piece():
        data = _whole(source, ctx)
        parse_entry(data, ctx)
        if ctx.spans is not None:
            own_arrow_stream(ctx, pa.py_buffer(data), "L.index.mem-wal.entry")


def write_entry(store: Store, shard: uuid.UUID, position: int, entry: LogEntry) -> None:
    """Write an entry. Raises CommitConflict when another writer has written one there."""
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
        for batch in rows.combine_chunks().to_batches():
            stream.write_batch(batch)
    if not store.put_if_absent(entry_path(shard, position), out.getvalue()):
        raise CommitConflict("MemWal", "MemWal", position, retryable=False)

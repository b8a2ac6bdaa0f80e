"""Cursor: the one place where bytes are cut.

A `Cursor` is a window of bytes that knows its absolute position in the file. Every cut is checked
against the window, names the clause that asks for it, and is recorded as a span when spans are
collected. `FileBytes` hands out such windows for extents of a file, which a `Source` reads. A
window that holds a protobuf message gives it as the library builds it, within the memory that the
limits allow.

Clauses: L.wire.message
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from google.protobuf.message import DecodeError, Message
from numpy.typing import NDArray

from lanceref.core.context import Context, specified
from lanceref.core.errors import BadProto, BytesError, LimitExceeded, OutOfRange, Place, Truncated
from lanceref.core.limits import Budget
from lanceref.core.wire import Walk, misfits, type_named


class Source(Protocol):
    """An object of a store, opened for reads at given positions."""

    @property
    def path(self) -> str:
        """The name of the object, as errors report it."""

    @property
    def size(self) -> int:
        """Size of the whole object in bytes."""

    def read(self, offset: int, size: int) -> memoryview:
        """Return up to `size` bytes from `offset`; shorter only at the end of the object."""

    def read_many(self, offsets: Sequence[int], sizes: Sequence[int]) -> list[memoryview]:
        """Make as many requests as there are offsets: what `read` returns for each."""

    def close(self) -> None:
        """Release the file handle or connection that the source holds."""


@dataclass(slots=True)
class IOStats:
    """Requests and bytes since the counter was made or last reset."""

    read_iops: int = 0
    read_bytes: int = 0
    write_iops: int = 0
    written_bytes: int = 0

    def count_reads(self, requests: int, size_bytes: int) -> None:
        """Count requests, and the bytes that they gave; the process counts them too."""
        self.read_iops += requests
        self.read_bytes += size_bytes
        if self is not PROCESS:
            PROCESS.read_iops += requests
            PROCESS.read_bytes += size_bytes

    def count_write(self, size_bytes: int) -> None:
        """Count one object that was written, and its bytes."""
        self.write_iops += 1
        self.written_bytes += size_bytes

    def incremental(self) -> IOStats:
        """Return what was counted since the last call, and start again from zero."""
        seen = IOStats(self.read_iops, self.read_bytes, self.write_iops, self.written_bytes)
        self.read_iops = self.read_bytes = self.write_iops = self.written_bytes = 0
        return seen


PROCESS = IOStats()
"""Reads of every store and file since the process began."""

Ints = NDArray[np.int64]

MERGE_GAP_BYTES = 4096
"""Extents closer than this are fetched by one request."""

WHOLE_BYTES = 2**31
"""A file, or the metadata of one, is read as one piece up to this size: no message is larger."""


class Extent(NamedTuple):
    """An absolute byte range of a file."""

    offset: int
    size: int

    @property
    def end(self) -> int:
        """Offset of the first byte after the range."""
        return self.offset + self.size


class Cursor:
    """Bytes, a position in them, and where they lie in the file. All integers are little-endian."""

    def __init__(self, data: memoryview, base: int, ctx: Context) -> None:
        self.data = data
        self.base = base
        self.ctx = ctx
        self.position = 0

    @property
    def offset(self) -> int:
        """Absolute offset in the file of the next byte to cut."""
        return self.base + self.position

    @property
    def end(self) -> int:
        """Absolute offset in the file of the byte after the last one."""
        return self.base + len(self.data)

    @property
    def remaining(self) -> int:
        """Number of bytes that were not cut yet."""
        return len(self.data) - self.position

    def require(self, size: int, name: str, clause: str) -> None:
        """Raise Truncated unless `size` bytes remain. Call it before sizing anything by a count."""
        left = len(self.data) - self.position
        if not 0 <= size <= left:
            place, found = self.ctx.at(self.offset, left), f"{left} bytes left"
            raise Truncated(clause, place, found, f"{size} bytes for {name}")

    def take(self, size: int, name: str, clause: str, kind: str = "bytes") -> memoryview:
        """Cut `size` bytes; they are owned as `name`."""
        part = self.skip(size, name, clause)
        start = self.offset - size
        self.ctx.leaf(start, start + size, name, kind, clause)
        return part

    def skip(self, size: int, name: str, clause: str) -> memoryview:
        """Cut `size` bytes without owning them: their owner is recorded by who looks inside."""
        self.require(size, name, clause)
        start = self.position
        self.position += size
        return self.data[start : start + size]

    def window(self, size: int, name: str, clause: str) -> Cursor:
        """Cut `size` bytes as a cursor of their own."""
        start = self.offset
        return Cursor(self.skip(size, name, clause), start, self.ctx)

    def check_end(self, clause: str, error: type[BytesError]) -> None:
        """Raise `error` for a clause unless all bytes were cut."""
        left = self.remaining
        if left:
            place = self.ctx.at(self.offset, left)
            raise error(clause, place, f"{left} more bytes", "0 more bytes")

    def array(
        self, dtype: str, count: int, name: str, clause: str, kind: str | None = None
    ) -> NDArray[np.generic]:
        """Cut `count` items of `dtype` (such as `<u4`) as a view of shape (count,)."""
        item, label = _item(dtype)
        self.require(count * item.itemsize if count >= 0 else -1, f"{count} {name}", clause)
        data = self.take(count * item.itemsize, name, clause, kind or label)
        return np.frombuffer(data, dtype=item)

    def u8(self, name: str, clause: str) -> int:
        """Cut one unsigned integer of 8 bits. Raises Truncated."""
        return self._integer(1, name, clause)

    def u16(self, name: str, clause: str) -> int:
        """Cut one little-endian unsigned integer of 16 bits. Raises Truncated."""
        return self._integer(2, name, clause)

    def u32(self, name: str, clause: str) -> int:
        """Cut one little-endian unsigned integer of 32 bits. Raises Truncated."""
        return self._integer(4, name, clause)

    def u64(self, name: str, clause: str) -> int:
        """Cut one little-endian unsigned integer of 64 bits. Raises Truncated."""
        return self._integer(8, name, clause)

    def _integer(self, width: int, name: str, clause: str) -> int:
        value = int.from_bytes(self.skip(width, name, clause), "little")
        if self.ctx.spans is not None:
            start = self.offset - width
            self.ctx.leaf(start, start + width, name, f"u{8 * width}", clause, value)
        return value


@cache
def _item(dtype: str) -> tuple[np.dtype[np.generic], str]:
    """Return a type of items, and what many of them are called."""
    item = np.dtype(dtype)
    return item, f"{item.name}[]"


M = TypeVar("M", bound=Message)
"""The type of a message."""


def parse_message(
    cursor: Cursor, cls: type[M], name: str, clause: str, embedded_in: Place | None = None
) -> M:
    """Parse the rest of `cursor` as a `cls`. Raises BadProto, LimitExceeded.

    With `embedded_in` the bytes lie inside a message that was walked already: no spans are
    recorded.
    """
    start, data = cursor.offset, bytes(cursor.skip(cursor.remaining, name, clause))
    place, wanted = embedded_in or cursor.ctx.at(start, len(data)), f"a {cls.DESCRIPTOR.full_name}"
    ctx = cursor.ctx
    budget = Budget(ctx.limits) if ctx.budget is None else ctx.budget
    budget.admit(data, cls, place)
    try:
        message, known = cls.FromString(data), cls.FromString(data)
    except DecodeError as error:
        raise BadProto(clause, place, "bytes that do not parse", wanted) from error
    known.DiscardUnknownFields()
    if known.ByteSize() < message.ByteSize():
        for misfit in misfits(message):
            raise BadProto(clause, place, misfit, wanted)
    del known
    if embedded_in is None and (ctx.spans is not None or ctx.validating):
        with ctx.group(name, clause, cls.DESCRIPTOR.full_name):
            Walk(data, start, ctx).fields(type_named(cls.DESCRIPTOR.full_name), 0)
    return message


@specified
def read_extents(
    file: FileBytes, starts: Ints, sizes: Ints, name: str, clause: str, gap: int = MERGE_GAP_BYTES
) -> tuple[NDArray[np.uint8], Ints]:
    """Read many extents; return bytes that hold all of them, and where each begins there.

    Those that are no more than `gap` bytes apart may share a request. `starts`, `sizes` and the
    places are (n,). Raises OutOfRange, Truncated, LimitExceeded.
    """
    extents = map(Extent, starts.tolist(), sizes.tolist())
    parts = [file.cursor(extent, name, clause).data for extent in extents]
    joined = parts[0] if len(parts) == 1 else b"".join(parts)
    return np.frombuffer(joined, np.uint8), np.cumsum(sizes) - sizes


class FileBytes:
    """A file's bytes with bounds: returns cursors for extents."""

    def __init__(self, source: Source, ctx: Context, window: Cursor | None = None) -> None:
        self.source = source
        self.ctx = ctx
        self.size = source.size
        self.window = window

    def with_tail(self, size: int) -> FileBytes:
        """Read the last `size` bytes (or the whole file) once, for every extent inside it.

        Raises LimitExceeded for a tail that is larger than any metadata.
        """
        start, known = max(0, self.size - size), self.window
        if self.size - start > WHOLE_BYTES:
            raise self._too_much(Extent(start, self.size - start), "metadata", "L.wire.message")
        if known is None or known.end != self.size or start >= known.base:
            data = self.source.read(start, self.size - start)
        else:
            missing = self.source.read(start, known.base - start)
            data = memoryview(b"".join([missing, known.data]))
        return FileBytes(self.source, self.ctx, Cursor(data, start, self.ctx))

    def with_window(self, extent: Extent, name: str, clause: str) -> FileBytes:
        """Read an extent once, for every extent inside it."""
        return FileBytes(self.source, self.ctx, self.cursor(extent, name, clause))

    def whole(self, name: str, clause: str) -> Cursor:
        """Read a file that holds one piece alone. Raises LimitExceeded for a huge one."""
        if self.size > WHOLE_BYTES:
            raise self._too_much(Extent(0, self.size), name, clause)
        return self.cursor(Extent(0, self.size), name, clause)

    def during(self, ctx: Context) -> FileBytes:
        """Return the same bytes for another context (stage, collectors)."""
        return FileBytes(self.source, ctx, self.window)

    def quiet(self) -> FileBytes:
        """Return the same bytes for reads that record neither spans nor findings."""
        return self.during(replace(self.ctx, spans=None, findings=None))

    def cursor(self, extent: Extent, name: str, clause: str) -> Cursor:
        """Read an extent. Raises OutOfRange when it does not lie inside the file."""
        self.bound(extent, name, clause)
        if extent.size == 0:
            return Cursor(memoryview(b""), extent.offset, self.ctx)
        window = self.window
        if window is not None and window.base <= extent.offset and extent.end <= window.end:
            start = extent.offset - window.base
            data = window.data[start : start + extent.size]
        else:
            data = self._read(extent, name, clause)
        return Cursor(data, extent.offset, self.ctx)

    def _read(self, extent: Extent, name: str, clause: str) -> memoryview:
        """Read an extent from the source. Raises Truncated, LimitExceeded."""
        try:
            data = self.source.read(extent.offset, extent.size)
        except MemoryError as error:
            raise self._too_much(extent, name, clause) from error
        if len(data) != extent.size:
            place, wanted = self.ctx.at(*extent), f"{extent.size} bytes of {name}"
            raise Truncated(clause, place, f"{len(data)} bytes", wanted)
        return data

    def bound(self, extent: Extent, name: str, clause: str) -> None:
        """Raise OutOfRange for an extent that does not lie inside the file."""
        if extent.offset < 0 or extent.size < 0 or extent.end > self.size:
            place = self.ctx.at(extent.offset, max(0, extent.size))
            found = f"{name} at {extent.offset} with {extent.size} bytes"
            wanted = f"an extent inside the file of {self.size} bytes"
            raise OutOfRange(clause, place, found, wanted)

    def bound_output(
        self, size: int, clause: str, place: Place, what: str = "values in one run"
    ) -> None:
        """Raise LimitExceeded for more bytes of output than the limits allow for the file."""
        most = self.ctx.limits.expanded(self.size)
        if size > most:
            wanted = f"at most {most}; limits=Limits(expansion_bytes=...) allows more"
            raise LimitExceeded(clause, place, f"{what} of {size} bytes", wanted)

    def _too_much(self, extent: Extent, name: str, clause: str) -> LimitExceeded:
        place, found = self.ctx.at(extent.offset, extent.size), f"{extent.size} bytes of {name}"
        wanted = f"what fits the memory, and at most {WHOLE_BYTES} bytes of metadata"
        return LimitExceeded(clause, place, found, wanted)

"""Chunks of a mini-block page: the table of chunks, and the header of each.

Buffer 0 of the page has one word per chunk, buffer 1 the chunks back to back. A chunk holds the
levels and the value buffers of a few thousand values.

Layout of a word (u16 in 2.1, u32 later): bits 0-3 log2 of the values in the chunk (0 in the last
one, which has the rest), the other bits the chunk's size in units of 8 bytes, minus one.
Layout of a chunk::

    u16 entries with levels (0 when the page has none)
    u16 size of the repetition levels, when the page has them
    u16 size of the definition levels, when the page has them
    u16 (2.1) or u32 size of each value buffer
    padding to 8, then each buffer, each padded to 8; padding bytes are 0xfe

Clauses: L.page.miniblock.table-size, L.page.miniblock.log, L.page.miniblock.last-log,
L.page.miniblock.num-items, L.page.miniblock.chunk-bytes, L.page.miniblock.chunk-header,
L.page.miniblock.chunk-fill, L.page.miniblock.num-levels, L.page.miniblock.padding

Divergences: D.page.chunk-words-minus-one, D.page.chunk-level-count, D.page.num-items-visible
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.chunks import ChunkRun
from lanceref.context import Context
from lanceref.cursor import Cursor
from lanceref.errors import CorruptPage

CHUNK_UNIT = 8
"""Chunks and the buffers inside them are padded to this many bytes."""
PADDING_BYTE = 0xFE
"""What writers pad with."""
MAX_CHUNK_VALUES = 2**15
"""Values a chunk can hold: the log has four bits."""

Counts = NDArray[np.int64]
"""One number per chunk."""


@dataclass(frozen=True, slots=True)
class ChunkTable:
    """The chunks of a page: `ends` bytes and `value_ends` values up to and with each chunk."""

    sizes: Counts
    counts: Counts
    ends: Counts
    value_ends: Counts

    @property
    def num_chunks(self) -> int:
        """Chunks of the page."""
        return len(self.sizes)


def parse_table(cursor: Cursor, wide: bool, num_items: int, chunk_bytes: int) -> ChunkTable:
    """Parse the words of a page with `num_items` values and `chunk_bytes` bytes of chunks."""
    ctx, place = cursor.ctx, cursor.ctx.at(cursor.offset, cursor.remaining)
    width = 4 if wide else 2
    num_chunks, odd = divmod(cursor.remaining, width)
    if odd:
        raise CorruptPage(
            "L.page.miniblock.table-size",
            place,
            found=f"{cursor.remaining} bytes",
            wanted=f"a multiple of {width}",
        )
    start = cursor.offset
    data = cursor.skip(num_chunks * width, "chunk table", "L.page.miniblock.table-size")
    words = np.frombuffer(data, f"<u{width}").astype(np.int64)
    if ctx.spans is not None:
        with ctx.group("chunk table", "L.page.miniblock.table-size"):
            for chunk, word in enumerate(words.tolist()):
                at = start + chunk * width
                ctx.leaf(at, at + width, f"word of chunk {chunk}", "chunk word", value=word)
    logs, sizes = words & 15, ((words >> 4) + 1) * CHUNK_UNIT
    if int(sizes.sum()) != chunk_bytes:
        raise CorruptPage(
            "L.page.miniblock.chunk-bytes",
            place,
            found=f"chunks of {int(sizes.sum())} bytes",
            wanted=f"{chunk_bytes}, the size of the chunk buffer",
        )
    _check_logs(logs, width, num_items, place.offset, ctx)
    counts = np.left_shift(1, logs)
    if num_chunks:
        counts[-1] = num_items - int(counts[:-1].sum())
    return ChunkTable(sizes, counts, np.cumsum(sizes), np.cumsum(counts))


def _check_logs(logs: Counts, width: int, num_items: int, offset: int, ctx: Context) -> None:
    zero = np.flatnonzero(logs[:-1] == 0)
    if len(zero):
        raise CorruptPage(
            "L.page.miniblock.log",
            ctx.at(offset + int(zero[0]) * width, width),
            found=f"log 0 in chunk {int(zero[0])} of {len(logs)}",
            wanted="1 to 15 in every chunk but the last",
        )
    before = int(np.left_shift(1, logs[:-1]).sum())
    last = ctx.at(offset + max(0, len(logs) - 1) * width, width)
    rest = num_items - before
    if not 0 <= rest <= MAX_CHUNK_VALUES or (len(logs) == 0 and rest):
        raise CorruptPage(
            "L.page.miniblock.num-items",
            last,
            found=f"{num_items} values in {len(logs)} chunks, {before} of them before the last",
            wanted=f"at most {MAX_CHUNK_VALUES} left for the last chunk",
        )
    if rest == 0 and before:
        ctx.refuse(
            CorruptPage("L.page.miniblock.num-items", last, found="none", wanted="a value at least")
        )
    if len(logs) and logs[-1] and 1 << int(logs[-1]) != rest:
        raise CorruptPage(
            "L.page.miniblock.last-log", last, found=int(logs[-1]), wanted=f"0, or log2 of {rest}"
        )


@dataclass(frozen=True, slots=True)
class ChunkShape:
    """What the header of every chunk of a page holds."""

    has_rep: bool
    has_def: bool
    num_buffers: int
    wide: bool

    @property
    def num_levels(self) -> int:
        """Level buffers of a chunk."""
        return self.has_rep + self.has_def

    @property
    def header_bytes(self) -> int:
        """Size of the header without its padding."""
        return 2 + 2 * self.num_levels + (4 if self.wide else 2) * self.num_buffers

    @property
    def padded_header(self) -> int:
        """Size of the header with its padding."""
        return (self.header_bytes + CHUNK_UNIT - 1) & -CHUNK_UNIT


@dataclass(frozen=True, slots=True)
class Chunks:
    """Chunks that lie back to back in `data`: all their buffers (levels first) as one run."""

    run: ChunkRun
    shape: ChunkShape
    num_levels: Counts

    def level_run(self, buffer: int) -> ChunkRun:
        """Return the run of a level buffer: 0 is the first one the page has."""
        part = slice(buffer, buffer + 1)
        run = self.run
        return ChunkRun(
            run.ctx, run.data, run.base, run.starts[part], run.sizes[part], self.num_levels
        )

    @property
    def value_run(self) -> ChunkRun:
        """Return the run of the value buffers."""
        part, run = slice(self.shape.num_levels, None), self.run
        return ChunkRun(run.ctx, run.data, run.base, run.starts[part], run.sizes[part], run.counts)


def parse_chunks(cursor: Cursor, shape: ChunkShape, table: ChunkTable, numbers: Counts) -> Chunks:
    """Parse at once the headers of the chunks `numbers`, which fill `cursor` back to back."""
    ctx, base = cursor.ctx, cursor.offset
    sizes, counts = table.sizes[numbers], table.counts[numbers]
    data = np.frombuffer(
        cursor.skip(int(sizes.sum()), "chunks", "L.page.miniblock.chunk-bytes"), np.uint8
    )
    starts = np.cumsum(sizes) - sizes
    header = shape.padded_header
    small = np.flatnonzero(sizes < header)
    if len(small):
        at = int(small[0])
        raise CorruptPage(
            "L.page.miniblock.chunk-header",
            ctx.at(base + int(starts[at]), int(sizes[at])),
            found=f"chunk {int(numbers[at])} of {int(sizes[at])} bytes",
            wanted=f"at least {header}",
        )
    num_levels, part_sizes = _headers(data, starts, shape)
    padded = _round_up(part_sizes)
    part_starts = starts + header + np.cumsum(padded, axis=0) - padded
    used = header + padded.sum(axis=0)
    wrong = np.flatnonzero(used != sizes)
    if len(wrong):
        at = int(wrong[0])
        raise CorruptPage(
            "L.page.miniblock.chunk-fill",
            ctx.at(base + int(starts[at]), header),
            found=f"buffers of {part_sizes[:, at].tolist()} bytes, {int(used[at])} with header "
            f"and padding, in chunk {int(numbers[at])}",
            wanted=f"{int(sizes[at])} bytes",
        )
    chunks = Chunks(ChunkRun(ctx, data, base, part_starts, part_sizes, counts), shape, num_levels)
    _check_level_counts(chunks, starts, numbers)
    _record(chunks, starts, sizes, numbers)
    return chunks


def _round_up(sizes: Counts) -> Counts:
    return (sizes + CHUNK_UNIT - 1) & -CHUNK_UNIT


def _headers(data: NDArray[np.uint8], starts: Counts, shape: ChunkShape) -> tuple[Counts, Counts]:
    """Return the number of levels, and the buffer sizes as (buffers, chunks)."""
    table = data[starts[:, None] + np.arange(shape.header_bytes)]
    words = 1 + shape.num_levels
    short = np.ascontiguousarray(table[:, : 2 * words]).view("<u2").astype(np.int64)
    long = np.ascontiguousarray(table[:, 2 * words :]).view("<u4" if shape.wide else "<u2")
    sizes = np.concatenate([short[:, 1:], long.astype(np.int64)], axis=1)
    return short[:, 0], np.ascontiguousarray(sizes.T)


def _check_level_counts(chunks: Chunks, starts: Counts, numbers: Counts) -> None:
    """Without levels the count must be 0; with definition only it is the number of values."""
    shape, run = chunks.shape, chunks.run
    if shape.has_rep:
        wrong = chunks.num_levels < np.maximum(run.counts, 1)
        wanted = run.counts
    else:
        wanted = run.counts if shape.has_def else np.zeros_like(run.counts)
        wrong = chunks.num_levels != wanted
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        raise CorruptPage(
            "L.page.miniblock.num-levels",
            run.ctx.at(run.base + int(starts[at]), 2),
            found=f"{int(chunks.num_levels[at])} levels in chunk {int(numbers[at])}",
            wanted=f"{int(wanted[at])}{' or more' if shape.has_rep else ''}",
        )


def _record(chunks: Chunks, starts: Counts, sizes: Counts, numbers: Counts) -> None:
    """Own headers and padding, and lint the padding; buffers are owned by their codecs."""
    run, shape = chunks.run, chunks.shape
    if run.ctx.spans is None and not run.ctx.validating:
        return
    names = ["repetition"] * shape.has_rep + ["definition"] * shape.has_def
    names += [f"value buffer {i}" for i in range(shape.num_buffers)]
    for chunk, (start, size) in enumerate(zip(starts.tolist(), sizes.tolist())):
        with run.ctx.group(f"chunk {int(numbers[chunk])}", "L.page.miniblock.chunk-header"):
            _record_header(chunks, start, names, chunk)
            ends = [start + shape.header_bytes, *(run.starts[:, chunk] + run.sizes[:, chunk])]
            nexts = [*run.starts[:, chunk], start + size]
            for end, following in zip(ends, nexts, strict=True):
                _padding(run, int(end), int(following))


def _record_header(chunks: Chunks, start: int, names: list[str], chunk: int) -> None:
    run = chunks.run
    at = run.base + start
    run.ctx.leaf(at, at + 2, "levels", "u16", value=int(chunks.num_levels[chunk]))
    at += 2
    for buffer, name in enumerate(names):
        wide = chunks.shape.wide and buffer >= chunks.shape.num_levels
        end = at + (4 if wide else 2)
        value = int(run.sizes[buffer, chunk])
        run.ctx.leaf(at, end, f"size of {name}", "u32" if wide else "u16", value=value)
        at = end


def _padding(run: ChunkRun, start: int, end: int) -> None:
    if start == end:
        return
    run.ctx.leaf(run.base + start, run.base + end, "padding", "padding")
    if (run.data[start:end] != PADDING_BYTE).any():
        run.ctx.lint(
            "L.page.miniblock.padding",
            run.ctx.at(run.base + start, end - start),
            found=run.data[start:end].tobytes().hex(),
            wanted=f"bytes {PADDING_BYTE:02x}",
        )

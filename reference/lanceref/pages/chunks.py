"""Chunks of a mini-block page: the header of each.

A chunk holds the levels and the value buffers of a few thousand values; the chunk table says where
it lies.

Layout of a chunk::

    u16 entries with levels (0 when the page has none)
    u16 size of the repetition levels, when the page has them
    u16 size of the definition levels, when the page has them
    u16 (2.1) or u32 size of each value buffer
    padding to 8, then each buffer, each padded to 8; padding bytes are 0xfe

Clauses: L.page.miniblock.chunk-header, L.page.miniblock.chunk-fill, L.page.miniblock.num-levels,
L.page.miniblock.chunk-bytes, L.page.miniblock.padding

Divergences: D.page.chunk-level-count
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.chunks import ChunkRun, gather_rows
from lanceref.core.cursor import Cursor
from lanceref.core.errors import CorruptPage
from lanceref.pages.chunk_table import CHUNK_UNIT, Chosen, Counts

PADDING_BYTE = 0xFE
"""What writers pad with."""


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
    """Chunks that were cut: all their buffers (levels first) as one run."""

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


def parse_chunks(cursor: Cursor, shape: ChunkShape, chosen: Chosen) -> Chunks:
    """Parse at once the headers of chunks that start at positions of `cursor`, ascending."""
    ctx, base = cursor.ctx, cursor.offset
    starts, sizes, numbers = chosen.starts, chosen.sizes, chosen.numbers
    size = int(starts[-1] + sizes[-1]) if len(sizes) else 0
    data = np.frombuffer(cursor.skip(size, "chunks", "L.page.miniblock.chunk-bytes"), np.uint8)
    header = shape.padded_header
    if (sizes < header).any():
        at = int(np.flatnonzero(sizes < header)[0])
        raise CorruptPage(
            "L.page.miniblock.chunk-header",
            ctx.at(base + int(starts[at]), int(sizes[at])),
            found=f"chunk {int(numbers[at])} of {int(sizes[at])} bytes",
            wanted=f"at least {header}",
        )
    num_levels, part_sizes = _headers(data, starts, shape)
    padded = _round_up(part_sizes)
    part_ends = np.cumsum(padded, axis=0) + header
    used = part_ends[-1]
    if (used != sizes).any():
        at = int(np.flatnonzero(used != sizes)[0])
        raise CorruptPage(
            "L.page.miniblock.chunk-fill",
            ctx.at(base + int(starts[at]), header),
            found=f"buffers of {part_sizes[:, at].tolist()} bytes, {int(used[at])} with header "
            f"and padding, in chunk {int(numbers[at])}",
            wanted=f"{int(sizes[at])} bytes",
        )
    run = ChunkRun(ctx, data, base, part_ends - padded + starts, part_sizes, chosen.counts)
    chunks = Chunks(run, shape, num_levels)
    _check_level_counts(chunks, starts, numbers)
    _record(chunks, starts, sizes, numbers)
    return chunks


def _round_up(sizes: Counts) -> Counts:
    return (sizes + CHUNK_UNIT - 1) & -CHUNK_UNIT


def _headers(data: NDArray[np.uint8], starts: Counts, shape: ChunkShape) -> tuple[Counts, Counts]:
    """Return the number of levels, and the buffer sizes as (buffers, chunks)."""
    table, words = gather_rows(data, starts, shape.padded_header), 1 + shape.num_levels
    short = table.view("<u2")[:, :words].astype(np.int64)
    values = np.ascontiguousarray(table[:, 2 * words : shape.header_bytes])
    sizes = np.empty((shape.num_levels + shape.num_buffers, len(starts)), np.int64)
    sizes[: shape.num_levels] = short[:, 1:].T
    sizes[shape.num_levels :] = values.view("<u4" if shape.wide else "<u2").T
    return short[:, 0], sizes


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

"""Posting blocks: the documents that hold a token, how often and where, in blocks of 128 or 256.

Layout of a block of 128 (little-endian): f32 highest score; u32 first document; packed steps from
document to document, the first being 0; packed frequencies. A last block with fewer: f32, then
varints, the steps (the first from 0) and the frequencies; in format 1 u32 documents and u32
frequencies. A block of 256 has no score; its frequencies are patched: u8 width, u8 number of
exceptions, the packed low bits, and of each exception u8 place and the high bits, a varint.

Positions count every token that the base tokenizer finds, those that are dropped later too. Since
format 2 those of a posting block are one run: the steps from position to position, of each document
the first from 0. A block's bytes begin at its entry of `_position_block_offset`.

Layout of positions: packed groups of 128 steps, the others as varints. Format 1, of each document:
u32 count, then blocks of 128 positions, u32 the first and the packed steps, the others as u32
positions.

Clauses: L.index.fts.posting.width, L.index.fts.posting.blocks, L.index.fts.posting.end,
L.index.fts.posting.documents, L.index.fts.posting.frequency, L.index.fts.posting.exception,
L.index.fts.positions.offsets, L.index.fts.positions.end
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.context import Context, expect, specified
from lanceref.core.cursor import Cursor
from lanceref.core.errors import CorruptPage, OutOfRange, Place
from lanceref.index.full_text.packed_integers import (
    PER_LANE,
    ByteRuns,
    Counts,
    Numbers,
    arrange_runs,
    group_runs,
    offsets_of,
    pack_runs,
    parse_group,
    parse_varint,
    parse_varints,
    ranges,
    split_groups,
    unpack,
    varint_runs,
    widths_of,
    word_runs,
    zip_runs,
)

SMALL, LARGE = 128, 256
"""Documents of a full block."""

MOST_EXCEPTIONS = 31

GROUP = 128
"""Positions of a packed group."""


@dataclass(frozen=True, slots=True)
class Blobs:
    """Byte strings one after the other: string i is data[ends[i]:ends[i + 1]]."""

    data: NDArray[np.uint8]
    ends: Counts
    ctx: Context

    @staticmethod
    def of(values: pa.Array, ctx: Context) -> Blobs:
        """Return the strings of an array (large_binary) without nulls."""
        _, offsets, data = values.buffers()
        ends = np.frombuffer(offsets, np.int64, len(values) + 1, 8 * values.offset)
        return Blobs(np.frombuffer(data or b"", np.uint8), ends, ctx)

    def __len__(self) -> int:
        return len(self.ends) - 1

    def __iter__(self) -> Iterator[Cursor]:
        return map(self.at, range(len(self)))

    def at(self, number: int) -> Cursor:
        """Return a cursor over the string with a number."""
        start, end = int(self.ends[number]), int(self.ends[number + 1])
        return Cursor(self.data.data[start:end], 0, self.ctx)

    def part(self, start: int, end: int) -> Blobs:
        """Return the strings from one to another, or to the last."""
        return Blobs(self.data, self.ends[start : end + 1], self.ctx)


@dataclass(frozen=True, slots=True)
class BlockLayout:
    """How blocks are cut: documents of a full one, and whether the last is not compressed."""

    size: int = SMALL
    fixed_tail: bool = False

    @property
    def has_scores(self) -> bool:
        """Whether a block begins with its highest score."""
        return self.size == SMALL

    def num_blocks(self, length: int) -> int:
        """Return the blocks of so many documents."""
        return -(-length // self.size)


@dataclass(frozen=True, slots=True)
class Postings:
    """Documents of a token, ascending, and how often each holds it: uint32."""

    documents: Numbers
    frequencies: Numbers


def parse_postings(
    blocks: Blobs, length: int, num_documents: int, layout: BlockLayout, place: Place
) -> Postings:
    """Parse the blocks of a token that is in `length` documents. Raises FormatError."""
    if len(blocks) != layout.num_blocks(length) or length > num_documents:
        found = f"{len(blocks)} blocks of {length} documents out of {num_documents}"
        raise OutOfRange("L.index.fts.posting.blocks", place, found, f"blocks of {layout.size}")
    parts = parse_full_blocks(blocks.part(0, length // layout.size), num_documents, layout)
    for number in range(length // layout.size, len(blocks)):
        parts.append(_parse_block(blocks.at(number), length % layout.size, layout))
        _check(blocks.at(number), parts, num_documents)
    return Postings(
        np.concatenate([part.documents for part in parts]),
        np.concatenate([part.frequencies for part in parts]),
    )


@specified
def parse_full_blocks(blocks: Blobs, num_documents: int, layout: BlockLayout) -> list[Postings]:
    """Parse the full blocks of a token, one after the other. Raises FormatError.

    Documents have to be below `num_documents`. The first part is empty.
    """
    parts = [Postings(*np.empty((2, 0), np.uint32))]
    for number in range(len(blocks)):
        parts.append(_parse_block(blocks.at(number), layout.size, layout))
        _check(blocks.at(number), parts, num_documents)
    return parts


def _parse_block(cursor: Cursor, count: int, layout: BlockLayout) -> Postings:
    if layout.has_scores:
        cursor.skip(4, "highest score", "L.index.fts.posting.blocks")
    if count < layout.size and layout.fixed_tail:
        numbers = cursor.array("<u4", 2 * count, "tail", "L.index.fts.posting.blocks")
        documents, frequencies = numbers[:count].astype(np.uint64), numbers[count:]
    elif count < layout.size:
        documents = np.cumsum(parse_varints(cursor, count, "steps"), dtype=np.uint64)
        frequencies = parse_varints(cursor, count, "frequencies")
    else:
        first = cursor.u32("first document", "L.index.fts.posting.documents")
        steps = parse_group(cursor, layout.size // PER_LANE, "steps")
        documents = np.cumsum(steps, dtype=np.uint64) + np.uint64(first)
        if layout.size == LARGE:
            frequencies = _parse_patched(cursor)
        else:
            frequencies = parse_group(cursor, layout.size // PER_LANE, "frequencies")
    cursor.check_end("L.index.fts.posting.end", CorruptPage)
    if documents[-1] >> np.uint64(32):
        documents = np.full(count, 0xFFFFFFFF, np.uint64)
    return Postings(documents.astype(np.uint32), frequencies.astype(np.uint32, copy=False))


def _parse_patched(cursor: Cursor) -> Numbers:
    start = cursor.offset
    width = cursor.u8("width of frequencies", "L.index.fts.posting.width")
    count = cursor.u8("number of exceptions", "L.index.fts.posting.exception")
    if width > PER_LANE or count > MOST_EXCEPTIONS:
        place, found = cursor.ctx.at(start, 2), f"{width} bits, {count} exceptions"
        wanted = f"at most 32 and {MOST_EXCEPTIONS}"
        raise CorruptPage("L.index.fts.posting.exception", place, found, wanted)
    lanes = LARGE // PER_LANE
    body = cursor.take(4 * lanes * width, "frequencies", "L.index.fts.posting.width")
    values = unpack(body, width, lanes).astype(np.uint64)
    for _ in range(count):
        at = cursor.u8("place of an exception", "L.index.fts.posting.exception")
        high = parse_varint(cursor, "high bits of an exception")
        values[at] |= np.uint64(high << width & 0xFFFFFFFF)
    return values.astype(np.uint32)


def _check(cursor: Cursor, parts: Sequence[Postings], num_documents: int) -> None:
    """Check the last block: its documents follow those before, and each holds the token."""
    part = parts[-1]
    before = int(parts[-2].documents[-1]) if len(parts) > 2 else -1
    documents, place = part.documents.astype(np.int64), cursor.ctx.at(cursor.base, len(cursor.data))
    if int(documents[-1]) >= num_documents or (np.diff(documents, prepend=before) <= 0).any():
        found = f"documents {documents[0]}..{documents[-1]} after {before}"
        wanted = f"rising ones below {num_documents}"
        raise CorruptPage("L.index.fts.posting.documents", place, found, wanted)
    if not part.frequencies.all():
        found = "a document without the token"
        raise CorruptPage("L.index.fts.posting.frequency", place, found, "frequencies from 1 on")


def posting_runs(
    postings: Postings, counts: Counts, layout: BlockLayout, scores: NDArray[np.float32]
) -> ByteRuns:
    """Return the blocks of many tokens, a run each.

    The postings of a token follow those of another, `counts` of each; `scores` are the highest of
    each block. `counts` (tokens,), `scores` (blocks,).
    """
    starts, sizes, _ = split_groups(counts, layout.size)
    full, rest = np.flatnonzero(sizes == layout.size), np.flatnonzero(sizes < layout.size)
    whole = _full_runs(postings, starts[full], layout)
    tails = _tail_runs(postings, starts[rest], sizes[rest], layout)
    blocks = arrange_runs([whole, tails], [full, rest])
    return zip_runs(word_runs(scores.astype("<f4")), blocks) if layout.has_scores else blocks


def _full_runs(postings: Postings, starts: Counts, layout: BlockLayout) -> ByteRuns:
    own = starts[:, np.newaxis] + np.arange(layout.size)
    documents, frequencies = postings.documents[own], postings.frequencies[own]
    first = documents[:, :1]
    steps = group_runs(np.diff(documents, prepend=first, axis=1))
    counted = _patched_runs(frequencies) if layout.size == LARGE else group_runs(frequencies)
    return zip_runs(word_runs(first.astype("<u4").reshape(-1)), steps, counted)


def _tail_runs(postings: Postings, starts: Counts, sizes: Counts, layout: BlockLayout) -> ByteRuns:
    own = ranges(starts, sizes)
    documents, frequencies = postings.documents[own], postings.frequencies[own]
    if layout.fixed_tail:
        parts = [word_runs(one.astype("<u4")) for one in (documents, frequencies)]
    else:
        steps = np.diff(documents, prepend=np.uint32(0))
        heads = np.cumsum(sizes) - sizes
        steps[heads] = documents[heads]
        parts = [varint_runs(steps), varint_runs(frequencies)]
    return zip_runs(*(one.merged(sizes) for one in parts))


def _patched_runs(rows: Numbers) -> ByteRuns:
    """Return the patched frequencies [blocks, 256] of each block."""
    widths = _patched_widths(rows)
    shifts = widths.astype(np.uint64)[:, np.newaxis]
    high = rows.astype(np.uint64) >> shifts
    low = rows.astype(np.uint64) & ((np.uint64(1) << shifts) - np.uint64(1))
    numbers, places = np.nonzero(high)
    counts = np.bincount(numbers, minlength=len(rows))
    exceptions = zip_runs(word_runs(places.astype(np.uint8)), varint_runs(high[numbers, places]))
    return zip_runs(
        word_runs(widths),
        word_runs(counts.astype(np.uint8)),
        pack_runs(low.astype(np.uint32), widths),
        exceptions.merged(counts),
    )


def _patched_widths(rows: Numbers) -> NDArray[np.uint8]:
    """Return the width of each row with the fewest bytes; of equal ones the larger."""
    full = widths_of(rows)
    best, least = full.copy(), PER_LANE * full.astype(np.int64)
    may = np.ones(len(rows), np.bool_)
    for width in range(int(full.max(initial=0)) - 1, -1, -1):
        high = rows >> np.uint32(width)
        below = width < full
        may &= ~below | ((high > 0).sum(axis=1) <= MOST_EXCEPTIONS)
        octets = sum((high >= np.uint32(1 << 7 * more)).astype(np.int64) for more in range(5))
        size = PER_LANE * width + ((high > 0) + octets).sum(axis=1)
        better = below & may & (size < least)
        best[better], least[better] = width, size[better]
    return best


POSITIONS = "L.index.fts.positions.end"


def parse_positions(cursor: Cursor, frequencies: Numbers) -> list[Numbers]:
    """Parse positions that fill `cursor`, by `frequencies` (documents,). Raises FormatError."""
    total = int(frequencies.sum(dtype=np.uint64))
    full, rest = divmod(total, GROUP)
    cursor.require(full + rest, f"{total} positions", POSITIONS)
    parts = [parse_group(cursor, GROUP // PER_LANE, "positions") for _ in range(full)]
    parts.append(parse_varints(cursor, rest, "positions"))
    cursor.check_end(POSITIONS, CorruptPage)
    steps = np.split(np.concatenate(parts), np.cumsum(frequencies, dtype=np.int64)[:-1])
    return [np.cumsum(one, dtype=np.uint32) for one in steps]


def position_runs(positions: Numbers, frequencies: Numbers, blocks: Counts) -> ByteRuns:
    """Return the positions of many blocks, a run each.

    `frequencies` is how many each document has, `blocks` how many documents each block. `positions`
    (occurrences,), `frequencies` (documents,), `blocks` (blocks,).
    """
    ends = offsets_of(frequencies.astype(np.int64))
    steps = np.diff(positions, prepend=np.uint32(0))
    steps[ends[:-1]] = positions[ends[:-1]]
    totals = np.diff(ends[offsets_of(blocks)])
    starts, sizes, runs = split_groups(totals, GROUP)
    full, rest = np.flatnonzero(sizes == GROUP), np.flatnonzero(sizes < GROUP)
    groups = group_runs(steps[starts[full][:, np.newaxis] + np.arange(GROUP)])
    tails = varint_runs(steps[ranges(starts[rest], sizes[rest])]).merged(sizes[rest])
    return arrange_runs([groups, tails], [full, rest]).merged(runs)


def parse_position_blobs(blobs: Sequence[Cursor], frequency: int, place: Place) -> Numbers:
    """Parse the positions of a document in format 1, (frequency,). Raises FormatError."""
    full, rest = divmod(frequency, GROUP)
    if len(blobs) != 1 + full + (rest > 0):
        wanted = f"a count, {full} blocks and a rest of {rest}"
        raise CorruptPage(POSITIONS, place, f"{len(blobs)} parts of {frequency} positions", wanted)
    head, *others = blobs
    count = head.u32("number of positions", POSITIONS)
    place = head.ctx.at(head.base, 4)
    expect(POSITIONS, f"{count} positions", f"{frequency} positions", place)
    parts = []
    for blob in others[:full]:
        first = blob.u32("first position", POSITIONS)
        steps = parse_group(blob, GROUP // PER_LANE, "positions")
        parts.append(np.cumsum(steps, dtype=np.uint32) + np.uint32(first))
    if rest:
        parts.append(others[-1].array("<u4", rest, "positions", POSITIONS).astype(np.uint32))
    return np.concatenate(parts)


def encode_position_blobs(positions: Numbers) -> list[bytes]:
    """Return the positions of a document in format 1. `positions` (occurrences,)."""
    full = len(positions) // GROUP * GROUP
    rows = positions[:full].reshape(-1, GROUP)
    firsts, steps = word_runs(rows[:, 0].astype("<u4")), np.diff(rows, prepend=rows[:, :1], axis=1)
    rest = [positions[full:].astype("<u4").tobytes()] if full < len(positions) else []
    blocks = zip_runs(firsts, group_runs(steps)).as_bytes()
    return [struct.pack("<I", len(positions)), *blocks, *rest]

"""Posting blocks: the documents that hold a token, and how often, in blocks of 128 or 256.

Layout of a block of 128 (little-endian): f32 highest score; u32 first document; packed steps from
document to document, the first being 0; packed frequencies. A last block with fewer: f32, then
varints, the steps (the first from 0) and the frequencies; in format 1 u32 documents and u32
frequencies. A block of 256 has no score; its frequencies are patched: u8 width, u8 number of
exceptions, the packed low bits, and of each exception u8 place and the high bits, a varint.

Clauses: L.index.fts.posting.width, L.index.fts.posting.blocks, L.index.fts.posting.end,
L.index.fts.posting.documents, L.index.fts.posting.frequency, L.index.fts.posting.exception
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.core.cursor import Cursor
from lanceref.core.errors import CorruptPage, OutOfRange, Place
from lanceref.index.full_text.bit_packer import (
    PER_LANE,
    ByteRuns,
    Counts,
    Numbers,
    beside,
    cut,
    encode_group,
    encode_varint,
    encode_varints,
    group_runs,
    of_words,
    pack,
    pack_runs,
    parse_group,
    parse_varint,
    parse_varints,
    placed,
    ranges,
    unpack,
    varint_runs,
    width_of,
    widths_of,
)
from lanceref.index.full_text.blobs import Blobs
from lanceref.index.full_text.full_blocks import full_postings

SMALL, LARGE = 128, 256
"""Documents of a full block."""

MOST_EXCEPTIONS = 31


@dataclass(frozen=True, slots=True)
class BlockLayout:
    """How blocks are cut: documents of a full one, and whether the last is not compressed."""

    size: int = SMALL
    fixed_tail: bool = False

    @property
    def lanes(self) -> int:
        """Lanes of a packed group."""
        return self.size // PER_LANE

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
        raise OutOfRange(
            "L.index.fts.posting.blocks",
            place,
            found=f"{len(blocks)} blocks of {length} documents out of {num_documents}",
            wanted=f"blocks of {layout.size}",
        )
    parts = _full_parts(blocks[: length // layout.size], num_documents, layout)
    for number in range(length // layout.size if parts else 0, len(blocks)):
        cursor = blocks[number]
        part = _parse_block(cursor, min(layout.size, length - number * layout.size), layout)
        _check(cursor, part, int(parts[-1].documents[-1]) if parts else -1, num_documents)
        parts.append(part)
    none = [np.empty(0, np.uint32)]
    return Postings(
        np.concatenate(none + [part.documents for part in parts]),
        np.concatenate(none + [part.frequencies for part in parts]),
    )


def _full_parts(blocks: Blobs, num_documents: int, layout: BlockLayout) -> list[Postings]:
    """Return the postings of full blocks at once; none when each has to be looked at."""
    if layout.size != SMALL or not blocks or blocks.ctx.spans is not None:
        return []
    found = full_postings(blocks, num_documents)
    return [] if found is None else [Postings(*found)]


def _parse_block(cursor: Cursor, count: int, layout: BlockLayout) -> Postings:
    if layout.has_scores:
        cursor.skip(4, "highest score", "L.index.fts.posting.blocks")
    if count < layout.size:
        documents, frequencies = _parse_tail(cursor, count, layout)
    else:
        first = cursor.u32("first document", "L.index.fts.posting.documents")
        steps = parse_group(cursor, layout.lanes, "steps")
        documents = np.cumsum(steps, dtype=np.uint64) + np.uint64(first)
        if layout.size == LARGE:
            frequencies = _parse_patched(cursor)
        else:
            frequencies = parse_group(cursor, layout.lanes, "frequencies")
    if cursor.remaining:
        raise CorruptPage(
            "L.index.fts.posting.end",
            cursor.ctx.at(cursor.offset, cursor.remaining),
            found=f"{cursor.remaining} bytes behind the frequencies",
            wanted="none",
        )
    if documents[-1] >> np.uint64(32):
        documents = np.full(count, 0xFFFFFFFF, np.uint64)
    return Postings(documents.astype(np.uint32), frequencies)


def _parse_tail(cursor: Cursor, count: int, layout: BlockLayout) -> tuple[Numbers, Numbers]:
    """Parse a block with fewer documents: these as uint64, and their frequencies."""
    if layout.fixed_tail:
        numbers = cursor.array("<u4", 2 * count, "tail", "L.index.fts.posting.blocks")
        return numbers[:count].astype(np.uint64), numbers[count:].astype(np.uint32)
    steps = parse_varints(cursor, count, "steps")
    return np.cumsum(steps, dtype=np.uint64), parse_varints(cursor, count, "frequencies")


def _parse_patched(cursor: Cursor) -> Numbers:
    start = cursor.offset
    width = cursor.u8("width of frequencies", "L.index.fts.posting.width")
    count = cursor.u8("number of exceptions", "L.index.fts.posting.exception")
    if width > PER_LANE or count > MOST_EXCEPTIONS:
        raise CorruptPage(
            "L.index.fts.posting.exception",
            cursor.ctx.at(start, 2),
            found=f"{width} bits, {count} exceptions",
            wanted=f"at most 32 and {MOST_EXCEPTIONS}",
        )
    lanes = LARGE // PER_LANE
    body = cursor.take(4 * lanes * width, "frequencies", "L.index.fts.posting.width")
    values = unpack(body, width, lanes).astype(np.uint64)
    for _ in range(count):
        place = cursor.u8("place of an exception", "L.index.fts.posting.exception")
        high = parse_varint(cursor, "high bits of an exception")
        values[place] |= np.uint64(high << width & 0xFFFFFFFF)
    return values.astype(np.uint32)


def _check(cursor: Cursor, part: Postings, before: int, num_documents: int) -> None:
    documents = part.documents.astype(np.int64)
    if int(documents[-1]) >= num_documents or (np.diff(documents, prepend=before) <= 0).any():
        raise CorruptPage(
            "L.index.fts.posting.documents",
            cursor.ctx.at(cursor.base, len(cursor.data)),
            found=f"documents {documents[0]}..{documents[-1]} behind {before}",
            wanted=f"rising ones below {num_documents}",
        )
    if not part.frequencies.all():
        raise CorruptPage(
            "L.index.fts.posting.frequency",
            cursor.ctx.at(cursor.base, len(cursor.data)),
            found="a document without the token",
            wanted="frequencies from 1 on",
        )


def encode_postings(
    postings: Postings, layout: BlockLayout, scores: Sequence[np.float32]
) -> list[bytes]:
    """Return the blocks; `scores` are the highest of each, not written where none has one."""
    blocks = []
    for number, start in enumerate(range(0, len(postings.documents), layout.size)):
        documents = postings.documents[start : start + layout.size]
        frequencies = postings.frequencies[start : start + layout.size]
        head = struct.pack("<f", scores[number]) if layout.has_scores else b""
        blocks.append(head + _encode_block(documents, frequencies, layout))
    return blocks


def _encode_block(documents: Numbers, frequencies: Numbers, layout: BlockLayout) -> bytes:
    if len(documents) == layout.size:
        first = documents[0]
        steps = np.diff(documents, prepend=first).astype(np.uint32)
        out = struct.pack("<I", first) + encode_group(steps)
        patched = layout.size == LARGE
        return out + (_encode_patched(frequencies) if patched else encode_group(frequencies))
    if layout.fixed_tail:
        return np.concatenate([documents, frequencies]).astype("<u4").tobytes()
    steps = np.diff(documents, prepend=np.uint32(0))
    return encode_varints(steps.tolist()) + encode_varints(frequencies.tolist())


def _encode_patched(values: Numbers) -> bytes:
    width = _patched_width(values)
    high = values >> np.uint32(width) if width < PER_LANE else np.zeros_like(values)
    places = np.flatnonzero(high).tolist()
    low = values & np.uint32((1 << width) - 1)
    exceptions = b"".join(bytes([at]) + encode_varint(int(high[at])) for at in places)
    return bytes([width, len(places)]) + pack(low, width) + exceptions


def _patched_width(values: Numbers) -> int:
    """Return the width with the fewest bytes; of equal ones the larger."""
    best = width_of(values)
    least = PER_LANE * best
    for width in range(best - 1, -1, -1):
        high = values >> np.uint32(width)
        exceptions = high[high > 0].tolist()
        if len(exceptions) > MOST_EXCEPTIONS:
            break
        size = PER_LANE * width + sum(1 + len(encode_varint(one)) for one in exceptions)
        if size < least:
            best, least = width, size
    return best


def posting_runs(
    postings: Postings, counts: Counts, layout: BlockLayout, scores: NDArray[np.float32]
) -> ByteRuns:
    """Return the blocks of many tokens, a run each, as `encode_postings` does.

    The postings of a token follow those of another; `counts` says how many each has.
    """
    starts, sizes, _ = cut(counts, layout.size)
    full, rest = np.flatnonzero(sizes == layout.size), np.flatnonzero(sizes < layout.size)
    whole = _full_runs(postings, starts[full], layout)
    tails = _tail_runs(postings, starts[rest], sizes[rest], layout)
    blocks = placed([whole, tails], [full, rest])
    return beside(of_words(scores.astype("<f4")), blocks) if layout.has_scores else blocks


def _full_runs(postings: Postings, starts: Counts, layout: BlockLayout) -> ByteRuns:
    own = starts[:, np.newaxis] + np.arange(layout.size)
    documents, frequencies = postings.documents[own], postings.frequencies[own]
    first = documents[:, :1]
    steps = group_runs(np.diff(documents, prepend=first, axis=1))
    counted = _patched_runs(frequencies) if layout.size == LARGE else group_runs(frequencies)
    return beside(of_words(first.astype("<u4").reshape(-1)), steps, counted)


def _tail_runs(postings: Postings, starts: Counts, sizes: Counts, layout: BlockLayout) -> ByteRuns:
    own = ranges(starts, sizes)
    documents, frequencies = postings.documents[own], postings.frequencies[own]
    if layout.fixed_tail:
        return beside(
            of_words(documents.astype("<u4")).merged(sizes),
            of_words(frequencies.astype("<u4")).merged(sizes),
        )
    steps = np.diff(documents, prepend=np.uint32(0))
    heads = np.cumsum(sizes) - sizes
    steps[heads] = documents[heads]
    return beside(varint_runs(steps).merged(sizes), varint_runs(frequencies).merged(sizes))


def _patched_runs(rows: Numbers) -> ByteRuns:
    """Return each row as `_encode_patched` does."""
    widths = _patched_widths(rows)
    shifts = widths.astype(np.uint64)[:, np.newaxis]
    high = rows.astype(np.uint64) >> shifts
    low = rows.astype(np.uint64) & ((np.uint64(1) << shifts) - np.uint64(1))
    numbers, places = np.nonzero(high)
    counts = np.bincount(numbers, minlength=len(rows))
    exceptions = beside(of_words(places.astype(np.uint8)), varint_runs(high[numbers, places]))
    return beside(
        of_words(widths),
        of_words(counts.astype(np.uint8)),
        pack_runs(low.astype(np.uint32), widths),
        exceptions.merged(counts),
    )


def _patched_widths(rows: Numbers) -> NDArray[np.uint8]:
    """Return of each row what `_patched_width` does: uint8."""
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

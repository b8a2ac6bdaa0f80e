"""Positions: where in its documents a token stands.

Positions count every token that the base tokenizer finds, those that are dropped later too. Since
format 2 those of a posting block are one run: the steps from position to position, of each document
the first from 0. A block's bytes begin at its entry of `_position_block_offset`.

Layout: packed groups of 128 steps, the others as varints. Format 1, of each document: u32 count,
then blocks of 128 positions, u32 the first and the packed steps, the others as u32 positions.

Clauses: L.index.fts.positions.offsets, L.index.fts.positions.end
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from lanceref.core.cursor import Cursor
from lanceref.core.errors import CorruptPage, Place
from lanceref.index.full_text.bit_packer import (
    ByteRuns,
    Counts,
    Numbers,
    cut,
    encode_group,
    encode_varints,
    group_runs,
    offsets_of,
    parse_group,
    parse_varints,
    placed,
    ranges,
    varint_runs,
)

GROUP = 128
LANES = 4


def parse_positions(cursor: Cursor, frequencies: Numbers) -> list[Numbers]:
    """Parse the positions of a block, which fill `cursor`, by document. Raises FormatError."""
    total = int(frequencies.sum(dtype=np.uint64))
    full, rest = divmod(total, GROUP)
    cursor.require(full + rest, f"{total} positions", "L.index.fts.positions.end")
    parts = [parse_group(cursor, LANES, "positions") for _ in range(full)]
    parts.append(parse_varints(cursor, rest, "positions"))
    if cursor.remaining:
        raise CorruptPage(
            "L.index.fts.positions.end",
            cursor.ctx.at(cursor.offset, cursor.remaining),
            found=f"{cursor.remaining} bytes behind the positions",
            wanted="none",
        )
    steps = np.split(np.concatenate(parts), np.cumsum(frequencies, dtype=np.int64)[:-1])
    return [np.cumsum(one, dtype=np.uint32) for one in steps]


def encode_positions(positions: Sequence[Numbers]) -> bytes:
    """Return the positions of the documents of a block."""
    steps = np.concatenate([np.diff(one, prepend=np.uint32(0)) for one in positions])
    full = len(steps) // GROUP * GROUP
    groups = (encode_group(steps[at : at + GROUP]) for at in range(0, full, GROUP))
    return b"".join(groups) + encode_varints(steps[full:].tolist())


def position_runs(positions: Numbers, frequencies: Numbers, blocks: Counts) -> ByteRuns:
    """Return the positions of many blocks, a run each, as `encode_positions` does.

    `frequencies` says how many each document has, `blocks` how many documents each block.
    """
    ends = offsets_of(frequencies.astype(np.int64))
    steps = np.diff(positions, prepend=np.uint32(0))
    steps[ends[:-1]] = positions[ends[:-1]]
    totals = np.diff(ends[offsets_of(blocks)])
    starts, sizes, runs = cut(totals, GROUP)
    full, rest = np.flatnonzero(sizes == GROUP), np.flatnonzero(sizes < GROUP)
    groups = group_runs(steps[starts[full][:, np.newaxis] + np.arange(GROUP)])
    tails = varint_runs(steps[ranges(starts[rest], sizes[rest])]).merged(sizes[rest])
    return placed([groups, tails], [full, rest]).merged(runs)


def parse_position_blobs(blobs: Sequence[Cursor], frequency: int, place: Place) -> Numbers:
    """Parse the positions of a document in format 1. Raises FormatError."""
    full, rest = divmod(frequency, GROUP)
    if len(blobs) != 1 + full + (rest > 0):
        raise CorruptPage(
            "L.index.fts.positions.end",
            place,
            found=f"{len(blobs)} parts of {frequency} positions",
            wanted=f"a count, {full} blocks and a rest of {rest}",
        )
    head, *others = blobs
    count = head.u32("number of positions", "L.index.fts.positions.end")
    if count != frequency:
        raise CorruptPage(
            "L.index.fts.positions.end",
            head.ctx.at(head.base, 4),
            found=f"{count} positions",
            wanted=f"{frequency}",
        )
    parts = []
    for blob in others[:full]:
        first = blob.u32("first position", "L.index.fts.positions.end")
        steps = parse_group(blob, LANES, "positions")
        parts.append(np.cumsum(steps, dtype=np.uint32) + np.uint32(first))
    if rest:
        last = others[-1].array("<u4", rest, "positions", "L.index.fts.positions.end")
        parts.append(last.astype(np.uint32))
    return np.concatenate(parts)


def encode_position_blobs(positions: Numbers) -> list[bytes]:
    """Return the positions of a document in format 1."""
    full = len(positions) // GROUP * GROUP
    out = [struct.pack("<I", len(positions))]
    for start in range(0, full, GROUP):
        part = positions[start : start + GROUP]
        steps = np.diff(part, prepend=part[:1]).astype(np.uint32)
        out.append(struct.pack("<I", part[0]) + encode_group(steps))
    if full < len(positions):
        out.append(positions[full:].astype("<u4").tobytes())
    return out

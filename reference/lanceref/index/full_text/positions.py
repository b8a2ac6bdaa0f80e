"""Positions: where in its documents a token occurs.

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
from lanceref.index.full_text.packed_integers import (
    ByteRuns,
    Counts,
    Numbers,
    arrange_runs,
    group_runs,
    offsets_of,
    parse_group,
    parse_varints,
    ranges,
    split_groups,
    varint_runs,
    word_runs,
    zip_runs,
)

GROUP = 128
LANES = 4
END = "L.index.fts.positions.end"


def parse_positions(cursor: Cursor, frequencies: Numbers) -> list[Numbers]:
    """Parse positions that fill `cursor`, by `frequencies` (documents,). Raises FormatError."""
    total = int(frequencies.sum(dtype=np.uint64))
    full, rest = divmod(total, GROUP)
    cursor.require(full + rest, f"{total} positions", END)
    parts = [parse_group(cursor, LANES, "positions") for _ in range(full)]
    parts.append(parse_varints(cursor, rest, "positions"))
    if cursor.remaining:
        place = cursor.ctx.at(cursor.offset, cursor.remaining)
        raise CorruptPage(END, place, f"{cursor.remaining} bytes after the positions", "none")
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
        raise CorruptPage(END, place, f"{len(blobs)} parts of {frequency} positions", wanted)
    head, *others = blobs
    count = head.u32("number of positions", END)
    if count != frequency:
        raise CorruptPage(END, head.ctx.at(head.base, 4), f"{count} positions", f"{frequency}")
    parts = []
    for blob in others[:full]:
        first = blob.u32("first position", END)
        steps = parse_group(blob, LANES, "positions")
        parts.append(np.cumsum(steps, dtype=np.uint32) + np.uint32(first))
    if rest:
        parts.append(others[-1].array("<u4", rest, "positions", END).astype(np.uint32))
    return np.concatenate(parts)


def encode_position_blobs(positions: Numbers) -> list[bytes]:
    """Return the positions of a document in format 1. `positions` (occurrences,)."""
    full = len(positions) // GROUP * GROUP
    rows = positions[:full].reshape(-1, GROUP)
    firsts, steps = word_runs(rows[:, 0].astype("<u4")), np.diff(rows, prepend=rows[:, :1], axis=1)
    rest = [positions[full:].astype("<u4").tobytes()] if full < len(positions) else []
    blocks = zip_runs(firsts, group_runs(steps)).as_bytes()
    return [struct.pack("<I", len(positions)), *blocks, *rest]

"""Zones: runs of so many live rows of a fragment, which zone maps and Bloom filters summarise.

A zone begins at its first live row and ends at its last; deleted rows inside of it count in its
length, those between two zones belong to neither.

Layout: of each zone fragment_id, zone_start (row offset) and zone_length, u64, by fragment and
start. The rows that are null are a RowAddrTreeMap, by address, in the global buffer that the
metadata null_bitmap names; releases up to 4 do not write it, and which rows are null is then
left to the data.

Clauses: L.index.zones.order, L.index.zones.nulls
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.errors import CorruptPage
from lanceref.index.index_file import IndexFile
from lanceref.index.index_type import Spans
from lanceref.index.row_set import (
    NO_KEYS,
    SHIFT,
    Keys,
    RowSet,
    encode_row_set,
    parse_row_set,
    row_set,
)
from lanceref.index.segment import Moved, Segment
from lanceref.index.training import Run, Training

NULLS = "null_bitmap"
NULL_BUFFER = 1
"""Global buffer with the rows that are null."""

ROW_LIMIT = 1 << 32
"""Rows that a fragment has at most."""

FIELDS = tuple(
    pa.field(name, pa.uint64(), nullable=False)
    for name in ("fragment_id", "zone_start", "zone_length")
)


@dataclass(frozen=True, slots=True)
class Zone:
    """Neighbouring live rows of a fragment: their values, and the addresses of those null."""

    fragment_id: int
    start: int
    length: int
    values: pa.Array
    nulls: Keys


def cut_zones(training: Training, rows: int) -> Iterator[Zone]:
    """Yield the rows in zones of so many live ones; the last of a fragment may have fewer."""
    for fragment_id, runs in groupby(training.runs(), lambda run: run.fragment_id):
        for values, offsets in _whole_zones(runs, rows):
            for first in range(0, len(offsets), rows):
                part, own = offsets[first : first + rows], values.slice(first, rows)
                start = int(part[0])
                nulls = _nulls(own, part, fragment_id)
                yield Zone(fragment_id, start, int(part[-1]) - start + 1, own, nulls)


def _whole_zones(runs: Iterable[Run], rows: int) -> Iterator[tuple[pa.Array, NDArray[np.int64]]]:
    """Yield values and offsets of a fragment, cut so that no zone lies in two of the parts."""
    values, offsets = [], []
    waiting = 0
    for run in runs:
        values.append(run.values)
        offsets.append(run.offsets)
        waiting += len(run.offsets)
        if waiting < rows:
            continue
        all_values, all_offsets = pa.concat_arrays(values), np.concatenate(offsets)
        end = waiting - waiting % rows
        yield all_values[:end], all_offsets[:end]
        values, offsets, waiting = [all_values[end:]], [all_offsets[end:]], waiting - end
    if waiting:
        yield pa.concat_arrays(values), np.concatenate(offsets)


def _nulls(values: pa.Array, offsets: NDArray[np.int64], fragment_id: int) -> Keys:
    """Return the addresses of rows of a fragment whose values are null."""
    if not values.null_count:
        return NO_KEYS
    null = np.asarray(values.is_null().to_numpy(zero_copy_only=False), np.bool_)
    return offsets[null].astype(np.uint64) | np.uint64(fragment_id) << SHIFT


def encode_nulls(parts: Sequence[Keys]) -> bytes:
    """Return the rows that are null as the global buffer holds them."""
    return encode_row_set(row_set(np.concatenate([NO_KEYS, *parts])))


def read_nulls(file: IndexFile) -> RowSet | None:
    """Return the rows that are null, by address, None where nothing says. Raises FormatError."""
    if NULLS not in file.metadata:
        return None
    return parse_row_set(file.buffer(file.number(NULLS)))  # L.index.zones.nulls


def nulls_left(file: IndexFile, moved: Moved) -> Keys | None:
    """Return the rows that are null and left, None where nothing says. Raises FormatError."""
    nulls = read_nulls(file)
    return None if nulls is None else moved(nulls.keys)[1]


def nulls_stored(nulls: Sequence[Keys | None]) -> tuple[dict[str, str], list[bytes]]:
    """Return metadata and global buffers for rows that are null, none unless all are known."""
    known = [one for one in nulls if one is not None]
    if len(known) < len(nulls):
        return {}, []
    return {NULLS: f"{NULL_BUFFER}"}, [encode_nulls(known)]


def read_spans(file: IndexFile) -> Spans:
    """Return where the zones lie. Raises FormatError."""
    fragments, starts, lengths = (file.numbers(field.name, np.uint64) for field in FIELDS)
    beyond = (starts >= ROW_LIMIT) | (lengths > ROW_LIMIT) | (fragments >= ROW_LIMIT)
    if beyond.any():
        number = int(np.argmax(beyond))
        raise CorruptPage(
            "L.index.zones.order",
            file.place,
            found=f"zone {number} of {int(lengths[number])} rows from {int(starts[number])} on",
            wanted=f"rows below {ROW_LIMIT}",
        )
    return Spans(*(one.astype(np.int64) for one in (fragments, starts, lengths)))


def kept_zones(spans: Spans, moved: Moved) -> NDArray[np.bool_]:
    """Return which zones are left: those whose first row is, at its place."""
    keys = spans.fragments.astype(np.uint64) << SHIFT | spans.starts.astype(np.uint64)
    return moved(keys)[0]


def check_zones(segment: Segment, spans: Spans, training: Training) -> None:
    """Report a fragment that a segment covers, that has live rows and no zone of them."""
    bare = [
        rows.fragment.id
        for rows in training.fragments
        if rows.num_rows and rows.fragment.id not in spans.fragments
    ]
    if bare and segment.moves is None:
        segment.ctx.lint(
            "L.index.segment.complete",
            segment.place,
            found=f"no zones of fragments {bare[:8]}",
            wanted="zones of all live rows of the fragments covered",
        )


def columns_of(zones: Sequence[tuple[int, int, int]]) -> list[pa.Array]:
    """Return the three columns of zones given as fragment, start and length."""
    return [pa.array([zone[number] for zone in zones], pa.uint64()) for number in range(3)]

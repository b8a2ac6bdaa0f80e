"""BITMAP: of every value the set of its rows.

Keys are read when the index is opened; of the sets only those that are asked for.

Layout: `bitmap_page_lookup.lance`: keys (nullable), each value once, ascending, null first; bitmaps
binary: the rows of each, as a RowAddrTreeMap. Metadata lance:index_stats {"num_bitmaps":n}.

Clauses: L.index.bitmap.columns, L.index.bitmap.order, L.index.bitmap.disjoint
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.cursor import Cursor
from lanceref.core.errors import CorruptPage
from lanceref.index.index_file import IndexFile
from lanceref.index.index_type import Built, Kind, Parameters
from lanceref.index.ordering import check_memory, has_order, run_starts, sort_keys, sorted_order
from lanceref.index.predicate import Among, IsNull, OnValues, Predicate, Within, holds
from lanceref.index.row_set import Keys, RowSet, encode_row_set, parse_row_set, row_set, union
from lanceref.index.segment import Moved, Segment
from lanceref.index.segment_writer import SegmentWriter
from lanceref.index.training import Training, trained
from lanceref.proto import index_details_pb2

LOOKUP = "bitmap_page_lookup.lance"
BATCH_KEYS = 2048
"""Keys that are written together."""

STATISTICS = "lance:index_stats"


class Bitmap:
    """An opened segment: its keys are in memory."""

    def __init__(self, segment: Segment) -> None:
        self._lookup, self._uses = segment.file(LOOKUP), segment.uses
        self.keys = self._lookup.read_ordered("keys")
        self._held: list[RowSet] | None = None

    def search(self, predicate: Predicate) -> RowSet:
        """Return the rows for which a predicate on values is true. Raises FormatError."""
        assert isinstance(predicate, OnValues)
        with self._lookup.comparing(self.keys.type):
            numbers = np.flatnonzero(holds(predicate, self.keys))
        self._uses.compare(len(self.keys))
        if self._held is not None:
            self._uses.hit(len(numbers))
            return union([self._held[number] for number in numbers.tolist()])
        self._uses.load(len(numbers))
        return union(self.sets(numbers))

    def warm(self, *, positions: bool = False) -> int:
        """Keep all sets in memory; return how many. Raises FormatError."""
        self._held = self.sets(np.arange(len(self.keys)))
        return len(self._held)

    def sets(self, numbers: NDArray[np.int64]) -> list[RowSet]:
        """Return the rows of keys, by their numbers, ascending. Raises FormatError."""
        return read_row_sets(self._lookup, "bitmaps", numbers)

    def statistics(self) -> dict[str, object]:
        """Return the number of keys."""
        return {"num_bitmaps": len(self.keys)}


def read_row_sets(file: IndexFile, column: str, numbers: NDArray[np.int64]) -> list[RowSet]:
    """Return row sets from a column of binary values. Raises FormatError."""
    if not len(numbers):
        return []
    found = []
    for data in file.take(column, numbers, pa.binary()):
        if not data.is_valid:
            raise CorruptPage(
                "L.index.bitmap.columns", file.place, found="null for a set", wanted="bytes"
            )
        found.append(parse_row_set(Cursor(memoryview(data.as_buffer()), 0, file.ctx)))
    return found


def entries(segment: Segment) -> tuple[pa.Array, Keys]:
    """Return a value and a key for every row of every set."""
    index = Bitmap(segment)
    sets = [one.keys for one in index.sets(np.arange(len(index.keys)))]
    counts = np.array([len(one) for one in sets], np.int64)
    numbers = pa.array(np.repeat(np.arange(len(sets)), counts))
    return index.keys.take(numbers), np.concatenate([np.empty(0, np.uint64), *sets])


def write_bitmaps(
    values: pa.Array,
    keys: Keys,
    writer: SegmentWriter,
    metadata: Mapping[str, str],
    buffers: Sequence[bytes] = (),
) -> None:
    """Write the sets of values, which stand in any order and may repeat."""
    check_memory(values.nbytes + keys.nbytes)
    order = sorted_order(values)
    values, keys = values.take(pa.array(order)), keys[order]
    starts = run_starts(values)
    sets = [row_set(part) for part in np.split(keys, starts[1:])] if len(starts) else []
    schema = pa.schema([pa.field("keys", values.type), pa.field("bitmaps", pa.binary())])
    distinct = values.take(pa.array(starts))
    batches = (
        pa.record_batch(
            [
                distinct.slice(first, BATCH_KEYS),
                pa.array(map(encode_row_set, sets[first : first + BATCH_KEYS]), pa.binary()),
            ],
            schema=schema,
        )
        for first in range(0, len(sets), BATCH_KEYS)
    )
    statistics = json.dumps({"num_bitmaps": len(sets)}, separators=(",", ":"))
    own = {STATISTICS: statistics, **metadata}
    writer.write_file(LOOKUP, schema, batches, own, buffers)


def build(training: Training, writer: SegmentWriter, parameters: Parameters) -> Built:
    """Build over rows."""
    write_bitmaps(*trained(training), writer, {})
    return Built(index_details_pb2.BitmapIndexDetails(), 0)


def rewrite(
    segments: Sequence[tuple[Segment, Moved]], training: Training, writer: SegmentWriter
) -> Built:
    """Write what is left of segments, and new rows, as one segment."""
    values, keys = trained(training)
    parts, rows = [], []
    for segment, moved in segments:
        own, before = entries(segment)
        kept, after = moved(before)
        parts.append(own.filter(pa.array(kept)))
        rows.append(after)
    write_bitmaps(pa.concat_arrays([*parts, values]), np.concatenate([*rows, keys]), writer, {})
    return Built(index_details_pb2.BitmapIndexDetails(), 0)


def check(segment: Segment) -> None:
    """Report keys that do not rise, rows with two values, and a count that is not theirs."""
    check_sets(segment, disjoint=True)


def check_sets(segment: Segment, *, disjoint: bool) -> None:
    """Report keys that do not rise, rows in two sets, and a count that is not theirs."""
    index, file = Bitmap(segment), segment.file(LOOKUP)
    order = sorted_order(index.keys)
    repeats = len(sort_keys(index.keys).unique()) < len(order)
    if repeats or not np.array_equal(order, np.arange(len(order))):
        file.ctx.lint(
            "L.index.bitmap.order",
            file.place,
            found="keys that do not rise",
            wanted="rising keys",
            severity="should",
        )
    sets = index.sets(np.arange(len(index.keys)))
    rows = sum(len(one.keys) for one in sets)
    if disjoint and len(union(sets).keys) < rows:
        file.ctx.lint(
            "L.index.bitmap.disjoint", file.place, found="a row in two sets", wanted="in one"
        )
    wanted = json.dumps({"num_bitmaps": len(sets)}, separators=(",", ":"))
    if file.metadata.get(STATISTICS, wanted) != wanted:
        file.ctx.lint(
            "L.index.bitmap.statistics",
            file.place,
            found=file.metadata[STATISTICS][:80],
            wanted=wanted,
        )


BITMAP = Kind(
    name="BITMAP",
    shown="Bitmap",
    details="lance.table.BitmapIndexDetails",
    version=0,
    exact=(IsNull, Among, Within),
    inexact=(),
    accepts=has_order,
    open=Bitmap,
    build=build,
    rewrite=rewrite,
    check=check,
    entries=entries,
)
"""The index type."""

"""BITMAP and LABEL_LIST: of every value, or item of lists, the set of its rows.

Keys are read when the index is opened; of the sets only those that are asked for.

Layout: `bitmap_page_lookup.lance`: keys (nullable), each value once, ascending, null first; bitmaps
binary: the rows of each, as a RowAddrTreeMap. Metadata lance:index_stats {"num_bitmaps":n}.

Of LABEL_LIST the keys are the items of the lists, a null item too. The metadata
lance:label_list_nulls names the global buffer with the rows whose list itself is null, a
RowAddrTreeMap. Empty lists appear nowhere. Version 0 has no such buffer.

Clauses: L.index.bitmap.columns, L.index.bitmap.order, L.index.bitmap.disjoint,
L.index.label-list.nulls
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.compute import pc
from lanceref.index.index_type import (
    Built,
    Entries,
    EntryFormat,
    Kind,
    ScalarIndex,
    column_entries,
    none,
)
from lanceref.index.predicate import Among, HasLabels, IsNull, OnValues, Predicate, Within, holds
from lanceref.index.row_set import (
    NO_KEYS,
    RowSet,
    encode_row_set,
    intersection,
    parse_row_set,
    row_set,
    union,
)
from lanceref.index.segment import Segment, SegmentWriter
from lanceref.index.training import (
    Training,
    accepts_types,
    has_order,
    mask_of,
    run_starts,
    sort_keys,
    sorted_order,
    trained,
)
from lanceref.proto import index_details_pb2

LOOKUP = "bitmap_page_lookup.lance"
BATCH_KEYS = 2048
"""Keys that are written together."""

STATISTICS = "lance:index_stats"


class Bitmap(ScalarIndex):
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
        self._uses.comparisons += len(self.keys)
        if self._held is not None:
            self._uses.hit(len(numbers))
            return union([self._held[number] for number in numbers.tolist()])
        self._uses.load(len(numbers))
        return union(self.sets(numbers))

    def warm(self, *, positions: bool = False) -> int:
        """Keep all sets in memory; return how many. Raises FormatError."""
        self._held = self.sets()
        return len(self._held)

    def sets(self, numbers: NDArray[np.int64] | None = None) -> list[RowSet]:
        """Return the rows of keys, by ascending numbers (n,), None: of all. Raises FormatError."""
        wanted = np.arange(len(self.keys)) if numbers is None else numbers
        if not len(wanted):
            return []
        cursors = self._lookup.take_cursors("bitmaps", wanted, "L.index.bitmap.columns")
        return [parse_row_set(cursor) for cursor in cursors]

    def statistics(self) -> dict[str, object]:
        """Return how many keys the index has, by name."""
        return {"num_bitmaps": len(self.keys)}


def held(segment: Segment) -> Entries:
    """Return an entry for every row of every set."""
    index = Bitmap(segment)
    sets = segment.keys_of(index.sets())
    numbers = np.repeat(np.arange(len(sets)), np.array([len(one) for one in sets], np.int64))
    return Entries(index.keys.take(pa.array(numbers)), np.concatenate([NO_KEYS, *sets]))


def write_bitmaps(
    entries: Entries,
    writer: SegmentWriter,
    metadata: Mapping[str, str] | None = None,
    buffers: Sequence[bytes] = (),
) -> None:
    """Write the set of rows of each value."""
    values, keys = entries.values, entries.keys
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
    own = {STATISTICS: _statistics(len(sets)), **(metadata or {})}
    writer.write_file(LOOKUP, schema, batches, own, buffers)


def _statistics(num_sets: int) -> str:
    return json.dumps({"num_bitmaps": num_sets}, separators=(",", ":"))


def write(entries: Entries, _: None, training: Training, writer: SegmentWriter) -> Built:
    """Write the file of a segment over values."""
    write_bitmaps(entries, writer)
    return Built(index_details_pb2.BitmapIndexDetails(), 0)


_FORMAT = EntryFormat(held, column_entries, write, none, none)


def check_sets(segment: Segment, *, disjoint: bool) -> None:
    """Report keys that do not rise, rows in two sets, and a wrong number of keys."""
    index, file = Bitmap(segment), segment.file(LOOKUP)
    rising = index.keys.take(pa.array(sorted_order(index.keys)))
    keys = sort_keys(index.keys)
    if not keys.equals(sort_keys(rising).unique()):
        clause, found = "L.index.bitmap.order", "keys that do not rise"
        file.ctx.lint(clause, file.place, found, "rising keys", severity="should")
    sets = index.sets()
    if disjoint and len(union(sets).keys) < sum(len(one.keys) for one in sets):
        file.lint("L.index.bitmap.disjoint", "a row in two sets", "in one")
    wanted = _statistics(len(sets))
    stated = file.metadata.get(STATISTICS, wanted)
    if stated != wanted:
        file.lint("L.index.bitmap.statistics", stated[:80], wanted)


BITMAP = Kind(
    name="BITMAP",
    shown="Bitmap",
    details="lance.table.BitmapIndexDetails",
    exact=(IsNull, Among, Within),
    accepts=has_order,
    open=Bitmap,
    build=_FORMAT.build,
    rewrite=_FORMAT.rewrite,
    check=lambda segment: check_sets(segment, disjoint=True),
    check_rows=_FORMAT.check_rows,
)
"""The index type of values."""

NULLS = "lance:label_list_nulls"
WITH_NULLS = 1
"""Version from which on rows whose list is null are kept."""


class LabelList(Bitmap):
    """An opened segment: its labels are in memory."""

    def __init__(self, segment: Segment) -> None:
        super().__init__(segment)
        self._segment = segment

    def search(self, predicate: Predicate) -> RowSet:
        """Return the rows whose list holds labels, or is null. Raises FormatError."""
        if isinstance(predicate, IsNull):
            return null_lists(self._segment)
        assert isinstance(predicate, HasLabels)
        if not predicate.every:
            return super().search(Among(predicate.labels))
        found = [super(LabelList, self).search(Among((one,))) for one in predicate.labels]
        return intersection(found)


def null_lists(segment: Segment) -> RowSet:
    """Return the rows whose list is null; a segment of version 0 has none. Raises FormatError."""
    if segment.entry.index_version < WITH_NULLS:
        return RowSet()
    file = segment.file(LOOKUP)
    return parse_row_set(file.buffer(file.number(NULLS)))  # L.index.label-list.nulls


def held_labels(segment: Segment) -> Entries:
    """Return an entry for every row of every label; version 0 does not know null lists."""
    known = segment.entry.index_version >= WITH_NULLS
    return replace(
        held(segment), nulls=segment.keys_of([null_lists(segment)])[0] if known else None
    )


def made_labels(training: Training, _: None) -> Entries:
    """Return an entry for every item of the lists of rows."""
    values, keys = trained(training)
    lengths = np.asarray(pc.fill_null(pc.list_value_length(values), 0).to_numpy(), np.int64)
    return Entries(values.flatten(), np.repeat(keys, lengths), keys[mask_of(values.is_null())])


def write_labels(entries: Entries, _: None, training: Training, writer: SegmentWriter) -> Built:
    """Write the file of a segment; lists that version 0 does not know to be null are not."""
    nulls = NO_KEYS if entries.nulls is None else entries.nulls
    write_bitmaps(entries, writer, {NULLS: "1"}, [encode_row_set(row_set(nulls))])
    return Built(index_details_pb2.LabelListIndexDetails(), WITH_NULLS)


def check_labels(segment: Segment) -> None:
    """Report as BITMAP, but for rows in two sets, and null lists that have items."""
    check_sets(segment, disjoint=False)
    if len(null_lists(segment).among(held(segment).keys)):
        file = segment.file(LOOKUP)
        file.lint("L.index.label-list.disjoint", "items of a list that is null", "none")


_LABELS = EntryFormat(held_labels, made_labels, write_labels, none, none)

LABEL_LIST = Kind(
    name="LABEL_LIST",
    shown="LabelList",
    details="lance.table.LabelListIndexDetails",
    version=WITH_NULLS,
    nulls_since=WITH_NULLS,
    exact=(HasLabels, IsNull),
    accepts=accepts_types("list", "large_list"),
    open=LabelList,
    build=_LABELS.build,
    rewrite=_LABELS.rewrite,
    check=check_labels,
    check_rows=_LABELS.check_rows,
    inherits="one",
)
"""The index type of lists."""

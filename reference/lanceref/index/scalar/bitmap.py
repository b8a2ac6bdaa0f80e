"""BITMAP: of every value the set of its rows.

Keys are read when the index is opened; of the sets only those that are asked for.

Layout: `bitmap_page_lookup.lance`: keys (nullable), each value once, ascending, null first; bitmaps
binary: the rows of each, as a RowAddrTreeMap. Metadata lance:index_stats {"num_bitmaps":n}.

Clauses: L.index.bitmap.columns, L.index.bitmap.order, L.index.bitmap.disjoint

LABEL_LIST: of every label the set of rows whose list holds it.

Layout: as BITMAP, the keys being the items of the lists; an item that is null is a key too. The
metadata lance:label_list_nulls names the global buffer with the rows whose list itself is null, a
RowAddrTreeMap. Empty lists appear nowhere. Version 0 has no such buffer.

Clauses: L.index.label-list.nulls, L.index.bitmap.columns, L.index.bitmap.order
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.compute import pc
from lanceref.core.cursor import Cursor
from lanceref.core.errors import CorruptPage
from lanceref.file.schema import Field
from lanceref.index.index_file import IndexFile
from lanceref.index.index_type import Built, Kind, Parameters
from lanceref.index.predicate import Among, HasLabels, IsNull, OnValues, Predicate, Within, holds
from lanceref.index.row_set import (
    Keys,
    RowSet,
    encode_row_set,
    intersection,
    parse_row_set,
    row_set,
    union,
)
from lanceref.index.segment import Moved, Segment, SegmentWriter
from lanceref.index.training import (
    Training,
    check_memory,
    has_order,
    joined,
    joined_by_key,
    leaf,
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


NULLS = "lance:label_list_nulls"
WITH_NULLS = 1
"""Version from which on rows whose list is null are kept."""


_NULL_LIST, _OTHER_LABEL = 2**31 - 1, 2**31 - 2
"""In place of the number of a label: the list is null, the index has no such label."""


class LabelList:
    """An opened segment: its labels are in memory."""

    def __init__(self, segment: Segment) -> None:
        self._segment = segment
        self._bitmap = Bitmap(segment)

    def search(self, predicate: Predicate) -> RowSet:
        """Return the rows whose list holds labels, or is null. Raises FormatError."""
        if isinstance(predicate, IsNull):
            return null_lists(self._segment)
        assert isinstance(predicate, HasLabels)
        if not predicate.every:
            return self._bitmap.search(Among(predicate.labels))
        return intersection([self._bitmap.search(Among((one,))) for one in predicate.labels])

    def warm(self, *, positions: bool = False) -> int:
        """Keep all sets in memory; return how many. Raises FormatError."""
        return self._bitmap.warm()

    def statistics(self) -> dict[str, object]:
        """Return the number of labels."""
        return self._bitmap.statistics()


def null_lists(segment: Segment) -> RowSet:
    """Return the rows whose list is null; a segment of version 0 knows none. Raises FormatError."""
    if segment.entry.index_version < WITH_NULLS:
        return RowSet()
    file = segment.file(LOOKUP)
    return parse_row_set(file.buffer(file.number(NULLS)))  # L.index.label-list.nulls


def flattened(values: pa.Array, keys: Keys) -> tuple[pa.Array, Keys, Keys]:
    """Return the items of lists, the keys of their rows, and the keys of lists that are null."""
    nulls = np.asarray(values.is_null().to_numpy(zero_copy_only=False), np.bool_)
    lengths = np.asarray(pc.fill_null(pc.list_value_length(values), 0).to_numpy(), np.int64)
    return values.flatten(), np.repeat(keys, lengths), keys[nulls]


def write_labels(items: pa.Array, keys: Keys, nulls: Keys, writer: SegmentWriter) -> Built:
    """Write the sets of items, and the rows whose list is null."""
    write_bitmaps(items, keys, writer, {NULLS: "1"}, [encode_row_set(row_set(nulls))])
    return Built(index_details_pb2.LabelListIndexDetails(), WITH_NULLS)


def build_labels(training: Training, writer: SegmentWriter, parameters: Parameters) -> Built:
    """Build over rows."""
    return write_labels(*flattened(*trained(training)), writer)


def rewrite_labels(
    segments: Sequence[tuple[Segment, Moved]], training: Training, writer: SegmentWriter
) -> Built:
    """Write what is left of segments, and new rows, as one segment."""
    items, keys, nulls = flattened(*trained(training))
    parts, rows, empty = [items], [keys], [nulls]
    for segment, moved in segments:
        own, before = entries(segment)
        kept, after = moved(before)
        parts.append(own.filter(pa.array(kept)))
        rows.append(after)
        empty.append(moved(null_lists(segment).keys)[1])
    return write_labels(
        pa.concat_arrays(parts), np.concatenate(rows), np.concatenate(empty), writer
    )


def is_list(field: Field) -> bool:
    """Return whether a column holds lists of values that can be compared."""
    type_ = leaf(field).arrow.type
    return bool(pa.types.is_list(type_) or pa.types.is_large_list(type_))


def check_labels(segment: Segment) -> None:
    """Report what BITMAP reports but for rows in two sets, and null lists that have items."""
    check_sets(segment, disjoint=False)
    file, nulls = segment.file(LOOKUP), null_lists(segment)
    if len(nulls.among(entries(segment)[1])):
        file.ctx.lint(
            "L.index.label-list.disjoint",
            file.place,
            found="items of a list that is null",
            wanted="none",
        )


def labels_by_row(segment: Segment) -> tuple[pa.Array, Keys]:
    """Return the numbers of the labels of every row, as one value, and its key."""
    index = Bitmap(segment)
    sets = [one.keys for one in index.sets(np.arange(len(index.keys)))]
    nulls = null_lists(segment).keys
    numbers = np.repeat([*range(len(sets)), _NULL_LIST], [*map(len, sets), len(nulls)])
    return joined_by_key(numbers.astype(np.uint32), np.concatenate([*sets, nulls]))


def rows_of(training: Training, segment: Segment) -> Training:
    """Return the numbers of the labels of rows, as one value of each."""
    labels = sort_keys(Bitmap(segment).keys)
    nulls_known = segment.entry.index_version >= WITH_NULLS
    held = []
    for run in training.runs():
        count = len(run.values)
        items, rows, nulls = flattened(run.values, np.arange(count, dtype=np.uint64))
        with segment.file(LOOKUP).comparing(labels.type):
            found = pc.index_in(sort_keys(items), value_set=labels)
        labelled = np.asarray(pc.fill_null(found, _OTHER_LABEL), np.uint32)
        nulls = nulls if nulls_known else nulls[:0]
        numbers = np.concatenate([labelled, np.full(len(nulls), _NULL_LIST, np.uint32)])
        owners = np.concatenate([rows, nulls]).astype(np.int64)
        held.append(replace(run, values=joined(numbers, owners, count)))
    return training.of(held)


LABEL_LIST = Kind(
    name="LABEL_LIST",
    shown="LabelList",
    details="lance.table.LabelListIndexDetails",
    version=WITH_NULLS,
    nulls_since=WITH_NULLS,
    exact=(HasLabels, IsNull),
    inexact=(),
    accepts=is_list,
    open=LabelList,
    build=build_labels,
    rewrite=rewrite_labels,
    check=check_labels,
    entries=labels_by_row,
    rows_of=rows_of,
    inherits="one",
)
"""The index type."""

"""LABEL_LIST: of every label the set of rows whose list holds it.

Layout: as BITMAP, the keys being the items of the lists; an item that is null is a key too. The
metadata lance:label_list_nulls names the global buffer with the rows whose list itself is null, a
RowAddrTreeMap. Empty lists appear nowhere. Version 0 has no such buffer.

Clauses: L.index.label-list.nulls, L.index.bitmap.columns, L.index.bitmap.order
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from lanceref.core.compute import pc
from lanceref.file.schema import Field
from lanceref.index.index_type import Built, Kind, Parameters
from lanceref.index.joined_values import joined, joined_by_key
from lanceref.index.ordering import sort_keys
from lanceref.index.predicate import Among, HasLabels, IsNull, Predicate
from lanceref.index.row_set import (
    Keys,
    RowSet,
    encode_row_set,
    intersection,
    parse_row_set,
    row_set,
)
from lanceref.index.scalar.bitmap import LOOKUP, Bitmap, check_sets, entries, write_bitmaps
from lanceref.index.segment import Moved, Segment
from lanceref.index.segment_writer import SegmentWriter
from lanceref.index.training import Training, leaf, trained
from lanceref.proto import index_details_pb2

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


def build(training: Training, writer: SegmentWriter, parameters: Parameters) -> Built:
    """Build over rows."""
    return write_labels(*flattened(*trained(training)), writer)


def rewrite(
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


def check(segment: Segment) -> None:
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
    build=build,
    rewrite=rewrite,
    check=check,
    entries=labels_by_row,
    rows_of=rows_of,
    inherits="one",
)
"""The index type."""

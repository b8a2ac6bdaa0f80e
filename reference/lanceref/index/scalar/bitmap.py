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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.arrow_buffers import decoded
from lanceref.core.comparison import total_order
from lanceref.core.compute import pc
from lanceref.file.schema import Field
from lanceref.index.entries import Entries, EntryType, stored_as
from lanceref.index.index_type import Built
from lanceref.index.predicate import Among, HasLabels, IsNull, OnValues, Predicate, Within, holds
from lanceref.index.row_set import NO_KEYS, RowSet, encode_sets
from lanceref.index.segment import Segment, SegmentWriter
from lanceref.index.training import (
    Training,
    has_order,
    is_any,
    mask_of,
    run_starts,
    sort_keys,
    sorted_order,
)
from lanceref.proto import index_details_pb2

LOOKUP = "bitmap_page_lookup.lance"
BATCH_KEYS = 2048
"""Keys that are written together."""

STATISTICS = "lance:index_stats"


class Bitmap(EntryType[None]):
    """The type of values; of an opened segment its keys are in memory."""

    name, shown, details = "BITMAP", "Bitmap", "lance.table.BitmapIndexDetails"
    exact: ClassVar[tuple[type[Predicate], ...]] = (IsNull, Among, Within)
    accepts = staticmethod(has_order)

    def __init__(self, segment: Segment) -> None:
        super().__init__(segment)
        self.file = segment.file(LOOKUP)
        self.keys = self.file.read_ordered("keys")
        self._held: list[RowSet] | None = None

    def search(self, predicate: Predicate) -> RowSet:
        """Return the rows for which a predicate on values is true. Raises FormatError."""
        assert isinstance(predicate, OnValues)
        with self.file.comparing(self.keys.type):
            return self.rows_of(holds(predicate, self.keys))

    def rows_of(self, chosen: NDArray[np.bool_]) -> RowSet:
        """Return the rows of `chosen` keys: bool (keys,). Raises FormatError."""
        uses, numbers = self.segment.uses, np.flatnonzero(chosen)
        uses.comparisons += len(self.keys)
        uses.count(self._held is not None, len(numbers))
        if self._held is None:
            return RowSet.union(self.sets(numbers))
        return RowSet.union([self._held[number] for number in numbers.tolist()])

    def warm(self, *, positions: bool = False) -> None:
        """Keep all sets in memory. Raises FormatError."""
        self._held = self.sets()

    def sets(self, numbers: NDArray[np.int64] | None = None) -> list[RowSet]:
        """Return the rows of keys, by ascending numbers (n,), None: of all. Raises FormatError."""
        wanted = np.arange(len(self.keys)) if numbers is None else numbers
        if not len(wanted):
            return []
        cursors = self.file.take_cursors("bitmaps", wanted, "L.index.bitmap.columns")
        return [RowSet.parse(cursor) for cursor in cursors]

    def entries(self) -> Entries:
        """Return an entry for every row of every set."""
        sets = self.segment.keys_of(self.sets())
        numbers = np.repeat(np.arange(len(sets)), np.array([len(one) for one in sets], np.int64))
        return Entries(self.keys.take(pa.array(numbers)), np.concatenate([NO_KEYS, *sets]))

    @classmethod
    def write(cls, entries: Entries, own: None, training: Training, writer: SegmentWriter) -> Built:
        """Write the file of a segment over values."""
        write_sets(entries, writer, training.type)
        return Built(index_details_pb2.BitmapIndexDetails(), 0)

    @classmethod
    def check(cls, segment: Segment) -> None:
        """Report keys that do not rise, rows in two sets, and a wrong number of keys."""
        index = cls(segment)
        sets = index.check_sets()
        if len(RowSet.union(sets).keys) < sum(len(one.keys) for one in sets):
            index.file.lint("L.index.bitmap.disjoint", "a row in two sets", "in one")

    def check_sets(self) -> list[RowSet]:
        """Report keys that do not rise, and a wrong number of keys; return the sets."""
        file, keys, sets = self.file, sort_keys(self.keys), self.sets()
        rising = self.keys.take(pa.array(sorted_order(self.keys)))
        if not keys.equals(sort_keys(rising).unique()):
            clause, found = "L.index.bitmap.order", "keys that do not rise"
            file.ctx.lint(clause, file.place, found, "rising keys", severity="should")
        wanted = _statistics(len(sets))
        stated = file.metadata.get(STATISTICS, wanted)
        if stated != wanted:
            file.lint("L.index.bitmap.statistics", stated[:80], wanted)
        return sets


def write_sets(
    entries: Entries,
    writer: SegmentWriter,
    type_: pa.DataType,
    metadata: Mapping[str, str] | None = None,
    buffers: Sequence[bytes] = (),
) -> None:
    """Write the set of rows of each value; `type_` is that of the keys in the file.

    Raises OperationRefused for more values than a dictionary of this type has.
    """
    values, keys = entries.values, entries.keys
    order = sorted_order(values)
    values, keys = values.take(pa.array(order)), keys[order]
    starts = run_starts(values)
    bounds = np.append(starts, len(keys))
    schema = pa.schema([pa.field("keys", type_), pa.field("bitmaps", pa.binary())])
    distinct = stored_as(type_, values.take(pa.array(starts)))

    def batches() -> Iterator[pa.RecordBatch]:
        for first in range(0, len(starts), BATCH_KEYS):
            ends = bounds[first : first + BATCH_KEYS + 1]
            sets = encode_sets(keys[ends[0] : ends[-1]], ends[:-1] - ends[0])
            yield pa.record_batch([distinct.slice(first, BATCH_KEYS), sets], schema=schema)

    own = {STATISTICS: _statistics(len(starts)), **(metadata or {})}
    writer.write_file(LOOKUP, schema, batches(), own, buffers)


def _statistics(num_sets: int) -> str:
    return json.dumps({"num_bitmaps": num_sets}, separators=(",", ":"))


NULLS = "lance:label_list_nulls"
WITH_NULLS = 1
"""Version from which on rows whose list is null are kept."""


class LabelList(Bitmap):
    """The type of lists; of an opened segment its labels are in memory."""

    name, shown, details = "LABEL_LIST", "LabelList", "lance.table.LabelListIndexDetails"
    version = nulls_since = WITH_NULLS
    exact = (HasLabels, IsNull)
    inherits = "one"

    @staticmethod
    def accepts(field: Field, /) -> bool:
        """Return whether a field has lists of values that can be compared."""
        type_ = field.arrow.type
        return is_any(type_, "list", "large_list") and not pa.types.is_nested(type_.value_type)

    @property
    def nulls(self) -> RowSet | None:
        """The rows whose list is null; version 0 does not know them. Raises FormatError."""
        if self.segment.entry.index_version < WITH_NULLS:
            return None
        return RowSet.parse(self.file.buffer(self.file.number(NULLS)))  # L.index.label-list.nulls

    def search(self, predicate: Predicate) -> RowSet:
        """Return the rows whose list holds labels, or is null. Raises FormatError."""
        if isinstance(predicate, IsNull):
            return self.nulls or RowSet()
        assert isinstance(predicate, HasLabels)
        if not predicate.every:
            return self._having(*predicate.labels)
        return RowSet.intersection([self._having(one) for one in predicate.labels])

    def _having(self, *labels: pa.Scalar) -> RowSet:
        """Return the rows whose list has one of some labels, where -0.0 is another than 0.0."""
        if not pa.types.is_floating(self.keys.type):
            return super().search(Among(labels))
        wanted = pa.array([one.as_py() for one in labels], self.keys.type)
        return self.rows_of(mask_of(pc.is_in(total_order(self.keys), total_order(wanted))))

    def entries(self) -> Entries:
        """Return an entry for every row of every label, and the rows whose list is null."""
        nulls = self.nulls
        known = None if nulls is None else self.segment.keys_of([nulls])[0]
        return replace(super().entries(), nulls=known)

    @classmethod
    def entries_of(cls, training: Training, own: None) -> Entries:
        """Return an entry for every item of the lists of rows."""
        labels, keys, nulls = [pa.nulls(0, training.type.value_type)], [NO_KEYS], [NO_KEYS]
        for run in training.runs():  # a dictionary each, which may not be one together
            lengths = pc.fill_null(pc.list_value_length(run.values), 0).to_numpy()
            labels.append(run.values.flatten())
            keys.append(np.repeat(run.keys, lengths.astype(np.int64)))
            nulls.append(run.keys[mask_of(run.values.is_null())])
        values = pa.concat_arrays(map(decoded, labels))
        return Entries(values, np.concatenate(keys), np.concatenate(nulls))

    @classmethod
    def write(cls, entries: Entries, own: None, training: Training, writer: SegmentWriter) -> Built:
        """Write the file of a segment; lists that version 0 does not know to be null are not."""
        nulls = NO_KEYS if entries.nulls is None else entries.nulls
        type_ = training.type.value_type
        write_sets(entries, writer, type_, {NULLS: "1"}, [RowSet.of(nulls).encode()])
        return Built(index_details_pb2.LabelListIndexDetails(), WITH_NULLS)

    @classmethod
    def check(cls, segment: Segment) -> None:
        """Report as BITMAP, but for rows in two sets, and null lists that have items."""
        index = cls(segment)
        rows, nulls = RowSet.union(index.check_sets()), index.nulls
        if nulls is not None and len(nulls.among(rows.keys)):
            index.file.lint("L.index.label-list.disjoint", "items of a list that is null", "none")

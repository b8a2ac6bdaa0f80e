"""BTREE: all values in order, cut into pages, and the bounds of every page.

A search reads the bounds once, and then only pages whose bounds let something be found.

Layout: `page_data.lance`: values (nullable), ids uint64, sorted by value, nulls first; row r is in
page r // batch_size. `page_lookup.lance`: of each page min and max (first and last value),
null_count u32, page_idx u32; metadata batch_size (4096 where it is missing or no number).

Clauses: L.index.btree.columns, L.index.btree.order, L.index.btree.pages, L.index.btree.batch-size
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.arrow_buffers import decoded
from lanceref.core.compute import bitmaps, pc
from lanceref.core.errors import FormatError
from lanceref.index import predicate as predicates
from lanceref.index.entries import Entries, EntryType, concat_entries, stored_as
from lanceref.index.index_file import IndexFile
from lanceref.index.index_type import Built, Parameters, whole_number
from lanceref.index.row_set import NO_KEYS, Keys, RowSet
from lanceref.index.segment import Segment, SegmentWriter
from lanceref.index.training import Training, has_order, mask_of, sort_keys, sorted_order
from lanceref.proto import index_details_pb2

DATA = "page_data.lance"
LOOKUP = "page_lookup.lance"
EARLY_KEYS = "row_ids"
PAGE_ROWS = 4096
"""Rows of a page by default."""

RUN_ROWS = 1 << 20
"""Rows that are checked together."""

BY_ADDRESS = 1
"""Version from which on the keys are addresses even where rows have stable ids."""


class BTree(EntryType[int]):
    """The type; of an opened segment the bounds of its pages are in memory."""

    name, shown, details = "BTREE", "BTree", "lance.table.BTreeIndexDetails"
    version = address_version = BY_ADDRESS
    exact = (predicates.IsNull, predicates.Among, predicates.Within, predicates.StartsWith)
    accepts = staticmethod(has_order)

    def __init__(self, segment: Segment) -> None:
        super().__init__(segment)
        lookup = segment.file(LOOKUP)
        lookup.hold()
        self._type = lookup.column_type("min")
        self.least = lookup.read_ordered("min")
        self.greatest = decoded(lookup.read("max", self._type))
        self._null_counts = lookup.numbers("null_count", np.uint32)
        self.pages = lookup.numbers("page_idx", np.uint32).astype(np.int64)
        text = lookup.metadata.get("batch_size", "")
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0
        self.stored_parameters = self._page_rows = number or PAGE_ROWS  # L.index.btree.batch-size
        self._held: tuple[pa.Array, Keys] | None = None

    def search(self, predicate: predicates.Predicate) -> RowSet:
        """Return the rows for which a predicate on values is true. Raises FormatError."""
        assert isinstance(predicate, predicates.OnValues)
        parts = [NO_KEYS]
        with self.segment.file(LOOKUP).comparing(self._type):
            if isinstance(predicate, predicates.IsNull):
                possible = self._null_counts > 0
            else:
                possible = predicates.may_hold(predicate, self.least, self.greatest)
                possible &= mask_of(pc.is_valid(self.greatest))
        for values, keys in self._read(self.pages[possible]):
            with self.segment.file(DATA).comparing(self._type):
                parts.append(keys[predicates.holds(predicate, values)])
        return RowSet.of(np.concatenate(parts))

    def _read(self, pages: NDArray[np.int64]) -> Iterator[tuple[pa.Array, Keys]]:
        """Yield values and keys of pages, neighbours together."""
        data, uses = self.segment.file(DATA), self.segment.uses
        for run in np.split(pages, np.flatnonzero(np.diff(pages) != 1) + 1):
            if not len(run):
                continue
            start, end = int(run[0]) * self._page_rows, (int(run[-1]) + 1) * self._page_rows
            if start >= data.num_rows:
                found = f"page {int(run[0])} of {data.num_rows} rows"
                wanted = f"pages of {self._page_rows} rows"
                raise FormatError("L.index.btree.pages", data.place, found, wanted)
            end = min(end, data.num_rows)
            uses.comparisons += end - start
            uses.count(self._held is not None, len(run))
            if self._held is not None:
                values, keys = self._held
                yield values[start:end], keys[start:end]
                continue
            values = decoded(data.read("values", self._type, start, end))
            yield values, data.numbers(keys_column(data), np.uint64, start, end)

    def warm(self, *, positions: bool = False) -> None:
        """Keep all pages in memory. Raises FormatError."""
        data = self.segment.file(DATA)
        values = decoded(data.read("values", self._type))
        self._held = values, data.numbers(keys_column(data), np.uint64)

    @classmethod
    def requested(cls, parameters: Parameters) -> int:
        """Return the rows of a page that a caller asks for. Raises OperationRefused."""
        return whole_number(parameters, "zone_size", PAGE_ROWS)

    def runs(self) -> Iterator[Entries]:
        """Yield the entries of the segment, RUN_ROWS or so in whole pages. Raises FormatError."""
        # L.index.btree.columns
        data, rows = self.segment.file(DATA), self._page_rows
        step = max(1, RUN_ROWS // rows) * rows
        for start in range(0, max(1, data.num_rows), step):
            end = min(start + step, data.num_rows)
            values = data.read_ordered("values", start, end)
            yield Entries(values, data.numbers(keys_column(data), np.uint64, start, end))

    def entries(self) -> Entries:
        """Return all entries of the segment. Raises FormatError."""
        return concat_entries([*self.runs()])

    @classmethod
    def write(cls, entries: Entries, own: int, training: Training, writer: SegmentWriter) -> Built:
        """Write both files, in pages of so many rows.

        Raises OperationRefused for more values than a dictionary of this type has.
        """
        order = sorted_order(entries.values)
        values = stored_as(training.type, entries.values.take(pa.array(order)))
        columns = {"values": values, "ids": pa.array(entries.keys[order])}
        writer.write_columns(DATA, columns, None, ["values"])
        metadata = {"batch_size": f"{own}", "range_partitioned": "false"}
        writer.write_columns(LOOKUP, _lookup(values, own), metadata, ["min", "max"])
        version = BY_ADDRESS if training.stable_row_ids else 0
        return Built(index_details_pb2.BTreeIndexDetails(), version)

    @classmethod
    def check(cls, segment: Segment) -> None:
        """Report values that do not rise, bounds that are not theirs, and rows that repeat."""
        index, lookup, data = cls(segment), segment.file(LOOKUP), segment.file(DATA)
        rows, seen = index.stored_parameters, bitmaps.BitMap64()
        bounds: list[dict[str, pa.Array]] = []
        falls, last = False, data.read_ordered("values", 0, 0)
        for entries in index.runs():
            values = pa.concat_arrays([last, entries.values])
            order = pa.array(sorted_order(values))
            falls |= not sort_keys(values.take(order)).equals(sort_keys(values))
            last = values.slice(max(0, len(values) - 1))
            seen |= bitmaps.BitMap64(array("Q", np.sort(entries.keys).tobytes()))
            bounds.append(_lookup(entries.values, rows, sum(len(one["min"]) for one in bounds)))
        if falls:
            data.lint("L.index.btree.order", "values that fall", "rising values")
        if len(seen) < data.num_rows:
            data.lint("L.index.btree.ids", "a row twice", "a row once")
        pages = index.pages.astype(np.uint64)
        if np.any(pages * np.uint64(rows) >= data.num_rows):
            found = f"page {int(pages.max())} of {data.num_rows} rows"
            lookup.lint("L.index.btree.pages", found, f"pages of {rows} rows")
        for name in bounds[0]:
            column = decoded(lookup.read(name))
            wanted = pa.concat_arrays([one[name] for one in bounds])
            if name == "min" and column.null_count + 1 == wanted.null_count:
                wanted = _without_nulls(wanted, data)
            is_same = column.equals(wanted)
            if not is_same and column.type == wanted.type:  # NaN is equal only by its bits
                is_same = sort_keys(column).equals(sort_keys(wanted))
            if not is_same:
                found = f"{name} {column.to_pylist()[:4]}"
                lookup.lint("L.index.btree.bounds", found, wanted.to_pylist()[:4])


def _without_nulls(least: pa.Array, data: IndexFile) -> pa.Array:
    """Return the `min` of each page (pages,) where those of release 0.24.1 pass over nulls.

    One page has nulls and values, the first of all there are.
    """
    mixed, ends = least.null_count - 1, data.num_rows
    values = data.read_ordered("values", 0, ends).drop_null()
    return pa.concat_arrays([least[:mixed], values[:1], least[mixed + 1 :]])


def _lookup(values: pa.Array, rows: int, first: int = 0) -> dict[str, pa.Array]:
    """Return the columns of the lookup of ordered values in pages of so many rows, from `first`."""
    starts = np.arange(0, len(values), rows)
    ends = np.minimum(starts + rows, len(values))
    nulls = [values.slice(start, rows).null_count for start in starts.tolist()]
    return {
        "min": values.take(pa.array(starts)),
        "max": values.take(pa.array(ends - 1)),
        "null_count": pa.array(nulls, pa.uint32()),
        "page_idx": pa.array(np.arange(first, first + len(starts)), pa.uint32()),
    }


def keys_column(data: IndexFile) -> str:
    """Return the name of the column of keys, which differs in files of releases up to 0.33."""
    return EARLY_KEYS if EARLY_KEYS in data.names else "ids"

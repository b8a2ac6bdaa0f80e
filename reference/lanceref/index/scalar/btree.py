"""BTREE: all values in order, cut into pages, and the bounds of every page.

A search reads the bounds once, and then only pages whose bounds let something be found.

Layout: `page_data.lance`: values (nullable), ids uint64, sorted by value, nulls first; row r is in
page r // batch_size. `page_lookup.lance`: of each page min and max (first and last value),
null_count u32, page_idx u32; metadata batch_size (4096 where it is missing or no number).

Clauses: L.index.btree.columns, L.index.btree.order, L.index.btree.pages, L.index.btree.batch-size
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.compute import pc
from lanceref.core.errors import FormatError, OperationRefused
from lanceref.core.integers import unique
from lanceref.index.index_file import IndexFile
from lanceref.index.index_type import Built, Kind, Parameters
from lanceref.index.predicate import (
    Among,
    IsNull,
    OnValues,
    Predicate,
    StartsWith,
    Within,
    holds,
    may_hold,
    shown,
)
from lanceref.index.row_set import Keys, RowSet, row_set
from lanceref.index.segment import Moved, Segment, SegmentWriter
from lanceref.index.training import (
    Training,
    check_memory,
    has_order,
    sort_keys,
    sorted_order,
    trained,
)
from lanceref.proto import index_details_pb2

DATA = "page_data.lance"
LOOKUP = "page_lookup.lance"
EARLY_KEYS = "row_ids"
PAGE_ROWS = 4096
"""Rows of a page unless the index says otherwise."""

BY_ADDRESS = 1
"""Version from which on the keys are addresses even where rows have stable ids."""


class BTree:
    """An opened segment: the bounds of its pages are in memory."""

    def __init__(self, segment: Segment) -> None:
        self._segment = segment
        lookup = segment.file(LOOKUP)
        lookup.hold()
        self._type = lookup.column_type("min")
        self._least = lookup.read_ordered("min")
        self._greatest = lookup.read("max", self._type)
        self._null_counts = lookup.numbers("null_count", np.uint32)
        self._pages = lookup.numbers("page_idx", np.uint32).astype(np.int64)
        self._page_rows = page_rows(lookup)
        self._held: tuple[pa.Array, Keys] | None = None

    def search(self, predicate: Predicate) -> RowSet:
        """Return the rows for which a predicate on values is true. Raises FormatError."""
        assert isinstance(predicate, OnValues)
        found = []
        with self._segment.file(LOOKUP).comparing(self._type):
            possible = self._possible(predicate)
        for values, keys in self._read(self._pages[possible]):
            with self._segment.file(DATA).comparing(self._type):
                found.append(keys[holds(predicate, values)])
        return row_set(np.concatenate([np.empty(0, np.uint64), *found]))

    def _possible(self, predicate: OnValues) -> NDArray[np.bool_]:
        """Return for each page whether it may have a row that is wanted."""
        if isinstance(predicate, IsNull):
            return np.asarray(self._null_counts > 0)
        valid = np.asarray(pc.is_valid(self._greatest).to_numpy(zero_copy_only=False), np.bool_)
        return valid & may_hold(predicate, self._least, self._greatest)

    def _read(self, pages: NDArray[np.int64]) -> Iterator[tuple[pa.Array, Keys]]:
        """Yield values and keys of pages, neighbours together."""
        data, uses = self._segment.file(DATA), self._segment.uses
        for run in np.split(pages, np.flatnonzero(np.diff(pages) != 1) + 1):
            if not len(run):
                continue
            start, end = int(run[0]) * self._page_rows, (int(run[-1]) + 1) * self._page_rows
            if start >= data.num_rows:
                raise FormatError(
                    "L.index.btree.pages",
                    data.place,
                    found=f"page {int(run[0])} of {data.num_rows} rows",
                    wanted=f"pages of {self._page_rows} rows",
                )
            end = min(end, data.num_rows)
            uses.compare(end - start)
            if self._held is not None:
                uses.hit(len(run))
                yield self._held[0].slice(start, end - start), self._held[1][start:end]
                continue
            uses.load(len(run))
            values = data.read("values", self._type, start, end)
            yield values, data.numbers(keys_column(data), np.uint64, start, end)

    def warm(self, *, positions: bool = False) -> int:
        """Keep all pages in memory; return how many. Raises FormatError."""
        data = self._segment.file(DATA)
        self._held = data.read("values", self._type), data.numbers(keys_column(data), np.uint64)
        return len(self._pages)

    def statistics(self) -> dict[str, object]:
        """Return the bounds of the index as text, and the number of its pages."""
        ends = [*self._least[:1], *self._greatest[-1:]]
        least, greatest = map(shown, ends) if ends else ("", "")
        return {"min": least, "max": greatest, "num_pages": len(self._pages)}


def page_rows(lookup: IndexFile) -> int:
    """Return the rows of a page; what is missing or no number is the default."""
    text = lookup.metadata.get("batch_size", "")
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0
    return number or PAGE_ROWS  # L.index.btree.batch-size


def write_btree(values: pa.Array, keys: Keys, rows: int, writer: SegmentWriter) -> None:
    """Write both files over values in any order, in pages of so many rows."""
    check_memory(values.nbytes + keys.nbytes)
    order = sorted_order(values)
    values, keys = values.take(pa.array(order)), keys[order]
    data = pa.schema(
        [pa.field("values", values.type), pa.field("ids", pa.uint64(), nullable=False)]
    )
    writer.write_file(DATA, data, [pa.record_batch([values, pa.array(keys)], schema=data)])
    starts = np.arange(0, len(values), rows)
    ends = np.minimum(starts + rows, len(values))
    nulls = np.clip(values.null_count - starts, 0, ends - starts)  # they come first
    lookup = pa.schema(
        [
            pa.field("min", values.type),
            pa.field("max", values.type),
            pa.field("null_count", pa.uint32(), nullable=False),
            pa.field("page_idx", pa.uint32(), nullable=False),
        ]
    )
    columns = [
        values.take(pa.array(starts)),
        values.take(pa.array(ends - 1)),
        pa.array(nulls.astype(np.uint32)),
        pa.array(np.arange(len(starts), dtype=np.uint32)),
    ]
    metadata = {"batch_size": f"{rows}", "range_partitioned": "false"}
    writer.write_file(LOOKUP, lookup, [pa.record_batch(columns, schema=lookup)], metadata)


def read_entries(segment: Segment) -> tuple[pa.Array, Keys]:
    """Return all values and keys of a segment."""
    data = segment.file(DATA)
    return data.read_ordered("values"), data.numbers(keys_column(data), np.uint64)


def keys_column(data: IndexFile) -> str:
    """Return the name of the column of keys: another one in files of releases up to 0.33."""
    return EARLY_KEYS if EARLY_KEYS in data.names else "ids"


def build(training: Training, writer: SegmentWriter, parameters: Parameters) -> Built:
    """Build over rows; `zone_size` is the rows of a page. Raises OperationRefused."""
    rows = parameters.get("zone_size", PAGE_ROWS)
    if not isinstance(rows, int) or rows <= 0:
        raise OperationRefused(f"zone_size must be a positive number, got {rows!r}")
    write_btree(*trained(training), rows, writer)
    return _built(training)


def _built(training: Training) -> Built:
    version = BY_ADDRESS if training.stable_row_ids else 0
    return Built(index_details_pb2.BTreeIndexDetails(), version)


def rewrite(
    segments: Sequence[tuple[Segment, Moved]], training: Training, writer: SegmentWriter
) -> Built:
    """Write what is left of segments, and new rows, as one segment."""
    values, keys = [], []
    for segment, moved in segments:
        own, before = read_entries(segment)
        kept, after = moved(before)
        values.append(own.filter(pa.array(kept)))
        keys.append(after)
    own, after = trained(training)
    rows = page_rows(segments[0][0].file(LOOKUP))
    write_btree(pa.concat_arrays([*values, own]), np.concatenate([*keys, after]), rows, writer)
    return _built(training)


def check(segment: Segment) -> None:
    """Report values that do not rise, bounds that are not theirs, and rows named twice."""
    lookup, data = segment.file(LOOKUP), segment.file(DATA)
    values, keys = read_entries(segment)
    order = sorted_order(values)
    if not sort_keys(values.take(pa.array(order))).equals(sort_keys(values)):
        data.ctx.lint(
            "L.index.btree.order", data.place, found="values that fall", wanted="rising values"
        )
    if len(unique(keys)) < len(keys):
        data.ctx.lint("L.index.btree.ids", data.place, found="a row twice", wanted="a row once")
    rows = page_rows(lookup)
    pages = lookup.numbers("page_idx", np.uint32).astype(np.uint64)
    if np.any(pages * np.uint64(rows) >= len(values)):
        lookup.ctx.lint(
            "L.index.btree.pages",
            lookup.place,
            found=f"page {int(pages.max())} of {len(values)} rows",
            wanted=f"pages of {rows} rows",
        )
    starts = np.arange(0, len(values), rows)
    ends = np.minimum(starts + rows, len(values)) - 1
    nulls = [values.slice(start, rows).null_count for start in starts.tolist()]
    wanted = {
        "min": values.take(pa.array(starts)),
        "max": values.take(pa.array(ends)),
        "null_count": pa.array(nulls, pa.uint32()),
        "page_idx": pa.array(np.arange(len(starts), dtype=np.uint32)),
    }
    for name, own in wanted.items():
        if not lookup.read(name).equals(own) and not _same_floats(lookup.read(name), own):
            lookup.ctx.lint(
                "L.index.btree.bounds",
                lookup.place,
                found=f"{name} {lookup.read(name).to_pylist()[:4]}",
                wanted=f"{own.to_pylist()[:4]}",
            )


def _same_floats(left: pa.Array, right: pa.Array) -> bool:
    """Return whether floats are the same, NaN like any other."""
    return bool(
        pa.types.is_floating(left.type)
        and left.type == right.type
        and sort_keys(left).equals(sort_keys(right))
    )


BTREE = Kind(
    name="BTREE",
    shown="BTree",
    details="lance.table.BTreeIndexDetails",
    version=BY_ADDRESS,
    exact=(IsNull, Among, Within, StartsWith),
    inexact=(),
    accepts=has_order,
    open=BTree,
    build=build,
    rewrite=rewrite,
    address_version=BY_ADDRESS,
    check=check,
    entries=read_entries,
)
"""The index type."""

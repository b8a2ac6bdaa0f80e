"""ZONEMAP: the bounds of every zone of rows; and zones, which Bloom filters summarise too.

A zone is a run of so many live rows of a fragment. It begins at its first live row and ends at its
last; deleted rows inside of it count in its length, those between two zones belong to neither. Its
bounds exclude zones; the rows of the others are candidates. Which rows are null is known exactly.

Layout of zones: of each fragment_id, zone_start (row offset) and zone_length, u64, by fragment and
start. The rows that are null are a RowAddrTreeMap, by address, in the global buffer that the
metadata null_bitmap names; releases up to 4 do not write it: only the data shows which rows are
null.

Layout of `zonemap.lance`: min and max (nullable; null: unknown), null_count and nan_count u32, then
the columns of zones. Metadata rows_per_zone. Bounds do not count NaN, but where there is one `max`
is NaN.

Clauses: L.index.zonemap.bounds, L.index.zones.order, L.index.zones.nulls, L.index.segment.complete

Divergences: D.index.zonemap-negative-nan, D.index.zonemap-only-nan
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import ClassVar, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.compute import pc
from lanceref.core.cursor import Cursor, parse_message
from lanceref.core.integers import is_in, unique
from lanceref.index import predicate as predicates
from lanceref.index.entries import Entries, EntryType
from lanceref.index.index_file import IndexFile
from lanceref.index.index_type import Built, Found, Parameters, Spans, whole_number
from lanceref.index.row_set import NO_KEYS, SHIFT, Keys, RowSet
from lanceref.index.segment import Segment, SegmentWriter
from lanceref.index.training import Run, Training, is_any, mask_of, sort_keys
from lanceref.proto.index_details_pb2 import ZoneMapIndexDetails as Details
from lanceref.table.fragments import addresses

NULLS = "null_bitmap"
NULL_BUFFER = 1
"""Global buffer with the rows that are null."""

ROW_LIMIT = 1 << 32
"""Rows that a fragment has at most."""

PLACE = ("fragment_id", "zone_start", "zone_length")
U64 = pa.uint64()
PLACE_FIELDS = tuple(pa.field(name, U64, nullable=False) for name in PLACE)
"""Columns that locate a zone."""

FILE = "zonemap.lance"
ZONE_ROWS = 8192
"""Rows of a zone by default."""

SEED_BYTES = 8
"""Widest values whose bounds are not kept in data files too."""

P = TypeVar("P")


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
        parts = list(runs)
        values = pa.chunked_array([run.values for run in parts])
        offsets = np.concatenate([run.offsets for run in parts])
        for first in range(0, len(offsets), rows):
            part, own = offsets[first : first + rows], values.slice(first, rows).combine_chunks()
            nulls = addresses(fragment_id, part[mask_of(own.is_null())])
            start, end = int(part[0]), int(part[-1]) + 1
            yield Zone(fragment_id, start, end - start, own, nulls)


def read_nulls(file: IndexFile) -> RowSet | None:
    """Return the rows that are null, by address, None where unknown. Raises FormatError."""
    if NULLS not in file.metadata:
        return None
    return RowSet.parse(file.buffer(file.number(NULLS)))  # L.index.zones.nulls


def read_spans(file: IndexFile) -> Spans:
    """Return where the zones lie. Raises FormatError."""
    fragments, starts, lengths = (file.numbers(name, np.uint64) for name in PLACE)
    beyond = (starts >= ROW_LIMIT) | (lengths > ROW_LIMIT) | (fragments >= ROW_LIMIT)
    if beyond.any():
        number = int(np.argmax(beyond))
        found = f"zone {number} of {int(lengths[number])} rows from {int(starts[number])} on"
        raise file.corrupt("L.index.zones.order", found, f"rows below {ROW_LIMIT}")
    return Spans(*(one.astype(np.int64) for one in (fragments, starts, lengths)))


class ZoneType(EntryType[P]):
    """A type over zones; an opened segment knows where they lie, and the columns of its file."""

    path: ClassVar[str]
    schema: pa.Schema
    address_version = 0
    rewrite_on_move = False
    inherits = "one"

    def __init__(self, segment: Segment) -> None:
        super().__init__(segment)
        self._file = segment.file(self.path)
        self.spans = read_spans(self._file)
        self._known = unique(self.spans.fragments.astype(np.uint64))

    def covers_fragments(self, fragments: Keys) -> NDArray[np.bool_]:
        """Return for each fragment (n,), by its id, whether the index has zones of it."""
        return is_in(fragments, self._known)

    def search(self, predicate: predicates.Predicate) -> Found | None:
        """Return the zones where a predicate may be true; the rows that are null, None: unknown."""
        if isinstance(predicate, predicates.IsNull):
            return read_nulls(self._file)
        possible, spans = self._possible(predicate), self.spans
        return Spans(spans.fragments[possible], spans.starts[possible], spans.lengths[possible])

    @abstractmethod
    def _possible(self, predicate: predicates.Predicate) -> NDArray[np.bool_]:
        """Return for each zone whether a predicate may be true there: bool (zones,)."""

    @abstractmethod
    def _holds(self, zone: int, values: pa.Array) -> bool:
        """Return whether a zone rules none of some values out, of which none is null."""

    def _lacks(self, run: Run) -> bool:
        """Whether a value that is not null is in no zone, or its zone rules it out."""
        outside = mask_of(run.values.is_valid())
        for zone in np.flatnonzero(self.spans.fragments == run.fragment_id).tolist():
            start, length = self.spans.starts[zone], self.spans.lengths[zone]
            first, end = np.searchsorted(run.offsets, [start, start + length]).tolist()
            values = run.values.slice(first, end - first).drop_null()
            outside[first:end] = False
            if len(values) and not self._holds(zone, values):
                return True
        return bool(outside.any())

    def entries(self) -> Entries:
        """Return the zones, structs of the columns, by the address of their first row.

        They are left where that row is, at its place. Raises FormatError.
        """
        nulls, schema = read_nulls(self._file), self.schema
        columns = {one.name: self._file.read(one.name, one.type) for one in schema}
        return _zones(columns, schema, None if nulls is None else nulls.keys)

    @classmethod
    def check_rows(cls, segment: Segment, training: Training) -> None:
        """Report rows in no zone, or ruled out by theirs, and rows wrongly listed as null.

        Raises OutOfRange for rows of a fragment that never was, where rows moved.
        """
        index, clause = cls(segment), "L.index.segment.complete"
        nulls = read_nulls(index._file)
        covered = [rows.fragment.id for rows in training.fragments if rows.num_rows]
        bare = [number for number in covered if number not in index.spans.fragments]
        if segment.moves is not None:
            named = NO_KEYS if nulls is None else nulls.keys
            segment.check_fragments(np.union1d(index._known << SHIFT, named))
            return
        if bare:
            found, wanted = f"no zones of fragments {bare[:8]}", "zones of all live rows"
            segment.ctx.lint(clause, segment.place, found, wanted)
            return
        for run in training.runs():
            rows, missing = addresses(run.fragment_id, run.offsets), mask_of(run.values.is_null())
            listed = missing if nulls is None else np.isin(np.arange(len(rows)), nulls.among(rows))
            wrong = np.flatnonzero(listed != missing)
            if len(wrong):
                found, wanted = f"row {rows[wrong[0]]} among others", "just the rows that are null"
                segment.ctx.lint("L.index.zones.nulls", segment.place, found, wanted)
                return
            if index._lacks(run):
                found = f"zones of fragment {run.fragment_id} that rule out a value"
                segment.ctx.lint(clause, segment.place, found, "the values of all live rows")
                return


def zone_entries(
    zones: Sequence[Zone], schema: pa.Schema, columns: Mapping[str, pa.Array]
) -> Entries:
    """Return zones as `entries`; of each there is a row in the `columns` besides its place."""
    places = [(one.fragment_id, one.start, one.length) for one in zones]
    own = {name: pa.array([place[n] for place in places], U64) for n, name in enumerate(PLACE)}
    nulls = np.concatenate([NO_KEYS, *(zone.nulls for zone in zones)])
    return _zones({**columns, **own}, schema, nulls)


def _zones(columns: Mapping[str, pa.Array], schema: pa.Schema, nulls: Keys | None) -> Entries:
    fragments, starts = (np.asarray(columns[name], np.uint64) for name in PLACE[:2])
    arrays = [columns[name] for name in schema.names]
    values = pa.StructArray.from_arrays(arrays, fields=list(schema))
    return Entries(values, fragments << SHIFT | starts, nulls)


def write_zones(path: str, zones: Entries, metadata: dict[str, str], writer: SegmentWriter) -> bool:
    """Write zones in the order of the table, and the rows that are null.

    Return whether it is known of all zones which rows are null.
    """
    values = zones.values.take(pa.array(np.argsort(zones.keys, kind="stable")))
    buffers: list[bytes] = []
    if zones.nulls is not None:
        buffers = [RowSet.of(zones.nulls).encode()]
        metadata = {**metadata, NULLS: f"{NULL_BUFFER}"}
    batch = pa.RecordBatch.from_struct_array(values)
    writer.write_file(path, batch.schema, [batch], metadata, buffers)
    return bool(buffers)


@dataclass(frozen=True, slots=True)
class Zoning:
    """Live rows of a zone, and whether appends put bounds into data files; None: by the type."""

    rows: int
    use_seeds: bool | None = None


class ZoneMap(ZoneType[Zoning]):
    """The type; of an opened segment the bounds of its zones are in memory."""

    name, shown, details = "ZONEMAP", "ZoneMap", "lance.table.ZoneMapIndexDetails"
    path = FILE
    exact = (predicates.IsNull,)
    inexact = (predicates.Among, predicates.Within, predicates.StartsWith)

    def __init__(self, segment: Segment) -> None:
        super().__init__(segment)
        file = self._file
        self._type = file.column_type("min")
        self.schema = _schema(self._type)
        self._least, self._greatest = file.read("min"), file.read("max", self._type)
        self._nans = file.numbers("nan_count", np.uint32) > 0
        self._nulls = file.numbers("null_count", np.uint32)

    def _holds(self, zone: int, values: pa.Array) -> bool:
        ends = []
        if pa.types.is_floating(values.type):
            nans = pa.array(np.isnan(values.to_numpy(zero_copy_only=False)))
            ends = [values.filter(nans)[:1]]
            values = values.filter(pc.invert(nans))
        if len(values) and _is_bounded(values.type):
            ends += _ends(values)
        own = slice(zone, zone + 1)
        return all(self._allowed(predicates.Among((one,)), own)[0] for end in ends for one in end)

    def _possible(self, predicate: predicates.Predicate) -> NDArray[np.bool_]:
        return self._allowed(predicate, slice(None))

    def _allowed(self, predicate: predicates.Predicate, zones: slice) -> NDArray[np.bool_]:
        """Return for each of some zones whether its bounds allow a value; NaN has either sign."""
        assert isinstance(predicate, predicates.OnValues)
        with self._file.comparing(self._type):
            mask = predicates.may_hold(predicate, self._least[zones], self._greatest[zones])
        values = predicate.values if isinstance(predicate, predicates.Among) else ()
        numbers = [one for one in values if pa.types.is_floating(one.type)]
        is_nan = any(one.as_py() != one.as_py() for one in numbers)
        if isinstance(predicate, predicates.Within) or is_nan:
            mask = mask | self._nans[zones]
        is_valued = self._nulls[zones] < self.spans.lengths[zones]
        return np.asarray(is_valued & mask, np.bool_)

    @classmethod
    def requested(cls, parameters: Parameters) -> Zoning:
        """Return the rows of a zone that a caller asks for. Raises OperationRefused."""
        return Zoning(whole_number(parameters, "rows_per_zone", ZONE_ROWS))

    @cached_property
    def stored_parameters(self) -> Zoning:
        """The parameters of the segment; releases to 1.0 know no seeds. Raises FormatError."""
        rows, entry = self._file.number("rows_per_zone"), self.segment.entry.index_details
        if not entry.type_url.lower().endswith("zonemapindexdetails"):  # of a JSON index
            return Zoning(rows)
        cursor, clause = Cursor(memoryview(entry.value), 0, self.segment.ctx), "L.index.details.url"
        return Zoning(rows, parse_message(cursor, Details, "index details", clause).use_seeds)

    @classmethod
    def entries_of(cls, training: Training, own: Zoning) -> Entries:
        """Return zones of so many live rows."""
        zones, type_ = list(cut_zones(training, own.rows)), training.type
        bounds = [bounds_of(zone.values) for zone in zones]
        columns = {
            "min": pa.concat_arrays([pa.nulls(0, type_), *(least for least, _, _, _ in bounds)]),
            "max": pa.concat_arrays([pa.nulls(0, type_), *(most for _, most, _, _ in bounds)]),
            "null_count": pa.array([nulls for _, _, nulls, _ in bounds], pa.uint32()),
            "nan_count": pa.array([nans for _, _, _, nans in bounds], pa.uint32()),
        }
        return zone_entries(zones, _schema(type_), columns)

    @classmethod
    def write(
        cls, entries: Entries, own: Zoning, training: Training, writer: SegmentWriter
    ) -> Built:
        """Write the file of a segment over its zones."""
        known = write_zones(FILE, entries, {"rows_per_zone": f"{own.rows}"}, writer)
        seeds = _has_seeds(training.type) if own.use_seeds is None else own.use_seeds
        details = Details(rows_per_zone=own.rows, use_seeds=seeds, has_null_bitmap=known)
        return Built(details, 0)

    @classmethod
    def check(cls, segment: Segment) -> None:
        """Report that the rows that are null are not as many as the zones say."""
        index = cls(segment)
        nulls, counted = read_nulls(index._file), int(index._nulls.sum(dtype=np.uint64))
        if nulls is not None and len(nulls.keys) != counted:
            found = f"{len(nulls.keys)} rows that are null"
            index._file.lint("L.index.zones.nulls", found, counted)


Bounds = tuple[pa.Array, pa.Array, int, int]
"""What is kept of a zone: least and greatest value, arrays of one; the numbers of nulls and NaN."""


def bounds_of(values: pa.Array) -> Bounds:
    """Return the bounds of the values of a zone."""
    # L.index.zonemap.bounds
    type_ = values.type
    unknown = pa.nulls(1, type_)
    if not _is_bounded(type_):
        return unknown, unknown, values.null_count, 0
    nans = np.zeros(len(values), np.bool_)
    if pa.types.is_floating(type_):
        nans = np.isnan(values.to_numpy(zero_copy_only=False)) & mask_of(values.is_valid())
    own = values.filter(pa.array(~nans)).drop_null()
    least, greatest = _ends(own) if len(own) else (unknown, unknown)
    if nans.any():
        greatest = pa.array(np.array([np.nan], type_.to_pandas_dtype()), type_)
    return least, greatest, values.null_count, int(nans.sum())


def _ends(values: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Return the first and the last of values in their order, each as an array of one."""
    if pa.types.is_floating(values.type) or pa.types.is_duration(values.type):
        keys = sort_keys(values).to_numpy(zero_copy_only=False)
        return values.slice(int(keys.argmin()), 1), values.slice(int(keys.argmax()), 1)
    ends = pc.min_max(values)
    return pa.repeat(ends["min"], 1), pa.repeat(ends["max"], 1)


def _is_bounded(type_: pa.DataType) -> bool:
    """Return whether bounds of values of a type are kept."""
    return not is_any(type_, "fixed_size_binary", "nested", "dictionary")


def _has_seeds(type_: pa.DataType) -> bool:
    """Return whether data files keep the bounds of their rows too."""
    try:
        return bool(type_.byte_width > SEED_BYTES and _is_bounded(type_))
    except ValueError:  # bool, and what has no fixed width
        return not is_any(type_, "boolean", "null")


def _schema(type_: pa.DataType) -> pa.Schema:
    counts = [pa.field(name, pa.uint32(), nullable=False) for name in ("null_count", "nan_count")]
    return pa.schema([pa.field("min", type_), pa.field("max", type_), *counts, *PLACE_FIELDS])

"""ZONEMAP: the bounds of every zone of rows.

It rules zones out; the rows of the others have to be looked at. What is null is known exactly.

Layout: `zonemap.lance`: min and max (nullable; null: unknown), null_count and nan_count u32, then
the columns of zones. Metadata rows_per_zone. Bounds do not count NaN, but where there is one `max`
is NaN.

Clauses: L.index.zonemap.bounds, L.index.zones.order, L.index.zones.nulls

Divergences: D.index.zonemap-negative-nan, D.index.zonemap-only-nan
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.compute import pc
from lanceref.core.errors import OperationRefused
from lanceref.file.schema import Field
from lanceref.index import zones
from lanceref.index.index_type import Built, Found, Kind, Parameters, Spans
from lanceref.index.predicate import (
    Among,
    IsNull,
    OnValues,
    Predicate,
    StartsWith,
    Within,
    may_hold,
)
from lanceref.index.row_set import Keys
from lanceref.index.segment import Moved, Segment, SegmentWriter
from lanceref.index.training import Training, sort_keys
from lanceref.proto import index_details_pb2

FILE = "zonemap.lance"
ZONE_ROWS = 8192
"""Rows of a zone unless the index says otherwise."""

SEED_BYTES = 8
"""Widest values whose bounds are not kept in data files too."""


class ZoneMap:
    """An opened segment: the bounds of its zones are in memory."""

    def __init__(self, segment: Segment) -> None:
        self._file = segment.file(FILE)
        self._type = self._file.column_type("min")
        self._least = self._file.read("min")
        self._greatest = self._file.read("max", self._type)
        self._nans = self._file.numbers("nan_count", np.uint32) > 0
        nulls = self._file.numbers("null_count", np.uint32)
        self._spans = zones.read_spans(self._file)
        self._valid = nulls < self._spans.lengths

    def search(self, predicate: Predicate) -> Found | None:
        """Return the zones where a predicate may be true, or the rows that are null if known."""
        if isinstance(predicate, IsNull):
            return zones.read_nulls(self._file)
        assert isinstance(predicate, OnValues)
        possible = self._valid & self._possible(predicate)
        spans = self._spans
        return Spans(spans.fragments[possible], spans.starts[possible], spans.lengths[possible])

    def _possible(self, predicate: OnValues) -> NDArray[np.bool_]:
        """Return for each zone whether its bounds allow a value; NaN may be of either sign."""
        found = may_hold(predicate, self._least, self._greatest)
        if isinstance(predicate, Within) or (
            isinstance(predicate, Among) and any(map(_is_nan, predicate.values))
        ):
            found = found | self._nans
        return np.asarray(found, np.bool_)

    def tells_of(self, fragment_id: int) -> bool:
        """Return whether a fragment has zones."""
        return bool((self._spans.fragments == fragment_id).any())

    def statistics(self) -> dict[str, object]:
        """Return the number of zones, and of the rows of each."""
        return {"num_zones": len(self._least), "rows_per_zone": self._file.number("rows_per_zone")}


def _is_nan(value: pa.Scalar) -> bool:
    return bool(pa.types.is_floating(value.type) and value.as_py() != value.as_py())


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is kept of a zone: arrays of one value, counts, and where it lies."""

    least: pa.Array
    greatest: pa.Array
    nulls: int
    nans: int
    place: tuple[int, int, int]


def bounds_of(zone: zones.Zone) -> Bounds:
    """Return the bounds of the values of a zone."""
    values, type_ = zone.values, zone.values.type
    place = (zone.fragment_id, zone.start, zone.length)
    unknown = pa.nulls(1, type_)
    if not _is_bounded(type_):
        return Bounds(unknown, unknown, values.null_count, 0, place)
    nans = np.zeros(len(values), np.bool_)
    if pa.types.is_floating(type_):
        held = values.to_numpy(zero_copy_only=False)
        nans = np.isnan(held) & np.asarray(values.is_valid().to_numpy(zero_copy_only=False))
    own = values.drop_null() if values.null_count else values
    if nans.any():
        own = values.filter(pa.array(~nans)).drop_null()
    least, greatest = _ends(own) if len(own) else (unknown, unknown)
    if nans.any():
        greatest = pa.array(np.array([np.nan], type_.to_pandas_dtype()), type_)
    return Bounds(least, greatest, values.null_count, int(nans.sum()), place)


def _ends(values: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Return the first and the last of values in their order, each as an array of one."""
    if pa.types.is_floating(values.type) or pa.types.is_duration(values.type):
        keys = sort_keys(values).to_numpy(zero_copy_only=False)
        return values.slice(int(keys.argmin()), 1), values.slice(int(keys.argmax()), 1)
    found = pc.min_max(values)
    return pa.repeat(found["min"], 1), pa.repeat(found["max"], 1)


def _is_bounded(type_: pa.DataType) -> bool:
    """Return whether bounds of values of a type are kept."""
    is_apart = pa.types.is_fixed_size_binary(type_) and not pa.types.is_decimal(type_)
    return not (is_apart or pa.types.is_nested(type_) or pa.types.is_dictionary(type_))


def _write(
    found: Sequence[Bounds],
    nulls: Sequence[Keys | None],
    type_: pa.DataType,
    rows: int,
    writer: SegmentWriter,
) -> Built:
    schema = pa.schema(
        [
            pa.field("min", type_),
            pa.field("max", type_),
            pa.field("null_count", pa.uint32(), nullable=False),
            pa.field("nan_count", pa.uint32(), nullable=False),
            *zones.FIELDS,
        ]
    )
    none = pa.array([], type_)
    columns = [
        pa.concat_arrays([none, *(one.least for one in found)]),
        pa.concat_arrays([none, *(one.greatest for one in found)]),
        pa.array([one.nulls for one in found], pa.uint32()),
        pa.array([one.nans for one in found], pa.uint32()),
        *zones.columns_of([one.place for one in found]),
    ]
    named, buffers = zones.nulls_stored(nulls)
    batch = pa.record_batch(columns, schema=schema)
    writer.write_file(FILE, schema, [batch], {"rows_per_zone": f"{rows}", **named}, buffers)
    details = index_details_pb2.ZoneMapIndexDetails(
        rows_per_zone=rows, use_seeds=_has_seeds(type_), has_null_bitmap=bool(named)
    )
    return Built(details, 0)


def _has_seeds(type_: pa.DataType) -> bool:
    """Return whether data files keep the bounds of their rows as well."""
    try:
        return bool(type_.byte_width > SEED_BYTES and _is_bounded(type_))
    except ValueError:  # bool, and what has no fixed width
        return not (pa.types.is_boolean(type_) or pa.types.is_null(type_))


def build(training: Training, writer: SegmentWriter, parameters: Parameters) -> Built:
    """Build over rows; `rows_per_zone` live rows are a zone. Raises OperationRefused."""
    rows = parameters.get("rows_per_zone", ZONE_ROWS)
    if not isinstance(rows, int) or rows <= 0:
        raise OperationRefused(f"rows_per_zone must be a positive number, got {rows!r}")
    cut = [(bounds_of(zone), zone.nulls) for zone in zones.cut_zones(training, rows)]
    return _write([one for one, _ in cut], [null for _, null in cut], training.type, rows, writer)


def rewrite(
    segments: Sequence[tuple[Segment, Moved]], training: Training, writer: SegmentWriter
) -> Built:
    """Write what is left of segments, and new rows, as one segment."""
    rows = segments[0][0].file(FILE).number("rows_per_zone")
    found: list[Bounds] = []
    nulls: list[Keys | None] = []
    for segment, moved in segments:
        found += _kept(segment, moved)
        nulls.append(zones.nulls_left(segment.file(FILE), moved))
    for zone in zones.cut_zones(training, rows):
        found.append(bounds_of(zone))
        nulls.append(zone.nulls)
    found.sort(key=lambda one: one.place)
    return _write(found, nulls, training.type, rows, writer)


def _kept(segment: Segment, moved: Moved) -> Iterator[Bounds]:
    """Yield the zones of a segment that are left."""
    file, spans = segment.file(FILE), zones.read_spans(segment.file(FILE))
    least, greatest = file.read("min"), file.read("max")
    nulls, nans = (file.read(name).to_pylist() for name in ("null_count", "nan_count"))
    places = zip(spans.fragments, spans.starts, spans.lengths, strict=True)
    kept = zones.kept_zones(spans, moved)
    for number, place in enumerate(places):
        if kept[number]:
            ends = least.slice(number, 1), greatest.slice(number, 1)
            fragment, start, length = map(int, place)
            yield Bounds(*ends, nulls[number], nans[number], (fragment, start, length))


def accepts(field: Field) -> bool:
    """Return true: a column whose values have no order has zones without bounds."""
    return True


def check(segment: Segment) -> None:
    """Report that the rows that are null are not as many as the zones say. Raises FormatError."""
    file = segment.file(FILE)
    counted = int(file.numbers("null_count", np.uint32).sum(dtype=np.uint64))
    nulls = zones.read_nulls(file)
    if nulls is not None and len(nulls.keys) != counted:
        file.ctx.lint(
            "L.index.zones.nulls",
            file.place,
            found=f"{len(nulls.keys)} rows that are null",
            wanted=f"{counted}, as in all zones",
        )


def check_rows(segment: Segment, training: Training) -> None:
    """Report a fragment that has rows and no zones. Raises FormatError."""
    zones.check_zones(segment, zones.read_spans(segment.file(FILE)), training)


ZONEMAP = Kind(
    name="ZONEMAP",
    shown="ZoneMap",
    details="lance.table.ZoneMapIndexDetails",
    version=0,
    exact=(IsNull,),
    inexact=(Among, Within, StartsWith),
    accepts=accepts,
    open=ZoneMap,
    build=build,
    rewrite=rewrite,
    address_version=0,
    rewrite_on_move=False,
    check=check,
    check_rows=check_rows,
    inherits="one",
)
"""The index type."""

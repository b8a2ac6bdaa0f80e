"""BLOOMFILTER: of every zone of rows a filter of its values.

It rules zones out that do not hold a value; the rows of the others have to be looked at. What is
null is known exactly.

Layout: `bloomfilter.lance`: the columns of zones, has_null bool, bloom_filter_data binary, all of
one size. Metadata bloomfilter_item (rows of a zone) and bloomfilter_probability.

Clauses: L.index.bloom.data, L.index.bloom.size, L.index.zones.order, L.index.zones.nulls
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.errors import CorruptPage, OperationRefused
from lanceref.core.integers import unique
from lanceref.file.schema import Field
from lanceref.index import bloom, zones
from lanceref.index.index_file import IndexFile
from lanceref.index.index_type import Built, Found, Kind, Parameters, Spans
from lanceref.index.predicate import Among, IsNull, Predicate
from lanceref.index.row_set import Keys
from lanceref.index.segment import Moved, Segment, SegmentWriter
from lanceref.index.training import Training, leaf
from lanceref.proto import index_pb2

FILE = "bloomfilter.lance"
ITEMS = 8192
PROBABILITY = 0.00057

SCHEMA = pa.schema(
    [
        *zones.FIELDS,
        pa.field("has_null", pa.bool_(), nullable=False),
        pa.field("bloom_filter_data", pa.binary(), nullable=False),
    ]
)

Row = tuple[tuple[int, int, int], bool, bytes]
"""Place of a zone, whether it has a null, its filter."""


class BloomFilter:
    """An opened segment; its filters are read when a value is asked for."""

    def __init__(self, segment: Segment) -> None:
        self._file = segment.file(FILE)
        self._file.hold()
        self._spans = zones.read_spans(self._file)

    @cached_property
    def _filters(self) -> NDArray[np.uint32]:
        """The words of all filters: [zones, blocks, 8]."""
        return read_filters(self._file)

    def search(self, predicate: Predicate) -> Found | None:
        """Return the zones that may hold one of some values, or the rows that are null if known."""
        if isinstance(predicate, IsNull):
            return zones.read_nulls(self._file)
        assert isinstance(predicate, Among)
        possible = np.zeros(len(self._spans.fragments), np.bool_)
        if len(possible):
            for value in _hashes(predicate.values):
                possible |= bloom.may_hold(self._filters, value)
        spans = self._spans
        return Spans(spans.fragments[possible], spans.starts[possible], spans.lengths[possible])

    def tells_of(self, fragment_id: int) -> bool:
        """Return whether a fragment has zones."""
        return bool((self._spans.fragments == fragment_id).any())

    def statistics(self) -> dict[str, object]:
        """Return the number of zones, the rows of each and the share of false positives."""
        probability = self._file.text("bloomfilter_probability")
        return {
            "type": "BloomFilter",
            "num_blocks": len(self._spans.fragments),
            "number_of_items": self._file.number("bloomfilter_item"),
            "probability": _number(self._file, probability),
        }


def _hashes(values: Sequence[pa.Scalar]) -> bloom.Hashes:
    """Return the hashes of values; zero is looked for with either sign."""
    type_ = values[0].type
    held = pa.array(list(values), type_)
    if pa.types.is_floating(type_) and any(one.as_py() == 0 for one in values):
        held = pa.concat_arrays([held, pa.array([0.0, -0.0], type_)])
    return bloom.hash_values(held)


def read_filters(file: IndexFile) -> NDArray[np.uint32]:
    """Return the words of all filters: [zones, blocks, 8]. Raises CorruptPage."""
    data = file.read("bloom_filter_data", pa.binary())
    sizes = unique(np.diff(np.frombuffer(data.buffers()[1], np.int32)[: len(data) + 1]))
    if len(data) and (len(sizes) > 1 or sizes[0] % bloom.BLOCK_BYTES or not sizes[0]):
        raise CorruptPage(
            "L.index.bloom.data",
            file.place,
            found=f"filters of {sizes[:4].tolist()} bytes",
            wanted=f"one size, a multiple of {bloom.BLOCK_BYTES}",
        )
    words = np.frombuffer(b"".join(data.to_pylist()), np.uint32)
    return words.reshape(len(data), -1, bloom.WORDS) if len(data) else words.reshape(0, 1, 8)


def _rows(training: Training, items: int, size: int) -> tuple[list[Row], list[Keys]]:
    """Return what is kept of the zones of rows, and the rows that are null."""
    rows, nulls = [], []
    for zone in zones.cut_zones(training, items):
        filter_ = bloom.fill(bloom.hash_values(zone.values), size)
        place = (zone.fragment_id, zone.start, zone.length)
        rows.append((place, len(zone.nulls) > 0, filter_.tobytes()))
        nulls.append(zone.nulls)
    return rows, nulls


def _write(
    rows: Sequence[Row],
    nulls: Sequence[Keys | None],
    items: int,
    probability: str,
    writer: SegmentWriter,
) -> Built:
    columns = [
        *zones.columns_of([place for place, _, _ in rows]),
        pa.array([has_null for _, has_null, _ in rows], pa.bool_()),
        pa.array([data for _, _, data in rows], pa.binary()),
    ]
    named, buffers = zones.nulls_stored(nulls)
    metadata = {"bloomfilter_item": f"{items}", "bloomfilter_probability": probability, **named}
    batch = pa.record_batch(columns, schema=SCHEMA)
    writer.write_file(FILE, SCHEMA, [batch], metadata, buffers)
    return Built(index_pb2.BloomFilterIndexDetails(), 0)


def build(training: Training, writer: SegmentWriter, parameters: Parameters) -> Built:
    """Build over rows: `number_of_items` of them in a zone, with a `probability` of mistakes.

    Raises OperationRefused.
    """
    items = parameters.get("number_of_items", ITEMS)
    probability = parameters.get("probability", PROBABILITY)
    if not isinstance(items, int) or items <= 0:
        raise OperationRefused(f"number_of_items must be a positive number, got {items!r}")
    if not isinstance(probability, float) or not 0 < probability < 1:
        raise OperationRefused(f"probability must be between 0 and 1, got {probability!r}")
    rows, nulls = _rows(training, items, bloom.size_for(items, probability))
    return _write(rows, nulls, items, f"{probability}", writer)


def rewrite(
    segments: Sequence[tuple[Segment, Moved]], training: Training, writer: SegmentWriter
) -> Built:
    """Write what is left of segments, and new rows, as one segment."""
    file = segments[0][0].file(FILE)
    items, probability = file.number("bloomfilter_item"), file.text("bloomfilter_probability")
    rows, known = _rows(training, items, bloom.size_for(items, _number(file, probability)))
    nulls: list[Keys | None] = [*known]
    for segment, moved in segments:
        own, spans = segment.file(FILE), zones.read_spans(segment.file(FILE))
        kept = np.flatnonzero(zones.kept_zones(spans, moved))
        has_null = own.read("has_null", pa.bool_()).to_pylist()
        data = own.read("bloom_filter_data", pa.binary()).to_pylist()
        for number in kept.tolist():
            place = spans.fragments[number], spans.starts[number], spans.lengths[number]
            fragment, start, length = map(int, place)
            rows.append(((fragment, start, length), has_null[number], data[number]))
        nulls.append(zones.nulls_left(own, moved))
    return _write(sorted(rows), nulls, items, probability, writer)


def _number(file: IndexFile, text: str) -> float:
    """Return a share as a number. Raises CorruptPage."""
    try:
        return float(text)
    except ValueError as error:
        raise CorruptPage(
            "L.index.files.metadata", file.place, found=f"{text[:40]!r}", wanted="a number"
        ) from error


def can_hash(field: Field) -> bool:
    """Return whether a column has values that are hashed."""
    type_, checks = leaf(field).arrow.type, pa.types
    return bool(
        checks.is_integer(type_)
        or checks.is_float32(type_)
        or checks.is_float64(type_)
        or checks.is_string(type_)
        or checks.is_large_string(type_)
        or (checks.is_binary(type_) or checks.is_large_binary(type_))
        or checks.is_date(type_)
        or checks.is_time(type_)
        or checks.is_timestamp(type_)
    )


def check(segment: Segment) -> None:
    """Read what a search only reads when it asks for a value, or for null."""
    file = segment.file(FILE)
    read_filters(file)
    zones.read_nulls(file)


def check_rows(segment: Segment, training: Training) -> None:
    """Report a fragment that has rows and no zones. Raises FormatError."""
    zones.check_zones(segment, zones.read_spans(segment.file(FILE)), training)


BLOOMFILTER = Kind(
    name="BLOOMFILTER",
    shown="BloomFilter",
    details="lance.index.pb.BloomFilterIndexDetails",
    version=0,
    exact=(IsNull,),
    inexact=(Among,),
    accepts=can_hash,
    open=BloomFilter,
    build=build,
    rewrite=rewrite,
    address_version=0,
    rewrite_on_move=False,
    check=check,
    check_rows=check_rows,
    inherits="one",
)
"""The index type."""

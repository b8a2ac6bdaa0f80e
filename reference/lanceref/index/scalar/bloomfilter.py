"""BLOOMFILTER: of every zone of rows a filter of its values.

It excludes zones that do not hold a value; the rows of the others are candidates. Which rows are
null is known exactly.

Layout: `bloomfilter.lance`: the columns of zones, has_null bool, bloom_filter_data binary, all of
one size. Metadata bloomfilter_item (rows of a zone) and bloomfilter_probability.

Clauses: L.index.bloom.data, L.index.bloom.size, L.index.zones.order, L.index.zones.nulls
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.errors import OperationRefused
from lanceref.core.integers import unique
from lanceref.index import bloom
from lanceref.index.entries import Entries
from lanceref.index.index_type import Built, Parameters, whole_number
from lanceref.index.predicate import Among, IsNull, Predicate
from lanceref.index.scalar import zonemap
from lanceref.index.segment import Segment, SegmentWriter
from lanceref.index.training import BINARY, TEXT, Training, accepts_types
from lanceref.proto import index_pb2

FILE = "bloomfilter.lance"
TYPES = ("integer", "float32", "float64", "date", "time", "timestamp", *TEXT, *BINARY)
ITEMS = 8192
PROBABILITY = 0.00057

_FIELDS = {"has_null": pa.bool_(), "bloom_filter_data": pa.binary()}
SCHEMA = pa.schema([*zonemap.PLACE_FIELDS, *(pa.field(*one, False) for one in _FIELDS.items())])


@dataclass(frozen=True, slots=True)
class Zoning:
    """Rows of a zone, and the share of false positives as it is written."""

    items: int
    probability: str


class BloomFilter(zonemap.ZoneType[Zoning]):
    """The type; the filters of an opened segment are read when a value is asked for."""

    name, shown, details = "BLOOMFILTER", "BloomFilter", "lance.index.pb.BloomFilterIndexDetails"
    path, schema = FILE, SCHEMA
    exact = (IsNull,)
    inexact = (Among,)
    accepts = staticmethod(accepts_types(*TYPES))

    def __init__(self, segment: Segment) -> None:
        segment.file(FILE).hold()
        super().__init__(segment)

    @cached_property
    def _filters(self) -> NDArray[np.uint32]:
        """The words of all filters: [zones, blocks, 8]. Raises CorruptPage."""
        data = self._file.read("bloom_filter_data", pa.binary())
        sizes = unique(np.diff(np.frombuffer(data.buffers()[1], np.int32)[: len(data) + 1]))
        if len(data) and (len(sizes) > 1 or sizes[0] % bloom.BLOCK_BYTES or not sizes[0]):
            found = f"filters of {sizes[:4].tolist()} bytes"
            wanted = f"one size, a multiple of {bloom.BLOCK_BYTES}"
            raise self._file.corrupt("L.index.bloom.data", found, wanted)
        words = np.frombuffer(b"".join(data.to_pylist()), np.uint32)
        blocks = int(sizes[0]) // bloom.BLOCK_BYTES if len(data) else 0
        return words.reshape(len(data), blocks, bloom.WORDS)

    def _possible(self, predicate: Predicate) -> NDArray[np.bool_]:
        """Return for each zone whether it may hold one of some values."""
        assert isinstance(predicate, Among)
        mask = np.zeros(len(self.spans.fragments), np.bool_)
        for value in _hashes(predicate.values) if len(mask) else ():
            mask |= bloom.may_hold(self._filters, value)
        return mask

    def _holds(self, zone: int, values: pa.Array) -> bool:
        return bloom.holds(self._filters[zone], bloom.hash_values(values))

    @classmethod
    def requested(cls, parameters: Parameters) -> Zoning:
        """Return `number_of_items` and `probability` of a caller. Raises OperationRefused."""
        share = parameters.get("probability", PROBABILITY)
        if not isinstance(share, float) or not 0 < share < 1:
            raise OperationRefused(f"probability must be between 0 and 1, got {share!r}")
        return Zoning(whole_number(parameters, "number_of_items", ITEMS), f"{share}")

    @cached_property
    def stored_parameters(self) -> Zoning:
        """The parameters of the segment. Raises FormatError."""
        file, share = self._file, self._file.text("bloomfilter_probability")
        try:
            float(share)
        except ValueError as error:
            raise file.corrupt("L.index.files.metadata", f"{share[:40]!r}", "a number") from error
        return Zoning(file.number("bloomfilter_item"), share)

    @classmethod
    def entries_of(cls, training: Training, own: Zoning) -> Entries:
        """Return zones of so many rows with their filters."""
        size = bloom.size_for(own.items, float(own.probability))
        zones = list(zonemap.cut_zones(training, own.items))
        data = [bloom.fill(bloom.hash_values(zone.values), size).tobytes() for zone in zones]
        nulls = pa.array([len(zone.nulls) > 0 for zone in zones], pa.bool_())
        columns = {"has_null": nulls, "bloom_filter_data": pa.array(data, pa.binary())}
        return zonemap.zone_entries(zones, SCHEMA, columns)

    @classmethod
    def write(
        cls, entries: Entries, own: Zoning, training: Training, writer: SegmentWriter
    ) -> Built:
        """Write the file of a segment over its zones."""
        metadata = {"bloomfilter_item": f"{own.items}", "bloomfilter_probability": own.probability}
        zonemap.write_zones(FILE, entries, metadata, writer)
        return Built(index_pb2.BloomFilterIndexDetails(), 0)

    @classmethod
    def check(cls, segment: Segment) -> None:
        """Read what a search only reads when it asks for a value, or for null."""
        index = cls(segment)
        _ = index._filters, zonemap.read_nulls(index._file)


def _hashes(values: Sequence[pa.Scalar]) -> bloom.Hashes:
    """Return the hashes of values; zero is looked for with either sign."""
    type_ = values[0].type
    numbers = pa.array(list(values), type_)
    if pa.types.is_floating(type_) and any(one.as_py() == 0 for one in values):
        numbers = pa.concat_arrays([numbers, pa.array([0.0, -0.0], type_)])
    return bloom.hash_values(numbers)

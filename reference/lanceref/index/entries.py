"""Entries: what most types of index hold, and how segments of them are built, merged and checked.

An entry is a value and the key of a row, which may have several, or none. Rows that are null are
entries too, unless a type holds them apart.

Clauses: L.index.segment.complete, L.index.files.column
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from tempfile import SpooledTemporaryFile
from typing import Generic, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.arrow_buffers import encoded
from lanceref.core.errors import FormatError, OperationRefused
from lanceref.core.integers import is_in, unique
from lanceref.index.index_type import Built, IndexType, Parameters, Sources
from lanceref.index.row_set import NO_KEYS, SHIFT, Keys
from lanceref.index.segment import Moved, Segment, SegmentWriter
from lanceref.index.training import Training, row_bytes, sort_keys, trained
from lanceref.table.rows import Fragments

P = TypeVar("P")

SHARE_ROWS = 1 << 20
"""Rows that are compared with their entries together."""

SPOOLED_BYTES = 1 << 26
"""Bytes of entries that wait in memory."""


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """Values (n,), or rows of numbers (n, m), and the key of each (n,).

    `nulls` are the keys of rows that are null and held apart, None where these are not known.
    """

    values: pa.Array | NDArray[np.generic]
    keys: Keys
    nulls: Keys | None = field(default_factory=lambda: NO_KEYS)

    def moved(self, move: Moved) -> Entries:
        """Return the entries that are left, by their keys now."""
        mask, keys = move(self.keys)
        nulls = None if self.nulls is None else move(self.nulls)[1]
        if isinstance(self.values, pa.Array):
            return Entries(self.values.filter(pa.array(mask)), keys, nulls)
        return Entries(self.values[mask], keys, nulls)


def concat_entries(parts: Sequence[Entries]) -> Entries:
    """Return the entries of some parts, at least one, in their order."""
    values = [one.values for one in parts]
    join = pa.concat_arrays if isinstance(values[0], pa.Array) else np.concatenate
    nulls = [one.nulls for one in parts if one.nulls is not None]
    known = np.concatenate(nulls) if len(nulls) == len(parts) else None
    return Entries(join(values), np.concatenate([one.keys for one in parts]), known)


def stored_as(type_: pa.DataType, values: pa.Array) -> pa.Array:
    """Return plain values as a column of a type. Raises OperationRefused for too many of them."""
    if not pa.types.is_dictionary(type_):
        return values
    try:
        return encoded(values, type_)
    except pa.ArrowInvalid as error:
        raise OperationRefused(f"{len(values)} values are too many for {type_}") from error


class EntryType(IndexType, Generic[P]):
    """A type that keeps entries; P are its parameters, as a caller requests or a segment states."""

    @classmethod
    def requested(cls, parameters: Parameters) -> P:
        """Return the parameters of a caller. Raises OperationRefused."""
        return None  # type: ignore[return-value]  # most types have none

    @cached_property
    def stored_parameters(self) -> P:
        """The parameters of the segment. Raises FormatError."""
        return None  # type: ignore[return-value]

    @abstractmethod
    def entries(self) -> Entries:
        """Return the entries of the segment. Raises FormatError."""

    def runs(self) -> Iterator[Entries] | None:
        """Return the same, one run after the other; None where they are only known together."""
        return None

    @classmethod
    def entries_of(cls, training: Training, own: P) -> Entries:
        """Return the entries of rows: of each its value, null too."""
        return Entries(*trained(training))

    @classmethod
    @abstractmethod
    def write(cls, entries: Entries, own: P, training: Training, writer: SegmentWriter) -> Built:
        """Write entries, which may be in any order, as a segment."""

    @classmethod
    def build(cls, training: Training, writer: SegmentWriter, parameters: Parameters) -> Built:
        own = cls.requested(parameters)
        return cls.write(cls.entries_of(training, own), own, training, writer)

    @classmethod
    def rewrite(cls, sources: Sources, training: Training, writer: SegmentWriter) -> Built:
        """Write what is left of segments, and new rows, as one with the parameters of the first.

        Raises FormatError where they hold values of another type than the column has.
        """
        own = cls(sources[0][0]).stored_parameters
        added, parts = cls.entries_of(training, own), []
        for segment, moved in sources:
            stored = cls(segment).entries()
            found, wanted = (getattr(one.values, "type", None) for one in (stored, added))
            if found != wanted:
                clause = "L.index.files.column"
                raise FormatError(clause, segment.place, f"values of {found}", wanted)
            parts.append(stored.moved(moved))
        return cls.write(concat_entries([*parts, added]), own, training, writer)

    @classmethod
    def check_rows(cls, segment: Segment, training: Training) -> None:
        """Report a live row without its entries. Raises FormatError."""
        index = cls(segment)
        for own, stored in index._shares(training):
            rows = replace(own, computed=[*own.runs()])
            compare(segment, rows, stored, cls.entries_of(rows, index.stored_parameters))

    def _shares(self, training: Training) -> Iterator[tuple[Training, Entries]]:
        """Yield fragments of SHARE_ROWS rows or so, and their entries, which wait in a file."""
        in_place = training.by_address and training.computed is None and self.segment.moves is None
        runs = self.runs() if in_place else None
        if runs is None:
            yield training, self.entries()
            return
        fragments = Fragments(sorted(training.fragments, key=lambda rows: rows.fragment.id))
        firsts = np.append(0, np.flatnonzero(np.diff(fragments.ends // SHARE_ROWS)) + 1)
        bounds = fragments.ids[firsts[1:]] << SHIFT
        places: list[list[tuple[int, int]]] = [[] for _ in firsts]
        with SpooledTemporaryFile(SPOOLED_BYTES) as file:
            for run in runs:
                owners = np.searchsorted(bounds, run.keys, "right")
                order = np.argsort(owners.astype(np.min_scalar_type(len(firsts))), kind="stable")
                columns = [_comparable(run.values), pa.array(run.keys)]
                batch = pa.record_batch(columns, ["values", "keys"]).take(pa.array(order))
                starts = np.searchsorted(owners[order], np.arange(len(firsts) + 1)).tolist()
                for own, (start, end) in zip(places, pairwise(starts), strict=True):
                    piece = batch.slice(start, end - start).serialize()
                    own.append((file.tell(), file.write(piece)))
            for (first, end), own in zip(pairwise([*firsts.tolist(), len(fragments)]), places):
                parts = []
                for place, size in own:
                    file.seek(place)
                    stored = pa.py_buffer(file.read(size))
                    parts.append(pa.ipc.read_record_batch(stored, batch.schema))
                columns = [one.combine_chunks() for one in pa.Table.from_batches(parts).columns]
                share = replace(training, fragments=fragments[first:end])
                yield share, Entries(columns[0], columns[1].to_numpy())


def compare(segment: Segment, training: Training, stored: Entries, expected: Entries) -> None:
    """Report a live row of which a segment holds other entries than those that are made of it.

    Entries of other rows do no harm. Raises OutOfRange for a row of a fragment that never was.
    """
    if training.by_address:
        stored = stored if segment.moves is None else stored.moved(segment.moves)
        nulls = NO_KEYS if stored.nulls is None else stored.nulls
        segment.check_fragments(np.sort(np.concatenate([stored.keys, nulls])))
    rows = unique(np.concatenate([NO_KEYS, *(run.keys for run in training.runs())]))
    if _have_same_values(rows, stored, expected):
        return
    own, wanted = _numbered(rows, stored, expected)
    differing = np.setxor1d(unique(own), unique(wanted), assume_unique=True)
    if len(differing):
        row, name = rows[differing[0] >> 32], segment.entry.name
        found = f"row {row} missing in {name!r}, or with another value"
        clause = "L.index.segment.complete"
        segment.ctx.lint(clause, segment.place, found, "the values of the table")


def _have_same_values(rows: Keys, *both: Entries) -> bool:
    """Whether both have one value, the same, for each of `rows` (n,), ascending.

    Not where rows are null and held apart: such a row may have a value as well.
    """
    values = []
    for one in both:
        if one.nulls is not None and len(one.nulls):
            return False
        order = np.argsort(one.keys)
        if len(order) != len(rows):
            order = order[is_in(one.keys[order], rows)]
        if not np.array_equal(one.keys[order], rows):
            return False
        values.append(_comparable(one.values).take(pa.array(order)))
    return bool(values[0].equals(values[1]))


def _numbered(rows: Keys, *both: Entries) -> list[NDArray[np.int64]]:
    """Return entries of `rows` (n,), ascending, as numbers: place of the row << 32 | value + 1.

    Equal values of both have one number; the rows that are null have no value: 0.
    """
    known, start, numbers = all(one.nulls is not None for one in both), 0, []
    values = _value_numbers(*(_comparable(one.values) for one in both))
    for one in both:
        nulls = one.nulls if known and one.nulls is not None else NO_KEYS
        keys, end = np.concatenate([one.keys, nulls]), start + len(one.keys)
        own = np.concatenate([values[start:end] + 1, np.zeros(len(nulls), np.int64)])
        order = np.argsort(keys)  # ascending keys are found one after the other
        keys, own = keys[order], own[order]
        live = is_in(keys, rows)
        numbers.append(np.searchsorted(rows, keys[live]) << 32 | own[live])
        start = end
    return numbers


def _value_numbers(stored: pa.Array, expected: pa.Array) -> NDArray[np.int64]:
    """Return a number for each value of both; equal ones have the same, those of two types not."""
    try:
        expected = expected if expected.type == stored.type else expected.cast(stored.type)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        return np.repeat([0, 1], [len(stored), len(expected)])
    every = pa.concat_arrays([stored, expected]).dictionary_encode(null_encoding="encode")
    return np.asarray(every.indices, np.int64)


def _comparable(values: pa.Array | NDArray[np.generic]) -> pa.Array:
    """Return values of which those that count as the same are equal."""
    if isinstance(values, pa.Array):
        return sort_keys(values.storage if isinstance(values, pa.ExtensionArray) else values)
    return row_bytes(values if values.ndim > 1 else values[:, None])

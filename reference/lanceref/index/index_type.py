"""Index types: what an index of a type is asked, how one is opened, built, rewritten and checked.

Each type is a value of `Kind` in a module of its own; what uses indices knows no type by name. Most
types hold entries: an entry is a value and the key of a row, which may have several, or none. Rows
that are null are entries too, unless a type holds them apart.

Clauses: L.index.segment.complete, L.index.files.column
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from tempfile import SpooledTemporaryFile
from typing import Generic, Literal, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa
from google.protobuf.message import Message
from numpy.typing import NDArray

from lanceref.core.errors import FormatError, OperationRefused
from lanceref.core.integers import is_in, unique
from lanceref.file.schema import Field
from lanceref.index.predicate import Predicate
from lanceref.index.row_set import NO_KEYS, SHIFT, Keys, RowSet, row_set
from lanceref.index.segment import Moved, Segment, SegmentWriter
from lanceref.index.training import Training, row_bytes, sort_keys, trained
from lanceref.table.rows import Fragments

Parameters: TypeAlias = Mapping[str, object]
"""What the caller says of an index to be built, by name."""


@dataclass(frozen=True, slots=True)
class Spans:
    """Rows of runs: of each the fragment, the first row offset and the number of rows, int64."""

    fragments: NDArray[np.int64]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]

    @property
    def rows(self) -> RowSet:
        """The same as single rows, by address."""
        columns = (self.fragments.tolist(), self.starts.tolist(), self.lengths.tolist())
        parts = [
            np.arange(start, start + length, dtype=np.uint64) | np.uint64(fragment) << SHIFT
            for fragment, start, length in zip(*columns, strict=True)
        ]
        return row_set(np.concatenate([NO_KEYS, *parts]))

    def touches(self, fragments: Keys) -> NDArray[np.bool_]:
        """Return for each fragment (n,), by its id, whether a run lies in it."""
        return is_in(fragments, self.fragments.astype(np.uint64))

    def offsets(self, fragment_id: int, num_rows: int) -> NDArray[np.int64]:
        """Return row offsets (n,) below `num_rows` of a fragment that lie in a run, ascending."""
        mask = np.zeros(num_rows, np.bool_)
        for number in np.flatnonzero(self.fragments == fragment_id).tolist():
            start = int(self.starts[number])
            mask[start : start + int(self.lengths[number])] = True
        return np.flatnonzero(mask)


Found: TypeAlias = RowSet | Spans
"""Rows that a segment has found."""


class ScalarIndex(ABC):
    """An opened segment of an index; one over vectors or texts alike answers no predicate."""

    def search(self, predicate: Predicate) -> Found | None:
        """Return the rows for which a predicate may be true, None when nothing is known of them."""
        return None

    @abstractmethod
    def statistics(self) -> dict[str, object]:
        """Return what statistics show of the segment, by name."""

    def tells_of(self, fragments: Keys) -> NDArray[np.bool_]:
        """Return for each fragment (n,), by its id, whether the segment says something of it."""
        return np.ones(len(fragments), np.bool_)

    def warm(self, *, positions: bool = False) -> int:
        """Keep all parts in memory, with `positions` those of words too; return how many."""
        return 0


@dataclass(frozen=True, slots=True)
class Built:
    """What the entry of a new segment says of its type."""

    details: Message
    version: int


def whole_number(parameters: Parameters, name: str, default: int, least: int = 1) -> int:
    """Return a parameter. Raises OperationRefused for what is no number from `least` on."""
    value = parameters.get(name, default)
    if not isinstance(value, int) or value < least:
        raise OperationRefused(f"{name} must be a number from {least} on, got {value!r}")
    return value


Open: TypeAlias = Callable[[Segment], ScalarIndex]
Build: TypeAlias = Callable[[Training, SegmentWriter, Parameters], Built]
Sources: TypeAlias = Sequence[tuple[Segment, Moved]]
"""Segments to be rewritten, and where the rows of each are now."""

Rewrite: TypeAlias = Callable[[Sources, Training, SegmentWriter], Built]


@dataclass(frozen=True, slots=True)
class Staging:
    """How a segment over some fragments is built that is finished when it is committed.

    `is_staged` says whether the paths of a segment's files are those of one that is not finished.
    """

    build: Build
    is_staged: Callable[[Sequence[str]], bool]
    finish: Callable[[Segment, SegmentWriter], Built]


@dataclass(frozen=True, slots=True)
class Kind:
    """A type of index.

    `shown` is its name in lists, `details` the full name of its details message, `version` the
    highest that can be read. `exact` and `inexact` are the predicates it answers: with the rows, or
    with candidates; `doubts` returns whether an exact predicate has candidates after all. Which
    rows are null is known from version `nulls_since` on. Keys are addresses from `address_version`
    on even where rows have stable ids, never where it is None.

    `accepts` returns whether a column can be indexed, `rewrite_on_move` whether a compaction that
    moves rows rewrites a segment, `rebuilt` whether `rewrite` is given all rows and not only new
    ones. An updated segment `inherits` the version of those before: always, where fragments of
    theirs are left, only where it was one besides, or where no compaction has left it unmoved.

    `check` reports what no reader has to look at, `check_rows` rows that a segment holds otherwise
    than the table. `describe` returns the name and the details of a segment for lists.

    `parameters` returns what a trained segment was built with, `resize` the parameters to build
    anew instead of segments, new rows, and all rows of a table. `staging` builds segments over some
    fragments. Where details name another type, `of_details` returns it, `check_entry` reports
    details that do not, and `json_path` leads to the indexed values in documents.
    """

    name: str
    shown: str
    details: str
    accepts: Callable[[Field], bool]
    open: Open
    build: Build
    version: int = 0
    exact: tuple[type[Predicate], ...] = ()
    inexact: tuple[type[Predicate], ...] = ()
    rewrite: Rewrite | None = None
    nulls_since: int = 0
    address_version: int | None = None
    rewrite_on_move: bool = True
    rebuilt: bool = False
    doubts: Callable[[Predicate], bool] | None = None
    inherits: Literal["always", "left", "one", "unmoved"] = "left"
    check: Callable[[Segment], object] | None = None
    of_details: Callable[[bytes], Kind | None] | None = None
    check_entry: Callable[[Segment], None] | None = None
    json_path: str | None = None
    parameters: Callable[[Segment], Parameters] | None = None
    resize: Callable[[Sequence[Segment], Training, Training], Parameters | None] | None = None
    describe: Callable[[Segment], tuple[str, dict[str, object]]] | None = None
    staging: Staging | None = None
    check_rows: Callable[[Segment, Training], None] | None = None

    def answers(self, predicate: Predicate) -> bool | None:
        """Return whether a predicate is answered exactly, None when it is not at all."""
        if isinstance(predicate, self.exact):
            return self.doubts is None or not self.doubts(predicate)
        return False if isinstance(predicate, self.inexact) else None

    def by_address(self, version: int, stable_row_ids: bool) -> bool:
        """Return whether the keys of a segment are addresses."""
        if not stable_row_ids:
            return True
        return self.address_version is not None and version >= self.address_version


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
        kept, keys = move(self.keys)
        nulls = None if self.nulls is None else move(self.nulls)[1]
        if isinstance(self.values, pa.Array):
            return Entries(self.values.filter(pa.array(kept)), keys, nulls)
        return Entries(self.values[kept], keys, nulls)


def concat_entries(parts: Sequence[Entries]) -> Entries:
    """Return the entries of some parts, at least one, in their order."""
    values = [one.values for one in parts]
    join = pa.concat_arrays if isinstance(values[0], pa.Array) else np.concatenate
    nulls = [one.nulls for one in parts if one.nulls is not None]
    return Entries(
        join(values),
        np.concatenate([one.keys for one in parts]),
        np.concatenate(nulls) if len(nulls) == len(parts) else None,
    )


def column_entries(training: Training, parameters: object) -> Entries:
    """Return an entry for each row: its value, null too."""
    return Entries(*trained(training))


def none(given: object) -> None:
    """Return the parameters of a type that has none."""


@dataclass(frozen=True, slots=True)
class EntryFormat(Generic[P]):
    """How a type keeps entries.

    `held` are those of a segment, `runs` the same one run after the other, `made` those of rows;
    `write` writes some, which may be in any order. Parameters are those that a caller `requested`,
    or those that a segment has `stated`.
    """

    held: Callable[[Segment], Entries]
    made: Callable[[Training, P], Entries]
    write: Callable[[Entries, P, Training, SegmentWriter], Built]
    requested: Callable[[Parameters], P]
    stated: Callable[[Segment], P]
    runs: Callable[[Segment], Iterator[Entries]] | None = None

    def build(self, training: Training, writer: SegmentWriter, parameters: Parameters) -> Built:
        """Write a segment over rows. Raises OperationRefused."""
        own = self.requested(parameters)
        return self.write(self.made(training, own), own, training, writer)

    def rewrite(self, sources: Sources, training: Training, writer: SegmentWriter) -> Built:
        """Write what is left of segments, and new rows, as one with the parameters of the first.

        Raises FormatError where they hold values of another type than the column has.
        """
        own = self.stated(sources[0][0])
        made, parts = self.made(training, own), []
        for segment, moved in sources:
            held = self.held(segment)
            found, wanted = (getattr(one.values, "type", None) for one in (held, made))
            if found != wanted:
                clause = "L.index.files.column"
                raise FormatError(clause, segment.place, f"values of {found}", wanted)
            parts.append(held.moved(moved))
        return self.write(concat_entries([*parts, made]), own, training, writer)

    def check_rows(self, segment: Segment, training: Training) -> None:
        """Report a live row without its entries. Raises FormatError."""
        for own, held in self._shares(segment, training):
            rows = replace(own, computed=[*own.runs()])
            compare(segment, rows, held, self.made(rows, self.stated(segment)))

    def _shares(self, segment: Segment, training: Training) -> Iterator[tuple[Training, Entries]]:
        """Yield fragments of SHARE_ROWS rows or so, and the entries that may be of their rows.

        Entries in the order of their values wait in a file that has no name.
        """
        by_fragment = training.by_address and training.computed is None and segment.moves is None
        if self.runs is None or not by_fragment:
            yield training, self.held(segment)
            return
        fragments = Fragments(sorted(training.fragments, key=lambda rows: rows.fragment.id))
        firsts = np.append(0, np.flatnonzero(np.diff(fragments.ends // SHARE_ROWS)) + 1)
        bounds = fragments.ids[firsts[1:]] << SHIFT
        places: list[list[tuple[int, int]]] = [[] for _ in firsts]
        with SpooledTemporaryFile(SPOOLED_BYTES) as file:
            for run in self.runs(segment):
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


def compare(segment: Segment, training: Training, held: Entries, made: Entries) -> None:
    """Report a live row of which a segment holds other entries than those that are made of it.

    Entries of other rows do no harm. Raises OutOfRange for a row of a fragment that never was.
    """
    if training.by_address:
        held = held if segment.moves is None else held.moved(segment.moves)
        nulls = NO_KEYS if held.nulls is None else held.nulls
        segment.check_fragments(np.sort(np.concatenate([held.keys, nulls])))
    rows = unique(np.concatenate([NO_KEYS, *(run.keys for run in training.runs())]))
    if _have_same_values(rows, held, made):
        return
    own, wanted = _numbered(rows, held, made)
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


def _value_numbers(held: pa.Array, made: pa.Array) -> NDArray[np.int64]:
    """Return a number for each value of both; equal ones have the same, those of two types not."""
    try:
        made = made if made.type == held.type else made.cast(held.type)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        return np.repeat([0, 1], [len(held), len(made)])
    every = pa.concat_arrays([held, made]).dictionary_encode(null_encoding="encode")
    return np.asarray(every.indices, np.int64)


def _comparable(values: pa.Array | NDArray[np.generic]) -> pa.Array:
    """Return values of which those that count as the same are equal."""
    if isinstance(values, pa.Array):
        return sort_keys(values.storage if isinstance(values, pa.ExtensionArray) else values)
    return row_bytes(values if values.ndim > 1 else values[:, None])

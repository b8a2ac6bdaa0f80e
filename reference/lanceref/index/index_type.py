"""Index types: what an index of a type is asked, and how segments are opened, built and checked.

Each type is a class in a module of its own; an instance is an opened segment. What uses indices
knows no type by name.

Clauses: L.index.files.column, L.index.segment.keys
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, TypeAlias

import numpy as np
from google.protobuf.message import Message
from numpy.typing import NDArray

from lanceref.core.errors import IndexRefused, OperationRefused
from lanceref.core.integers import is_in
from lanceref.file.schema import Field
from lanceref.index.predicate import Mask, Predicate
from lanceref.index.row_set import SHIFT, Keys, RowSet
from lanceref.index.segment import Moved, Segment, SegmentWriter
from lanceref.index.training import Training
from lanceref.proto.table_pb2 import IndexMetadata
from lanceref.table.columns import FragmentReader
from lanceref.table.fragments import addresses
from lanceref.table.lineage import ROW_ID
from lanceref.table.rows import FragmentRows

Positions = NDArray[np.int64]

Parameters: TypeAlias = Mapping[str, object]
"""What the caller says of an index to be built, by name."""


@dataclass(frozen=True, slots=True)
class Spans:
    """Rows of runs: of each the fragment, the first row offset and the number of rows, int64."""

    fragments: NDArray[np.int64]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]

    def among(self, keys: Keys) -> Keys:
        """Return those of ascending addresses (n,) that lie in a run: (m,)."""
        first = self.fragments.astype(np.uint64) << SHIFT | self.starts.astype(np.uint64)
        last = np.maximum(first + self.lengths.astype(np.uint64), first)
        inside = np.zeros(len(keys) + 1, np.int64)
        np.add.at(inside, np.searchsorted(keys, first), 1)
        np.add.at(inside, np.searchsorted(keys, last), -1)
        return keys[np.cumsum(inside)[:-1] > 0]

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


Sources: TypeAlias = Sequence[tuple[Segment, Moved]]
"""Segments to be rewritten, and where the rows of each are now."""


class IndexType:
    """A type of index; an instance is an opened segment, which keeps its answers.

    `shown` is its name in lists, `details` the full name of its details message, `version` the
    highest that can be read. `exact` and `inexact` are the predicates it answers: with the rows, or
    with candidates; one over vectors or texts alike answers none. Which rows are null is known from
    version `nulls_since` on. Keys are addresses from `address_version` on even where rows have
    stable ids, never where it is None.

    `rewrite_on_move` says whether a compaction that moves rows rewrites a segment, `rebuilt`
    whether `rewrite` is given all rows and not only new ones, `learns` whether a segment is trained
    on rows, `stages` whether several may build one together, `below_lists` whether the field may be
    below lists. An updated segment `inherits` the
    version of those before: always, where fragments of theirs are left, only where it was one
    besides, or where no compaction has left it unmoved. Where details name another type,
    `json_path` leads to the indexed values in documents.
    """

    name: ClassVar[str]
    shown: ClassVar[str]
    details: ClassVar[str]
    version: ClassVar[int] = 0
    exact: ClassVar[tuple[type[Predicate], ...]] = ()
    inexact: ClassVar[tuple[type[Predicate], ...]] = ()
    nulls_since: ClassVar[int] = 0
    address_version: ClassVar[int | None] = None
    rewrite_on_move: ClassVar[bool] = True
    rebuilt: ClassVar[bool] = False
    learns: ClassVar[bool] = False
    stages: ClassVar[bool] = False
    below_lists: ClassVar[bool] = False
    inherits: ClassVar[Literal["always", "left", "one", "unmoved"]] = "left"
    json_path: ClassVar[str | None] = None

    def __init__(self, segment: Segment) -> None:
        self.segment = segment
        self._answers: dict[Predicate, tuple[Found | None, int]] = {}

    @classmethod
    def open(cls, segment: Segment) -> IndexType:
        """Open the files of a segment. Raises FormatError, UnknownVersion."""
        return cls(segment)

    @staticmethod
    def accepts(field: Field, /) -> bool:
        """Return whether a field can be indexed."""
        return True

    @classmethod
    def build(cls, training: Training, writer: SegmentWriter, parameters: Parameters) -> Built:
        """Write a segment over rows. Raises OperationRefused."""
        raise OperationRefused(f"{cls.name} cannot be built")

    @classmethod
    def rewrite(cls, sources: Sources, training: Training, writer: SegmentWriter) -> Built:
        """Write what is left of segments, and new rows, as one. Raises OperationRefused."""
        raise OperationRefused(f"segments of {cls.name} cannot be merged")

    @classmethod
    def stage(cls, training: Training, writer: SegmentWriter, parameters: Parameters) -> Built:
        """Write a segment over some fragments, which may be finished when it is committed."""
        return cls.build(training, writer, parameters)

    @classmethod
    def is_staged(cls, entry: IndexMetadata) -> bool:
        """Return whether the files of an entry are those of a segment that is not finished."""
        return False

    @classmethod
    def finish(cls, segment: Segment, writer: SegmentWriter) -> Built:
        """Write a staged segment as one that is read. Raises IndexRefused."""
        raise IndexRefused("the segment cannot be finished")

    @classmethod
    def of_details(cls, details: bytes) -> Kind | None:
        """Return the type of an entry with such details, None for one to be passed over."""
        return cls

    @classmethod
    def learnt(cls, segment: Segment) -> Parameters:
        """Return what a trained segment was built with. Raises FormatError."""
        return {}

    @classmethod
    def resize(
        cls, segments: Sequence[Segment], added: Training, table: Training
    ) -> Parameters | None:
        """Return the parameters to build trained segments anew with new rows; None: they stay."""
        return None

    @classmethod
    def check_entry(cls, segment: Segment) -> None:
        """Report details that name no other type."""

    @classmethod
    def check(cls, segment: Segment) -> None:
        """Report what no reader has to look at. Raises FormatError."""

    @classmethod
    def check_rows(cls, segment: Segment, training: Training) -> None:
        """Report rows that a segment holds otherwise than the table. Raises FormatError."""

    @classmethod
    def has_false_positives(cls, predicate: Predicate) -> bool:
        """Return whether an exact predicate has candidates after all."""
        return False

    @classmethod
    def answers(cls, predicate: Predicate) -> bool | None:
        """Return whether a predicate is answered exactly, None when it is not at all."""
        if isinstance(predicate, cls.exact):
            return not cls.has_false_positives(predicate)
        return False if isinstance(predicate, cls.inexact) else None

    @classmethod
    def has_addresses(cls, version: int, stable_row_ids: bool) -> bool:
        """Return whether the keys of segments of a version are addresses."""
        if not stable_row_ids:
            return True
        return cls.address_version is not None and version >= cls.address_version

    @cached_property
    def by_address(self) -> bool:
        """Whether the keys of the segment are addresses."""
        return self.has_addresses(self.segment.entry.index_version, self.segment.stable_row_ids)

    def search(self, predicate: Predicate) -> Found | None:
        """Return the rows for which a predicate may be true, None when nothing is known of them."""
        return None

    def covers_fragments(self, fragments: Keys) -> Mask:
        """Return for each fragment (n,), by its id, whether the segment says something of it."""
        return np.ones(len(fragments), np.bool_)

    def warm(self, *, positions: bool = False) -> None:
        """Keep all parts in memory, with `positions` those of words too. Raises FormatError."""

    def possible(self, predicate: Predicate, fragments: Keys) -> Mask:
        """Return for each fragment (n,), by its id, whether a row may fit, or nothing is known."""
        if predicate in self._answers:  # another scan, which counts what it would have compared
            self.segment.uses.comparisons += self._answers[predicate][1]
        answer, known = self._answer(predicate, fragments)
        if answer is None or (isinstance(answer, RowSet) and not self.by_address):
            return np.ones(len(fragments), np.bool_)
        return ~known | answer.touches(fragments)

    def positions(self, predicate: Predicate, rows: FragmentRows) -> Positions | None:
        """Return ascending live rows (n,) that may fit, None when nothing is known of them."""
        answer, known = self._answer(predicate, np.array([rows.fragment.id], np.uint64))
        if answer is None or not known[0]:
            return None
        if isinstance(answer, RowSet) and not self.by_address:
            (ids,) = rows.take(np.arange(rows.num_rows), (), (ROW_ID,))
            return answer.among(ids.to_numpy())
        return rows.positions(answer.offsets(rows.fragment.id, rows.columns.stated_rows))

    def _answer(self, predicate: Predicate, fragments: Keys) -> tuple[Found | None, Mask]:
        """Return what a predicate finds, and for each fragment (n,) whether the files know it."""
        uses = self.segment.uses
        if predicate not in self._answers:
            before = uses.comparisons
            found = self._current(self.search(predicate))
            self._answers[predicate] = found, uses.comparisons - before
        unmoved = self.segment.moves is None
        known = self.covers_fragments(fragments) if unmoved else np.ones(len(fragments), np.bool_)
        return self._answers[predicate][0], known

    def _current(self, answer: Found | None) -> Found | None:
        """Return rows where they are now. Raises OutOfRange."""
        if answer is None or not self.by_address:
            return answer
        if isinstance(answer, RowSet):
            self.segment.check_fragments(answer.keys)
        if self.segment.moves is None:
            return answer
        if isinstance(answer, Spans):
            keys = self._rows_in(answer, self.segment.moves.before)
        else:
            (keys,) = self.segment.keys_of([answer])
        return RowSet.of(self.segment.moves(keys)[1])

    def _rows_in(self, spans: Spans, before: Keys) -> Keys:
        """Return the addresses in runs that rows have, or had `before` they moved: both (n,)."""
        keys = [spans.among(np.sort(before))]
        for fragment in self.segment.fragments:
            if fragment.id in spans.fragments:
                columns = FragmentReader(fragment, self.segment.bases, self.segment.ctx)
                offsets = spans.offsets(fragment.id, columns.bounded_rows)
                keys.append(addresses(fragment.id, offsets))
        return np.concatenate(keys)


Kind: TypeAlias = type[IndexType]
"""A type of index."""

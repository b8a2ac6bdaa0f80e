"""Index types: what an index of a type is asked, how one is opened, built and rewritten.

Each type is a value of `Kind` in a module of its own; what uses indices knows no type by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
from google.protobuf.message import Message
from numpy.typing import NDArray

from lanceref.core.errors import OperationRefused
from lanceref.file.schema import Field
from lanceref.index.predicate import Predicate
from lanceref.index.row_set import NO_KEYS, SHIFT, Keys, RowSet, row_set
from lanceref.index.segment import Moved, Segment, SegmentWriter
from lanceref.index.training import Training

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
        return np.isin(fragments, self.fragments.astype(np.uint64))

    def offsets(self, fragment_id: int, num_rows: int) -> NDArray[np.int64]:
        """Return row offsets (n,) below `num_rows` of a fragment that lie in a run, ascending."""
        mask = np.zeros(num_rows, np.bool_)
        for number in np.flatnonzero(self.fragments == fragment_id).tolist():
            start = int(self.starts[number])
            mask[start : start + int(self.lengths[number])] = True
        return np.flatnonzero(mask)


Found: TypeAlias = RowSet | Spans
"""Rows that a segment has found."""


class ScalarIndex(Protocol):
    """An opened segment of a scalar index, which answers predicates."""

    def search(self, predicate: Predicate) -> Found | None:
        """Return the rows for which a predicate may be true, None when nothing is known of them."""

    def statistics(self) -> dict[str, object]:
        """Return what statistics show of the segment, by name."""


@runtime_checkable
class Zoned(Protocol):
    """An opened segment that says something of some fragments, and nothing of others."""

    def tells_of(self, fragments: Keys) -> NDArray[np.bool_]:
        """Return for each fragment (n,), by its id, whether it says something of it."""


@runtime_checkable
class Warmable(Protocol):
    """An opened segment that can be kept in memory as a whole."""

    def warm(self, *, positions: bool = False) -> int:
        """Keep all parts in memory, with `positions` those of words too; return how many."""


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

"""Filters: a condition on rows as a search receives it.

A row passes where the filter is true; null is not true. A filter is a callable on batches; what of
it an index or the bounds of a batch can answer comes with it as a structure.

Predicates of tables: questions about single columns, joined by AND, OR and NOT.

Restriction: a filter, and the only rows that may pass, by their ids.

A row passes when the filter lets it and its id is among those that another search has found, or
that a caller allows, and not among those that a caller blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.context import Context
from lanceref.core.cursor import Cursor
from lanceref.core.errors import FormatError, QueryRefused
from lanceref.core.integers import unsigned
from lanceref.index import predicate
from lanceref.index.row_set import RowSet, encode_row_set, parse_row_set, row_set
from lanceref.table.lineage import ROW_ID


@dataclass(frozen=True, slots=True)
class On:
    """A question about a column, or about a member of its documents, by its path.

    Unless it is exact, rows that pass are among those for which the answer is yes.
    """

    path: str
    question: predicate.Predicate
    exact: bool = True


@dataclass(frozen=True, slots=True)
class And:
    """Every part holds."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """One of the parts holds."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The part is false."""

    part: Predicate


@dataclass(frozen=True, slots=True)
class Unknown:
    """A condition without a structure: only its callable answers it."""


Predicate: TypeAlias = On | And | Or | Not | Unknown


def known(predicate: Predicate) -> Predicate | None:
    """Return a predicate, None when no question about a column is in it."""
    waiting = [predicate]
    while waiting:
        one = waiting.pop()
        if isinstance(one, On):
            return predicate
        if isinstance(one, And | Or):
            waiting += one.parts
        elif isinstance(one, Not):
            waiting.append(one.part)
    return None


Mask = NDArray[np.bool_]


class Filter(Protocol):
    """A condition on rows."""

    columns: tuple[str, ...]
    """Names of the columns it reads, in the order of the schema."""

    paths: tuple[str, ...]
    """The same, or `a.b` where it reads only a part of a column."""

    @property
    def predicate(self) -> Predicate | None:
        """What is known of its structure, None when nothing is."""

    def mask(self, batch: pa.RecordBatch) -> Mask:
        """Return for each row of a batch of these columns whether it passes: bool."""


@dataclass(frozen=True, slots=True)
class Restricted:
    """A filter as a caller gives it, None for none, and row ids: those that pass, or do not.

    What another search finds is asked for when the first row is.
    """

    filter: object
    rows: RowSet | Callable[[], RowSet]
    blocked: bool = False


class RestrictedFilter:
    """The same, bound to columns."""

    def __init__(
        self, own: Filter | None, rows: RowSet | Callable[[], RowSet], *, blocked: bool = False
    ) -> None:
        self._own, self._given, self._blocked = own, rows, blocked
        columns, paths = ((), ()) if own is None else (own.columns, own.paths)
        self.columns: tuple[str, ...] = tuple(dict.fromkeys((*columns, ROW_ID)))
        self.paths: tuple[str, ...] = tuple(dict.fromkeys((*paths, ROW_ID)))
        own_predicate = None if own is None else own.predicate
        self.predicate: Predicate | None = (
            None if own_predicate is None else And((own_predicate, Unknown()))
        )

    @cached_property
    def _rows(self) -> RowSet:
        return self._given if isinstance(self._given, RowSet) else self._given()

    def mask(self, batch: pa.RecordBatch) -> NDArray[np.bool_]:
        """Return for each row of a batch whether it is asked for. Raises QueryFailed."""
        ids = batch[ROW_ID].to_numpy(zero_copy_only=False)
        found = np.full(len(ids), self._blocked)
        found[self._rows.among(ids)] = not self._blocked
        return found if self._own is None else found & self._own.mask(batch)


def serialize_row_addrs(addrs: Iterable[int]) -> bytes:
    """Return row ids as a list. Raises TypeError and OverflowError for what is no row id."""
    return encode_row_set(row_set(np.array([unsigned(one) for one in addrs], np.uint64)))


def kept_to_lists(filter: object, allowed: object, blocked: object) -> object:
    """Return a filter that passes allowed rows only, and no blocked ones; None: as it is.

    Raises TypeError for something else than bytes, QueryRefused for bytes that are no list.
    """
    if allowed is not None:
        filter = Restricted(filter, _set(allowed, "allowlist"))
    if blocked is not None:
        filter = Restricted(filter, _set(blocked, "blocklist"), blocked=True)
    return filter


def _set(given: object, name: str) -> RowSet:
    if not isinstance(given, bytes | bytearray | memoryview):
        raise TypeError(f"argument 'row_addr_{name}': {type(given).__name__!r} is not bytes")
    try:
        return parse_row_set(Cursor(memoryview(given), 0, Context(f"row address {name}")))
    except FormatError as error:
        raise QueryRefused(
            f"row address {name} is not a serialized RowAddrTreeMap: {error}"
        ) from error

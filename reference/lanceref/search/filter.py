"""Filters: a condition on rows as a search receives it.

A row passes where the filter is true; null is not true. A filter is a callable on batches; its
structure comes with it as a predicate, for indices and for the bounds of a batch: questions about
single columns, joined by AND, OR and NOT. A restricted filter also passes only rows whose ids a
caller allows, or does not block.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
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

Mask = NDArray[np.bool_]


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
    """True for the rows for which every part is true."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """True for the rows for which at least one part is true."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """True for the rows for which the part is false."""

    part: Predicate


@dataclass(frozen=True, slots=True)
class Unknown:
    """A condition without a structure: only its callable answers it."""


Predicate: TypeAlias = On | And | Or | Not | Unknown


def structured(predicate: Predicate) -> Predicate | None:
    """Return a predicate, None when no question about a column is in it."""
    waiting = [predicate]
    while waiting:
        match waiting.pop():
            case On():
                return predicate
            case And(parts) | Or(parts):
                waiting += parts
            case Not(part):
                waiting.append(part)
    return None


class Filter(Protocol):
    """A condition that chooses rows of a table."""

    columns: tuple[str, ...]
    """Names of the columns it reads, in the order of the schema."""

    paths: tuple[str, ...]
    """The same, or `a.b` where it reads only a part of a column."""

    @property
    def predicate(self) -> Predicate | None:
        """Its structure as far as it is known."""

    def mask(self, batch: pa.RecordBatch) -> Mask:
        """Return for each row of a batch of these columns whether it passes: bool (rows,)."""


@dataclass(frozen=True, slots=True)
class Restricted:
    """A filter as a caller gives it, None for none, and ids of rows that pass, or are blocked."""

    filter: object
    rows: RowSet
    blocked: bool = False


class RestrictedFilter:
    """A filter bound to the columns of one version of a table."""

    def __init__(self, own: Filter | None, rows: RowSet, *, blocked: bool = False) -> None:
        self._own, self._rows, self._blocked = own, rows, blocked
        columns, paths = ((), ()) if own is None else (own.columns, own.paths)
        self.columns: tuple[str, ...] = tuple(dict.fromkeys((*columns, ROW_ID)))
        self.paths: tuple[str, ...] = tuple(dict.fromkeys((*paths, ROW_ID)))
        structure = None if own is None else own.predicate
        self.predicate: Predicate | None = structure and And((structure, Unknown()))

    def mask(self, batch: pa.RecordBatch) -> Mask:
        """Return for each row of a batch whether it passes: (rows,). Raises QueryFailed."""
        ids = batch[ROW_ID].to_numpy(zero_copy_only=False)
        mask = np.full(len(ids), self._blocked)
        mask[self._rows.among(ids)] = not self._blocked
        return mask if self._own is None else mask & self._own.mask(batch)


def serialize_row_addrs(addrs: Iterable[int]) -> bytes:
    """Return row ids as a list. Raises TypeError and OverflowError for what is no row id."""
    return encode_row_set(row_set(np.array([unsigned(one) for one in addrs], np.uint64)))


def restrict_to_lists(filter: object, allowed: object, blocked: object) -> object:
    """Return a filter that passes allowed rows only, and no blocked ones; None: as it is.

    Raises TypeError for something else than bytes, QueryRefused for bytes that are no list.
    """
    for given, name in ((allowed, "allowlist"), (blocked, "blocklist")):
        if given is None:
            continue
        if not isinstance(given, bytes | bytearray | memoryview):
            raise TypeError(f"argument 'row_addr_{name}': {type(given).__name__!r} is not bytes")
        try:
            rows = parse_row_set(Cursor(memoryview(given), 0, Context(f"row address {name}")))
        except FormatError as error:
            raise QueryRefused(
                f"row address {name} is not a serialized RowAddrTreeMap: {error}"
            ) from error
        filter = Restricted(filter, rows, blocked=name == "blocklist")
    return filter

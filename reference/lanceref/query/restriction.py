"""Restriction: a filter, and the only rows that may pass, by their ids.

A row passes when the filter lets it and its id is among those that another search has found, or
that a caller allows, and not among those that a caller blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.index.row_set import RowSet
from lanceref.table.lineage import ROW_ID

if TYPE_CHECKING:
    from lanceref.query.filter import Filter
    from lanceref.query.pruning import Bounding
    from lanceref.query.questions import Plan
    from lanceref.query.routing import ByPath


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
        self.boundings: tuple[Bounding, ...] = () if own is None else own.boundings

    @cached_property
    def _rows(self) -> RowSet:
        return self._given if isinstance(self._given, RowSet) else self._given()

    def mask(self, batch: pa.RecordBatch) -> NDArray[np.bool_]:
        """Return for each row of a batch whether it is asked for. Raises QueryFailed."""
        ids = batch[ROW_ID].to_numpy(zero_copy_only=False)
        found = np.full(len(ids), self._blocked)
        found[self._rows.among(ids)] = not self._blocked
        return found if self._own is None else found & self._own.mask(batch)

    def plan(self, indices: ByPath) -> Plan | None:
        """Return nothing: an index knows only a part of it."""
        return None

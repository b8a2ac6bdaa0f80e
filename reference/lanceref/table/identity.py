"""Row identity: each live row has an id that no other has, and versions in their order.

An update moves a row to a new fragment and keeps its id: the old place is deleted there. So an id
may stand in several fragments, but only once among the rows that are left. Only a look at the whole
table shows it; no reader has to.

Clauses: L.table.row-ids.unique, L.table.row-ids.next, L.table.row-versions.order
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lanceref.core.context import Context
from lanceref.core.errors import Place
from lanceref.table.lineage import CREATED_AT, LAST_UPDATED_AT, ROW_ID, Values
from lanceref.table.manifest import Manifest
from lanceref.table.rows import FragmentRows

if TYPE_CHECKING:
    from pyroaring import BitMap64

RUN_ROWS = 2**16
"""Rows looked at together."""

Numbers = NDArray[np.uint64]

Fault = tuple[str, str, str]
"""Clause, what was found, what was wanted."""


class Identities:
    """The ids of the live rows of a table, fragment after fragment."""

    def __init__(self, manifest: Manifest, ctx: Context) -> None:
        from pyroaring import BitMap64  # only a deep check needs it

        self._ids: BitMap64 = BitMap64()
        self._next = manifest.message.next_row_id
        self._version = manifest.version
        self._ctx = ctx

    def check(self, rows: FragmentRows, lineage: Mapping[str, Values | None]) -> None:
        """Hold the ids and versions of a fragment against those before; report each clause once."""
        if all(values is None for values in lineage.values()):
            return
        ids, place = lineage.get(ROW_ID), rows.fragment.place
        reported: set[str] = set()
        for offsets in _live_runs(rows):
            if ids is not None:
                faults = self._ids_faults(ids.at(offsets))
                self._report(faults, reported, rows.fragment.id, place)
            versions = [
                np.ones(len(offsets), np.uint64) if values is None else values.at(offsets)
                for values in (lineage.get(CREATED_AT), lineage.get(LAST_UPDATED_AT))
            ]
            if any(lineage.get(name) is not None for name in (CREATED_AT, LAST_UPDATED_AT)):
                faults = self._version_faults(*versions)
                self._report(faults, reported, rows.fragment.id, place)

    def _ids_faults(self, ids: Numbers) -> Iterator[Fault]:
        """Yield (clause, found, wanted) for the ids of some more live rows."""
        found = type(self._ids)(ids)
        if len(found) < len(ids):
            values, counts = np.unique(ids, return_counts=True)
            again = int(values[counts > 1][0])
            yield "L.table.row-ids.unique", f"row id {again} twice", "an id for each row"
        elif not found.isdisjoint(self._ids):
            again = (found & self._ids).min()
            yield "L.table.row-ids.unique", f"row id {again} twice", "an id for each row"
        self._ids |= found
        highest = int(ids.max())
        if highest >= self._next:
            yield "L.table.row-ids.next", f"row id {highest}", f"below next_row_id {self._next}"

    def _version_faults(self, created: Numbers, updated: Numbers) -> Iterator[Fault]:
        """Yield (clause, found, wanted) for the versions of some rows."""
        wrong = (created < 1) | (created > updated) | (updated > self._version)
        if wrong.any():
            first = int(np.argmax(wrong))
            yield (
                "L.table.row-versions.order",
                f"created in {int(created[first])}, updated in {int(updated[first])}",
                f"1 <= created <= updated <= {self._version}",
            )

    def _report(
        self, faults: Iterator[Fault], reported: set[str], fragment_id: int, place: Place
    ) -> None:
        for clause, found, wanted in faults:
            if clause not in reported:
                reported.add(clause)
                where = f"{found}, in fragment {fragment_id}"
                self._ctx.lint(clause, place, found=where, wanted=wanted)


def _live_runs(rows: FragmentRows) -> Iterator[NDArray[np.int64]]:
    """Yield the offsets of the live rows of a fragment, a run at a time."""
    live = rows.columns.bounded_rows - len(rows.deleted)
    for first in range(0, live, RUN_ROWS):
        yield rows.offsets(np.arange(first, min(first + RUN_ROWS, live)))

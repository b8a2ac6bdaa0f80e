"""DataOverlay: new values for some rows, in files beside those that hold the others.

The files go behind the overlays that a fragment has, and say the version that the commit makes.
Whoever later puts other files in the place of a column takes its overlays out.

Clauses: L.txn.op.data-overlay, L.table.row-versions.updated
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from lanceref.core.context import Context
from lanceref.core.errors import OperationRefused
from lanceref.core.integers import unique
from lanceref.proto import table_pb2
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.table.file_entries import TOMBSTONE
from lanceref.table.overlays import offsets_below, parse_coverage
from lanceref.transactions.manifest_builder import Making
from lanceref.transactions.row_lineage import set_updated


def overlay(making: Making) -> None:
    """Put overlays behind those that fragments have. Raises OperationRefused, FormatError."""
    version = making.message.version
    touched = set()
    for group in making.transaction.data_overlay.groups:
        fragment = making.fragment(group.fragment_id)
        if fragment is None:  # L.txn.op.data-overlay
            raise OperationRefused(
                f"DataOverlay targets fragment {group.fragment_id}, which does not exist"
            )
        for one in group.overlays:
            added = fragment.overlays.add()
            added.CopyFrom(one)
            added.committed_version = version
        touched.add(fragment.id)
    for number in touched if making.stable else ():
        fragment = making.fragment(number)
        if fragment is not None:
            _note_updated(making, fragment)


def _note_updated(making: Making, fragment: table_pb2.DataFragment) -> None:
    """Say that this version changed the rows that its overlays cover."""
    ctx = making.past.ctx
    covered = [np.empty(0, np.int64)]
    for one in fragment.overlays:
        if one.committed_version == making.message.version:
            sets = parse_coverage(one, ctx, ctx.at(0)).values()
            covered += (offsets_below(fragment.physical_rows, offsets) for offsets in sets)
    set_updated(making, fragment, unique(np.concatenate(covered)))


def covers_any(given: Transaction.DataOverlay, rows: Mapping[int, NDArray[np.int64]]) -> bool:
    """Whether a DataOverlay covers one of the rows by fragment. Raises FormatError."""
    ctx = Context("transaction")
    return any(
        any(row in offsets for row in rows.get(group.fragment_id, ()))
        for group in given.groups
        for one in group.overlays
        for offsets in parse_coverage(one, ctx, ctx.at(0)).values()
    )


def take_fields(
    fragment: table_pb2.DataFragment, fields: Collection[int], read_version: int
) -> None:
    """Let overlays up to a version no longer cover fields; one that covers no other goes."""
    kept = []
    for one in fragment.overlays:
        if one.committed_version <= read_version:
            for number, field_id in enumerate(one.data_file.fields):
                if field_id in fields:
                    one.data_file.fields[number] = TOMBSTONE
        if set(one.data_file.fields) != {TOMBSTONE}:
            kept.append(one)
    replace_overlays(fragment, kept)


def drop_idle_overlays(fragment: table_pb2.DataFragment, live: Collection[int]) -> None:
    """Take overlays out that cover no field of the schema."""
    kept = [one for one in fragment.overlays if any(id in live for id in one.data_file.fields)]
    replace_overlays(fragment, kept)


def replace_overlays(
    fragment: table_pb2.DataFragment, kept: Collection[table_pb2.DataOverlayFile]
) -> None:
    """Put overlays in place of those a fragment has."""
    copies = []
    for one in kept:
        copies.append(table_pb2.DataOverlayFile())
        copies[-1].CopyFrom(one)
    del fragment.overlays[:]
    fragment.overlays.extend(copies)

"""Removal: rows taken out of their fragments.

A fragment that keeps rows gets a deletion file of all its deleted rows; one that keeps none goes.

Clauses: L.txn.op.delete, L.table.deletions.threshold
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lanceref.core.integers import union
from lanceref.proto import table_pb2
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.search.rows import Condition
from lanceref.search.snapshot import Snapshot
from lanceref.table.deletions import write_deletions
from lanceref.table.rows import FragmentRows
from lanceref.table.uncommitted_files import Draft

Positions = NDArray[np.int64]

Chosen = list[tuple[FragmentRows, Positions]]
"""Fragments, and which of their live rows are meant: positions, ascending."""


BITMAP = table_pb2.DeletionFile.BITMAP


@dataclass(slots=True)
class Removal:
    """What became of the fragments; `affected` are the offsets of the rows by fragment id."""

    updated: list[table_pb2.DataFragment] = field(default_factory=list)
    removed: list[int] = field(default_factory=list)
    affected: dict[int, NDArray[np.int64]] = field(default_factory=dict)
    num_rows: int = 0


def put_update(
    transaction: Transaction,
    removal: Removal,
    new: Iterable[table_pb2.DataFragment],
    fields: Iterable[int],
) -> None:
    """Make a transaction an Update: rows taken out, others written, with values new in `fields`."""
    given = transaction.update
    given.updated_fragments.extend(removal.updated)
    given.removed_fragment_ids.extend(removal.removed)
    given.new_fragments.extend(new)
    given.fields_for_preserving_frag_bitmap.extend(fields)


def choose(snapshot: Snapshot, condition: Condition | None) -> Chosen:
    """Return the live rows that pass a condition, all of them without one."""
    if condition is None:
        return [(rows, np.arange(rows.num_rows)) for rows in snapshot.fragments]
    found = ((rows, condition.positions(rows)) for rows in snapshot.fragments)
    return [(rows, positions) for rows, positions in found if len(positions)]


def remove(
    snapshot: Snapshot, chosen: Iterable[tuple[FragmentRows, Positions]], draft: Draft
) -> Removal:
    """Write the deletion files that take the rows out."""
    removal = Removal()
    for rows, positions in chosen:
        number, offsets = rows.fragment.id, rows.offsets(positions)
        removal.num_rows += len(positions)
        removal.affected[number] = offsets
        if not len(offsets):
            removal.updated.append(rows.fragment.message)
            continue
        every = union(rows.deleted, offsets)
        if len(every) == rows.columns.physical_rows:
            removal.removed.append(number)
            continue
        fragment = table_pb2.DataFragment()
        fragment.CopyFrom(rows.fragment.message)
        version = snapshot.manifest.version
        before = fragment.deletion_file.file_type
        file = write_deletions(
            snapshot.store, number, version, every, draft, as_bitmap=before == BITMAP
        )
        fragment.deletion_file.CopyFrom(file)
        removal.updated.append(fragment)
    return removal

"""Optimization: small fragments joined, deleted rows left out (face).

Has the names of pylance's `DatasetOptimizer` and `lance.optimize`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lanceref.edit.compaction import (
    BATCH_ROWS,
    TARGET_ROWS,
    CompactionOptions,
    Group,
    plan_compaction,
    write_group,
)
from lanceref.file.versions import version_named
from lanceref.opened import OpenTable
from lanceref.proto import table_pb2
from lanceref.txn.commit import CommitPolicy, commit
from lanceref.txn.making import Staged
from lanceref.txn.transaction import new_transaction

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class CompactionMetrics:
    """What a compaction did; deletion files are files too."""

    fragments_removed: int
    fragments_added: int
    files_removed: int
    files_added: int


class DatasetOptimizer:
    """What makes a dataset faster without changing what it holds."""

    def __init__(self, table: OpenTable) -> None:
        self._table = table

    def compact_files(
        self,
        *,
        target_rows_per_fragment: int | None = None,
        materialize_deletions: bool | None = None,
        materialize_deletions_threshold: float | None = None,
        batch_size: int | None = None,
        max_source_fragments: int | None = None,
        excluded_fragment_ids: Sequence[int] | None = None,
        data_storage_version: str | None = None,
        max_rows_per_group: int | None = None,
        num_threads: int | None = None,
    ) -> CompactionMetrics:
        """Write small fragments together, and those with many deleted rows without them.

        `max_rows_per_group` and `num_threads` are about how another implementation goes about it.
        Raises CommitConflict.
        """
        options = CompactionOptions(
            TARGET_ROWS if target_rows_per_fragment is None else target_rows_per_fragment,
            materialize_deletions is not False,
            0.1 if materialize_deletions_threshold is None else materialize_deletions_threshold,
            BATCH_ROWS if batch_size is None else batch_size,
            None if data_storage_version is None else version_named(data_storage_version),
            frozenset(excluded_fragment_ids or ()),
            max_source_fragments,
        )
        snapshot = self._table._snapshot
        groups = plan_compaction(snapshot, options)
        if not groups:
            return CompactionMetrics(0, 0, 0, 0)
        written = [(group, write_group(snapshot, group, options)) for group in groups]
        self._commit(written)
        old = [rows.fragment.message for group in groups for rows in group]
        new = [fragment for _, fragments in written for fragment in fragments]
        return CompactionMetrics(
            len(old),
            len(new),
            sum(len(one.files) + one.HasField("deletion_file") for one in old),
            sum(len(one.files) for one in new),
        )

    def _commit(self, written: list[tuple[Group, list[table_pb2.DataFragment]]]) -> None:
        """Reserve ids for the new fragments by a version of its own, then put them in place."""
        table, snapshot = self._table, self._table._snapshot
        new = [fragment for _, fragments in written for fragment in fragments]
        reservation = new_transaction(table.version)
        reservation.reserve_fragments.num_fragments = len(new)
        version = commit(snapshot.store, Staged(reservation), CommitPolicy(), table._ctx)
        reserved = table.at_version(version).manifest.message
        for number, fragment in enumerate(new):
            fragment.id = reserved.max_fragment_id - len(new) + 1 + number
        transaction = new_transaction(table.version)
        for group, fragments in written:
            transaction.rewrite.groups.add(
                old_fragments=[rows.fragment.message for rows in group], new_fragments=fragments
            )
        table._commit(Staged(transaction))

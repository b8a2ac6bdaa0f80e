"""Distributed table operations: many processes rewrite fragments, with one commit.

Workers write files and return fragments, which only the commit adds to the table.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Unpack

from lanceref.core.errors import DataRefused
from pylanceref.dataset import LanceDataset, dataset
from pylanceref.metadata import FragmentMetadata
from pylanceref.operation import LanceOperation
from pylanceref.optimize import (
    Compaction,
    CompactionMetrics,
    CompactionOptions,
    CompactionTask,
    RewriteResult,
)
from pylanceref.schema import LanceSchema

from lanceref_spark.jobs import Executor


@dataclass(frozen=True, slots=True)
class Table:
    """A version of a table, which any process can open."""

    uri: str
    version: int
    storage_options: dict[str, str] | None = field(repr=False, hash=False)

    def open(self) -> LanceDataset:
        """Open the version."""
        return dataset(self.uri, version=self.version, storage_options=self.storage_options)


def compact(
    executor: Executor,
    uri: str | os.PathLike[str],
    *,
    storage_options: dict[str, str] | None = None,
    **options: Unpack[CompactionOptions],
) -> CompactionMetrics:
    """Compact a table as `optimize.compact_files` does, with a job for each group of fragments.

    Raises CommitConflict.
    """
    table = dataset(uri, storage_options=storage_options)
    plan = Compaction.plan(table, options)
    shared = Table(table.uri, table.version, storage_options)
    texts = executor.map(run_compaction, [task.json() for task in plan.tasks], shared)
    return Compaction.commit(table, [RewriteResult.from_json(text) for text in texts], options)


def run_compaction(text: str, table: Table) -> str:
    """Rewrite the fragments of one compaction task in any process."""
    return CompactionTask.from_json(text).execute(table.open()).json()


@dataclass(frozen=True, slots=True)
class ComputedColumns:
    """New columns with their SQL expressions, and the table."""

    table: Table
    columns: Mapping[str, str]


def add_columns(
    executor: Executor,
    uri: str | os.PathLike[str],
    columns: Mapping[str, str],
    *,
    storage_options: dict[str, str] | None = None,
) -> LanceDataset:
    """Add columns computed in SQL, with a job for each fragment; return the new version.

    Raises DataRefused for a table without fragments, CommitConflict after concurrent appends.
    """
    table = dataset(uri, storage_options=storage_options)
    ids = [one.fragment_id for one in table.get_fragments()]
    if not ids:
        raise DataRefused(f"{table.uri} has no fragments to compute columns for")
    shared = ComputedColumns(Table(table.uri, table.version, storage_options), columns)
    results = list(executor.map(run_columns, ids, shared))
    operation = LanceOperation.Merge([fragment for fragment, _ in results], results[0][1])
    committed: LanceDataset = LanceDataset.commit(
        table.uri, operation, read_version=table.version, storage_options=storage_options
    )
    return committed


def run_columns(fragment_id: int, work: ComputedColumns) -> tuple[FragmentMetadata, LanceSchema]:
    """Write the new columns of one fragment in any process."""
    fragment = work.table.open().get_fragment(fragment_id)
    assert fragment is not None
    return fragment.merge_columns(dict(work.columns))

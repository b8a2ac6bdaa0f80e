"""Distributed index build: many processes build segments, one commit makes them an index.

The fragments of one version are distributed over shards. Each worker builds one segment of the
fragments of its shard, with its own uuid; groups of segments can be merged in parallel; one commit
adds the remaining ones as one index. A shared model of a vector index, such as centroids and
codebook, is among the parameters, and is sent once to each worker; otherwise each segment has a
model of its own.

Segments cover the fragments of their version. After a concurrent compaction the commit is refused,
and the segments are built again from the latest version, since the old ones would miss rows. Files
that are not committed remain unreferenced until a cleanup removes them.

Clauses: L.index.segment.disjoint
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from lanceref.core.errors import CommitConflictError, IndexRefused
from lanceref.operations.index_build import finish_entry, remove_staged
from pylanceref.dataset import LanceDataset, dataset
from pylanceref.indices import IndexConfig
from pylanceref.operation import Index
from pylanceref.transactions import index_message, index_of

from lanceref_spark.distributed_table import Table
from lanceref_spark.jobs import Executor, spread

if TYPE_CHECKING:
    from lanceref.index.vector.parameters import VectorParameters

ROUNDS = 3
"""Most attempts to build an index of a table with concurrent compactions."""


@dataclass(frozen=True, slots=True)
class Build:
    """Common parameters of all segments of a build."""

    table: Table
    column: str
    index_type: str | IndexConfig
    name: str
    parameters: Mapping[str, Any]


def build_index(
    executor: Executor,
    uri: str | os.PathLike[str],
    column: str,
    index_type: str | IndexConfig,
    name: str | None = None,
    *,
    shards: int | Sequence[Sequence[int]] = 8,
    merged: int | Sequence[Sequence[int]] | None = None,
    shared_model: bool = False,
    seed: int = 0,
    storage_options: dict[str, str] | None = None,
    **parameters: object,
) -> LanceDataset:
    """Build an index over a whole table and commit it; return the new version.

    `shards` is the number of segments, or the fragment ids of each; `merged` is the number of
    segments after merging, or the indices of the shards of each; None merges none. A vector index
    has a model for each segment, or with `shared_model` one, determined by `seed`. Other parameters
    are those of `create_index_uncommitted`. Raises IndexRefused for fragments in no shard or in
    several, and for a number below 1, CommitConflict if every attempt had a concurrent compaction.
    """
    for argument, number in (("shards", shards), ("merged", merged)):
        if isinstance(number, int) and number < 1:
            raise IndexRefused(f"{argument} must be at least 1, got {number}")
    table = dataset(uri, storage_options=storage_options)
    for remaining in reversed(range(ROUNDS)):
        version = Table(table.uri, table.version, storage_options)
        build = Build(version, column, index_type, name or f"{column}_idx", parameters)
        groups = _shards(table, shards)
        if shared_model:
            build = with_shared_model(executor, build, groups, seed)
        segments = build_segments(executor, build, groups, merged)
        try:
            return table.commit_existing_index_segments(build.name, column, segments)
        except CommitConflictError:
            if not remaining:
                raise
            table = dataset(uri, storage_options=storage_options)
            shards = shards if isinstance(shards, int) else len(shards)
    raise AssertionError("the last round returns or raises")


def with_shared_model(
    executor: Executor, build: Build, shards: Sequence[tuple[int, ...]], seed: int
) -> Build:
    """Return a build of a vector index with a model that is trained on all shards."""
    from pylanceref.index_request import vector_request

    from lanceref_spark.distributed_model import Sampling, train_model

    schema, arguments = build.table.open()._snapshot.manifest.schema, dict(build.parameters)
    metric = str(arguments.pop("metric", "L2"))
    request = vector_request(schema, build.column, str(build.index_type), metric, arguments)
    parameters = cast("VectorParameters", request.parameters["vector"])
    sampling = Sampling(build.table, request.column, parameters.metric, 0, seed)
    model = train_model(executor, sampling, shards, parameters)
    count = len(model["ivf_centroids"])
    return replace(build, parameters={**build.parameters, "num_partitions": count, **model})


def build_segments(
    executor: Executor,
    build: Build,
    shards: Sequence[tuple[int, ...]],
    merged: int | Sequence[Sequence[int]] | None = None,
) -> list[Index]:
    """Build a segment for each shard, and merge groups of them, without a commit."""
    segments = list(executor.map(build_shard, shards, build))
    if merged is None:
        return segments
    groups = _groups([len(shard) for shard in shards], merged)
    jobs = [tuple(segments[number] for number in group) for group in groups]
    return list(executor.map(merge_group, jobs, build))


def build_shard(fragments: tuple[int, ...], build: Build) -> Index:
    """Build and finish one segment in any process, so that the commit only writes entries.

    A killed worker leaves files with the uuid of its segment.
    """
    table = build.table.open()
    index = table.create_index_uncommitted(
        build.column,
        build.index_type,
        build.name,
        fragment_ids=list(fragments),
        replace=True,
        **build.parameters,
    )
    staged = index_message(index)
    finished = index_of(finish_entry(table._snapshot, staged))
    remove_staged(table._snapshot, staged)
    return replace(finished, fragment_ids=sorted(index.fragment_ids))


def merge_group(segments: tuple[Index, ...], build: Build) -> Index:
    """Merge segments in any process; a single one is returned unchanged."""
    if len(segments) == 1:
        return segments[0]
    index = build.table.open().merge_existing_index_segments(list(segments))
    return replace(index, fragment_ids=sorted(index.fragment_ids))


def _shards(table: LanceDataset, requested: int | Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    rows = {one.fragment_id: one.metadata.num_rows for one in table.get_fragments()}
    if isinstance(requested, int):
        return [tuple(group) for group in spread(rows.items(), requested)]
    fragments = sorted(number for group in requested for number in group)
    if fragments != sorted(rows):
        raise IndexRefused(
            f"the shards have the fragments {fragments}, the table has {sorted(rows)}: "
            "each must be in one shard"
        )
    return [tuple(group) for group in requested]


def _groups(sizes: Sequence[int], requested: int | Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the shards of each merged segment. Raises IndexRefused."""
    if isinstance(requested, int):
        return spread(enumerate(sizes), requested)
    if sorted(number for group in requested for number in group) != list(range(len(sizes))):
        raise IndexRefused(f"each of {len(sizes)} shards must be in one group")
    return [list(group) for group in requested]

"""Distributed index build: segments by many processes, one index by one commit.

The table is opened at one version and its fragments are spread over shards. Each worker builds one
segment over the fragments of its shard, under a uuid of its own; groups of segments that the caller
names may be merged, side by side; one commit makes what is left one index. What all segments of a
vector index share, such as centroids and codebook, is given among the parameters and sent once to
each worker; without it each segment has a model of its own.

A segment is about the fragments of its version. When a compaction comes between, the commit is
refused and the segments are built again from the latest version: the old ones would miss rows.
What is not committed stays as files that no version names, until a cleanup takes them away.

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
"""How often an index is built before a table that is always compacted wins."""


@dataclass(frozen=True, slots=True)
class Build:
    """What all segments of a build have in common."""

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

    `shards` are a number of segments, or the fragment ids of each; `merged` are a number of
    segments to be left, or the shards of each by their place; None leaves them as they are. A
    vector index has a model for each segment or, if it is to be shared, one that `seed` decides
    on. Other parameters are those of `create_index_uncommitted`. Raises IndexRefused for fragments
    that are in no shard or in two and for a number below 1, CommitConflict when every round met a
    compaction.
    """
    for what, number in (("shards", shards), ("merged", merged)):
        if isinstance(number, int) and number < 1:
            raise IndexRefused(f"{what} must be at least 1, got {number}")
    table = dataset(uri, storage_options=storage_options)
    for left in reversed(range(ROUNDS)):
        own = Table(table.uri, table.version, storage_options)
        build = Build(own, column, index_type, name or f"{column}_idx", parameters)
        groups = _shards(table, shards)
        if shared_model:
            build = with_model(executor, build, groups, seed)
        segments = built_segments(executor, build, groups, merged)
        try:
            return table.commit_existing_index_segments(build.name, column, segments)
        except CommitConflictError:
            if not left:
                raise
            table = dataset(uri, storage_options=storage_options)
            shards = shards if isinstance(shards, int) else len(shards)
    raise AssertionError("the last round returns or raises")


def with_model(
    executor: Executor, build: Build, shards: Sequence[tuple[int, ...]], seed: int
) -> Build:
    """Return a build of a vector index whose segments share a model, trained over all shards."""
    from pylanceref.index_request import vector_request

    from lanceref_spark.distributed_model import Sampling, train_model

    schema, given = build.table.opened()._snapshot.manifest.schema, dict(build.parameters)
    metric = str(given.pop("metric", "L2"))
    request = vector_request(schema, build.column, str(build.index_type), metric, given)
    parameters = cast("VectorParameters", request.parameters["vector"])
    sampling = Sampling(build.table, request.column, parameters.metric, 0, seed)
    model = train_model(executor, sampling, shards, parameters)
    count = len(model["ivf_centroids"])
    return replace(build, parameters={**build.parameters, "num_partitions": count, **model})


def built_segments(
    executor: Executor,
    build: Build,
    shards: Sequence[tuple[int, ...]],
    merged: int | Sequence[Sequence[int]] | None = None,
) -> list[Index]:
    """Build a segment for each shard, and merge groups of them; commit nothing."""
    segments = list(executor.map(build_shard, shards, build))
    if merged is None:
        return segments
    groups = _groups([len(shard) for shard in shards], merged)
    jobs = [tuple(segments[number] for number in group) for group in groups]
    return list(executor.map(merge_group, jobs, build))


def build_shard(fragments: tuple[int, ...], build: Build) -> Index:
    """Build and finish one segment, anywhere, so that the commit has only entries to write.

    A worker that is lost leaves files under a uuid of its own.
    """
    table = build.table.opened()
    made = table.create_index_uncommitted(
        build.column,
        build.index_type,
        build.name,
        fragment_ids=list(fragments),
        replace=True,
        **build.parameters,
    )
    staged = index_message(made)
    done = index_of(finish_entry(table._snapshot, staged))
    remove_staged(table._snapshot, staged)
    return replace(done, fragment_ids=sorted(made.fragment_ids))


def merge_group(segments: tuple[Index, ...], build: Build) -> Index:
    """Merge segments, anywhere; one alone stays what it is."""
    if len(segments) == 1:
        return segments[0]
    made = build.table.opened().merge_existing_index_segments(list(segments))
    return replace(made, fragment_ids=sorted(made.fragment_ids))


def _shards(table: LanceDataset, wanted: int | Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    rows = {one.fragment_id: one.metadata.num_rows for one in table.get_fragments()}
    if isinstance(wanted, int):
        return [tuple(group) for group in spread(rows.items(), wanted)]
    given = [number for group in wanted for number in group]
    if sorted(given) != sorted(rows):
        raise IndexRefused(
            f"the shards hold the fragments {sorted(given)}, the table has {sorted(rows)}: "
            "each must be in one shard"
        )
    return [tuple(group) for group in wanted]


def _groups(sizes: Sequence[int], wanted: int | Sequence[Sequence[int]]) -> list[list[int]]:
    """Return which shards each segment is merged from. Raises IndexRefused."""
    if isinstance(wanted, int):
        return spread(enumerate(sizes), wanted)
    if sorted(number for group in wanted for number in group) != list(range(len(sizes))):
        raise IndexRefused(f"each of {len(sizes)} shards must be in one group")
    return [list(group) for group in wanted]

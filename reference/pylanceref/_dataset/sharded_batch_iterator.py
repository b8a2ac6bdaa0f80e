"""Sharded batches: the share of one of many processes in a table (face).

Has the names of pylance's deprecated class; `pylanceref.sampler` has what came after it.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from pylanceref.dataset import LanceDataset, dataset
from pylanceref.sampler import ShardedFragmentSampler, batches_at, shard_starts

__all__ = ["ShardedBatchIterator"]


class ShardedBatchIterator:
    """The batches of one rank of `world_size`: of its fragments, or of its turns."""

    def __init__(
        self,
        data: str | os.PathLike[str] | LanceDataset,
        rank: int,
        world_size: int,
        *,
        columns: Sequence[str] | Mapping[str, str] | None = None,
        batch_size: int = 10240,
        granularity: str = "fragment",
        batch_readahead: int = 8,
        with_row_id: bool = False,
    ) -> None:
        warnings.warn(
            "ShardedBatchIterator is deprecated, use :class:`Sampler` instead", stacklevel=2
        )
        self._dataset = data if isinstance(data, LanceDataset) else dataset(data)
        self._rank = rank
        self._world_size = world_size
        self._columns = columns
        self._batch_size = batch_size
        self._granularity = granularity
        self._with_row_id = with_row_id

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        if self._granularity == "fragment":
            sampler = ShardedFragmentSampler(self._rank, self._world_size)
            return sampler(
                self._dataset,
                batch_size=self._batch_size,
                columns=self._columns,
                with_row_id=self._with_row_id,
            )
        if self._granularity != "batch":
            raise ValueError(f"Unrecognized granularity: {self._granularity}")
        if self._with_row_id:
            raise NotImplementedError("with_row_id is not supported for batch sharding yet")
        table, size = self._dataset, self._batch_size
        starts = shard_starts(len(table), self._rank, self._world_size, size)
        return batches_at(table, starts, size, self._columns)

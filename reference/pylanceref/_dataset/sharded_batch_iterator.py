"""Sharded batches: the share of one of many processes in a table, deprecated in pylance (face)."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import pyarrow as pa

from pylanceref.dataset import LanceDataset, dataset
from pylanceref.sampler import ShardedBatchSampler, ShardedFragmentSampler

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
        if granularity not in ("fragment", "batch"):
            raise ValueError(f"Unrecognized granularity: {granularity}")
        if granularity == "batch" and with_row_id:
            raise NotImplementedError("with_row_id is not supported for batch sharding yet")
        self._dataset = data if isinstance(data, LanceDataset) else dataset(data)
        kind = ShardedFragmentSampler if granularity == "fragment" else ShardedBatchSampler
        rows = {"batch_size": batch_size, "columns": columns, "with_row_id": with_row_id or None}
        self._batches = partial(kind(rank, world_size), self._dataset, **rows)  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self._batches()

"""Sampling: rows that are drawn from a table, and the share of each of many processes (face).

With the same seed every rank, and pylance, comes to the same order.
"""

from __future__ import annotations

import os
import random
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import pyarrow as pa
from lanceref.file.schema_view import whole_rows

from pylanceref.dataset import LanceDataset
from pylanceref.dataset import dataset as open_dataset
from pylanceref.scan_arguments import Columns
from pylanceref.scanner import resize_batches

T = TypeVar("T")

WINDOW = 256
"""Batches among which the next one is drawn where the rows are not counted beforehand."""


def maybe_sample(
    dataset: str | os.PathLike[str] | LanceDataset,
    n: int,
    columns: Sequence[str] | Mapping[str, str] | str,
    batch_size: int = 10240,
    max_takes: int = 2048,
) -> Iterator[pa.RecordBatch]:
    """Yield `n` rows drawn at random: alone when `max_takes` are enough, else in so many runs."""
    if not isinstance(dataset, LanceDataset):
        dataset = open_dataset(dataset)
    wanted = [columns] if isinstance(columns, str) else columns
    rng = np.random.default_rng()
    num_rows = len(dataset)
    if n >= num_rows:
        yield from dataset.to_batches(wanted, batch_size=batch_size)
        return
    if n > max_takes:
        shares = np.linspace(0, num_rows, max_takes + 1).astype(np.int64)
        sizes = np.diff(np.linspace(0, n, max_takes + 1).astype(np.int64))
        firsts = shares[:-1] + rng.integers(0, np.maximum(np.diff(shares) - sizes, 0) + 1)
        runs = zip(firsts, sizes, strict=True)
        chosen = np.concatenate([np.arange(first, first + size) for first, size in runs])
    else:
        chosen = rng.choice(num_rows, n, replace=False)
    for start in range(0, len(chosen), batch_size):
        taken = dataset.take(chosen[start : start + batch_size], wanted)
        yield from taken.combine_chunks().to_batches()


@dataclass
class _Rank:
    """One of `world_size` processes that share a table; a seed says in which random order."""

    rank: int
    world_size: int
    randomize: bool = False
    seed: int = 0
    _epoch: int = field(default=0, init=False)

    def set_epoch(self, epoch: int) -> None:
        """Say how often the table was gone through before: another order."""
        self._epoch = epoch

    def _mixed(self, items: list[T], epoch: int = 0) -> list[T]:
        """Return items in the order of the seed; as they are when none is asked for."""
        if self.randomize:
            random.Random(self.seed + epoch).shuffle(items)
        return items


class ShardedFragmentSampler(_Rank):
    """Every `world_size`-th fragment, from the `rank`-th on."""

    def __call__(self, dataset: LanceDataset, **arguments: object) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the fragments of this rank; `arguments` are those of a scan."""
        own = self._mixed(dataset.get_fragments())[self.rank :: self.world_size]
        yield from dataset.scanner(fragments=own, **arguments).to_batches()  # type: ignore[arg-type]


class ShardedBatchSampler(_Rank):
    """Every `world_size`-th batch from the `rank`-th on; of filtered rows, as many single rows."""

    def __call__(
        self,
        dataset: LanceDataset,
        *args: object,
        batch_size: int = 128,
        columns: Columns = None,
        filter: str | None = None,
        batch_readahead: int = 16,
        with_row_id: bool | None = None,
        **kwargs: object,
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of this rank; row ids are not among them."""
        if filter is not None:
            return self._filtered(dataset, batch_size, columns, filter)
        if with_row_id is not None:
            warnings.warn("with_row_id is not supported for ShardedBatchSampler", stacklevel=2)
        step = self.world_size * batch_size
        starts = self._mixed(list(range(self.rank * batch_size, len(dataset), step)))
        parts = (dataset.to_table(columns, limit=batch_size, offset=start) for start in starts)
        return (batch for part in parts for batch in part.combine_chunks().to_batches())

    def _filtered(
        self, dataset: LanceDataset, batch_size: int, columns: Columns, filter: str
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of this rank among those that pass; drawn out of `WINDOW` batches."""
        rows = _every(dataset.to_batches(columns, filter), self.rank, self.world_size)
        batches = resize_batches(rows, batch_size, None, strict=True)
        if not self.randomize:
            yield from batches
            return
        rng = random.Random(self.seed + self._epoch)
        waiting: list[pa.RecordBatch] = []
        for batch in batches:
            waiting.append(batch)
            if len(waiting) > WINDOW:
                yield waiting.pop(rng.randrange(len(waiting)))
        rng.shuffle(waiting)
        yield from waiting


@dataclass
class ShardedFixedBatchSampler(ShardedBatchSampler):
    """Row numbers in batches: each rank has a run of the rows of its own, cut in order."""

    batch_size: int = 0
    total_num_rows: int = 0

    def __post_init__(self) -> None:
        if self.total_num_rows and not self.batch_size:
            raise ZeroDivisionError("batches of 0 rows never hold all of them")

    @property
    def _per_rank(self) -> int:
        """Rows of each rank but the last ones."""
        return -(-self.total_num_rows // self.world_size)

    def __len__(self) -> int:
        return -(-self._per_rank // self.batch_size) if self.batch_size else 0

    def __iter__(self) -> Iterator[list[int]]:
        start = self.rank * self._per_rank
        end = min(start + self._per_rank, self.total_num_rows)
        cuts = range(start, end, self.batch_size or 1)
        batches = [list(range(cut, min(cut + self.batch_size, end))) for cut in cuts]
        yield from self._mixed(batches, self._epoch)


def _every(batches: Iterable[pa.RecordBatch], first: int, step: int) -> Iterator[pa.RecordBatch]:
    """Yield every `step`-th row from the row `first` on."""
    for batch in batches:
        taken = np.arange(first, batch.num_rows, step)
        first += len(taken) * step - batch.num_rows
        if len(taken):
            yield whole_rows(batch).take(pa.array(taken))

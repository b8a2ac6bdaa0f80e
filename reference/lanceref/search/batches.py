"""Batches of a query: cut again to the size asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa


def recut(
    batches: Iterable[pa.RecordBatch], rows: int, size_bytes: int | None, *, strict: bool
) -> Iterator[pa.RecordBatch]:
    """Yield batches of about `size_bytes`, or when `strict` of exactly `rows` but for the last."""
    if strict:
        yield from _exact(batches, rows)
        return
    for batch in batches:
        if size_bytes and batch.nbytes > size_bytes and batch.num_rows > 1:
            step = max(1, batch.num_rows * size_bytes // batch.nbytes)
            for start in range(0, batch.num_rows, step):
                yield batch.slice(start, step)
        else:
            yield batch


def _exact(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        while sum(one.num_rows for one in held) >= rows:
            table = pa.Table.from_batches(held)
            yield table.slice(0, rows).combine_chunks().to_batches()[0]
            held = table.slice(rows).to_batches()
    if any(one.num_rows for one in held):
        yield from pa.Table.from_batches(held).combine_chunks().to_batches()

"""Tables of the scan benchmark.

Each function takes the decoded size in MiB, and returns a table of one column `c`, from a fixed
seed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

SEED = 20_240_601
"""Seed of every table."""


def _rng() -> np.random.Generator:
    return np.random.default_rng(SEED)


def _table(array: pa.Array) -> pa.Table:
    return pa.table({"c": array})


def i32seq(mib: int) -> pa.Table:
    """int32, 0..N-1."""
    return _table(pa.array(np.arange(mib * 2**18, dtype=np.int32)))


def i32small(mib: int) -> pa.Table:
    """int32, uniform below 1 000: ten bits."""
    return _table(pa.array(_rng().integers(0, 1000, mib * 2**18, dtype=np.int32)))


def i64rand(mib: int) -> pa.Table:
    """int64 over the full range: incompressible."""
    return _table(pa.array(_rng().integers(-(2**62), 2**62, mib * 2**17, dtype=np.int64)))


def f32(mib: int) -> pa.Table:
    """float32, standard normal."""
    return _table(pa.array(_rng().standard_normal(mib * 2**18, dtype=np.float32)))


def fsl128(mib: int) -> pa.Table:
    """Vectors of 128 float32."""
    flat = pa.array(_rng().standard_normal(mib * 2**18, dtype=np.float32))
    return _table(pa.FixedSizeListArray.from_arrays(flat, 128))


def boolean(mib: int) -> pa.Table:
    """Booleans, half of them true; as many rows as the int32 tables."""
    return _table(pa.array(_rng().random(mib * 2**18) < 0.5))


def strlow(mib: int) -> pa.Table:
    """Strings of 13 bytes, 100 distinct."""
    pool = pa.array([f"category-{i:04d}" for i in range(100)])
    return _table(pool.take(pa.array(_rng().integers(0, 100, mib * 2**20 // 21))))


def strhigh(mib: int) -> pa.Table:
    """Strings with a common prefix and suffix around a random number."""
    numbers = _rng().integers(0, 10**9, mib * 2**20 // 38)
    return _table(pa.array([f"user/{n}@example.com/item" for n in numbers]))


def binlong(mib: int) -> pa.Table:
    """Random binary of 4 000 bytes."""
    rows = mib * 2**20 // 4004
    data = pa.py_buffer(_rng().bytes(rows * 4000))
    offsets = pa.py_buffer(np.arange(0, rows * 4000 + 1, 4000, dtype=np.int32))
    return _table(pa.Array.from_buffers(pa.binary(), rows, [None, offsets, data]))


def listi32(mib: int) -> pa.Table:
    """Lists of 0 to 10 int32 below 10**6."""
    rows = mib * 2**20 // 24
    rng = _rng()
    offsets = np.zeros(rows + 1, np.int32)
    np.cumsum(rng.integers(0, 11, rows), out=offsets[1:])
    items = rng.integers(0, 10**6, int(offsets[-1]), dtype=np.int32)
    return _table(pa.ListArray.from_arrays(pa.array(offsets), pa.array(items)))


def structnull(mib: int) -> pa.Table:
    """Structs of int32 (20 % null) and float64; 10 % null structs."""
    rows = mib * 2**20 // 12
    rng = _rng()
    children = [
        pa.array(rng.integers(0, 10**6, rows, dtype=np.int32), mask=rng.random(rows) < 0.2),
        pa.array(rng.standard_normal(rows)),
    ]
    mask = pa.array(rng.random(rows) < 0.1)
    return _table(pa.StructArray.from_arrays(children, names=["x", "y"], mask=mask))


TABLES: dict[str, Callable[[int], pa.Table]] = {
    "i32seq": i32seq,
    "i32small": i32small,
    "i64rand": i64rand,
    "f32": f32,
    "fsl128": fsl128,
    "bool": boolean,
    "strlow": strlow,
    "strhigh": strhigh,
    "binlong": binlong,
    "listi32": listi32,
    "structnull": structnull,
}
"""Functions by name of the table."""

REFUSED = {("structnull", "2.0")}
"""Tables that the oracle refuses to write: 2.0 has no struct validity."""

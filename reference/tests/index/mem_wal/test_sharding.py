"""Shards of rows."""

from __future__ import annotations

import datetime
import math
import random

import pyarrow as pa
import pytest
from lanceref.core.errors import OperationRefused
from lanceref.index.mem_wal.sharding import buckets, hash_text

DAY = datetime.date(2020, 1, 1)
SOURCE = random.Random(3)


@pytest.mark.parametrize(
    ("values", "type_", "expected"),
    [
        ([1, 2, 3, None], pa.int32(), [2, 7, 1, 0]),
        ([1, 2], pa.int8(), [2, 7]),
        ([1, 2], pa.uint8(), [2, 7]),
        ([1, 2**31 + 5], pa.uint32(), [2, 6]),
        ([1, -1, 2**40], pa.int64(), [4, 0, 2]),
        ([1, 2**63 + 1], pa.uint64(), [4, 2]),
        (["a", "b", "", "abcde", "é日", None], pa.string(), [1, 5, 0, 4, 5, 0]),
        (["a", "abcde"], pa.large_string(), [1, 4]),
        ([True, False, None], pa.bool_(), [2, 6, 0]),
        ([1.25, 0.0, -0.0, math.nan], pa.float32(), [0, 6, 6, 3]),
        ([1.25, 0.0, -0.0, math.nan], pa.float64(), [0, 4, 4, 5]),
        ([DAY], pa.date32(), [7]),
        ([5], pa.timestamp("us"), [7]),
        ([5], pa.time32("s"), [6]),
        ([5], pa.time64("us"), [7]),
    ],
)
def test_worked_buckets(values, type_, expected):
    """Of 8, as the official writer computes them."""
    assert buckets(pa.array(values, type_), 8).tolist() == expected


def test_a_worked_hash():
    """Of no bytes it is 0; each byte after the words is a word with its sign."""
    assert hash_text(b"") == 0
    assert hash_text(b"abcd") != hash_text(b"abc")
    assert hash_text(b"\xff") != hash_text(b"\x7f")


@pytest.mark.parametrize("type_", [pa.binary(), pa.float16(), pa.date64(), pa.decimal128(10, 2)])
def test_other_types_have_no_hash(type_):
    """Nor has what is nested."""
    with pytest.raises(OperationRefused, match="Unsupported bucket sharding column type"):
        buckets(pa.nulls(2, type_), 8)


@pytest.mark.oracle
def test_buckets_are_those_of_the_oracle(tmp_path):
    """For random values of every type that has a hash."""
    import lance
    import lance.mem_wal

    def some(low: int, high: int) -> list[int | None]:
        return [SOURCE.choice([None, SOURCE.randrange(low, high)]) for _ in range(80)]

    texts = ["".join(SOURCE.choices("ab日é\x00z", k=SOURCE.randint(0, 11))) for _ in range(80)]
    floats = [0.0, -0.0, math.nan, math.inf, *(SOURCE.gauss(0, 1e9) for _ in range(80))]
    arrays = [
        pa.array(some(-128, 128), pa.int8()),
        pa.array(some(-(2**31), 2**31), pa.int32()),
        pa.array(some(0, 2**32), pa.uint32()),
        pa.array(some(-(2**63), 2**63), pa.int64()),
        pa.array(some(0, 2**64), pa.uint64()),
        pa.array(some(0, 80_000), pa.int32()).cast(pa.date32()),
        pa.array(some(0, 10**12), pa.int64()).cast(pa.timestamp("ns")),
        pa.array(floats, pa.float32()),
        pa.array(floats, pa.float64()),
        pa.array(texts),
    ]
    field = lance.mem_wal.ShardingField("b", [0], "bucket", None, "int32", {"num_buckets": "97"})
    for number, array in enumerate(arrays):
        table = pa.table({"c": array})
        dataset = lance.write_dataset(table, str(tmp_path / f"{number}"))
        found = lance.mem_wal.evaluate_sharding_spec(
            table.to_batches()[0],
            lance.mem_wal.ShardingSpec(1, [field]),
            dataset.lance_schema,
        )
        assert buckets(array, 97).tolist() == found["b"].to_pylist(), array.type

"""2.0 files written by the oracle, one for each row of the inventory that 2.0 can have."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pyarrow as pa

N = 400


def _with_nulls(values: list[object]) -> list[object]:
    return [None if i % 3 == 1 else value for i, value in enumerate(values)]


def _field(array: pa.Array, **metadata: str) -> pa.Table:

    keys = {k if k == "packed" else f"lance-encoding:{k}": v for k, v in metadata.items()}
    return pa.Table.from_arrays(
        [array], schema=pa.schema([pa.field("c", array.type, metadata=keys)])
    )


def _packed() -> pa.Table:
    fields = [
        pa.field("x", pa.int16(), nullable=False),
        pa.field("v", pa.list_(pa.float32(), 3), nullable=False),
        pa.field("u", pa.uint8(), nullable=False),
    ]
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(range(3 * N), pa.float32()), 3)
    arrays = [
        pa.array(range(N), pa.int16()),
        vectors,
        pa.array([i % 255 for i in range(N)], pa.uint8()),
    ]
    return _field(pa.StructArray.from_arrays(arrays, fields=fields), packed="true")


def _null_lists_with_items() -> pa.Table:
    offsets = pa.array([0, 1, 4, 5], pa.int32())
    validity = pa.py_buffer(b"\x05")
    items = pa.array(range(5), pa.int8())
    array = pa.Array.from_buffers(
        pa.list_(pa.int8()), 3, [validity, offsets.buffers()[1]], children=[items]
    )
    return _field(array)


STRINGS = _with_nulls([f"string number {i}" for i in range(N)])
LISTS = _with_nulls([list(range(i % 4)) for i in range(N)])

INVENTORY: dict[str, Callable[[], pa.Table]] = {
    "no_nulls": lambda: _field(pa.array(range(N), pa.int32())),
    "some_nulls": lambda: _field(pa.array(_with_nulls(list(range(N))), pa.int64())),
    "all_nulls": lambda: _field(pa.nulls(N, pa.float32())),
    "null type": lambda: _field(pa.nulls(N)),
    "no rows": lambda: _field(pa.array([], pa.list_(pa.struct([("a", pa.int8())])))),
    "bool": lambda: _field(pa.array(_with_nulls([i % 5 == 0 for i in range(N)]))),
    "bool slice": lambda: _field(pa.array([i % 5 == 0 for i in range(N)]).slice(13, 119)),
    "float16": lambda: _field(pa.array([float(i) for i in range(N)], pa.float16())),
    "decimal128": lambda: _field(pa.array([Decimal(i) for i in range(N)], pa.decimal128(20, 2))),
    "decimal256": lambda: _field(pa.array([Decimal(-i) for i in range(N)], pa.decimal256(50, 2))),
    "timestamp": lambda: _field(pa.array(range(N), pa.timestamp("us", "+05:30"))),
    "fixed size binary": lambda: _field(pa.array([b"%03d" % i for i in range(N)], pa.binary(3))),
    "binary with nulls": lambda: _field(pa.array(STRINGS)),
    "large string": lambda: _field(pa.array(STRINGS, pa.large_string())),
    "auto dictionary": lambda: _field(pa.array(_with_nulls([f"s{i % 5}" for i in range(N)]))),
    "arrow dictionary": lambda: _field(
        pa.array(_with_nulls([f"s{i % 5}" for i in range(N)])).dictionary_encode()
    ),
    "number dictionary": lambda: _field(
        pa.array(_with_nulls([i % 5 for i in range(N)])).dictionary_encode()
    ),
    "list": lambda: _field(pa.array(LISTS)),
    "null lists with items": _null_lists_with_items,
    "list of strings": lambda: _field(pa.array(_with_nulls([["a", None]] * N))),
    "empty lists": lambda: _field(pa.array([[]] * N, pa.large_list(pa.string()))),
    "list of lists": lambda: _field(pa.array([[one, one] for one in LISTS])),
    "list of structs": lambda: _field(pa.array([[{"a": i}] * (i % 3) for i in range(N)])),
    "fixed size list": lambda: _field(
        pa.array(_with_nulls([[i, None, 3] for i in range(N)]), pa.list_(pa.int32(), 3))
    ),
    "fixed size list of lists": lambda: _field(
        pa.array([[[True, None], [False, True]]] * N, pa.list_(pa.list_(pa.bool_(), 2), 2))
    ),
    "struct": lambda: _field(pa.array([{"a": i, "b": {"c": str(i)}} for i in range(N)])),
    "packed struct": _packed,
    "blob": lambda: _field(
        pa.array(_with_nulls([b"x" * (i % 9) for i in range(N)]), pa.large_binary()), blob="true"
    ),
    "zstd": lambda: _field(pa.array(STRINGS), compression="zstd"),
    "lz4": lambda: _field(pa.array(STRINGS), compression="lz4"),
    "fsst off": lambda: _field(pa.array(STRINGS), compression="fsst"),
    "fsst": lambda: _field(
        pa.array([f"https://example.org/{i % 7}/{i}" for i in range(4000)]), compression="fsst"
    ),
}
"""Name of the row -> the table to write."""


def write(table: pa.Table, path: Path, **options: int) -> None:
    """Let the oracle write a 2.0 file, in batches of 100 rows.

    They are slices; of structs they are copies, because the oracle panics on slices of those.
    """
    from lance.file import LanceFileWriter

    with LanceFileWriter(str(path), table.schema, version="2.0", **options) as writer:
        for batch in table.to_batches(max_chunksize=100):
            nested = pa.types.is_struct(batch.column(0).type)
            writer.write_batch(pa.concat_batches([batch, batch.slice(0, 0)]) if nested else batch)

"""Tables of the damage campaign: one per kind of column the reference reads.

Each is small, made from a seed, and chosen so that the file it becomes holds one kind of page:
runs, bit-packed numbers, compressed strings, lists with nulls and so on. `FILES` says which file
version holds which table; its first part is the corpus the oracle was first measured on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
from numpy.random import Generator, default_rng

ROWS = 2000
"""Rows of a table, where the kind does not ask for fewer."""

Made = Callable[[Generator], pa.Array]
"""Makes the one column of a table."""


def _nulls(rng: Generator, rows: int = ROWS) -> np.ndarray:
    return rng.random(rows) < 0.1


def _words(rng: Generator, kinds: int) -> pa.Array:
    return pa.array([f"value-{number:05}" for number in rng.integers(0, kinds, ROWS)])


def _text(rng: Generator, rows: int, length: int) -> list[str]:
    letters = rng.integers(97, 123, (rows, length), dtype=np.uint8)
    return [row.tobytes().decode() for row in letters]


def _lists(rng: Generator) -> pa.Array:
    lengths = rng.integers(0, 5, ROWS)
    rows = [rng.integers(0, 1000, length).tolist() for length in lengths]
    return pa.array(
        [None if n % 11 == 0 else row for n, row in enumerate(rows)], pa.list_(pa.int32())
    )


def _structs(rng: Generator) -> pa.Array:
    fields = [pa.array(rng.integers(0, 1000, ROWS), pa.int32(), mask=_nulls(rng)), _words(rng, 9)]
    return pa.StructArray.from_arrays(fields, ["a", "b"], mask=pa.array(_nulls(rng)))


def _valid_structs(rng: Generator) -> pa.Array:
    return pa.StructArray.from_arrays(_structs(rng).flatten(), ["a", "b"])


def _packed(rng: Generator) -> pa.Array:
    fields = [pa.array(rng.integers(0, 99, ROWS), pa.int32()), pa.array(rng.random(ROWS))]
    return pa.StructArray.from_arrays(fields, ["a", "b"])


def _maps(rng: Generator) -> pa.Array:
    rows = [
        [(f"k{key}", int(key)) for key in range(length)] for length in rng.integers(0, 4, ROWS // 4)
    ]
    return pa.array(rows, pa.map_(pa.utf8(), pa.int32()))


def _vectors(rng: Generator, rows: int = 500) -> pa.Array:
    values = pa.array(rng.random(rows * 16, dtype=np.float32))
    return pa.FixedSizeListArray.from_arrays(values, 16)


def _nested(rng: Generator) -> pa.Array:
    rows = [
        None if n % 13 == 0 else [{"x": int(n), "y": [n % 100] * (n % 3)}] * (n % 4)
        for n in range(300)
    ]
    item = pa.struct([("x", pa.int64()), ("y", pa.list_(pa.int8()))])
    return pa.array(rows, pa.list_(item))


def _dictionary(rng: Generator) -> pa.Array:
    indices = pa.array(rng.integers(0, 20, ROWS), pa.int8(), mask=_nulls(rng))
    return pa.DictionaryArray.from_arrays(indices, pa.array([f"entry {n}" for n in range(20)]))


def _documents(rng: Generator) -> pa.Array:
    rows = [f'{{"n": {n}, "s": "{"x" * (n % 7)}", "l": [1, null, true]}}' for n in range(200)]
    return pa.ExtensionArray.from_storage(pa.json_(), pa.array(rows))


def _long_binary(rng: Generator) -> pa.Array:
    return pa.array([rng.bytes(6000) for _ in range(12)], pa.large_binary())


MAKERS: dict[str, Made] = {
    "int32": lambda rng: pa.array(np.arange(ROWS), pa.int32()),
    "int32-nullable": lambda rng: pa.array(
        rng.integers(0, 10**6, ROWS), pa.int32(), mask=_nulls(rng)
    ),
    "int64-random": lambda rng: pa.array(rng.integers(-(2**63), 2**63 - 1, ROWS)),
    "vectors": _vectors,
    "strings-few": lambda rng: _words(rng, 12),
    "strings-many": lambda rng: pa.array(
        [None if n % 10 == 9 else text for n, text in enumerate(_text(rng, 600, 24))]
    ),
    "strings-zstd": lambda rng: pa.array([f"a rather long value {n % 301}" for n in range(ROWS)]),
    "strings-fsst": lambda rng: pa.array(
        [f"http://example.org/{n * 7919 % 100003}/page?n={n}" for n in range(3000)]
    ),
    "strings-long": lambda rng: pa.array([text * 20 for text in _text(rng, 40, 26)]),
    "lists": _lists,
    "bool": lambda rng: pa.array(rng.random(ROWS) < 0.5, mask=_nulls(rng)),
    "binary-long": _long_binary,
    "struct": _structs,
    "struct-valid": _valid_structs,
    "runs": lambda rng: pa.array(np.repeat(rng.integers(0, 9, ROWS // 50), 50), pa.int64()),
    "dictionary": _dictionary,
    "map": _maps,
    "packed": _packed,
    "floats-split": lambda rng: pa.array(rng.random(ROWS, dtype=np.float32)),
    "fixed-binary": lambda rng: pa.array([rng.bytes(5) for _ in range(400)], pa.binary(5)),
    "decimal": lambda rng: pa.array(
        [int(n) for n in rng.integers(0, 10**9, 500)], pa.decimal128(20, 2)
    ),
    "nested": _nested,
    "vectors-nullable": lambda rng: pa.array(
        [None if n % 7 == 0 else [n, None, n + 2] for n in range(500)], pa.list_(pa.int16(), 3)
    ),
    "nulls": lambda rng: pa.nulls(500, pa.int32()),
    "constant": lambda rng: pa.array([77] * ROWS, pa.int64()),
    "json": _documents,
    "blob": _long_binary,
}
"""How the column of each table is made."""

METADATA: dict[str, dict[str, str]] = {
    "strings-zstd": {"lance-encoding:compression": "zstd"},
    "strings-fsst": {"lance-encoding:compression": "fsst"},
    "strings-long": {"lance-encoding:structural-encoding": "fullzip"},
    "floats-split": {"lance-encoding:bss": "on", "lance-encoding:compression": "lz4"},
    "packed": {"packed": "true"},
    "blob": {"lance-encoding:blob": "true"},
}
"""Metadata of the column: what the writer is asked for."""

_BASE = ("int32", "int32-nullable", "vectors", "strings-few", "strings-many", "lists")

FILES: dict[str, tuple[str, ...]] = {
    "2.0": (
        *_BASE,
        *("bool", "struct-valid", "dictionary", "packed", "strings-fsst", "fixed-binary", "nested"),
        "blob",
    ),
    "2.1": (
        *_BASE,
        *("int64-random", "bool", "binary-long", "struct", "runs", "dictionary", "strings-zstd"),
        *("packed", "strings-fsst", "strings-long", "floats-split", "nested", "json", "blob"),
    ),
    "2.2": (
        *("int32-nullable", "strings-few", "strings-many", "lists", "runs"),
        *("map", "decimal", "vectors-nullable", "nulls", "constant", "floats-split", "packed"),
    ),
    "2.3": ("int32-nullable", "strings-many", "struct", "lists", "map", "runs"),
}
"""Standalone files, by version."""


def make_table(name: str, seed: int) -> pa.Table:
    """Return the table of that name; the same for the same seed."""
    digest = hashlib.blake2b(f"{seed} {name}".encode(), digest_size=8).digest()
    column = MAKERS[name](default_rng(int.from_bytes(digest, "little")))
    field = pa.field("c", column.type, metadata=METADATA.get(name))
    return pa.Table.from_arrays([column], schema=pa.schema([field]))


def make_rows(rng: Generator, rows: int = ROWS) -> pa.Table:
    """Return numbers that count the rows, strings, and lists of numbers."""
    return pa.table(
        {
            "id": pa.array(np.arange(rows), pa.int64()),
            "text": pa.array([f"text {n}" for n in rng.integers(0, 99, rows)]),
            "numbers": pa.array([[n, n + 1] if n % 3 else [] for n in range(rows)]),
        }
    )


def make_blobs_in_the_file(rng: Generator) -> pa.Table:
    """Return blobs of the first kind."""
    field = pa.field("b", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
    rows = [None if n % 5 == 4 else rng.bytes(90 * n) for n in range(20)]
    return pa.table([pa.array(rows, field.type)], schema=pa.schema([field]))


def blob_field(inline: int, dedicated: int) -> pa.Field:
    """Return a field of blobs of the second kind, with the sizes from which they lie elsewhere."""
    storage = [
        *[("data", pa.large_binary()), ("uri", pa.utf8())],
        *[("position", pa.uint64()), ("size", pa.uint64())],
    ]
    metadata = {
        "ARROW:extension:name": "lance.blob.v2",
        "lance-encoding:blob-inline-size-threshold": str(inline),
        "lance-encoding:blob-dedicated-size-threshold": str(dedicated),
    }
    return pa.field("b", pa.struct(storage), metadata=metadata)


def make_blobs_beside(rng: Generator) -> pa.Table:
    """Return blobs of the second kind: inline, in a shared file, in files of their own, null."""
    field = blob_field(100, 1500)
    rows = [None if n % 5 == 4 else {"data": rng.bytes(90 * n)} for n in range(18)]
    return pa.table([pa.array(rows, field.type)], schema=pa.schema([field]))


INDEXED_ROWS = 400
"""Rows of a table whose index is damaged."""


def _with_ids(values: Sequence[object], type_: pa.DataType) -> pa.Table:
    return pa.table({"id": pa.array(range(len(values)), pa.int64()), "c": pa.array(values, type_)})


def make_numbers(rng: Generator) -> pa.Table:
    """Return few numbers, often, and nulls, in the column `c`."""
    numbers = rng.integers(0, 12, INDEXED_ROWS).tolist()
    return _with_ids([None if number == 11 else number for number in numbers], pa.int64())


def make_labels(rng: Generator) -> pa.Table:
    """Return lists of labels in the column `c`, some of them null."""
    lengths = rng.integers(0, 4, INDEXED_ROWS).tolist()
    rows = [[f"label {n}" for n in rng.integers(0, 9, length)] for length in lengths]
    return _with_ids([None if not n % 13 else row for n, row in enumerate(rows)],
                     pa.list_(pa.utf8()))  # fmt: skip


def make_texts(rng: Generator) -> pa.Table:
    """Return texts of some words in the column `c`."""
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "eleven"]
    chosen = rng.integers(0, len(words), (INDEXED_ROWS, 5)).tolist()
    return _with_ids([" ".join(words[n] for n in row) for row in chosen], pa.utf8())


def make_points(rng: Generator) -> pa.Table:
    """Return points of a grid in the column `c`, some of them null."""
    type_ = pa.struct([pa.field(axis, pa.float64(), nullable=False) for axis in "xy"])
    drawn = rng.integers(0, 20, (INDEXED_ROWS, 2)).tolist()
    points = [None if x == 19 else {"x": float(x), "y": float(y)} for x, y in drawn]
    name = {"ARROW:extension:name": "geoarrow.point"}
    table = _with_ids(points, type_)
    return table.set_column(1, pa.field("c", type_, metadata=name), table["c"])


def make_documents(rng: Generator) -> pa.Table:
    """Return JSON documents with one number in the column `c`, some of them null."""
    numbers = rng.integers(0, 12, INDEXED_ROWS).tolist()
    return _with_ids([None if n == 11 else f'{{"a":{n}}}' for n in numbers], pa.json_())


def make_vectors(rng: Generator) -> pa.Table:
    """Return vectors of 16 values in the column `c`."""
    table = _with_ids(range(INDEXED_ROWS), pa.int32())
    return table.set_column(1, "c", _vectors(rng, INDEXED_ROWS))

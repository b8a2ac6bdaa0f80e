"""Columns that between them need every layout, encoding and message of the data file.

Each is written by us and by the oracle.
"""

import decimal
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

VERSIONS = ("2.0", "2.1", "2.2", "2.3")
RNG = np.random.default_rng(11)


@dataclass(frozen=True, slots=True)
class StoredColumn:
    """A column `c`, its metadata, the versions it can be stored in, batches to write it in."""

    array: pa.Array
    metadata: dict[str, str]
    versions: tuple[str, ...]
    batches: int

    @property
    def schema(self) -> pa.Schema:
        """The schema of the column alone."""
        return pa.schema([pa.field("c", self.array.type, metadata=self.metadata)])

    def parts(self) -> list[pa.Table]:
        """Return the rows as the batches that are written one after another."""
        size = -(-len(self.array) // self.batches)
        cuts = range(0, max(1, len(self.array)), size or 1)
        parts = [self.array.slice(at, size) for at in cuts]
        return [pa.Table.from_arrays([part], schema=self.schema) for part in parts]


def _column(
    array: pa.Array,
    since: str,
    until: str = "2.3",
    batches: int = 1,
    metadata: dict[str, str] | None = None,
    **encoding: str,
) -> StoredColumn:
    """Describe a column; `encoding` are `lance-encoding:` metadata."""
    keys = {f"lance-encoding:{key.replace('_', '-')}": value for key, value in encoding.items()}
    versions = tuple(version for version in VERSIONS if since <= version <= until)
    return StoredColumn(array, {**keys, **(metadata or {})}, versions, batches)


def with_nulls(array: pa.Array, every: int = 3) -> pa.Array:
    """Return the array with every n-th value null."""
    mask = pa.array(np.arange(len(array)) % every == 1)
    return pa.compute.if_else(mask, pa.scalar(None, array.type), array)


def _vectors(dimension: int, rows: int) -> pa.Array:
    items = pa.array(np.arange(dimension * rows), pa.float32())
    return pa.FixedSizeListArray.from_arrays(items, dimension)


def null_list_with_items() -> pa.Array:
    """Return three lists of which the second is null, over items of its own."""
    offsets = pa.array([0, 1, 4, 5], pa.int32()).buffers()[1]
    items = pa.array(range(5), pa.int8())
    buffers = [pa.py_buffer(b"\x05"), offsets]
    return pa.Array.from_buffers(pa.list_(pa.int8()), 3, buffers, children=[items])


INTS = pa.array(range(300), pa.int32())
GAPS = with_nulls(INTS)
WORDS = pa.array([f"word number {i}" for i in range(300)])
FEW = pa.array(["a", "b", None, "c", "d"] * 60)
LISTS = pa.array([[1, 2], None, [], [3, None]] * 300, pa.list_(pa.int32()))
WIDE = pa.array(RNG.integers(-(2**62), 2**62, 1500))
SMALL = RNG.integers(0, 100, 3000)
URLS = pa.array([f"https://example.org/{i * 7919}/view" for i in range(4000)])
FLOATS = pa.array(RNG.standard_normal(3000))
RUNS = pa.array(np.repeat(np.arange(50), 100), pa.int32())
LONG = pa.array([f"{i:05}" * 100 for i in range(300)])
VECTORS = _vectors(100, 300)
FAR = pa.array([None if i % 40 == 1 else i * 2**20 for i in range(2000)])
POOL = RNG.permutation(np.repeat(10**9 + np.arange(1500) * 7, 6))
DEEP = [[[1, None], []], None, [], [[3], None, [4, 5, 6]]]
THREE_DEEP = pa.list_(pa.list_(pa.list_(pa.int32())))
REPEATED = [f"{i % 500:04}" * 100 if i % 4 else None for i in range(3000)]
VECTOR_LISTS = [[[1.0] * 100] * (i % 3) if i % 7 else None for i in range(60)]
MIXED = [
    None
    if i % 13 == 5
    else {"n": i, "l": [None if j == 3 else {"x": j, "y": ["p"] * (j % 3)} for j in range(i % 5)]}
    for i in range(400)
]
PAIR = pa.struct([pa.field("x", pa.int16(), False), pa.field("y", pa.float64(), False)])
NUMBERS = pa.struct([("a", pa.int32()), ("b", pa.float64())])
TEXTED = pa.struct([("n", pa.int32()), ("s", pa.struct([("t", pa.string())]))])
MIXED_TYPE = pa.struct(
    [
        ("n", pa.int64()),
        ("l", pa.list_(pa.struct([("x", pa.int32()), ("y", pa.list_(pa.string()))]))),
    ]
)
ITEM = pa.struct([("a", pa.int32())])
PAIRS = [None if i % 7 == 1 else [{"a": i if i % 5 else None}, {"a": -i}] for i in range(300)]
ZIP = {"structural_encoding": "fullzip"}
SPARSE = {"structural_encoding": "sparse"}
BLOBS = pa.array([b"abc", None, b"", b"x" * 5000], pa.large_binary())

COLUMNS: dict[str, StoredColumn] = {
    "no nulls": _column(INTS, "2.0"),
    "some nulls": _column(GAPS, "2.0"),
    "all nulls": _column(pa.nulls(9, pa.int32()), "2.0"),
    "null type": _column(pa.nulls(9), "2.0"),
    "no rows": _column(INTS.slice(0, 0), "2.0"),
    "booleans of a slice": _column(pa.array([True, False] * 200).slice(13, 319), "2.0"),
    "strings with nulls": _column(pa.array(["a", None, "", "bcd"]), "2.0"),
    "few strings": _column(FEW, "2.0"),
    "Arrow dictionary": _column(FEW.dictionary_encode(), "2.0"),
    "Arrow dictionary of numbers": _column(
        pa.DictionaryArray.from_arrays(pa.array([0, 1, None] * 9, pa.int8()), pa.array([7, 8])),
        "2.0",
    ),
    "Arrow dictionary of nulls": _column(pa.nulls(9, pa.dictionary(pa.int8(), pa.null())), "2.1"),
    "lists": _column(LISTS, "2.0"),
    "lists of lists": _column(
        pa.array([DEEP, None, [], [[]], DEEP[:2]] * 60, THREE_DEEP).slice(1), "2.0"
    ),
    "a null list that owns items": _column(null_list_with_items(), "2.0"),
    "large lists of strings": _column(
        pa.array([["a", None]] * 90 + [[], None], pa.large_list(pa.string())), "2.0"
    ),
    "empty lists": _column(pa.array([[]] * 90, pa.list_(pa.string())), "2.0"),
    "lists of structs": _column(pa.array([[{"a": 1}], []] * 20, pa.list_(ITEM)), "2.0"),
    "structs": _column(pa.array([{"a": i, "b": {"c": str(i)}} for i in range(90)]), "2.0"),
    "vectors": _column(_vectors(8, 900), "2.0"),
    "vectors with nulls": _column(
        with_nulls(pa.array([[i, None] for i in range(200)], pa.list_(pa.float32(), 2))), "2.0"
    ),
    "vectors of vectors of bits": _column(
        pa.array([[[True, None], [False, True]]] * 40, pa.list_(pa.list_(pa.bool_(), 2), 2)), "2.0"
    ),
    "half floats": _column(pa.array(np.arange(400).astype("f2")), "2.0"),
    "decimals": _column(
        pa.array([decimal.Decimal(i) for i in range(300)], pa.decimal256(50, 2)), "2.0"
    ),
    "timestamps": _column(with_nulls(pa.array(range(900), pa.timestamp("ns", "+05:30"))), "2.0"),
    "fixed-size binary": _column(pa.array([b"%03d" % i for i in range(400)], pa.binary(3)), "2.0"),
    "packed struct of 2.0": _column(
        pa.array([{"x": i, "y": i / 2} for i in range(200)], PAIR),
        "2.0",
        until="2.0",
        metadata={"packed": "true"},
    ),
    "zstd strings": _column(WORDS, "2.0", compression="zstd", compression_level="9"),
    "lz4 strings": _column(WORDS, "2.0", compression="lz4"),
    "FSST of 2.0": _column(URLS, "2.0", until="2.0", compression="fsst"),
    "many pages": _column(WIDE, "2.0", batches=5),
    "lists in many pages": _column(LISTS, "2.0", batches=4),
    "field ids": _column(INTS, "2.0", metadata={"lance:field_id": "7"}),
    "extension type": _column(
        pa.array([b"ab"], pa.binary(2)), "2.0", metadata={"ARROW:extension:name": "lance.bfloat16"}
    ),
    "flat bits": _column(with_nulls(pa.array(RNG.integers(0, 2, 9001).astype(bool))), "2.1"),
    **{
        f"inline bitpacking of {width} bits": _column(pa.array(SMALL.astype(f"uint{width}")), "2.1")
        for width in (8, 16, 32, 64)
    },
    "width varies per chunk": _column(pa.array(np.arange(9000)), "2.1"),
    "runs": _column(RUNS, "2.1"),
    "runs of 64 bits": _column(RUNS.cast(pa.int64()), "2.2", dict_size_ratio="0.0001"),
    "runs with compressed children": _column(
        pa.array(np.repeat(RNG.integers(0, 2**31, 4000), 3), pa.int32()),
        "2.3",
        compression="zstd",
        bss="off",
    ),
    "byte stream split": _column(FLOATS, "2.1", compression="zstd", bss="on"),
    "lz4": _column(pa.array(SMALL / 2), "2.1", compression="lz4", bss="off"),
    "zstd with a level": _column(
        FLOATS, "2.1", compression="zstd", compression_level="5", bss="off"
    ),
    "variable": _column(with_nulls(WORDS), "2.1"),
    "FSST": _column(with_nulls(URLS), "2.1"),
    "FSST switched off": _column(pa.array([f"{i:05}" for i in range(5000)]), "2.1"),
    "generic offsets": _column(
        pa.array([f"{i:09}" for i in range(9000)]), "2.3", minichunk_size="65536"
    ),
    "chunks larger than 2.1 states": _column(
        pa.array([b"%05d" % i for i in range(5000)]), "2.1", minichunk_size="40000"
    ),
    "dictionary of strings": _column(pa.array([f"cat-{i % 7}" for i in range(5000)]), "2.1"),
    "dictionary of numbers": _column(pa.array([10**15 + i % 5 for i in range(5000)]), "2.2"),
    "dictionary of decimals": _column(
        pa.array([decimal.Decimal(i % 5) for i in range(2000)], pa.decimal128(38, 0)), "2.1"
    ),
    "dictionary bitpacked": _column(pa.array(POOL), "2.2", dict_values_compression="none"),
    "definition only": _column(with_nulls(RUNS), "2.1"),
    "runs of levels": _column(pa.array([None] * 4000 + list(range(4000))), "2.2"),
    "lists over many chunks": _column(
        pa.array([list(range(9000)), [], [1], list(range(3000))], pa.list_(pa.int64())), "2.1"
    ),
    "pages split by repetition": _column(
        pa.array([[]] * 70_000 + [[1]] * 10, pa.list_(pa.int32())), "2.1"
    ),
    "pages split between nulls": _column(
        pa.array([[1]] * 100 + [None] * 140_000 + [[2]] * 100, pa.list_(pa.int32())), "2.1"
    ),
    "structs of lists of structs": _column(pa.array(MIXED, MIXED_TYPE), "2.1"),
    "pages of structs that do not align": _column(
        pa.array([{"a": i, "b": f"{i}" * (i % 40), "c": [i] * (i % 3)} for i in range(3000)]),
        "2.1",
        batches=5,
    ),
    "zipped vectors": _column(with_nulls(VECTORS), "2.1"),
    "zipped numbers": _column(
        pa.array(RNG.integers(0, 2**31, 900), pa.int32()), "2.1", compression="none", **ZIP
    ),
    "zipped lists of vectors": _column(
        pa.array(VECTOR_LISTS, pa.list_(pa.list_(pa.float32(), 100))), "2.1"
    ),
    "zipped lists of strings": _column(
        pa.array([[None if j == 1 else "x" * j for j in range(i % 5)] for i in range(200)]),
        "2.1",
        compression="none",
        **ZIP,
    ),
    "zipped items that may be null": _column(
        pa.array([[1.0, None] * 50] * 90, pa.list_(pa.float32(), 100)), "2.1"
    ),
    "items that are all null": _column(
        pa.array([[None] * 4] * 100, pa.list_(pa.int32(), 4)), "2.1"
    ),
    "zipped strings": _column(with_nulls(LONG), "2.1", compression="none"),
    "zstd of each value": _column(
        pa.array([RNG.bytes(40_000) for _ in range(5)]), "2.1", compression="zstd"
    ),
    "constant in the description": _column(pa.array([7] * 900), "2.2"),
    "constant in a buffer": _column(pa.array(["hello, world"] * 50), "2.2"),
    "constant with levels": _column(pa.array([["abc"], [], None] * 50), "2.2"),
    "all null with levels": _column(
        pa.array([[None, None], [], None] * 300, pa.list_(pa.int32())), "2.2"
    ),
    "packed struct": _column(
        pa.array([{"a": i, "b": float(i)} for i in range(300)], NUMBERS), "2.1", packed="true"
    ),
    "variable packed struct": _column(
        pa.array([None if i % 6 == 1 else {"n": i, "s": {"t": "x"}} for i in range(300)], TEXTED),
        "2.2",
        packed="true",
    ),
    "maps": _column(
        with_nulls(pa.array([[("k", i)] for i in range(300)], pa.map_(pa.string(), pa.int32()))),
        "2.2",
    ),
    "fixed-size lists of structs": _column(pa.array(PAIRS, pa.list_(ITEM, 2)), "2.2", until="2.2"),
    "empty structs": _column(pa.array([{}] * 300, pa.struct([])), "2.0"),
    "blobs": _column(BLOBS, "2.0", until="2.2", blob="true"),
    "sparse chunks": _column(FAR, "2.3", **SPARSE),
    "sparse vectors zipped": _column(with_nulls(VECTORS), "2.3", **SPARSE),
    "sparse indices": _column(pa.array(REPEATED), "2.3", **SPARSE),
    "sparse constant": _column(pa.array([None, 5, 5, 5] * 90), "2.3", **SPARSE),
    "sparse without values": _column(
        pa.array([[None], [], None] * 90, pa.list_(pa.int32())), "2.3", **SPARSE
    ),
    "sparse ranges": _column(
        pa.array([None if i % 3 == 1 else i for i in range(900)]), "2.3", **SPARSE
    ),
    "sparse deltas": _column(pa.array([None if v < 5 else int(v) for v in SMALL]), "2.3", **SPARSE),
    "sparse runs": _column(pa.array([[i] * (1 + i // 300) for i in range(900)]), "2.3", **SPARSE),
    "sparse dictionaries": _column(pa.array([[i] * (i % 3) for i in range(3000)]), "2.3", **SPARSE),
    "sparse unasked": _column(
        pa.array([[1, 2, 3, 4, 5] if i % 1000 == 0 else None for i in range(200_000)]), "2.3"
    ),
    "sparse fixed-size lists": _column(
        pa.array([[[{"a": 1}, None]], None, []] * 60, pa.list_(pa.list_(ITEM, 2))), "2.3", **SPARSE
    ),
    "sparse structs of lists of structs": _column(pa.array(MIXED, MIXED_TYPE), "2.3", **SPARSE),
}
"""Name -> the column."""

CASES = [(name, version) for name, column in COLUMNS.items() for version in column.versions]
"""Every column in every version that stores it."""

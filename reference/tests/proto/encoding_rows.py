"""Inventory of the page layouts and compressive encodings of 2.1, 2.2 and 2.3."""

from __future__ import annotations

import decimal
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa

from .row import Row, one_file

RNG = np.random.default_rng(11)
WIDE = pa.array(RNG.integers(-(2**62), 2**62, 1500))
SMALL = RNG.integers(0, 100, 3000)
URLS = pa.array([f"https://example.org/{i * 7919}/view" for i in range(4000)])
FLOATS = pa.array(RNG.standard_normal(3000))
RUNS = pa.array(np.repeat(np.arange(50), 100), pa.int32())
LONG = pa.array([f"{i:05}" * 100 for i in range(300)])
VECTORS = pa.FixedSizeListArray.from_arrays(pa.array(np.arange(30_000), pa.float32()), 100)
GAPS = pa.array([None if i % 9 == 1 else int(v) for i, v in enumerate(SMALL)], pa.int32())
FAR = pa.array([None if i % 40 == 1 else i * 2**20 for i in range(2000)])
LISTS = pa.array([[1, 2], None, [], [3, None]] * 300, pa.list_(pa.int32()))
POOL = RNG.permutation(np.repeat(10**9 + np.arange(1500) * 7, 6))
MIX = {"n": pa.int32(), "s": pa.string()}
MIXED = pa.array([{"n": i, "s": f"text {i}"} for i in range(300)], pa.struct(list(MIX.items())))
NUMBERS = pa.struct([("a", pa.int32()), ("b", pa.float64())])
PACKED = pa.array([{"a": i, "b": float(i)} for i in range(300)], NUMBERS)
BLOBS = pa.array([b"abc", None, b"", b"def"], pa.large_binary())
SPARSE = {"structural_encoding": "sparse"}
ZIP = {"structural_encoding": "fullzip"}
LONG_TEXTS = [f"{i:04}" * 100 for i in range(500)]
REPEATED = pa.array([LONG_TEXTS[i % 500] if i % 4 else None for i in range(3000)])
VECTOR_LISTS = pa.array(
    [[[1.0] * 100] * (i % 3) if i % 7 else None for i in range(60)],
    pa.list_(pa.list_(pa.float32(), 100)),
)
SMALL_MAPS = pa.array(
    [[("k", i)] if i % 3 else None for i in range(300)], pa.map_(pa.string(), pa.int32())
)


def _in_fresh_process(folder: Path) -> None:
    """Write where the number of values a chunk may hold is read from the environment."""
    code = (
        "import pyarrow as pa, sys\n"
        "from lance.file import LanceFileWriter\n"
        "field = pa.field('c', pa.uint8(), metadata={'lance-encoding:compression': 'none'})\n"
        "table = pa.table([pa.array(bytes(range(251)) * 100, pa.uint8())], pa.schema([field]))\n"
        "with LanceFileWriter(sys.argv[1], table.schema, version='2.2') as writer:\n"
        "    writer.write_batch(table)\n"
    )
    subprocess.run(
        [sys.executable, "-c", code, str(folder / "file.lance")],
        check=True,
        env={**os.environ, "LANCE_MINIBLOCK_MAX_VALUES": "32768"},
    )


def _blob_v2(folder: Path) -> None:
    import lance
    from lance.blob import blob_array, blob_field

    schema = pa.schema([blob_field("b")])
    table = pa.table([blob_array([b"hello", None, b"", b"x" * 70_000])], schema=schema)
    lance.write_dataset(table, folder / "blobs.lance", data_storage_version="2.2")


def _bits(width: int) -> Row:
    array = pa.array(SMALL.astype(f"uint{width}"))
    return one_file(array, "2.1", "InlineBitpacking.uncompressed_bits_per_value")


ROWS = {
    "flat": one_file(WIDE, "2.1", "MiniBlockLayout.value_compression", "Flat.bits_per_value"),
    "flat 1-bit": one_file(
        pa.array(RNG.integers(0, 2, 9000).astype(bool)), "2.1", "Flat.bits_per_value"
    ),
    **{f"inline bitpacking of {width} bits": _bits(width) for width in (8, 16, 32, 64)},
    "width varies per chunk": one_file(
        pa.array(np.arange(9000)), "2.1", "InlineBitpacking.uncompressed_bits_per_value"
    ),
    "runs": one_file(RUNS, "2.1", "Rle.values", "Rle.run_lengths"),
    "runs of 64 bits": one_file(
        RUNS.cast(pa.int64()), "2.2", "Rle.run_lengths", dict_size_ratio="0.0001"
    ),
    "runs with compressed children": one_file(
        pa.array(np.repeat(RNG.integers(0, 2**31, 4000), 3), pa.int32()),
        "2.3", "Rle.values", compression="zstd", bss="off",
    ),
    "byte stream split": one_file(
        FLOATS, "2.1", "ByteStreamSplit.values", "General.values", compression="zstd", bss="on"
    ),
    "lz4": one_file(
        pa.array(SMALL / 2), "2.1", "General.compression", compression="lz4", bss="off"
    ),
    "zstd with a level": one_file(
        FLOATS, "2.1", "BufferCompression.level",
        compression="zstd", compression_level="5", bss="off",
    ),
    "variable 32": one_file(
        pa.array([f"s{i}" for i in range(300)]), "2.1", "Variable.offsets"
    ),
    "variable 64": one_file(
        pa.array([f"s{i}" for i in range(300)], pa.large_string()), "2.1", "Variable.offsets"
    ),
    "fsst": one_file(URLS, "2.1", "Fsst.symbol_table", "Fsst.values"),
    "fsst switched off": one_file(
        pa.array([f"{i:05}" for i in range(5000)]), "2.1", "MiniBlockLayout.value_compression"
    ),
    "generic offsets": one_file(
        pa.array([f"{i:09}" for i in range(9000)]), "2.3", "Variable.offsets",
        minichunk_size="65536",
    ),
    "dictionary of strings": one_file(
        pa.array([f"cat-{i % 7}" for i in range(5000)]), "2.1",
        "MiniBlockLayout.dictionary", "MiniBlockLayout.num_dictionary_items",
    ),
    "dictionary of numbers": one_file(
        pa.array([10**15 + i % 5 for i in range(5000)]), "2.2", "MiniBlockLayout.dictionary"
    ),
    "dictionary of decimals": one_file(
        pa.array([decimal.Decimal(i % 5) for i in range(2000)], pa.decimal128(38, 0)),
        "2.1", "MiniBlockLayout.dictionary",
    ),
    "dictionary bitpacked": one_file(
        pa.array(POOL), "2.2", "OutOfLineBitpacking.values", dict_values_compression="none"
    ),
    "definition only": one_file(GAPS, "2.1", "MiniBlockLayout.def_compression"),
    "repetition and definition": one_file(
        LISTS, "2.1", "MiniBlockLayout.rep_compression", "MiniBlockLayout.repetition_index_depth"
    ),
    "runs of levels": one_file(
        pa.array([None] * 4000 + list(range(4000))), "2.2", "Rle.run_lengths"
    ),
    "list over many chunks": one_file(
        pa.array([list(range(9000)), [], [1]], pa.list_(pa.int64())), "2.1",
        "MiniBlockLayout.repetition_index_depth",
    ),
    "pages split by repetition": one_file(
        pa.array([[]] * 70_000 + [[1]], pa.list_(pa.int32())), "2.1", "Page.priority"
    ),
    "full-zip fixed": one_file(VECTORS, "2.1", "FullZipLayout.bits_per_value"),
    "full-zip by metadata": one_file(
        pa.array(RNG.integers(0, 2**31, 900), pa.int32()), "2.1", "FullZipLayout.num_items",
        compression="none", **ZIP,
    ),
    "full-zip with repetition": one_file(VECTOR_LISTS, "2.1", "FullZipLayout.bits_rep"),
    "full-zip nullable items": one_file(
        pa.array([[1.0, None] * 50] * 90, pa.list_(pa.float32(), 100)), "2.1",
        "FixedSizeList.has_validity",
    ),
    "full-zip variable": one_file(
        LONG, "2.1", "FullZipLayout.bits_per_offset", compression="none"
    ),
    "per-value zstd": one_file(
        pa.array([RNG.bytes(40_000) for _ in range(5)]), "2.1", "General.compression",
        compression="zstd",
    ),
    "constant inline": one_file(pa.array([7] * 900), "2.2", "ConstantLayout.inline_value"),
    "constant in a buffer": one_file(
        pa.array(["hello, world"] * 50), "2.2", "PageLayout.constant_layout"
    ),
    "constant with levels": one_file(
        pa.array([["abc"], [], None] * 50), "2.2", "ConstantLayout.layers"
    ),
    "all null with levels": one_file(
        pa.array([[None, None], [], None] * 300, pa.list_(pa.int32())), "2.2",
        "ConstantLayout.rep_compression", "ConstantLayout.num_rep_values",
    ),
    "packed struct": one_file(PACKED, "2.1", "PackedStruct.bits_per_value", packed="true"),
    "variable packed struct": one_file(
        MIXED, "2.2", "VariablePackedStruct.fields", "FieldEncoding.bits_per_length", packed="true"
    ),
    "map": one_file(SMALL_MAPS, "2.2", "MiniBlockLayout.layers"),
    "fixed-size list of structs": one_file(
        pa.array([[{"a": 1}, {"a": 2}]] * 90, pa.list_(pa.struct([("a", pa.int32())]), 2)),
        "2.2", "PageLayout.mini_block_layout",
    ),
    "blob": one_file(BLOBS, "2.2", "BlobLayout.inner_layout", "BlobLayout.layers", blob="true"),
    "blob 2": Row(_blob_v2, "VariablePackedStruct.fields"),
    "dense chunked": one_file(GAPS, "2.3", "DenseStructure.layers", "ValuePlane.chunked"),
    "dense zipped": one_file(VECTORS, "2.3", "ValuePlane.zipped", "ZippedValues.levels"),
    "dense lists": one_file(
        LISTS, "2.3", "DenseChunkLevels.repetition", "DenseChunkLevels.repetition_index_depth"
    ),
    "dense zipped lists": one_file(
        VECTOR_LISTS, "2.3", "DenseZipLevels.bits_repetition", "DenseZipLevels.bits_definition"
    ),
    "dense constant": one_file(pa.array([7] * 900), "2.3", "ConstantValue.scalar"),
    "sparse chunked": one_file(
        FAR, "2.3", "SparseValiditySet.positions", "ValuePlane.chunked", **SPARSE
    ),
    "sparse zipped": one_file(
        pa.array([None if i % 7 == 1 else [float(i)] * 100 for i in range(90)],
                 pa.list_(pa.float32(), 100)),
        "2.3", "ValuePlane.zipped", "StructuralPlane.sparse", **SPARSE,
    ),
    "sparse indexed": one_file(
        REPEATED, "2.3", "IndexedValues.indices", "IndexedValues.items", **SPARSE
    ),
    "sparse constant": one_file(
        pa.array([None, 5, 5, 5] * 90), "2.3", "ValuePlane.constant", **SPARSE
    ),
    "sparse without values": one_file(
        pa.array([[None], [], None] * 90, pa.list_(pa.int32())), "2.3", "ValuePlane.none", **SPARSE
    ),
    "sparse ranges": one_file(
        pa.array([None if i % 3 == 1 else i for i in range(900)]), "2.3", "Range.step", **SPARSE
    ),
    "sparse deltas": one_file(
        pa.array([None if v < 5 else int(v) for v in SMALL]), "2.3", "Delta.deltas", **SPARSE
    ),
    "sparse runs": one_file(
        pa.array([[i] * (1 + i // 300) for i in range(900)]), "2.3", "Rle.run_lengths", **SPARSE
    ),
    "sparse dictionaries": one_file(
        pa.array([[i] * (i % 3) for i in range(3000)]), "2.3", "encodings21.Dictionary.items",
        **SPARSE,
    ),
    "sparse automatic": one_file(
        pa.array([[1, 2, 3, 4, 5] if i % 1000 == 0 else None for i in range(200_000)],
                 pa.list_(pa.int64())),
        "2.3", "SparseListLayer.non_empty_positions", "SparseListLayer.counts",
    ),
    "sparse fixed-size list": one_file(
        pa.array([[[{"a": 1}, None]], None, []] * 60,
                 pa.list_(pa.list_(pa.struct([("a", pa.int32())]), 2))),
        "2.3", "SparseFixedSizeListLayer.dimension", **SPARSE,
    ),
    "big chunks": Row(_in_fresh_process, "PageLayout.mini_block_layout"),
    "many pages": one_file(WIDE, "2.1", "Page.priority", batches=5),
}  # fmt: skip

NOT_WRITTEN = {
    "encodings21.Flat.data": "decoders ignore it",
    "encodings21.Variable.values": "decoders ignore it",
    "InlineBitpacking.values": "decoders ignore it",
}

"""Cases of codecs of rows: vectors and packed structs."""

from __future__ import annotations

import pyarrow as pa

from lance_conformance.recipes import columns as c
from lance_conformance.recipes.constructors import case, cases, fault, faults
from lance_conformance.recipes.edits import V, Z, assign, byte, clear, descriptor, field, page
from lance_conformance.recipes.model import Recipe
from lance_conformance.recipes.oracle_made import column

_WIDE = pa.struct([*(("a", pa.decimal128(20, 0)), ("b", pa.decimal256(40, 0))),
    *(("s", pa.string()), ("v", pa.list_(pa.float32(), 2)), ("l", pa.large_binary()))])  # fmt: skip


CASES: tuple[Recipe, ...] = (
    case("file/2.2/packed-struct/variable", "packed rows with a string between their numbers",
        ("L.codec.packed-struct.field", "L.codec.packed-struct.row"),
        column(pa.array([{"a": i, "s": "x" * i} for i in range(5)],
                pa.struct([("a", pa.uint8()), ("s", pa.string())])), packed="true")),
    fault("empty-row", "a row of no bytes", "L.page.fullzip.length",
        byte("field c", "length", at=0, new=0), flags="OffsetsNotMonotonic"),
    fault("short", "rows that end before their field", "L.codec.packed-struct.row",
        page({f"{Z}.value_compression.variable_packed_struct.fields.0.bits_per_value": 64,
        f"{Z}.value_compression.variable_packed_struct.fields.0.value.flat.bits_per_value": 64})),
    fault("cells", "a row too short for its string", "L.codec.packed-struct.row",
        byte("field c", "value", at=1, new=5), flags="IndexBeyondItems"),
    fault("width", "a byte told as twelve bits", "L.codec.packed-struct.field",
        assign(f"{Z}.value_compression.variable_packed_struct.fields.0.bits_per_value", 12)),
    fault("no-value", "a field of a row without a codec", "L.codec.encoding.context",
        clear(f"{Z}.value_compression.variable_packed_struct.fields.1.value")),
    fault("field", "lengths of 24 bits", "L.codec.packed-struct.field",
        assign(f"{Z}.value_compression.variable_packed_struct.fields.1.bits_per_length", 24),
        flags="WidthMismatch"),
    fault("row", "a string that leaves bytes of its row", "L.codec.packed-struct.row",
        byte("field c", "value", at=1, new=3, nth=4), flags="BufferTooShort"),
    *cases("file/{2.2,2.3}/packed-struct/wide", "packed rows: decimals, a string, a vector, bytes",
        "L.codec.packed-struct.row", column(pa.array([{"a": i, "b": -i, "s": c.PATHS[i], "v": [i,
        0.5], "l": b"x" * i} for i in range(9)], _WIDE), packed="true")),
    case("file/2.3/packed-struct/zstd", "packed rows in chunks", "L.codec.packed-struct.bits",
        column(pa.array([{"a": i % 3, "b": i % 2} for i in range(1000)], c.PAIR), packed="true",
            compression="zstd")),
    *cases("file/{2.1,2.2}/packed-struct/fixed", "a packed struct: rows of 2 + 4 + 1 bytes",
        "L.codec.packed-struct.bits", column(pa.array([{"a": 1, "b": 2.5, "c": 3}, {"a": -1,
        "b": -0.0, "c": 255}], pa.struct([("a", pa.int16()), ("b", pa.float32()), ("c",
        pa.uint8())])), packed="true")),
    *faults("file/2.1/packed-struct/fixed",
        fault("fields", "rows of three fields in a struct of two", "L.page.leaf.kind",
            descriptor({"schema.fields": lambda old: old[:-1]})),
        fault("bits", "fields that do not fill the row", "L.codec.packed-struct.bits",
            assign(f"{V}.packed_struct.bits_per_value.0", 8))),
    *faults("file/2.2/packed-struct/fixed", fault("bits", "fields of one byte less than the row",
        "L.codec.packed-struct.bits", assign(f"{V}.packed_struct.bits_per_value.0", 8))),
    case("file/2.1/fixed-size-list/pairs", "vectors of two numbers", "L.page.limits.row",
        pa.array([[1.0, 2.0], [3.0, 4.0]], pa.list_(pa.float32(), 2))),
    fault("no-items", "lists of items without a codec", "L.codec.encoding.context",
        clear(f"{V}.fixed_size_list.values")),
    fault("wide", "2**40 items a list", "L.codec.fixed-size-list.items",
        assign(f"{V}.fixed_size_list.items_per_value", 2 ** 40)),
    fault("numbers", "lists in a column of numbers", "L.page.leaf.kind",
        field(0, logical_type="int64")),
    fault("row", "vectors of 2**30 items", "L.page.limits.row",
        field(0, logical_type="fixed_size_list:float:1073741824"), flags="DimensionHuge"),
    *cases("file/{2.2,2.3}/fixed-size-list/deep", "lists of lists of lists of two",
        "L.codec.fixed-size-list.items", c.vectors(3)),
    *cases("file/{2.1,2.2}/fixed-size-list/nullable-items",
        "vectors: a bitmap of items before the items", "L.page.leaf.dimension", c.VECTORS_COLUMNS),
    *faults("file/2.1/fixed-size-list/nullable-items",
        fault("schema", "vectors of 2 in a column of 4", "L.page.leaf.dimension",
            field(0, logical_type="fixed_size_list:float:4"), flags="WidthMismatch"),
        fault("dimension", "vectors of 3 in a column of 2", "L.codec.fixed-size-list.bitmap",
            assign(f"{V}.fixed_size_list.items_per_value", 3)),
        fault("bitmap", "a value buffer without its bitmap", "L.page.miniblock.num-buffers",
            assign(f"{V}.fixed_size_list.has_validity", False))),
    *faults("file/2.2/fixed-size-list/nullable-items", fault("constant",
        "items of a chunk that are null and have a bitmap", "L.codec.fixed-size-list.all-null",
        page({"mini_block_layout.value_compression.fixed_size_list.has_validity": True,
        "mini_block_layout.value_compression.fixed_size_list.values.constant": {}}))),
    *cases("file/{2.1,2.2}/fixed-size-list/many-items", "vectors: a bitmap of items of many bytes",
        ("L.page.leaf.dimension", "L.codec.fixed-size-list.bitmap"),
        pa.array([[None if (3 * i + j) % 7 == 0 else i * j for j in range(3)] for i in range(50)],
            pa.list_(pa.int16(), 3))),
    *cases("file/{2.1,2.2}/fixed-size-list/nested", "vectors of vectors, nulls at every level",
        "L.page.leaf.dimension", c.NESTED_VECTORS),
)  # fmt: skip

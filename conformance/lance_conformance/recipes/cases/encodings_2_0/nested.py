"""Cases of lists, structs and vectors of 2.0."""

from __future__ import annotations

import pyarrow as pa
from lanceref.proto.encodings_v2_0_pb2 import ArrayEncoding

from lance_conformance.recipes import columns as c
from lance_conformance.recipes.constructors import case, fault, lint
from lance_conformance.recipes.edits import (
    assign,
    built,
    byte,
    clear,
    column_edit,
    field,
    page,
    resize,
    spare_buffer,
)
from lance_conformance.recipes.handmade_files import one_page, words
from lance_conformance.recipes.model import Recipe
from lance_conformance.recipes.oracle_made import column, file
from lance_conformance.recipes.pages import flat_page

_PAIRS = pa.array(
    [[{"key": "a", "value": 1}], [], [{"key": "b", "value": None}]],
    pa.list_(pa.struct([pa.field("key", pa.string(), False), pa.field("value", pa.int32())])),
)


def _owning_lists() -> pa.Array:
    """A null that owns two items: [1], null over [2, 3], [4]."""
    validity, offsets = (pa.py_buffer(b"\x05"), pa.py_buffer(words(0, 1, 3, 4, width=4)))
    items = pa.array([1, 2, 3, 4], pa.int32())
    return pa.Array.from_buffers(pa.list_(pa.int32()), 3, [validity, offsets], children=[items])


_THREES = pa.FixedSizeListArray.from_arrays(pa.array([True, False, False, True, True, False, False,
    True, True, True, False, True]), 3)  # fmt: skip

_VECTOR_ROWS = pa.array(
    [{"a": 1, "v": [1.0, 2.0, 3.0], "c": 7}, {"a": -1, "v": [0.0, -0.0, 4.0], "c": 255}],
    pa.struct([("a", pa.int16()), ("v", pa.list_(pa.float32(), 3)), ("c", pa.uint8())]),
)


_MARKED = {
    "nullable.no_nulls.values.fixed_size_list.dimension": 2,
    "nullable.no_nulls.values.fixed_size_list.has_validity": True,
    "nullable.no_nulls.values.fixed_size_list.items.nullable.no_nulls.values": flat_page(16),
}
"""Vectors whose description says that they have validity."""


def _products(count: int) -> pa.Array:
    """Return lists of up to four numbers, some of them null."""
    rows = [None if i % 9 == 4 else [i * j for j in range(i % 5)] for i in range(count)]
    return pa.array(rows, pa.list_(pa.int32()))


CASES: tuple[Recipe, ...] = (
    case("file/2.0/list/int32", "lists: two items, null, empty, an item that is null, one item",
        ("L.array.ends.bound", "L.array.list.num-items"), c.LISTS),
    fault("ends-fall", "list ends that fall", "L.array.ends.order",
        byte("field c", "page 0", "list ends", at=24, new=1)),
    fault("num-items", "a page that claims more items than there are", "L.array.list.item-column",
        assign("list.num_items", 9)),
    fault("adjustment", "a null adjustment of the number of items", "L.array.list.null-adjustment",
        assign("list.null_offset_adjustment", 5)),
    fault("offsets-width", "list ends of 32 bits", "L.array.ends.width",
        assign("list.offsets.nullable.no_nulls.values.flat.bits_per_value", 32)),
    fault("one-more", "an item more than there are", "L.array.list.item-column",
        page({"list.num_items": lambda old: old + 1}), also="L.array.list.num-items"),
    lint("spare-buffer", "a buffer that the items do not have", "L.array.buffer.named",
        spare_buffer(1)),
    case("file/2.0/list/large", "the same with 64-bit Arrow offsets", "L.array.ends.width",
        c.LISTS.cast(pa.large_list(pa.int32()))),
    fault("num-items", "2**60 items", "L.array.list.item-column",
        assign("list.num_items", 2 ** 60)),
    case("file/2.0/list/list", "lists of lists with nulls and empties at both levels",
        "L.array.ends.bound", c.LISTS_OF_LISTS),
    fault("ends", "a first list that ends after the last item", "L.array.ends.bound",
        byte("field c", "page 0", "list ends", at=0, new=0x7F)),
    case("file/2.0/list/all-empty", "no item at all: one item page of no rows",
        "L.array.list.num-items", pa.array([[], []], pa.list_(pa.string()))),
    case("file/2.0/list/multi-page", "list pages whose offsets start again at zero",
        ("L.array.list.item-column", "L.file.pages.length"),
        file(column(pa.array([[i, i + 1, i + 2][:i % 4] for i in range(1200)],
                    pa.list_(pa.int64()))), "2.0", batches=6, data_cache_bytes=2000)),
    case("file/2.0/list/no-nulls", "lists of which none is null: ends below the adjustment",
        ("L.array.list.page", "L.array.list.null-adjustment-value"),
        pa.array([[1, 2], [], [3]], pa.list_(pa.int32()))),
    fault("page", "a page of numbers in a list column", "L.array.list.page",
        page({"flat.bits_per_value": 64, "flat.buffer": {}}), flags="WrongKind"),
    lint("adjustment", "another null adjustment than the items plus one",
        "L.array.list.null-adjustment-value", assign("list.null_offset_adjustment", 9)),
    fault("fewer-items", "lists that claim fewer items than there are", "L.array.list.item-column",
        assign("list.num_items", 2), flags="CountMismatch"),
    fault("offsets", "list ends of no kind", "L.array.encoding.tag",
        clear("list.offsets.nullable")),
    case("file/2.0/list/pairs", "a list of structs with the members of a map",
        ("L.array.column.type", "L.array.struct.header"), _PAIRS),
    fault("map", "a map, which 2.0 cannot store", "L.array.column.type",
        field(0, logical_type="map"), flags="WrongKind"),
    case("file/2.0/list/null-with-items", "a null list that owns items",
        ("L.array.ends.order", "L.array.ends.null-adjustment"), _owning_lists()),
    case("file/2.0/list/many-nulls", "a list of 900 000 items that need no bytes",
        "L.array.list.num-items", pa.array([[None] * 900_000, None, [None]], pa.list_(pa.null()))),
    case("file/2.0/list/null-first", "a null list before others",
        "L.array.list.null-adjustment-value", pa.array([None, [1, 2], [3]], pa.list_(pa.int32()))),
    fault("null", "a null list, the first, where none may be null", "L.array.nullable.field",
        field(0, nullable=False)),
    case("file/2.0/list/far", "two lists far apart", "L.array.ends.order",
        c.far(_products(c.COUNT), "2.0", 3, 90)),
    case("file/2.0/list/apart", "lists more than a thousand rows apart", "L.array.list.num-items",
        c.far(_products(1300), "2.0", 3, 1203, 1204)),
    case("file/2.0/struct/two-fields", "a struct: a header column before those of its fields",
        "L.array.struct.header", pa.array([{"x": 1, "y": "a"}, {"x": None, "y": ""}, {"x": 3,
        "y": None}], pa.struct([("x", pa.int32()), ("y", pa.string())]))),
    fault("two-pages", "a struct header of two pages", "L.array.struct.header",
        column_edit(lambda message: message.pages.add().CopyFrom(message.pages[0]))),
    case("file/2.0/struct/in-list", "a list of structs that hold lists", ("L.array.struct.header",
        "L.array.list.num-items"), pa.array([[{"x": 1, "l": [True]}], [], None, [{"x": None,
        "l": None}, {"x": 5, "l": []}]], c.LISTS_OF_STRUCTS.type)),
    case("file/2.0/struct/nested", "a struct in a struct: two headers",
        ("L.array.struct.length", "L.array.struct.header"),
        pa.array([{"x": 1, "y": {"z": "a"}}, {"x": None, "y": {"z": None}}])),
    fault("length", "an inner header of one row more", "L.array.struct.length",
        column_edit({"pages.0.length": 3}, 2), flags="CountMismatch"),
    fault("header", "a header that is a page of numbers", "L.array.struct.header",
        page({"flat.bits_per_value": 64, "flat.buffer": {}}), flags="WrongKind"),
    case("file/2.0/fixed-size-list/float", "vectors with a null vector and null items",
        ("L.array.fixed-size-list.dimension", "L.array.nullable.validity"), c.VECTORS_COLUMNS),
    fault("dimension", "vectors of 3 in a column of 2", "L.array.fixed-size-list.dimension",
        assign("nullable.some_nulls.values.fixed_size_list.dimension", 3)),
    case("file/2.0/fixed-size-list/nested", "vectors of vectors, nulls at every level",
        "L.array.fixed-size-list.dimension", c.NESTED_VECTORS),
    case("file/2.0/fixed-size-list/bool", "vectors of booleans: one bitmap over all items",
        ("L.array.fixed-size-list.dimension", "L.array.flat.width"),
        pa.array([[True, False, True], [False, False, True]], pa.list_(pa.bool_(), 3))),
    fault("dimension", "three items told as four", "L.array.fixed-size-list.dimension",
        assign("nullable.no_nulls.values.fixed_size_list.dimension", 4)),
    case("file/2.0/fixed-size-list/has-validity", "a flag that no writer sets and no reader heeds",
        "L.array.fixed-size-list.dimension",
        one_page(pa.array([[1, 2], [3, 4]], pa.list_(pa.int16(), 2)), "2.0",
            built(ArrayEncoding, _MARKED), words(1, 2, 3, 4, width=2)), reachable=False),
    case("file/2.0/fixed-size-list/flags-three", "three booleans a row: rows begin inside of bytes",
        "L.array.fixed-size-list.dimension", _THREES),
    case("file/2.0/packed-struct/fixed", "a packed struct: rows of 2 + 4 + 1 bytes in one buffer",
        "L.array.packed-struct.size", column(pa.array([{"a": 1, "b": 2.5, "c": 3}, {"a": -1,
        "b": -0.0, "c": 255}], pa.struct([("a", pa.int16()), ("b", pa.float32()), ("c",
        pa.uint8())])), packed="true")),
    fault("size", "a packed buffer one byte short", "L.array.packed-struct.size", resize(-1, -1)),
    fault("encoding", "a field of no kind", "L.array.encoding.tag",
        clear("packed_struct.inner.0.nullable")),
    case("file/2.0/packed-struct/vectors", "packed rows of 2 + 12 + 1 bytes, the middle a vector",
        ("L.array.packed-struct.width", "L.array.packed-struct.children"),
        column(_VECTOR_ROWS, packed="true")),
    fault("width", "a field of two bytes described as four", "L.array.packed-struct.width",
        assign("packed_struct.inner.0.nullable.no_nulls.values.flat.bits_per_value", 32),
        flags="WidthMismatch"),
    fault("children", "two widths for three fields", "L.array.packed-struct.children",
        page({"packed_struct.inner": lambda old: old[:-1]}), flags="MissingPart"),
)  # fmt: skip

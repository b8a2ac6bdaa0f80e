"""Cases of flat and bit-packed values, lists, structs and vectors of 2.0."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pyarrow as pa
from lanceref.proto.encodings_v2_0_pb2 import ArrayEncoding, Buffer

from lance_conformance.recipes import columns, edits
from lance_conformance.recipes.constructors import case, fault, faults, lint
from lance_conformance.recipes.edits import assign, clear, column_edit, page, resize, spare_buffer
from lance_conformance.recipes.handmade_files import Page, fast_lanes, one_page, with_pages, words
from lance_conformance.recipes.model import Recipe
from lance_conformance.recipes.oracle_files import column, file
from lance_conformance.recipes.pages import array_blocks, column_encoding, flat_page, pair

_FLAT = "nullable.some_nulls.values.flat"
_SOME = "nullable.some_nulls"
_SIZED = ("L.array.flat.size", "L.array.flat.type-width")
_MIXED = pa.Table.from_arrays(
    [pa.array([1, 2, 3], pa.int32()), pa.array([1, None, 3], pa.int32())],
    schema=pa.schema([pa.field("a", pa.int32(), nullable=False), pa.field("b", pa.int32())]),
)

_FLAGS = pa.array([None if number % 5 == 0 else number % 3 == 0 for number in range(64)])


def _bits(values: list[int], width: int) -> bytes:
    """Pack values back to back, least significant bit first."""
    stream: int = sum((value % 2**width << width * i for i, value in enumerate(values)))
    return stream.to_bytes(-(-width * len(values) // 8), "little")


_SIGNED = [0, -1, 15, -16, 7, -8]
_SMALL = [i * 7 % 100 for i in range(1100)]


def _packed(width: int, full: int, signed: bool = False, arm: str = "bitpacked") -> ArrayEncoding:
    paths: dict[str, object] = {
        f"{arm}.compressed_bits_per_value": width,
        f"{arm}.uncompressed_bits_per_value": full,
        f"{arm}.buffer": {},
    }
    return edits.build(ArrayEncoding, {**paths, f"{arm}.signed": True} if signed else paths)


_LANES = partial(_packed, arm="bitpacked_for_non_neg")


def _back_to_back(bits: int, width: int) -> Page:
    """Lay out a page of the pair of a width."""
    return Page(_packed(width, bits), 2, (_bits(pair(width), width),))


_PAIRS = pa.array(
    [[{"key": "a", "value": 1}], [], [{"key": "b", "value": None}]],
    pa.list_(pa.struct([pa.field("key", pa.string(), False), pa.field("value", pa.int32())])),
)


def _owning_lists() -> pa.Array:
    """A null that owns two items: [1], null over [2, 3], [4]."""
    validity, offsets = (pa.py_buffer(b"\x05"), pa.py_buffer(words(0, 1, 3, 4, width=4)))
    items = pa.array([1, 2, 3, 4], pa.int32())
    return pa.Array.from_buffers(pa.list_(pa.int32()), 3, [validity, offsets], children=[items])


_THREES = pa.FixedSizeListArray.from_arrays(
    pa.array([True, False, False, True, True, False, False, True, True, True, False, True]),
    3)  # fmt: skip

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


_two_blocks = one_page(pa.array(_SMALL, pa.int32()), "2.0", _LANES(7, 32),
    fast_lanes(_SMALL[:1024], 32, 7) + fast_lanes(_SMALL[1024:], 32, 7))  # fmt: skip


CASES: tuple[Recipe, ...] = (
    *(case(f"file/2.0/flat/{name}", f"{name}: 0, 1, largest, smallest, null, 7",
            (*_SIZED, "L.array.nullable.validity"),
            file(column(columns.integers(getattr(pa, name)())), "2.0"))
        for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")),
    *(case(f"file/2.0/flat/{name}", f"{name}: zeros of both signs, infinities, NaN, null",
            (*_SIZED, "L.array.nullable.validity"),
            file(column(columns.floats(getattr(pa, name)())), "2.0"))
        for name in ("float16", "float32", "float64")),
    *(case(f"file/2.0/flat/{name}", f"{array.type} with a null", _SIZED, file(column(array), "2.0"))
        for name, array in {**columns.TEMPORAL, **columns.DECIMALS,
            "fixed-size-binary": columns.FIXED_BINARY}.items()),
    case("file/2.0/flat/no-nulls", "no null in the page: no validity buffer", "L.array.flat.size",
        pa.array([1, 2, 3], pa.int32())),
    case("file/2.0/flat/all-nulls", "only nulls: no buffer at all", "L.array.nullable.all-nulls",
        pa.array([None] * 4, pa.int32())),
    lint("spare-buffer", "a buffer that nulls do not have", "L.array.buffer.named", spare_buffer()),
    case("file/2.0/flat/null-type", "a column of type null", "L.array.nullable.all-nulls",
        pa.nulls(3)),
    fault("rows", "2**40 nulls", "L.file.pages.length", column_edit({"pages.0.length": 2 ** 40})),
    case("file/2.0/flat/bool", "booleans are bits, least significant first",
        ("L.array.flat.width", "L.array.nullable.validity"), columns.BOOLEANS),
    fault("size", "a boolean buffer one byte short", "L.array.flat.size", resize(-1, -1)),
    case("file/2.0/flat/bool-no-nulls", "booleans of which none is null, from inside of bytes on",
        "L.array.flat.width", pa.array([i % 3 == 1 for i in range(28)])),
    case("file/2.0/flat/two-columns", "a field that is never null beside one that is",
        ("L.array.nullable.field", "L.array.column.encoding"), _MIXED),
    fault("zones", "a column encoding that no reader knows", "L.array.column.encoding",
        column_encoding("zone_index"), flags="WrongKind"),
    fault("null", "a null in a field that is never null", "L.array.nullable.field",
        edits.field(1, nullable=False), flags="NullWhereNone"),
    fault("bits", "values of twelve bits", "L.array.flat.type-width",
        assign("nullable.no_nulls.values.flat.bits_per_value", 12), flags="WidthMismatch"),
    fault("rows", "a column of one row more than the other", "L.file.descriptor.length",
        column_edit({"pages.0.length": lambda old: old + 1}), flags="CountMismatch"),
    case("file/2.0/flat/bare", "flat values without nullable around them", "L.array.encoding.tag",
        one_page(pa.array([1, 2, 3], pa.int32()), "2.0", flat_page(32), words(1, 2, 3, width=4))),
    case("file/2.0/flat/column-buffer", "values in a buffer of the column",
        ("L.array.buffer.type", "L.array.buffer.index"),
        with_pages(column(pa.array([4, 5, 6], pa.int32())), "2.0",
            {0: [Page(flat_page(32, 0, Buffer.column), 3, ())]}, {0: words(4, 5, 6, width=4)})),
    fault("index", "a buffer the column does not have", "L.array.buffer.index",
        assign("flat.buffer.buffer_index", 1), flags="IndexBeyondItems"),
    case("file/2.0/flat/flags-far", "two booleans of bytes far apart", "L.array.flat.width",
        replace(columns.take(_FLAGS, "2.0", 8, 60), args={"rows": [8, 60]})),
    case("file/2.0/flat/far", "three flags or nulls far apart", "L.array.nullable.validity",
        columns.take(columns.FLAGS, "2.0", 9, 90, 95)),
    case("file/2.0/bitpacked/signed", "five bits a value, the sign extended",
        ("L.array.bitpacked.width", "L.array.bitpacked.size"),
        one_page(pa.array(_SIGNED, pa.int16()), "2.0", _packed(5, 16, True), _bits(_SIGNED, 5))),
    fault("width", "17 bits for values of 16", "L.array.bitpacked.width",
        assign("bitpacked.compressed_bits_per_value", 17), flags="WidthMismatch"),
    fault("size", "a packed buffer one byte short", "L.array.bitpacked.size", resize(0, -1),
        flags="BufferTooShort"),
    case("file/2.0/bitpacked/unsigned", "three bits a value", "L.array.bitpacked.width",
        one_page(pa.array([0, 1, 7, 2, 5], pa.uint64()), "2.0", _packed(3, 64),
            _bits([0, 1, 7, 2, 5], 3))),
    fault("width", "65 bits for values of 64", "L.array.bitpacked.width",
        assign("bitpacked.compressed_bits_per_value", 65)),
    case("file/2.0/bitpacked/non-negative",
        "two FastLanes blocks of seven bits, the last filled up",
        "L.array.bitpacked-for-non-neg.size", _two_blocks),
    fault("size", "a block that ends early", "L.array.bitpacked-for-non-neg.size", resize(0, -1),
        flags="BufferTooShort"),
    case("file/2.0/bitpacked/widths", "64 pages, one for each width from 1 to 64",
        ("L.array.bitpacked.width", "L.array.bitpacked.size"), with_pages(column(
                pa.array([value for width in range(1, 65) for value in pair(width)], pa.uint64())),
            "2.0", {0: [_back_to_back(64, width) for width in range(1, 65)]})),
    *(case(f"file/2.0/bitpacked/widths-{bits}",
            f"{bits}-bit values, a page for each width 1 to {bits}", "L.array.bitpacked.size",
            with_pages(column(array_blocks(bits, range(1, bits + 1))), "2.0",
                {0: [_back_to_back(bits, width) for width in range(1, bits + 1)]}))
        for bits in (8, 16, 32)),
    case("file/2.0/bitpacked/non-negative-far", "a row of each of two FastLanes blocks",
        "L.array.bitpacked-for-non-neg.size", columns.take(pa.array(_SMALL, pa.int32()), "2.0",
            1000, len(_SMALL) - 1, make=_two_blocks)),
    *(case(f"file/2.0/bitpacked-for-non-neg/widths-{slug}",
            f"FastLanes blocks of {bits}-bit values, a page for each width {first} to {last}",
            "L.array.bitpacked-for-non-neg.size",
            with_pages(column(array_blocks(bits, range(first, last + 1))), "2.0",
                {0: [Page(_LANES(width, bits), 2, (fast_lanes(pair(width), bits, width),))
                        for width in range(first, last + 1)]})) for slug,
        bits, first, last in (("8", 8, 1, 8), ("16", 16, 1, 16), ("32", 32, 1, 32),
            ("64", 64, 1, 44), ("64-wide", 64, 45, 64))),
    *faults("file/2.0/flat/int32", fault("type-width", "values of 64 bits in an int32 column",
            "L.array.flat.type-width", assign(f"{_FLAT}.bits_per_value", 64)),
        fault("size", "a values buffer one byte short", "L.array.flat.size", resize(-1, -1)),
        fault("long", "a values buffer one byte long", "L.array.flat.size", resize(-1, 1)),
        fault("buffer-index", "a buffer the page does not have", "L.array.buffer.index",
            assign(f"{_FLAT}.buffer.buffer_index", 9)), fault("buffer-type", "a buffer of the file",
            "L.array.buffer.type", assign(f"{_FLAT}.buffer.buffer_type", 2)),
        fault("constant", "the constant arm that no reader knows", "L.array.encoding.tag",
            page({"constant.value": b"\x01"})),
        fault("validity", "a validity of 8 bits a value", "L.array.nullable.validity",
            assign("nullable.some_nulls.validity.flat.bits_per_value", 8)),
        lint("spare-buffer", "a page buffer that no part of the encoding names",
            "L.array.buffer.named", spare_buffer()), fault("bits", "values of 12 bits",
            "L.array.flat.type-width", page({"nullable.some_nulls.values.flat.bits_per_value": 12}),
            also="L.array.flat.width")),
    *faults("file/2.0/flat/float64",
        fault("no-arm", "an array of no kind of nulls", "L.array.encoding.tag", clear(_SOME))),
    *faults("file/2.0/flat/int16", fault("values", "values of no kind", "L.array.encoding.tag",
            clear(f"{_SOME}.values.flat"))),
    *faults("file/2.0/flat/int64", fault("width", "values of 32 bits in a column of 64",
            "L.array.flat.type-width", assign(f"{_SOME}.values.flat.bits_per_value", 32))),
    *faults("file/2.0/flat/decimal128",
        fault("size", "values one byte short", "L.array.flat.size", resize(-1, -1))),
    *faults("file/2.0/flat/date32",
        fault("validity", "a validity one byte short", "L.array.flat.size", resize(0, -1))),
    *faults("file/2.0/flat/uint16", fault("buffer", "a buffer one after the last",
            "L.array.buffer.index", assign(f"{_SOME}.values.flat.buffer.buffer_index", 2))),
    case("file/2.0/list/int32", "lists: two items, null, empty, an item that is null, one item",
        ("L.array.ends.bound", "L.array.list.num-items"), columns.LISTS),
    fault("ends-fall", "list ends that fall", "L.array.ends.order",
        edits.byte("field c", "page 0", "list ends", at=24, new=1)),
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
        columns.LISTS.cast(pa.large_list(pa.int32()))),
    fault("num-items", "2**60 items", "L.array.list.item-column",
        assign("list.num_items", 2 ** 60)),
    case("file/2.0/list/list", "lists of lists with nulls and empties at both levels",
        "L.array.ends.bound", columns.LISTS_OF_LISTS),
    fault("ends", "a first list that ends after the last item", "L.array.ends.bound",
        edits.byte("field c", "page 0", "list ends", at=0, new=0x7F)),
    case("file/2.0/list/all-empty", "no item at all: one item page of no rows",
        "L.array.list.num-items", pa.array([[], []], pa.list_(pa.string()))),
    case("file/2.0/list/multi-page", "list pages whose offsets start again at zero",
        ("L.array.list.item-column", "L.file.pages.length"), file(column(
                pa.array([[i, i + 1, i + 2][:i % 4] for i in range(1200)], pa.list_(pa.int64()))),
            "2.0", batches=6, data_cache_bytes=2000)),
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
        edits.field(0, logical_type="map"), flags="WrongKind"),
    case("file/2.0/list/null-with-items", "a null list that owns items",
        ("L.array.ends.order", "L.array.ends.null-adjustment"), _owning_lists()),
    case("file/2.0/list/many-nulls", "a list of 900 000 items that need no bytes",
        "L.array.list.num-items", pa.array([[None] * 900_000, None, [None]], pa.list_(pa.null()))),
    case("file/2.0/list/null-first", "a null list before others",
        "L.array.list.null-adjustment-value", pa.array([None, [1, 2], [3]], pa.list_(pa.int32()))),
    fault("null", "a null list, the first, where none may be null", "L.array.nullable.field",
        edits.field(0, nullable=False)),
    case("file/2.0/list/far", "two lists far apart", "L.array.ends.order",
        columns.take(_products(columns.COUNT), "2.0", 3, 90)),
    case("file/2.0/list/apart", "lists more than a thousand rows apart", "L.array.list.num-items",
        columns.take(_products(1300), "2.0", 3, 1203, 1204)),
    case("file/2.0/struct/two-fields", "a struct: a header column before those of its fields",
        "L.array.struct.header",
        pa.array([{"x": 1, "y": "a"}, {"x": None, "y": ""}, {"x": 3, "y": None}],
            pa.struct([("x", pa.int32()), ("y", pa.string())]))),
    fault("two-pages", "a struct header of two pages", "L.array.struct.header",
        column_edit(lambda message: message.pages.add().CopyFrom(message.pages[0]))),
    fault("buffer", "a struct header with a buffer", "L.array.struct.header", spare_buffer()),
    case("file/2.0/struct/in-list", "a list of structs that hold lists",
        ("L.array.struct.header", "L.array.list.num-items"),
        pa.array([[{"x": 1, "l": [True]}], [], None, [{"x": None, "l": None}, {"x": 5, "l": []}]],
            columns.LISTS_OF_STRUCTS.type)),
    case("file/2.0/struct/nested", "a struct in a struct: two headers",
        ("L.array.struct.length", "L.array.struct.header"),
        pa.array([{"x": 1, "y": {"z": "a"}}, {"x": None, "y": {"z": None}}])),
    fault("length", "an inner header of one row more", "L.array.struct.length",
        column_edit({"pages.0.length": 3}, 2), flags="CountMismatch"),
    fault("header", "a header that is a page of numbers", "L.array.struct.header",
        page({"flat.bits_per_value": 64, "flat.buffer": {}}), flags="WrongKind"),
    case("file/2.0/fixed-size-list/float", "vectors with a null vector and null items",
        ("L.array.fixed-size-list.dimension", "L.array.nullable.validity"),
        columns.VECTORS_COLUMNS),
    fault("dimension", "vectors of 3 in a column of 2", "L.array.fixed-size-list.dimension",
        assign("nullable.some_nulls.values.fixed_size_list.dimension", 3)),
    case("file/2.0/fixed-size-list/nested", "vectors of vectors, nulls at every level",
        "L.array.fixed-size-list.dimension", columns.NESTED_VECTORS),
    case("file/2.0/fixed-size-list/bool", "vectors of booleans: one bitmap over all items",
        ("L.array.fixed-size-list.dimension", "L.array.flat.width"),
        pa.array([[True, False, True], [False, False, True]], pa.list_(pa.bool_(), 3))),
    fault("dimension", "three items told as four", "L.array.fixed-size-list.dimension",
        assign("nullable.no_nulls.values.fixed_size_list.dimension", 4)),
    case("file/2.0/fixed-size-list/has-validity", "a flag that no writer sets and no reader heeds",
        "L.array.fixed-size-list.dimension",
        one_page(pa.array([[1, 2], [3, 4]], pa.list_(pa.int16(), 2)), "2.0",
            edits.build(ArrayEncoding, _MARKED), words(1, 2, 3, 4, width=2))),
    case("file/2.0/fixed-size-list/flags-three", "three booleans a row: rows begin inside of bytes",
        "L.array.fixed-size-list.dimension", _THREES),
    case("file/2.0/packed-struct/fixed", "a packed struct: rows of 2 + 4 + 1 bytes in one buffer",
        "L.array.packed-struct.size", column(columns.PACKED, packed="true")),
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

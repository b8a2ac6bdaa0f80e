"""Cases of flat and bit-packed values of 2.0."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pyarrow as pa
from lanceref.proto.encodings_v2_0_pb2 import ArrayEncoding, Buffer

from lance_conformance.recipes import columns as c
from lance_conformance.recipes.constructors import case, fault, faults, lint
from lance_conformance.recipes.edits import (
    assign,
    built,
    clear,
    column_edit,
    field,
    page,
    resize,
    spare_buffer,
)
from lance_conformance.recipes.handmade_files import Page, by_hand, fast_lanes, one_page, words
from lance_conformance.recipes.model import Recipe
from lance_conformance.recipes.oracle_made import column, file
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
    return built(ArrayEncoding, {**paths, f"{arm}.signed": True} if signed else paths)


_LANES = partial(_packed, arm="bitpacked_for_non_neg")


def _back_to_back(bits: int, width: int) -> Page:
    """Lay out a page of the pair of a width."""
    return Page(_packed(width, bits), 2, (_bits(pair(width), width),))


def _lanes_page(bits: int, width: int) -> Page:
    return Page(_LANES(width, bits), 2, (fast_lanes(pair(width), bits, width),))


CASES: tuple[Recipe, ...] = (
    *(case(f"file/2.0/flat/{name}", f"{name}: 0, 1, largest, smallest, null, 7", (*_SIZED,
        "L.array.nullable.validity"), file(column(c.integers(getattr(pa, name)())), "2.0"))
        for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")),
    *(case(f"file/2.0/flat/{name}", f"{name}: zeros of both signs, infinities, NaN, null", (*_SIZED,
        "L.array.nullable.validity"), file(column(c.floats(getattr(pa, name)())), "2.0"))
        for name in ("float16", "float32", "float64")),
    *(case(f"file/2.0/flat/{name}", f"{array.type} with a null", _SIZED,
            file(column(array), "2.0")) for name,
        array in {**c.TEMPORAL, **c.DECIMALS, "fixed-size-binary": c.FIXED_BINARY}.items()),
    case("file/2.0/flat/no-nulls", "no null in the page: no validity buffer", "L.array.flat.size",
        pa.array([1, 2, 3], pa.int32())),
    case("file/2.0/flat/all-nulls", "only nulls: no buffer at all", "L.array.nullable.all-nulls",
        pa.array([None] * 4, pa.int32())),
    lint("spare-buffer", "a buffer that nulls do not have", "L.array.buffer.named", spare_buffer()),
    case("file/2.0/flat/null-type", "a column of type null", "L.array.nullable.all-nulls",
        pa.nulls(3)),
    fault("rows", "2**40 nulls", "L.file.pages.length", column_edit({"pages.0.length": 2 ** 40})),
    case("file/2.0/flat/bool", "booleans are bits, least significant first",
        ("L.array.flat.width", "L.array.nullable.validity"), c.BOOLEANS),
    fault("size", "a boolean buffer one byte short", "L.array.flat.size", resize(-1, -1)),
    case("file/2.0/flat/bool-no-nulls", "booleans of which none is null, from inside of bytes on",
        "L.array.flat.width", pa.array([i % 3 == 1 for i in range(28)])),
    case("file/2.0/flat/two-columns", "a field that is never null beside one that is",
        ("L.array.nullable.field", "L.array.column.encoding"), _MIXED),
    fault("zones", "a column encoding that no reader knows", "L.array.column.encoding",
        column_encoding("zone_index"), flags="WrongKind"),
    fault("null", "a null in a field that is never null", "L.array.nullable.field",
        field(1, nullable=False), flags="NullWhereNone"),
    fault("bits", "values of twelve bits", "L.array.flat.type-width",
        assign("nullable.no_nulls.values.flat.bits_per_value", 12), flags="WidthMismatch"),
    fault("rows", "a column of one row more than the other", "L.file.descriptor.length",
        column_edit({"pages.0.length": lambda old: old + 1}), flags="CountMismatch"),
    case("file/2.0/flat/bare", "flat values without nullable around them", "L.array.encoding.tag",
        one_page(pa.array([1, 2, 3], pa.int32()), "2.0", flat_page(32), words(1, 2, 3, width=4)),
        reachable=False),
    case("file/2.0/flat/column-buffer", "values in a buffer of the column", ("L.array.buffer.type",
        "L.array.buffer.index"), by_hand(column(pa.array([4, 5, 6], pa.int32())), "2.0",
        {0: [Page(flat_page(32, 0, Buffer.column), 3, ())]}, {0: words(4, 5, 6, width=4)}),
        reachable=False),
    fault("index", "a buffer the column does not have", "L.array.buffer.index",
        assign("flat.buffer.buffer_index", 1), flags="IndexBeyondItems"),
    case("file/2.0/flat/flags-far", "two booleans of bytes far apart", "L.array.flat.width",
        replace(c.far(_FLAGS, "2.0", 8, 60), args={"rows": [8, 60]})),
    case("file/2.0/flat/far", "three flags or nulls far apart", "L.array.nullable.validity",
        c.far(c.FLAGS, "2.0", 9, 90, 95)),
    case("file/2.0/bitpacked/signed", "five bits a value, the sign extended",
        ("L.array.bitpacked.width", "L.array.bitpacked.size"), one_page(pa.array(_SIGNED,
        pa.int16()), "2.0", _packed(5, 16, True), _bits(_SIGNED, 5)), reachable=False),
    fault("width", "17 bits for values of 16", "L.array.bitpacked.width",
        assign("bitpacked.compressed_bits_per_value", 17), flags="WidthMismatch"),
    fault("size", "a packed buffer one byte short", "L.array.bitpacked.size", resize(0, -1),
        flags="BufferTooShort"),
    case("file/2.0/bitpacked/unsigned", "three bits a value", "L.array.bitpacked.width",
        one_page(pa.array([0, 1, 7, 2, 5], pa.uint64()), "2.0", _packed(3, 64),
            _bits([0, 1, 7, 2, 5], 3)), reachable=False),
    fault("width", "65 bits for values of 64", "L.array.bitpacked.width",
        assign("bitpacked.compressed_bits_per_value", 65)),
    case("file/2.0/bitpacked/non-negative",
        "two FastLanes blocks of seven bits, the last filled up",
        "L.array.bitpacked-for-non-neg.size",
        one_page(pa.array(_SMALL, pa.int32()), "2.0", _LANES(7, 32),
            fast_lanes(_SMALL[:1024], 32, 7) + fast_lanes(_SMALL[1024:], 32, 7)), reachable=False),
    fault("size", "a block that ends early", "L.array.bitpacked-for-non-neg.size", resize(0, -1),
        flags="BufferTooShort"),
    case("file/2.0/bitpacked/widths", "64 pages, one for each width from 1 to 64",
        ("L.array.bitpacked.width", "L.array.bitpacked.size"), by_hand(column(pa.array([value
        for width in range(1, 65) for value in pair(width)], pa.uint64())), "2.0",
        {0: [_back_to_back(64, width) for width in range(1, 65)]}), reachable=False),
    *(case(f"file/2.0/bitpacked/widths-{bits}",
        f"{bits}-bit values, a page for each width 1 to {bits}", "L.array.bitpacked.size",
        by_hand(column(array_blocks(bits, range(1, bits + 1))), "2.0", {0: [_back_to_back(bits,
        width) for width in range(1, bits + 1)]}), reachable=False) for bits in (8, 16, 32)),
    *(case(f"file/2.0/bitpacked-for-non-neg/widths-{bits}",
        f"FastLanes blocks of {bits}-bit values, a page for each width 1 to {bits}",
        "L.array.bitpacked-for-non-neg.size", by_hand(column(array_blocks(bits, range(1,
        bits + 1))), "2.0", {0: [_lanes_page(bits, width) for width in range(1, bits + 1)]}),
        reachable=False) for bits in (8, 16, 32)),
    case("file/2.0/bitpacked-for-non-neg/widths-64",
        "FastLanes blocks of 64-bit values, a page for each width 1 to 44",
        "L.array.bitpacked-for-non-neg.size", by_hand(column(array_blocks(64, range(1, 45))), "2.0",
        {0: [_lanes_page(64, width) for width in range(1, 45)]}), reachable=False),
    case("file/2.0/bitpacked-for-non-neg/widths-64-wide",
        "FastLanes blocks of 64-bit values, a page for each width 45 to 64",
        "L.array.bitpacked-for-non-neg.size", by_hand(column(array_blocks(64, range(45, 65))),
        "2.0", {0: [_lanes_page(64, width) for width in range(45, 65)]}), reachable=False),
    *faults("file/2.0/flat/int32",
        fault("type-width", "values of 64 bits in an int32 column", "L.array.flat.type-width",
            assign(f"{_FLAT}.bits_per_value", 64)),
        fault("size", "a values buffer one byte short", "L.array.flat.size", resize(-1, -1)),
        fault("buffer-index", "a buffer the page does not have", "L.array.buffer.index",
            assign(f"{_FLAT}.buffer.buffer_index", 9)),
        fault("buffer-type", "a buffer of the file", "L.array.buffer.type",
            assign(f"{_FLAT}.buffer.buffer_type", 2)),
        fault("constant", "the constant arm that no reader knows", "L.array.encoding.tag",
            page({"constant.value": b"\x01"})),
        fault("validity", "a validity of 8 bits a value", "L.array.nullable.validity",
            assign("nullable.some_nulls.validity.flat.bits_per_value", 8)),
        lint("spare-buffer", "a page buffer that no part of the encoding names",
            "L.array.buffer.named", spare_buffer()),
        fault("bits", "values of 12 bits", "L.array.flat.type-width",
            page({"nullable.some_nulls.values.flat.bits_per_value": 12}),
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
)  # fmt: skip

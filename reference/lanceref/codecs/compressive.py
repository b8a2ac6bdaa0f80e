"""Compressive encodings: the codec that a message asks for, and what the message alone can break.

A page's description nests `CompressiveEncoding` messages; it is checked when a file is opened. Each
arm has its parts and its widths; some arms, and some children of others, belong to later versions.

*Mini* decodes the value buffers of a chunk; *zipped* values are coded each on its own. Levels,
dictionaries and offsets are blocks (see `blocks`).

Clauses: L.codec.encoding.present, L.codec.encoding.version, L.codec.encoding.depth,
L.codec.encoding.context, L.codec.encoding.buffer-compression, L.codec.encoding.levels,
L.codec.flat.bits, L.codec.flat.size
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from lanceref.codecs import bitpack, general, nested, sequence, variable, variable_offsets
from lanceref.codecs.blocks import below_general, decode_rle, integers
from lanceref.codecs.buffers import (
    Buffer,
    decode_flat,
    has_payload,
    list_levels,
    only_flat,
    unsupported,
    value_bits,
    want_arm,
    wrong_encoding,
)
from lanceref.codecs.values import MAX_BITS, Fixed, Values, Variable
from lanceref.core.context import Context, expect
from lanceref.core.errors import CorruptPage, Place, UnknownEncoding
from lanceref.core.file_versions import V2_1, V2_2, V2_3, FileVersion
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding


def decode_mini(encoding: CompressiveEncoding, buffers: Sequence[Buffer], count: int) -> Values:
    """Decode the `count` values that lie in the value buffers of a chunk.

    Raises UnknownEncoding, CorruptPage, LimitExceeded.
    """
    first = buffers[0]
    match encoding.WhichOneof("compression"):
        case "flat":
            return decode_flat(first, count, encoding.flat.bits_per_value)
        case "inline_bitpacking":
            bits = encoding.inline_bitpacking.uncompressed_bits_per_value
            return bitpack.decode_inline(first, count, bits)
        case "variable":
            return _variable(encoding.variable.offsets, buffers, count, "bytes[]")
        case "fsst":
            inner, coded = encoding.fsst.values.variable, encoding.fsst
            codes = _variable(inner.offsets, buffers, count, variable.CODES)
            table = variable.parse_symbol_table(coded.symbol_table, first.place)
            return variable.decode_codes(table, codes, first.place)
        case "rle":
            return decode_rle(encoding.rle, first, buffers[1], count)
        case "byte_stream_split":
            bits = encoding.byte_stream_split.values.flat.bits_per_value
            return general.decode_streams(first, count, bits)
        case "general":
            encoding, first = below_general(encoding, first)
            return decode_mini(encoding, [first, *buffers[1:]], count)
        case "fixed_size_list":
            return nested.decode_lists(encoding.fixed_size_list, buffers, count)
        case "packed_struct":
            packed = encoding.packed_struct
            rows = decode_flat(first, count, packed.values.flat.bits_per_value, "packed rows")
            return nested.split_rows(rows, packed.bits_per_value)
    raise unsupported(encoding, "a mini-block chunk", first.place)


def _variable(
    offsets: CompressiveEncoding, buffers: Sequence[Buffer], count: int, kind: str
) -> Variable:
    """Decode strings whose offsets are a table before the bytes, or a block of their own."""
    first, last = buffers[0], buffers[-1]
    if offsets.WhichOneof("compression") == "flat":
        return variable.decode_after_table(first, count, offsets.flat.bits_per_value, kind)
    stored = first if has_payload(offsets) else first.part(0, 0)
    ends = integers(offsets, stored, count + 1, "offsets")
    return variable_offsets.decode_separate(last, ends, kind)


def decode_zipped(
    encoding: CompressiveEncoding, values: Fixed | Variable, ctx: Context, place: Place
) -> Values:
    """Decode values of one size, or cut by their lengths. Raises UnknownEncoding, CorruptPage."""
    arm = encoding.WhichOneof("compression")
    if isinstance(values, Fixed):
        if arm == "fixed_size_list":
            rows = values.data.reshape(values.count, values.bits // 8)
            return nested.decode_zipped_lists(encoding.fixed_size_list, rows, place)
        if arm == "packed_struct":
            fields = encoding.packed_struct.bits_per_value
            nested.check_row_bits(fields, values.bits, place)
            return nested.split_rows(values, fields)
        expect("L.codec.flat.size", values.bits, only_flat(encoding, place), place)
        return values
    match arm:
        case "variable":
            return values
        case "fsst":
            table = variable.parse_symbol_table(encoding.fsst.symbol_table, place)
            return variable.decode_codes(table, values, place)
        case "general":
            parts = general.decompress_values(encoding.general, values, ctx, place)
            return decode_zipped(encoding.general.values, parts, ctx, place)
        case "variable_packed_struct":
            packed, decode = encoding.variable_packed_struct, partial(decode_zipped, ctx=ctx)
            return nested.split_variable_rows(packed, values, decode, place)
    raise unsupported(encoding, "a variable-width value", place)


SINCE: dict[str, FileVersion] = {
    "variable_packed_struct": V2_2,
    "constant": V2_3,
    "dictionary": V2_3,
    "range": V2_3,
    "delta": V2_3,
}
"""First version of the arms that are not in 2.1."""

IN_CHUNKS = ("flat", "out_of_line_bitpacking", "general")
"""What run values and run lengths of a chunk may be coded by in 2.3: what takes bytes."""

ITEMS = (
    *("flat", "variable", "inline_bitpacking", "out_of_line_bitpacking"),
    *("rle", "general", "fixed_size_list"),
)
"""What the items of a page's dictionary may be coded by."""

LEVELS = ("flat", "inline_bitpacking", "out_of_line_bitpacking", "general", "rle")
"""What levels may be coded by."""

CHILDREN: dict[str, tuple[str, ...]] = {
    "variable": ("offsets",),
    "fsst": ("values",),
    "general": ("values",),
    "byte_stream_split": ("values",),
    "packed_struct": ("values",),
    "fixed_size_list": ("values",),
    "rle": ("values", "run_lengths"),
    "delta": ("deltas",),
    "dictionary": ("indices", "items"),
}
"""The encodings directly inside each arm that can stand alone as well."""


def check_encoding(
    encoding: CompressiveEncoding, version: FileVersion, ctx: Context, place: Place
) -> None:
    """Check a description and everything inside it. Raises UnknownEncoding and CorruptPage."""
    unchecked, most = [(encoding, 0)], ctx.limits.depth
    while unchecked:
        one, depth = unchecked.pop()
        arm = one.WhichOneof("compression")
        if depth > most:
            raise CorruptPage("L.codec.encoding.depth", place, "more", f"{most} levels")
        if arm is None:
            raise UnknownEncoding("L.codec.encoding.present", place, "no known one", "one")
        if version < SINCE.get(arm, version):
            found, wanted = f"{arm} in {version}", f"{SINCE[arm]}"
            raise UnknownEncoding("L.codec.encoding.version", place, found, wanted)
        _check_arm(one, arm, version, place)
        unchecked += [(child, depth + 1) for child in reversed(_children(one, arm))]


def check_levels(
    encoding: CompressiveEncoding, version: FileVersion, ctx: Context, place: Place
) -> None:
    """Check the description of levels: 16-bit values, with runs only since 2.2.

    Raises UnknownEncoding.
    """
    check_encoding(encoding, version, ctx, place)
    arm, bits = encoding.WhichOneof("compression"), value_bits(encoding)
    if arm not in LEVELS or bits != 16 or (arm == "rle" and version == V2_1):
        found, wanted = f"{arm} of {bits} bits", "16 bits, flat, packed or (since 2.2) as runs"
        raise UnknownEncoding("L.codec.encoding.levels", place, found, wanted)


def check_chunks(encoding: CompressiveEncoding, place: Place) -> None:
    """Check the description of values in chunks: runs there take bytes."""
    while encoding.WhichOneof("compression") == "general":
        encoding = encoding.general.values
    for child in _children(encoding, "rle") if encoding.HasField("rle") else []:
        want_arm(child, IN_CHUNKS, place)


def check_items(encoding: CompressiveEncoding, place: Place) -> None:
    """Check the description of a page's dictionary: no computed items, and no coded strings."""
    want_arm(encoding, ITEMS, place)
    if encoding.WhichOneof("compression") == "general":
        check_items(encoding.general.values, place)


def _children(encoding: CompressiveEncoding, arm: str) -> list[CompressiveEncoding]:
    """Return the encodings directly inside this one that can stand alone as well."""
    if arm == "variable_packed_struct":
        return [field.value for field in encoding.variable_packed_struct.fields]
    if arm == "fixed_size_list" and encoding.fixed_size_list.values.HasField("constant"):
        return []
    return [getattr(getattr(encoding, arm), name) for name in CHILDREN.get(arm, ())]


def _check_arm(encoding: CompressiveEncoding, arm: str, version: FileVersion, place: Place) -> None:
    match arm:
        case "flat":
            bits = encoding.flat.bits_per_value
            if bits != 1 and (bits % 8 or not 0 < bits <= MAX_BITS):
                raise CorruptPage("L.codec.flat.bits", place, bits, "1 or whole bytes")
            _no_compression(encoding.flat.HasField("data"), place)
        case "inline_bitpacking":
            bitpack.check_packed(encoding.inline_bitpacking.uncompressed_bits_per_value, 0, place)
            _no_compression(encoding.inline_bitpacking.HasField("values"), place)
        case "out_of_line_bitpacking":
            packed = encoding.out_of_line_bitpacking
            width = only_flat(packed.values, place)
            bitpack.check_packed(packed.uncompressed_bits_per_value, width, place)
        case "variable":  # offsets are flat before 2.3
            offsets = encoding.variable.offsets
            _no_compression(encoding.variable.HasField("values"), place)
            offset_bits = only_flat(offsets, place) if version < V2_3 else value_bits(offsets)
            if offset_bits not in (32, 64):
                raise wrong_encoding(offsets, "offsets of 32 or 64 bits", place)
        case "rle":
            sequence.check_runs(encoding.rle, version, place)
        case "fsst":
            variable.parse_symbol_table(encoding.fsst.symbol_table, place)
            want_arm(encoding.fsst.values, ("variable",), place)
        case "general":
            general.codec_name(encoding.general, place)
        case "byte_stream_split":
            if only_flat(encoding.byte_stream_split.values, place) not in (32, 64):
                raise wrong_encoding(encoding.byte_stream_split.values, "flat 32 or 64", place)
        case "fixed_size_list":
            nested.check_lists(encoding.fixed_size_list, place)
        case "packed_struct":
            rows = only_flat(encoding.packed_struct.values, place)
            nested.check_row_bits(encoding.packed_struct.bits_per_value, rows, place)
        case "variable_packed_struct":
            nested.check_variable_rows(encoding.variable_packed_struct, place)
        case _:
            sequence.check_sequence(encoding, arm, place)


def _no_compression(has_field: bool, place: Place) -> None:
    if has_field:
        clause, wanted = "L.codec.encoding.buffer-compression", "only `general` to compress"
        raise UnknownEncoding(clause, place, "a compressed buffer", wanted)


def num_buffers(encoding: CompressiveEncoding) -> int:
    """Return the value buffers of a mini-block chunk."""
    match encoding.WhichOneof("compression"):
        case "general" | "fsst" as arm:
            return num_buffers(getattr(encoding, arm).values)
        case "rle":
            return 2
        case "fixed_size_list":
            return 1 + sum(one.has_validity for one in list_levels(encoding.fixed_size_list))
        case "variable" if not encoding.variable.offsets.HasField("flat"):
            return 1 + has_payload(encoding.variable.offsets)
    return 1

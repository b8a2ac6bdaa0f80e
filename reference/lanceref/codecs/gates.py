"""Gates: what an encoding's description alone can break, checked when a file is opened.

Each arm of `CompressiveEncoding` has its parts and its widths; some arms belong to later versions.

Clauses: L.codec.encoding.present, L.codec.encoding.version, L.codec.encoding.depth,
L.codec.encoding.context, L.codec.encoding.buffer-compression, L.codec.bitpack.width,
L.codec.rle.children
"""

from __future__ import annotations

from collections.abc import Iterator

from lanceref.codecs import bitpack, fixed_size_list, flat, fsst, general, packed_struct
from lanceref.context import Context
from lanceref.errors import CorruptPage, Place, UnknownEncoding
from lanceref.file.versions import V2_2, V2_3, FileVersion
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding

SINCE: dict[str, FileVersion] = {"variable_packed_struct": V2_2, "range": V2_3, "delta": V2_3}
"""First version of the arms that are not in 2.1."""


def check_encoding(
    encoding: CompressiveEncoding, version: FileVersion, ctx: Context, place: Place, depth: int = 0
) -> None:
    """Check a description and everything inside it. Raises UnknownEncoding and CorruptPage."""
    arm = encoding.WhichOneof("compression")
    if depth > ctx.limits.depth:
        raise CorruptPage(
            "L.codec.encoding.depth", place, found="more", wanted=f"{ctx.limits.depth} levels"
        )
    if arm is None:
        raise UnknownEncoding(
            "L.codec.encoding.present", place, found="no known encoding", wanted="one"
        )
    if version < SINCE.get(arm, version):
        raise UnknownEncoding(
            "L.codec.encoding.version", place, found=f"{arm} in {version}", wanted=f"{SINCE[arm]}"
        )
    _check_arm(encoding, arm, version, place)
    for child in _children(encoding, arm):
        check_encoding(child, version, ctx, place, depth + 1)


def _check_arm(encoding: CompressiveEncoding, arm: str, version: FileVersion, place: Place) -> None:
    if arm == "flat":
        flat.check_bits(encoding.flat.bits_per_value, place)
        _no_compression(encoding.flat.HasField("data"), place)
    elif arm == "inline_bitpacking":
        _check_width(encoding.inline_bitpacking.uncompressed_bits_per_value, place)
        _no_compression(encoding.inline_bitpacking.HasField("values"), place)
    elif arm == "out_of_line_bitpacking":
        bits = encoding.out_of_line_bitpacking.uncompressed_bits_per_value
        _check_width(bits, place)
        _check_packed(encoding, bits, place)
    elif arm == "variable":
        _no_compression(encoding.variable.HasField("values"), place)
        if version < V2_3 and only_flat(encoding.variable.offsets, place) not in (32, 64):
            raise _context(encoding.variable.offsets, "offsets of 32 or 64 bits", place)
    elif arm == "rle":
        _check_rle(encoding, version, place)
    elif arm == "fsst":
        fsst.parse_table(encoding.fsst.symbol_table, place)
        _want_arm(encoding.fsst.values, ("variable",), place)
    elif arm == "general":
        general.codec_name(encoding.general, place)
    elif arm == "byte_stream_split":
        if only_flat(encoding.byte_stream_split.values, place) not in (8, 16, 32, 64):
            raise _context(encoding.byte_stream_split.values, "whole bytes up to 64 bits", place)
    elif arm == "fixed_size_list":
        _check_fixed_size_list(encoding, place)
    elif arm == "packed_struct":
        rows = only_flat(encoding.packed_struct.values, place)
        packed_struct.check_bits(encoding.packed_struct.bits_per_value, rows, place)
    elif arm == "variable_packed_struct":
        _check_variable_rows(encoding, place)


def _children(encoding: CompressiveEncoding, arm: str) -> Iterator[CompressiveEncoding]:
    """Yield the encodings directly inside this one; a flat width of packed bits is no encoding."""
    if arm == "variable":
        yield encoding.variable.offsets
    elif arm == "fsst":
        yield encoding.fsst.values
    elif arm == "general":
        yield encoding.general.values
    elif arm == "rle":
        yield encoding.rle.values
        yield encoding.rle.run_lengths
    elif arm == "byte_stream_split":
        yield encoding.byte_stream_split.values
    elif arm == "fixed_size_list":
        yield encoding.fixed_size_list.values
    elif arm == "packed_struct":
        yield encoding.packed_struct.values
    elif arm == "variable_packed_struct":
        yield from (field.value for field in encoding.variable_packed_struct.fields)
    elif arm == "delta":
        yield encoding.delta.deltas
    elif arm == "dictionary":
        yield encoding.dictionary.indices
        yield encoding.dictionary.items


def _check_width(bits: int, place: Place) -> None:
    if bits not in bitpack.WIDTHS:
        raise CorruptPage(
            "L.codec.bitpack.width", place, found=f"{bits} bits", wanted="8, 16, 32 or 64 bits"
        )


def _check_packed(encoding: CompressiveEncoding, bits: int, place: Place) -> None:
    width = only_flat(encoding.out_of_line_bitpacking.values, place)
    if width > bits:
        raise CorruptPage(
            "L.codec.bitpack.width", place, found=f"width {width}", wanted=f"at most {bits}"
        )


def _check_rle(encoding: CompressiveEncoding, version: FileVersion, place: Place) -> None:
    """Before 2.3 runs are flat values with u8 lengths."""
    values, lengths = encoding.rle.values, encoding.rle.run_lengths
    width, length_width = values.flat.bits_per_value, lengths.flat.bits_per_value
    if version < V2_3 and (only_flat(values, place) % 8 or only_flat(lengths, place) != 8):
        raise CorruptPage(
            "L.codec.rle.children",
            place,
            found=f"values of {width} bits, lengths of {length_width}",
            wanted="flat whole bytes and flat u8 lengths",
        )
    if lengths.WhichOneof("compression") == "flat" and length_width not in (8, 16, 32):
        raise CorruptPage(
            "L.codec.rle.children",
            place,
            found=f"lengths of {length_width} bits",
            wanted="8, 16 or 32 bits",
        )


def _check_fixed_size_list(encoding: CompressiveEncoding, place: Place) -> None:
    items = fixed_size_list.items_per_value(encoding.fixed_size_list)
    if not 0 < items <= fixed_size_list.MAX_DIMENSION:
        raise CorruptPage(
            "L.codec.fixed-size-list.size", place, found=f"{items} items", wanted="1 to 2**31 - 1"
        )
    _want_arm(encoding.fixed_size_list.values, ("flat", "fixed_size_list", "constant"), place)


def _check_variable_rows(encoding: CompressiveEncoding, place: Place) -> None:
    for field in encoding.variable_packed_struct.fields:
        layout = field.WhichOneof("layout")
        width = field.bits_per_length if layout == "bits_per_length" else field.bits_per_value
        allowed = (32, 64) if layout == "bits_per_length" else range(8, flat.MAX_BITS + 1, 8)
        if width not in allowed:
            raise CorruptPage(
                "L.codec.packed-struct.row", place, found=f"{layout} {width}", wanted="whole bytes"
            )


def _want_arm(encoding: CompressiveEncoding, arms: tuple[str, ...], place: Place) -> None:
    if encoding.WhichOneof("compression") not in arms:
        raise _context(encoding, " or ".join(arms), place)


def _no_compression(has_field: bool, place: Place) -> None:
    if has_field:
        raise UnknownEncoding(
            "L.codec.encoding.buffer-compression",
            place,
            found="a compressed buffer",
            wanted="none: only `general` compresses",
        )


def only_flat(encoding: CompressiveEncoding, place: Place) -> int:
    """Return the width of an encoding that must be flat here, in bits."""
    if encoding.WhichOneof("compression") != "flat":
        raise _context(encoding, "flat", place)
    return encoding.flat.bits_per_value


def unsupported(encoding: CompressiveEncoding, where: str, place: Place) -> UnknownEncoding:
    """Return the error for an encoding that does not occur in this place."""
    return UnknownEncoding(
        "L.codec.encoding.context",
        place,
        found=f"{encoding.WhichOneof('compression')} in {where}",
        wanted="an encoding that can stand there",
    )


def _context(encoding: CompressiveEncoding, wanted: str, place: Place) -> UnknownEncoding:
    found = encoding.WhichOneof("compression") or "none"
    if found == "flat":
        found = f"flat {encoding.flat.bits_per_value}"
    return UnknownEncoding("L.codec.encoding.context", place, found=found, wanted=wanted)

"""Checks of descriptions: what an encoding's description alone can break, when a file is opened.

Each arm of `CompressiveEncoding` has its parts and its widths; some arms, and some children of
others, belong to later versions.

Clauses: L.codec.encoding.present, L.codec.encoding.version, L.codec.encoding.depth,
L.codec.encoding.context, L.codec.encoding.buffer-compression, L.codec.encoding.levels,
L.codec.flat.bits, L.codec.bitpack.types, L.codec.bitpack.width, L.codec.rle.children,
L.codec.range.step, L.codec.sequence.width, L.codec.constant.width, L.codec.dictionary.num-items,
L.codec.fixed-size-list.items, L.codec.fixed-size-list.all-null, L.codec.packed-struct.field
"""

from __future__ import annotations

from collections.abc import Collection

from lanceref.codecs import bitpack, general, nested, sequence, variable
from lanceref.core.context import Context
from lanceref.core.errors import CorruptPage, Place, UnknownEncoding
from lanceref.core.file_versions import V2_1, V2_2, V2_3, FileVersion
from lanceref.proto import encodings_v2_1_pb2 as pb
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding

SINCE: dict[str, FileVersion] = {
    "variable_packed_struct": V2_2,
    "constant": V2_3,
    "dictionary": V2_3,
    "range": V2_3,
    "delta": V2_3,
}
"""First version of the arms that are not in 2.1."""

RUNS = ("flat", "out_of_line_bitpacking", "general", "constant", "range")
"""What run values and run lengths may be coded by in 2.3."""

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

MAX_BITS = 2**31
"""Widest value, lists included: `values of a page * bits` stays inside an int64."""


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
    if encoding.WhichOneof("compression") == "rle":
        _want_arm(encoding.rle.values, IN_CHUNKS, place)
        _want_arm(encoding.rle.run_lengths, IN_CHUNKS, place)


def check_items(encoding: CompressiveEncoding, place: Place) -> None:
    """Check the description of a page's dictionary: no computed items, and no coded strings."""
    _want_arm(encoding, ITEMS, place)
    if encoding.WhichOneof("compression") == "general":
        check_items(encoding.general.values, place)


def value_bits(encoding: CompressiveEncoding) -> int | None:
    """Return the bits of a value when all have as many; a fixed-size list is a zipped value."""
    match encoding.WhichOneof("compression"):
        case "flat":
            return encoding.flat.bits_per_value
        case "inline_bitpacking" | "out_of_line_bitpacking" | "range" | "delta" as arm:
            bits: int = getattr(encoding, arm).uncompressed_bits_per_value
            return bits
        case "constant":
            return 8 * len(encoding.constant.value)
        case "fixed_size_list":
            return nested.list_bits(encoding.fixed_size_list)
        case "rle" | "byte_stream_split" | "general" | "packed_struct" as arm:
            return value_bits(getattr(encoding, arm).values)
        case "dictionary":
            return value_bits(encoding.dictionary.items)
    return None


def has_payload(encoding: CompressiveEncoding) -> bool:
    """Return whether a block codec reads bytes: constants, ranges and what they make do not."""
    match encoding.WhichOneof("compression"):
        case "constant" | "range":
            return False
        case "delta":
            return has_payload(encoding.delta.deltas)
        case "rle":
            return has_payload(encoding.rle.values) or has_payload(encoding.rle.run_lengths)
    return True


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
            _check_packed(encoding.inline_bitpacking.uncompressed_bits_per_value, 0, place)
            _no_compression(encoding.inline_bitpacking.HasField("values"), place)
        case "out_of_line_bitpacking":
            packed = encoding.out_of_line_bitpacking
            width = only_flat(packed.values, place)
            _check_packed(packed.uncompressed_bits_per_value, width, place)
        case "variable":  # offsets are flat before 2.3
            offsets = encoding.variable.offsets
            _no_compression(encoding.variable.HasField("values"), place)
            offset_bits = only_flat(offsets, place) if version < V2_3 else value_bits(offsets)
            if offset_bits not in (32, 64):
                raise _context(offsets, "offsets of 32 or 64 bits", place)
        case "rle":
            _check_rle(encoding.rle, version, place)
        case "fsst":
            variable.parse_symbol_table(encoding.fsst.symbol_table, place)
            _want_arm(encoding.fsst.values, ("variable",), place)
        case "general":
            general.codec_name(encoding.general, place)
        case "byte_stream_split":
            if only_flat(encoding.byte_stream_split.values, place) not in (32, 64):
                raise _context(encoding.byte_stream_split.values, "flat 32 or 64", place)
        case "fixed_size_list":
            _check_fixed_size_list(encoding.fixed_size_list, place)
        case "packed_struct":
            rows = only_flat(encoding.packed_struct.values, place)
            nested.check_row_bits(encoding.packed_struct.bits_per_value, rows, place)
        case "variable_packed_struct":
            _check_variable_rows(encoding.variable_packed_struct, place)
        case _:
            _check_sequence(encoding, arm, place)


def _check_packed(bits: int, width: int, place: Place) -> None:
    clause = "L.codec.bitpack.types"
    if bits not in bitpack.WIDTHS:
        raise UnknownEncoding(clause, place, f"{bits} bits", "8, 16, 32 or 64")
    if width > bits:
        raise CorruptPage("L.codec.bitpack.width", place, width, f"at most {bits}")


def _check_rle(encoding: pb.Rle, version: FileVersion, place: Place) -> None:
    """Check runs, which are of words; before 2.3 they are flat values with u8 lengths."""
    values, lengths = encoding.values, encoding.run_lengths
    for child in (values, lengths):
        if version < V2_3:
            only_flat(child, place)
        _want_arm(child, RUNS, place)
    width, length_width = value_bits(values) or 0, value_bits(lengths)
    widths = (8,) if version < V2_3 else (8, 16, 32)
    if width not in bitpack.WIDTHS or length_width not in widths:
        found = f"values of {width} bits, lengths of {length_width}"
        raise CorruptPage("L.codec.rle.children", place, found, f"lengths of {widths}")


def _check_fixed_size_list(lists: pb.FixedSizeList, place: Place) -> None:
    _want_arm(lists.values, ("flat", "fixed_size_list", "constant"), place)
    is_constant, clause = lists.values.HasField("constant"), "L.codec.fixed-size-list.all-null"
    if is_constant and (not lists.has_validity or lists.values.constant.value):
        raise CorruptPage(clause, place, "a constant", "only nulls")
    items, bits = lists.items_per_value, nested.list_bits(lists)
    if not items or not 0 < bits <= MAX_BITS:
        found, wanted = f"{items} items of a value of {bits} bits", f"at most {MAX_BITS} bits"
        raise CorruptPage("L.codec.fixed-size-list.items", place, found, wanted)


def _check_variable_rows(encoding: pb.VariablePackedStruct, place: Place) -> None:
    for field in encoding.fields:
        if field.WhichOneof("layout") == "bits_per_length":
            _want_arm(field.value, ("variable", "fsst", "general"), place)
            wanted: tuple[int, ...] = (32, 64)
            bits = field.bits_per_length
        else:
            _want_arm(field.value, ("flat", "fixed_size_list", "packed_struct"), place)
            wanted, bits = ((value_bits(field.value) or 0) + 7 & -8,), field.bits_per_value
        if bits not in wanted:
            raise CorruptPage("L.codec.packed-struct.field", place, f"{bits} bits", wanted)


def _check_sequence(encoding: CompressiveEncoding, arm: str, place: Place) -> None:
    bits = value_bits(encoding)
    if arm == "constant":
        if len(encoding.constant.value) not in sequence.CONSTANT_BYTES:
            raise CorruptPage("L.codec.constant.width", place, f"{bits} bits", "4 or 8 bytes")
    elif arm == "dictionary":
        if not encoding.dictionary.num_dictionary_items:
            raise CorruptPage("L.codec.dictionary.num-items", place, 0, "1 or more")
    elif bits not in sequence.WIDTHS:
        raise CorruptPage("L.codec.sequence.width", place, f"{bits} bits", "32 or 64 bits")
    elif arm == "range" and not encoding.range.step:
        raise CorruptPage("L.codec.range.step", place, 0, "a step above 0")


def _want_arm(encoding: CompressiveEncoding, arms: Collection[str], place: Place) -> None:
    if encoding.WhichOneof("compression") not in arms:
        raise _context(encoding, " or ".join(arms), place)


def _no_compression(has_field: bool, place: Place) -> None:
    if has_field:
        clause, wanted = "L.codec.encoding.buffer-compression", "only `general` to compress"
        raise UnknownEncoding(clause, place, "a compressed buffer", wanted)


def only_flat(encoding: CompressiveEncoding, place: Place) -> int:
    """Return the width of an encoding that must be flat here, in bits. Raises UnknownEncoding."""
    if encoding.WhichOneof("compression") != "flat":
        raise _context(encoding, "flat", place)
    return encoding.flat.bits_per_value


def unsupported(encoding: CompressiveEncoding, where: str, place: Place) -> UnknownEncoding:
    """Return the error for an encoding that does not occur in this place."""
    found = f"{encoding.WhichOneof('compression')} in {where}"
    return UnknownEncoding("L.codec.encoding.context", place, found, "another")


def _context(encoding: CompressiveEncoding, wanted: str, place: Place) -> UnknownEncoding:
    found = encoding.WhichOneof("compression") or "none"
    if found == "flat":
        found = f"flat {encoding.flat.bits_per_value}"
    return UnknownEncoding("L.codec.encoding.context", place, found, wanted)

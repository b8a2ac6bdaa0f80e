"""Compressive encodings: the codec that a message asks for, in its three ways of being called.

A page's description nests `CompressiveEncoding` messages. *Mini* decodes the value buffers of many
chunks, *block* one buffer (see `blocks`), *zip* values that were cut one by one.

Clauses: L.codec.encoding.context, L.codec.flat.size
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs import (
    bitpack,
    blocks,
    byte_stream_split,
    fixed_size_list,
    flat,
    fsst,
    general,
    packed_struct,
    variable,
)
from lanceref.codecs.chunks import ChunkRun
from lanceref.codecs.description_checks import (
    check_chunks,
    check_encoding,
    check_items,
    check_levels,
    has_payload,
    only_flat,
    unsupported,
)
from lanceref.codecs.values import Fixed, Rows, Values, Variable
from lanceref.core.context import Context
from lanceref.core.cursor import Cursor
from lanceref.core.errors import CorruptPage, Place
from lanceref.core.file_versions import FileVersion
from lanceref.proto import encodings_v2_1_pb2 as pb
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding

__all__ = [
    "check_chunks",
    "check_encoding",
    "check_items",
    "check_levels",
    "decode_block",
    "decode_fsst",
    "decode_levels",
    "decode_mini",
    "decode_zip_fixed",
    "decode_zip_variable",
    "has_payload",
    "num_buffers",
]


def num_buffers(encoding: CompressiveEncoding) -> int:
    """Return the value buffers of a mini-block chunk."""
    arm = encoding.WhichOneof("compression")
    if arm in ("general", "fsst"):
        return num_buffers(getattr(encoding, arm).values)
    if arm == "rle":
        return 2
    if arm == "fixed_size_list":
        levels = fixed_size_list.levels(encoding.fixed_size_list)
        return 1 + sum(level.has_validity for level in levels)
    if arm == "variable" and encoding.variable.offsets.WhichOneof("compression") != "flat":
        return 1 + has_payload(encoding.variable.offsets)
    return 1


def decode_mini(encoding: CompressiveEncoding, run: ChunkRun, version: FileVersion) -> Values:
    """Decode the value buffers of every chunk of the run, joined."""
    arm = encoding.WhichOneof("compression")
    if arm == "flat":
        return flat.decode(run, encoding.flat.bits_per_value)
    if arm == "inline_bitpacking":
        bits = encoding.inline_bitpacking.uncompressed_bits_per_value
        return bitpack.decode_inline(run, bits)
    if arm == "variable":
        return _decode_variable(encoding.variable.offsets, run, "bytes[]")
    if arm == "fsst":
        return decode_fsst(encoding.fsst, run)
    if arm == "rle":
        return blocks.decode_rle(encoding.rle, run)
    if arm == "byte_stream_split":
        bits = only_flat(encoding.byte_stream_split.values, run.place())
        return byte_stream_split.decode(run, bits)
    if arm == "general":
        name = general.codec_name(encoding.general, run.place())
        return decode_mini(encoding.general.values, general.decompress_run(name, run), version)
    if arm == "fixed_size_list":
        return fixed_size_list.decode_mini(encoding.fixed_size_list, run)
    if arm == "packed_struct":
        packed = encoding.packed_struct
        rows = flat.decode(run, packed.values.flat.bits_per_value, "packed rows")
        return packed_struct.split(rows, packed.bits_per_value)
    raise unsupported(encoding, "a mini-block chunk", run.place())


def decode_fsst(
    encoding: pb.Fsst, run: ChunkRun, slots: NDArray[np.int64] | None = None
) -> Variable:
    """Decode coded strings of every chunk of the run, joined; or some of them (ascending)."""
    decoded = fsst.decode_chunks(encoding, run) if slots is None else None
    if decoded is not None:
        return decoded
    codes = _decode_variable(encoding.values.variable.offsets, run, fsst.CODES)
    return fsst.expand(encoding, codes if slots is None else codes.take(slots), run.place())


def _decode_variable(offsets: CompressiveEncoding, run: ChunkRun, kind: str) -> Variable:
    """Decode strings whose offsets are a table before the bytes, or blocks of their own."""
    if offsets.WhichOneof("compression") == "flat":
        return variable.decode_mini(run, offsets.flat.bits_per_value, kind)
    table = run.only(0) if has_payload(offsets) else run.without_buffers()
    decoded = blocks.integers(offsets, table.counting(run.counts + 1), "offsets")
    return variable.decode_separate(run, decoded, kind)


def decode_levels(
    encoding: CompressiveEncoding, run: ChunkRun
) -> NDArray[np.uint16] | NDArray[np.bool_]:
    """Decode buffer 0 of every chunk as levels, joined; bool when they are packed to one bit."""
    packed = encoding.out_of_line_bitpacking
    if (packed.uncompressed_bits_per_value, packed.values.flat.bits_per_value) == (16, 1):
        return bitpack.decode_flags(run)
    values = blocks.decode(encoding, run, "levels")
    if not isinstance(values, Fixed) or values.bits != 16:
        raise unsupported(encoding, "levels", run.place())
    return values.data.view("<u2")


def decode_block(encoding: CompressiveEncoding, cursor: Cursor, count: int) -> Values:
    """Decode `count` values that fill the cursor; a codec without payload takes an empty one."""
    base, size = cursor.offset, cursor.remaining
    data = np.frombuffer(cursor.skip(size, "block", "L.codec.encoding.context"), np.uint8)
    zero, sizes = np.zeros((1, 1), np.int64), np.array([[size]], np.int64)
    run = ChunkRun(cursor.ctx, data, base, zero, sizes, np.array([count], np.int64))
    return blocks.decode(encoding, run)


def decode_zip_fixed(
    encoding: CompressiveEncoding, rows: NDArray[np.uint8], ctx: Context, place: Place
) -> Values:
    """Decode values of equal size: `rows` uint8 (values, bytes of a value)."""
    arm = encoding.WhichOneof("compression")
    if arm == "fixed_size_list":
        return fixed_size_list.decode_zip(encoding.fixed_size_list, rows, ctx, place)
    whole = Fixed(8 * rows.shape[1], len(rows), np.ascontiguousarray(rows).reshape(-1))
    if arm == "packed_struct":
        fields = encoding.packed_struct.bits_per_value
        packed_struct.check_bits(fields, whole.bits, place)
        return packed_struct.split(whole, fields)
    bits = only_flat(encoding, place)
    if bits != whole.bits:
        raise CorruptPage(
            "L.codec.flat.size", place, found=f"{whole.bits} bits", wanted=f"{bits} bits"
        )
    return whole


def decode_zip_variable(
    encoding: CompressiveEncoding, values: Variable, ctx: Context, place: Place
) -> Variable | Rows:
    """Decode values that were cut by their lengths, each coded on its own."""
    arm = encoding.WhichOneof("compression")
    if arm == "variable":
        return values
    if arm == "fsst":
        return fsst.expand(encoding.fsst, values, place)
    if arm == "general":
        name = general.codec_name(encoding.general, place)
        inner = general.decompress_each(name, values, ctx, place)
        return decode_zip_variable(encoding.general.values, inner, ctx, place)
    if arm == "variable_packed_struct":
        rows = packed_struct.VariableRows(values, ctx, place)
        return rows.decode(encoding.variable_packed_struct, decode_zip_fixed, decode_zip_variable)
    raise unsupported(encoding, "a variable-width value", place)

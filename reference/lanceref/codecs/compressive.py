"""Compressive encodings: which codec a message asks for, and whether this version may.

A page's description nests `CompressiveEncoding` messages. They are called in three ways: *mini*
(the buffers of many chunks), *block* (one buffer: dictionaries, levels, sequences) and *zip* (one
value at a time).

Clauses: L.codec.encoding.present, L.codec.encoding.version, L.codec.encoding.context,
L.codec.encoding.depth, L.codec.encoding.buffer-compression
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs import (
    bitpack,
    byte_stream_split,
    fixed_size_list,
    flat,
    fsst,
    general,
    packed_struct,
    rle,
    sequence,
    variable,
)
from lanceref.codecs.chunks import ChunkRun
from lanceref.codecs.gates import check_encoding, only_flat, unsupported
from lanceref.codecs.values import Fixed, Rows, Values, Variable
from lanceref.context import Context
from lanceref.cursor import Cursor
from lanceref.errors import CorruptPage, Place
from lanceref.file.versions import FileVersion
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding

__all__ = [
    "check_encoding",
    "decode_block",
    "decode_levels",
    "decode_mini",
    "decode_zip_fixed",
    "decode_zip_variable",
    "num_buffers",
]


def num_buffers(encoding: CompressiveEncoding) -> int:
    """Return the value buffers of a mini-block chunk."""
    arm = encoding.WhichOneof("compression")
    if arm == "general":
        return num_buffers(encoding.general.values)
    if arm == "rle":
        return 2
    if arm == "fsst":
        return num_buffers(encoding.fsst.values)
    if arm == "fixed_size_list":
        levels = fixed_size_list.levels(encoding.fixed_size_list)
        return 1 + sum(level.has_validity for level in levels)
    if arm == "variable" and encoding.variable.offsets.WhichOneof("compression") != "flat":
        return 1 + has_payload(encoding.variable.offsets)
    return 1


def has_payload(encoding: CompressiveEncoding) -> bool:
    """Whether a block codec reads bytes: constants, ranges and what is made of them do not."""
    arm = encoding.WhichOneof("compression")
    if arm in ("constant", "range"):
        return False
    if arm == "delta":
        return has_payload(encoding.delta.deltas)
    if arm == "rle":
        return has_payload(encoding.rle.values) or has_payload(encoding.rle.run_lengths)
    return True


def decode_mini(encoding: CompressiveEncoding, run: ChunkRun, version: FileVersion) -> Values:
    """Decode the value buffers of every chunk of the run, joined."""
    arm = encoding.WhichOneof("compression")
    if arm == "flat":
        return flat.decode_mini(run, encoding.flat.bits_per_value)
    if arm == "inline_bitpacking":
        bits = encoding.inline_bitpacking.uncompressed_bits_per_value
        return bitpack.decode_inline(run, bits)
    if arm == "variable":
        offsets = encoding.variable.offsets
        return variable.decode_mini(run, only_flat(offsets, run.place(0, 0)))
    if arm == "fsst":
        place = run.place(0, 0)
        table = fsst.parse_table(encoding.fsst.symbol_table, place)
        codes = decode_mini(encoding.fsst.values, run, version)
        assert isinstance(codes, Variable)
        return fsst.decode(table, codes, place)
    if arm == "rle":
        place = run.place(0, 0)
        bits = only_flat(encoding.rle.values, place)
        return rle.decode_mini(run, bits, only_flat(encoding.rle.run_lengths, place))
    if arm == "byte_stream_split":
        bits = only_flat(encoding.byte_stream_split.values, run.place(0, 0))
        return byte_stream_split.decode_mini(run, bits)
    if arm == "general":
        name = general.codec_name(encoding.general, run.place(0, 0))
        return decode_mini(encoding.general.values, general.decompress_run(name, run), version)
    if arm == "fixed_size_list":
        return fixed_size_list.decode_mini(encoding.fixed_size_list, run)
    if arm == "packed_struct":
        rows = decode_mini(encoding.packed_struct.values, run, version)
        assert isinstance(rows, Fixed)
        return packed_struct.split(rows, encoding.packed_struct.bits_per_value)
    raise unsupported(encoding, "a mini-block chunk", run.place(0, 0))


def decode_levels(encoding: CompressiveEncoding, run: ChunkRun) -> NDArray[np.uint16]:
    """Decode buffer 0 of every chunk as levels, joined: uint16 (levels,)."""
    arm, clause = encoding.WhichOneof("compression"), "L.codec.encoding.context"
    if arm == "flat":
        values = flat.decode_mini(run, encoding.flat.bits_per_value)
    elif arm == "inline_bitpacking":
        bits = encoding.inline_bitpacking.uncompressed_bits_per_value
        values = bitpack.decode_inline(run, bits)
    elif arm == "out_of_line_bitpacking":
        packed = encoding.out_of_line_bitpacking
        width = only_flat(packed.values, run.place(0, 0))
        values = bitpack.decode_out_of_line(run, packed.uncompressed_bits_per_value, width)
    elif arm == "rle":
        place, frames = run.place(0, 0), rle.split_frames(run)
        bits = only_flat(encoding.rle.values, place)
        values = rle.decode_mini(frames, bits, only_flat(encoding.rle.run_lengths, place))
    elif arm == "general":
        name = general.codec_name(encoding.general, run.place(0, 0))
        return decode_levels(encoding.general.values, general.decompress_run(name, run))
    else:
        raise unsupported(encoding, "levels", run.place(0, 0))
    if values.bits != 16:
        raise CorruptPage(
            clause, run.place(0, 0), found=f"levels of {values.bits} bits", wanted="16 bits"
        )
    return np.ascontiguousarray(values.data).view("<u2")


def decode_block(encoding: CompressiveEncoding, cursor: Cursor | None, count: int) -> Values:
    """Decode one buffer of `count` values; without a cursor, a codec that reads no bytes."""
    arm = encoding.WhichOneof("compression")
    if cursor is None:
        cursor = Cursor(memoryview(b""), 0, Context("description"))
    ctx, place = cursor.ctx, cursor.ctx.at(cursor.offset, cursor.remaining)
    if arm == "flat":
        return flat.decode_block(cursor, encoding.flat.bits_per_value, count)
    if arm == "variable":
        only_flat(encoding.variable.offsets, place)
        return variable.decode_block(cursor, count)
    if arm == "constant":
        return sequence.constant(encoding.constant, count, place)
    if arm == "range":
        return sequence.range_of(encoding.range, count, place)
    if arm == "delta":
        below = cursor if has_payload(encoding.delta.deltas) else None
        deltas = integers(decode_block(encoding.delta.deltas, below, max(0, count - 1)), place)
        return sequence.delta(encoding.delta, deltas, count, place)
    if arm == "fsst":
        table = fsst.parse_table(encoding.fsst.symbol_table, place)
        codes = decode_block(encoding.fsst.values, cursor, count)
        assert isinstance(codes, Variable)
        return fsst.decode(table, codes, place)
    if arm == "general":
        name = general.codec_name(encoding.general, place)
        data = np.frombuffer(
            cursor.take(
                cursor.remaining,
                "compressed",
                "L.codec.general.frame",
                f"{name.partition('_')[0]} block",
            ),
            np.uint8,
        )
        budget = ctx.limits.expanded(len(data))
        inner = general.decompress(name, data, ctx, place, budget)
        below = Cursor(inner.data, place.offset, replace(ctx, spans=None))
        return decode_block(encoding.general.values, below, count)
    if arm == "fixed_size_list":
        size = fixed_size_list.zip_bytes(encoding.fixed_size_list)
        rows = cursor.array("u1", size * count, "values", "L.codec.fixed-size-list.size")
        return fixed_size_list.decode_zip(
            encoding.fixed_size_list, rows.view(np.uint8).reshape(count, size), ctx, place
        )
    run = _as_run(cursor, count)
    if arm == "inline_bitpacking":
        bits = encoding.inline_bitpacking.uncompressed_bits_per_value
        return bitpack.decode_inline(run, bits)
    if arm == "out_of_line_bitpacking":
        packed = encoding.out_of_line_bitpacking
        width = only_flat(packed.values, place)
        return bitpack.decode_out_of_line(run, packed.uncompressed_bits_per_value, width)
    if arm == "rle":
        frames = rle.split_frames(run)
        bits = only_flat(encoding.rle.values, place)
        return rle.decode_mini(frames, bits, only_flat(encoding.rle.run_lengths, place))
    raise unsupported(encoding, "a block", place)


def integers(values: Values, place: Place) -> NDArray[np.uint64]:
    """Return fixed-width values as uint64 (count,)."""
    if not isinstance(values, Fixed) or values.bits not in (0, 8, 16, 32, 64):
        raise CorruptPage(
            "L.codec.encoding.context", place, found=type(values).__name__, wanted="integers"
        )
    if values.bits == 0:
        return np.zeros(values.count, np.uint64)
    return np.ascontiguousarray(values.data).view(f"<u{values.bits // 8}").astype(np.uint64)


def _as_run(cursor: Cursor, count: int) -> ChunkRun:
    """Return the rest of the cursor as a run of one chunk."""
    base, size = cursor.offset, cursor.remaining
    data = np.frombuffer(cursor.skip(size, "block", "L.codec.encoding.context"), np.uint8)
    zero, sizes = np.zeros((1, 1), np.int64), np.array([[size]], np.int64)
    return ChunkRun(cursor.ctx, data, base, zero, sizes, np.array([count], np.int64))


def decode_zip_fixed(
    encoding: CompressiveEncoding, rows: NDArray[np.uint8], ctx: Context, place: Place
) -> Values:
    """Decode values of equal size: `rows` uint8 (values, bytes of a value)."""
    arm = encoding.WhichOneof("compression")
    if arm == "fixed_size_list":
        return fixed_size_list.decode_zip(encoding.fixed_size_list, rows, ctx, place)
    if arm == "packed_struct":
        fields = encoding.packed_struct.bits_per_value
        whole = Fixed(8 * rows.shape[1], len(rows), np.ascontiguousarray(rows).reshape(-1))
        packed_struct.check_bits(fields, whole.bits, place)
        return packed_struct.split(whole, fields)
    bits = only_flat(encoding, place)
    if bits != 8 * rows.shape[1]:
        raise CorruptPage(
            "L.codec.flat.size", place, found=f"{rows.shape[1]} bytes", wanted=f"{bits} bits"
        )
    return Fixed(bits, len(rows), np.ascontiguousarray(rows).reshape(-1))


def decode_zip_variable(
    encoding: CompressiveEncoding, values: Variable, ctx: Context, place: Place
) -> Variable | Rows:
    """Decode values that were cut by their lengths, each coded on its own."""
    arm = encoding.WhichOneof("compression")
    if arm == "variable":
        return values
    if arm == "fsst":
        return fsst.decode(fsst.parse_table(encoding.fsst.symbol_table, place), values, place)
    if arm == "general":
        return _decompress_each(general.codec_name(encoding.general, place), values, ctx, place)
    if arm == "variable_packed_struct":
        rows = packed_struct.VariableRows(values, ctx, place)
        return rows.decode(encoding.variable_packed_struct, decode_zip_fixed, _zip_field)
    raise unsupported(encoding, "a variable-width value", place)


def _zip_field(
    encoding: CompressiveEncoding, values: Variable, ctx: Context, place: Place
) -> Values:
    return decode_zip_variable(encoding, values, ctx, place)


def _decompress_each(name: str, values: Variable, ctx: Context, place: Place) -> Variable:
    budget, parts = ctx.limits.expanded(len(values.data)), list[NDArray[np.uint8]]()
    for start, end in zip(values.offsets[:-1].tolist(), values.offsets[1:].tolist()):
        part = general.decompress(name, values.data[start:end], ctx, place, budget)
        budget -= len(part)
        parts.append(part)
    offsets = np.append(0, np.cumsum([len(part) for part in parts])).astype(np.int64)
    joined = np.concatenate(parts) if parts else np.empty(0, np.uint8)
    return Variable(offsets, joined)

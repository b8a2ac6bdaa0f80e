"""Compressive encodings: the codec that a message asks for, in its three ways of being called.

A page's description nests `CompressiveEncoding` messages. *Mini* decodes the value buffers of many
chunks, *block* one buffer (see `blocks`), *zip* values that were cut one by one.

Clauses: L.codec.encoding.context, L.codec.flat.size

Blocks: values of one buffer, such as levels, dictionaries, offsets, positions and counts.

A block codec knows how many values it must give. Blocks of many chunks are decoded together, as a
run whose buffer 0 holds them; a codec without payload gets an empty buffer.

Clauses: L.codec.encoding.payload, L.codec.delta.width, L.codec.limits.expansion
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs import (
    bitpack,
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
from lanceref.codecs.description_checks import (
    check_chunks,
    check_encoding,
    check_items,
    check_levels,
    has_payload,
    only_flat,
    unsupported,
    value_bits,
)
from lanceref.codecs.values import Bools, Bytes, Fixed, Ints, Rows, Values, Variable
from lanceref.core.context import Context
from lanceref.core.cursor import Cursor
from lanceref.core.errors import CorruptPage, LimitExceeded, Place
from lanceref.core.file_versions import FileVersion
from lanceref.proto import encodings_v2_1_pb2 as pb
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding, Delta, Dictionary, Rle


def decode_blocks(encoding: CompressiveEncoding, run: ChunkRun, name: str = "values") -> Values:
    """Decode buffer 0 of every chunk, joined; explain calls plain values `name`."""
    _check_expansion(encoding, run)
    if not has_payload(encoding) and run.sizes[0].any():
        chunk = int(np.flatnonzero(run.sizes[0])[0])
        raise CorruptPage(
            "L.codec.encoding.payload",
            run.place(0, chunk),
            found=f"{int(run.sizes[0, chunk])} bytes",
            wanted=f"none for {encoding.WhichOneof('compression')}",
        )
    arm = encoding.WhichOneof("compression")
    if arm == "flat":
        return flat.decode(run, encoding.flat.bits_per_value, name)
    if arm == "inline_bitpacking":
        bits = encoding.inline_bitpacking.uncompressed_bits_per_value
        return bitpack.decode_inline(run, bits)
    if arm == "out_of_line_bitpacking":
        packed = encoding.out_of_line_bitpacking
        width = packed.values.flat.bits_per_value
        return bitpack.decode_out_of_line(run, packed.uncompressed_bits_per_value, width)
    if arm == "rle":
        return _decode_rle_block(encoding, run)
    if arm == "general":
        codec = general.codec_name(encoding.general, run.place())
        return decode_blocks(encoding.general.values, general.decompress_run(codec, run), name)
    if arm == "constant":
        return sequence.decode_constant(encoding.constant, run)
    if arm == "range":
        return sequence.decode_range(encoding.range, run)
    if arm == "delta":
        return sequence.decode_delta(encoding.delta, _deltas(encoding.delta, run), run)
    if arm == "dictionary":
        return _decode_dictionary(encoding.dictionary, run)
    if arm == "fixed_size_list":
        return fixed_size_list.decode_block(encoding.fixed_size_list, run)
    if arm == "variable" and run.num_chunks == 1:
        return variable.decode_block(run)
    raise unsupported(encoding, "a block", run.place())


def _deltas(encoding: Delta, run: ChunkRun) -> NDArray[np.uint64]:
    """Decode the differences of every chunk: one fewer than it has values."""
    width, wanted = value_bits(encoding.deltas), encoding.uncompressed_bits_per_value
    if width not in (wanted, 0):
        raise CorruptPage(
            "L.codec.delta.width", run.place(), found=f"deltas of {width} bits", wanted=wanted
        )
    return integers(encoding.deltas, run.counting(np.maximum(run.counts - 1, 0)), "deltas")


def integers(
    encoding: CompressiveEncoding, run: ChunkRun, name: str = "values"
) -> NDArray[np.uint64]:
    """Decode blocks of unsigned integers of at most 64 bits."""
    values = _fixed(encoding, run, name)
    if values.bits == 0:
        return np.zeros(0, np.uint64)
    return values.data.view(f"<u{values.bits // 8}").astype(np.uint64)


def _fixed(encoding: CompressiveEncoding, run: ChunkRun, name: str) -> Fixed:
    values = decode_blocks(encoding, run, name)
    if not isinstance(values, Fixed) or values.bits not in (0, 8, 16, 32, 64):
        raise unsupported(encoding, f"integers ({name})", run.place())
    return values


def _check_expansion(encoding: CompressiveEncoding, run: ChunkRun) -> None:
    """Refuse to expand a few bytes to more than the caller allows."""
    size = run.num_values * (value_bits(encoding) or 0) // 8
    budget = run.ctx.limits.expanded(len(run.data))
    if size > budget:
        raise LimitExceeded(
            "L.codec.limits.expansion",
            run.place(),
            found=f"{size} bytes of values",
            wanted=f"at most {budget}",
        )


def _decode_rle_block(encoding: CompressiveEncoding, run: ChunkRun) -> Fixed:
    if has_payload(encoding):
        return decode_rle(encoding.rle, rle.split_frames(run))
    runs = rle.computed_runs(encoding.rle.run_lengths, run)
    lengths = integers(encoding.rle.run_lengths, run.counting(runs), "run lengths")
    return rle.expand(run, runs, _fixed(encoding.rle.values, run.counting(runs), ""), lengths)


def decode_rle(encoding: Rle, run: ChunkRun) -> Fixed:
    """Decode runs whose values are in buffer 0 and whose lengths are in buffer 1."""
    if not has_payload(encoding.values) and not has_payload(encoding.run_lengths):
        runs = rle.computed_runs(encoding.run_lengths, run)
    else:
        runs = _count_runs(encoding, run)
    values = decode_blocks(encoding.values, run.only(0).counting(runs), "run values")
    assert isinstance(values, Fixed)  # gates.check_encoding: no other child
    lengths = integers(encoding.run_lengths, run.only(1).counting(runs), "run lengths")
    return rle.expand(run, runs, values, lengths)


def _count_runs(encoding: Rle, run: ChunkRun) -> Ints:
    """Return the runs of each chunk, as the child says whose size tells how many values it has."""
    values = _own_counts(encoding.values, run.only(0))
    lengths = _own_counts(encoding.run_lengths, run.only(1))
    if values is not None and lengths is not None:
        run.check("L.codec.rle.pairs", values != lengths, values, lengths, "runs")
    known = lengths if values is None else values
    if known is None:
        raise unsupported(encoding.values, "runs of unknown number", run.place())
    return known


def _own_counts(encoding: CompressiveEncoding, run: ChunkRun) -> Ints | None:
    """Return the values of each chunk when the size of its buffer tells it."""
    arm = encoding.WhichOneof("compression")
    if arm == "flat":
        counts: Ints = run.sizes[0] // (encoding.flat.bits_per_value // 8)
        return counts
    if arm == "general":
        codec = general.codec_name(encoding.general, run.place())
        silent = replace(run, ctx=replace(run.ctx, spans=None))
        return _own_counts(encoding.general.values, general.decompress_run(codec, silent))
    return None


def _decode_dictionary(encoding: Dictionary, run: ChunkRun) -> Fixed:
    indices_run, items_run = sequence.split_dictionary(run, encoding.num_dictionary_items)
    indices = integers(encoding.indices, indices_run, "indices")
    items = _fixed(encoding.items, items_run, "items")
    return sequence.look_up(run, indices, items, encoding.num_dictionary_items)


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
        return decode_rle(encoding.rle, run)
    if arm == "byte_stream_split":
        bits = only_flat(encoding.byte_stream_split.values, run.place())
        return flat.decode_streams(run, bits)
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


def decode_fsst(encoding: pb.Fsst, run: ChunkRun, slots: Ints | None = None) -> Variable:
    """Decode coded strings of every chunk of the run, joined; or some of them (ascending)."""
    decoded = fsst.decode_chunks(encoding, run) if slots is None else None
    if decoded is not None:
        return decoded
    codes = _decode_variable(encoding.values.variable.offsets, run, fsst.CODES)
    table = fsst.parse_table(encoding.symbol_table, run.place())
    return fsst.decode(table, codes if slots is None else codes.take(slots), run.place())


def _decode_variable(offsets: CompressiveEncoding, run: ChunkRun, kind: str) -> Variable:
    """Decode strings whose offsets are a table before the bytes, or blocks of their own."""
    if offsets.WhichOneof("compression") == "flat":
        return variable.decode_mini(run, offsets.flat.bits_per_value, kind)
    table = run.only(0) if has_payload(offsets) else run.without_buffers()
    decoded = integers(offsets, table.counting(run.counts + 1), "offsets")
    return variable.decode_separate(run, decoded, kind)


def decode_levels(encoding: CompressiveEncoding, run: ChunkRun) -> NDArray[np.uint16] | Bools:
    """Decode buffer 0 of every chunk as levels, joined; bool when they are packed to one bit."""
    packed = encoding.out_of_line_bitpacking
    if (packed.uncompressed_bits_per_value, packed.values.flat.bits_per_value) == (16, 1):
        return bitpack.decode_flags(run)
    values = decode_blocks(encoding, run, "levels")
    if not isinstance(values, Fixed) or values.bits != 16:
        raise unsupported(encoding, "levels", run.place())
    return values.data.view("<u2")


def decode_block(encoding: CompressiveEncoding, cursor: Cursor, count: int) -> Values:
    """Decode `count` values that fill the cursor; a codec without payload takes an empty one."""
    base, size = cursor.offset, cursor.remaining
    data = np.frombuffer(cursor.skip(size, "block", "L.codec.encoding.context"), np.uint8)
    zero, sizes = np.zeros((1, 1), np.int64), np.array([[size]], np.int64)
    run = ChunkRun(cursor.ctx, data, base, zero, sizes, np.array([count], np.int64))
    return decode_blocks(encoding, run)


def decode_zip_fixed(
    encoding: CompressiveEncoding, rows: Bytes, ctx: Context, place: Place
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
        return fsst.decode(fsst.parse_table(encoding.fsst.symbol_table, place), values, place)
    if arm == "general":
        name = general.codec_name(encoding.general, place)
        inner = general.decompress_each(name, values, ctx, place)
        return decode_zip_variable(encoding.general.values, inner, ctx, place)
    if arm == "variable_packed_struct":
        packed = encoding.variable_packed_struct
        decoders = decode_zip_fixed, decode_zip_variable
        return packed_struct.split_variable(packed, values, *decoders, ctx, place)
    raise unsupported(encoding, "a variable-width value", place)

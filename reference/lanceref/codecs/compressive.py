"""Compressive encodings: the codec that a message asks for.

A page's description nests `CompressiveEncoding` messages. *Mini* decodes the value buffers of many
chunks, and can pick single values; *zip* decodes values that were cut one by one; a *block* fills
one buffer by itself. Levels, dictionaries, offsets, positions and counts are blocks. A block codec
knows how many values it must give. Blocks of many chunks are decoded together, as a run whose
buffer 0 holds them; a codec without payload gets an empty buffer. Runs (run-length encoding) are
two blocks.

Clauses: L.codec.encoding.context, L.codec.encoding.payload, L.codec.delta.width,
L.codec.limits.expansion, L.codec.rle.pairs, L.codec.flat.size
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs import (
    bitpack,
    general,
    nested,
    sequence,
    variable,
)
from lanceref.codecs.description_checks import has_payload, only_flat, unsupported, value_bits
from lanceref.codecs.values import (
    Bools,
    Bytes,
    ChunkRun,
    Fixed,
    Ints,
    Rows,
    Values,
    Variable,
    decode_flat,
)
from lanceref.core.context import Context, specified
from lanceref.core.cursor import Cursor
from lanceref.core.errors import CorruptPage, LimitExceeded, Place
from lanceref.proto import encodings_v2_1_pb2 as pb
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding


def num_buffers(encoding: CompressiveEncoding) -> int:
    """Return the value buffers of a mini-block chunk."""
    match encoding.WhichOneof("compression"):
        case "general" | "fsst" as arm:
            return num_buffers(getattr(encoding, arm).values)
        case "rle":
            return 2
        case "fixed_size_list":
            levels = nested.levels(encoding.fixed_size_list)
            return 1 + sum(level.has_validity for level in levels)
        case "variable" if not encoding.variable.offsets.HasField("flat"):
            return 1 + has_payload(encoding.variable.offsets)
    return 1


def decode_mini(encoding: CompressiveEncoding, run: ChunkRun) -> Values:
    """Decode the value buffers of every chunk of the run, joined. Raises UnknownEncoding."""
    match encoding.WhichOneof("compression"):
        case "flat":
            return decode_flat(run, encoding.flat.bits_per_value)
        case "inline_bitpacking":
            bits = encoding.inline_bitpacking.uncompressed_bits_per_value
            return bitpack.decode_inline(run, bits)
        case "variable":
            return decode_variable(encoding.variable.offsets, run, "bytes[]")
        case "fsst":
            return decode_fsst(encoding.fsst, run)
        case "rle":
            return decode_rle(encoding.rle, run)
        case "byte_stream_split":
            bits = only_flat(encoding.byte_stream_split.values, run.place())
            return general.decode_streams(run, bits)
        case "general":
            name = general.codec_name(encoding.general, run.place())
            return decode_mini(encoding.general.values, general.decompress_run(name, run))
        case "fixed_size_list":
            return nested.decode_lists(encoding.fixed_size_list, run)
        case "packed_struct":
            packed = encoding.packed_struct
            rows = decode_flat(run, packed.values.flat.bits_per_value, "packed rows")
            return nested.split_rows(rows, packed.bits_per_value)
    raise unsupported(encoding, "a mini-block chunk", run.place())


@specified
def decode_fsst(encoding: pb.Fsst, run: ChunkRun) -> Variable:
    """Decode coded strings of every chunk of the run, joined."""
    codes = decode_variable(encoding.values.variable.offsets, run, variable.CODES)
    return variable.decode_codes(
        variable.parse_symbol_table(encoding.symbol_table, run.place()), codes, run.place()
    )


def decode_variable(offsets: CompressiveEncoding, run: ChunkRun, kind: str) -> Variable:
    """Decode strings whose offsets are a table before the bytes, or blocks of their own."""
    if offsets.WhichOneof("compression") == "flat":
        return variable.decode_mini(run, offsets.flat.bits_per_value, kind)
    table = run.only(0) if has_payload(offsets) else run.without_bytes(1)
    decoded = integers(offsets, table.counting(run.counts + 1), "offsets")
    return variable.decode_separate(run, decoded, kind)


def decode_zip_fixed(encoding: CompressiveEncoding, rows: Bytes, place: Place) -> Values:
    """Decode values of equal size: `rows` uint8 (values, bytes of a value). Raises CorruptPage."""
    arm = encoding.WhichOneof("compression")
    if arm == "fixed_size_list":
        return nested.decode_zipped_lists(encoding.fixed_size_list, rows, place)
    whole = Fixed(8 * rows.shape[1], len(rows), np.ascontiguousarray(rows).reshape(-1))
    if arm == "packed_struct":
        fields = encoding.packed_struct.bits_per_value
        nested.check_row_bits(fields, whole.bits, place)
        return nested.split_rows(whole, fields)
    bits = only_flat(encoding, place)
    if bits != whole.bits:
        raise CorruptPage("L.codec.flat.size", place, whole.bits, bits)
    return whole


def decode_zip_variable(
    encoding: CompressiveEncoding, values: Variable, ctx: Context, place: Place
) -> Variable | Rows:
    """Decode values that were cut by their lengths, each coded on its own.

    Raises UnknownEncoding.
    """
    match encoding.WhichOneof("compression"):
        case "variable":
            return values
        case "fsst":
            return variable.decode_codes(
                variable.parse_symbol_table(encoding.fsst.symbol_table, place), values, place
            )
        case "general":
            name = general.codec_name(encoding.general, place)
            starts, ends = values.offsets[:-1], values.offsets[1:]
            budget = ctx.limits.expanded(len(values.data))
            parts = general.decompress(name, values.data, starts, ends, lambda _: place, budget)
            inner = Variable(np.append(0, np.cumsum(parts[1])), parts[0])
            return decode_zip_variable(encoding.general.values, inner, ctx, place)
        case "variable_packed_struct":
            packed = encoding.variable_packed_struct
            decoders = decode_zip_fixed, decode_zip_variable
            return nested.split_variable_rows(packed, values, *decoders, ctx, place)
    raise unsupported(encoding, "a variable-width value", place)


@specified
def pick(encoding: CompressiveEncoding, run: ChunkRun, slots: Ints) -> Values | None:
    """Return the values of the run with the numbers `slots` (n,), ascending, without the others.

    None for codecs whose values are not found singly: here all of them.
    """
    return None


def decode_blocks(encoding: CompressiveEncoding, run: ChunkRun, name: str = "values") -> Values:
    """Decode buffer 0 of every chunk, joined. Raises LimitExceeded, UnknownEncoding."""
    size = run.num_values * (value_bits(encoding) or 0) // 8
    budget, arm = run.ctx.limits.expanded(len(run.data)), encoding.WhichOneof("compression")
    if size > budget:
        clause, wanted = "L.codec.limits.expansion", f"at most {budget} bytes"
        raise LimitExceeded(clause, run.place(), f"{size} bytes of values", wanted)
    if not has_payload(encoding):
        sizes = run.sizes[0]
        run.check("L.codec.encoding.payload", sizes > 0, sizes, f"none for {arm}")
    match arm:
        case "flat":
            return decode_flat(run, encoding.flat.bits_per_value, name)
        case "inline_bitpacking":
            bits = encoding.inline_bitpacking.uncompressed_bits_per_value
            return bitpack.decode_inline(run, bits)
        case "out_of_line_bitpacking":
            packed = encoding.out_of_line_bitpacking
            width = packed.values.flat.bits_per_value
            return bitpack.decode_out_of_line(run, packed.uncompressed_bits_per_value, width)
        case "rle":
            parts = sequence.split_runs(run) if has_payload(encoding) else run.without_bytes(2)
            return decode_rle(encoding.rle, parts)
        case "general":
            codec = general.codec_name(encoding.general, run.place())
            return decode_blocks(encoding.general.values, general.decompress_run(codec, run), name)
        case "constant":
            return sequence.decode_constant(encoding.constant, run)
        case "range":
            return sequence.decode_range(encoding.range, run)
        case "delta":
            child, widths = encoding.delta.deltas, (value_bits(encoding), 0)
            if value_bits(child) not in widths:
                raise CorruptPage("L.codec.delta.width", run.place(), value_bits(child), widths[0])
            steps = run.counting(np.maximum(run.counts - 1, 0))  # one fewer than values
            return sequence.decode_delta(encoding.delta, integers(child, steps, "deltas"), run)
        case "dictionary":
            count = encoding.dictionary.num_dictionary_items
            indices_run, items_run = sequence.split_dictionary(run, count)
            indices = integers(encoding.dictionary.indices, indices_run, "indices")
            items = _fixed(encoding.dictionary.items, items_run, "items")
            return sequence.look_up(run, indices, items, count)
        case "fixed_size_list":
            return nested.decode_list_block(encoding.fixed_size_list, run)
        case "variable" if run.num_chunks == 1:
            return variable.decode_block(run)
    raise unsupported(encoding, "a block", run.place())


def integers(
    encoding: CompressiveEncoding, run: ChunkRun, name: str = "values"
) -> NDArray[np.uint64]:
    """Decode blocks of unsigned integers of at most 64 bits. The result is (values,)."""
    values = _fixed(encoding, run, name)
    if values.bits == 0:
        return np.zeros(0, np.uint64)
    return values.data.view(f"<u{values.bits // 8}").astype(np.uint64)


def _fixed(encoding: CompressiveEncoding, run: ChunkRun, name: str) -> Fixed:
    values = decode_blocks(encoding, run, name)
    if not isinstance(values, Fixed) or values.bits not in (0, 8, 16, 32, 64):
        raise unsupported(encoding, f"integers ({name})", run.place())
    return values


def decode_rle(encoding: pb.Rle, run: ChunkRun) -> Fixed:
    """Decode runs whose values are in buffer 0 and whose lengths are in buffer 1."""
    if not has_payload(encoding.values) and not has_payload(encoding.run_lengths):
        runs = sequence.computed_runs(encoding.run_lengths, run)
    else:
        runs = _count_runs(encoding, run)
    values = decode_blocks(encoding.values, run.only(0).counting(runs), "run values")
    assert isinstance(values, Fixed)  # check_encoding: no other child
    lengths = integers(encoding.run_lengths, run.only(1).counting(runs), "run lengths")
    return sequence.expand_runs(run, runs, values, lengths)


def _count_runs(encoding: pb.Rle, run: ChunkRun) -> Ints:
    """Return the runs of each chunk, by the child whose size implies its number of values."""
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
    match encoding.WhichOneof("compression"):
        case "flat":
            counts: Ints = run.sizes[0] // (encoding.flat.bits_per_value // 8)
            return counts
        case "general":
            codec = general.codec_name(encoding.general, run.place())
            silent = replace(run, ctx=replace(run.ctx, spans=None))
            return _own_counts(encoding.general.values, general.decompress_run(codec, silent))
    return None


def decode_block(encoding: CompressiveEncoding, cursor: Cursor, count: int) -> Values:
    """Decode `count` values that fill the cursor; a codec without payload takes an empty one."""
    base, size = cursor.offset, cursor.remaining
    data = np.frombuffer(cursor.skip(size, "block", "L.codec.encoding.context"), np.uint8)
    zero, sizes = np.zeros((1, 1), np.int64), np.array([[size]], np.int64)
    run = ChunkRun(cursor.ctx, data, base, zero, sizes, np.array([count], np.int64))
    return decode_blocks(encoding, run)


def decode_levels(encoding: CompressiveEncoding, run: ChunkRun) -> NDArray[np.uint16] | Bools:
    """Decode buffer 0 of every chunk as levels, joined; bool when they are packed to one bit.

    The result is (levels,). Raises UnknownEncoding.
    """
    packed = encoding.out_of_line_bitpacking
    if (packed.uncompressed_bits_per_value, packed.values.flat.bits_per_value) == (16, 1):
        return bitpack.decode_flags(run)
    values = decode_blocks(encoding, run, "levels")
    if not isinstance(values, Fixed) or values.bits != 16:
        raise unsupported(encoding, "levels", run.place())
    return values.data.view("<u2")

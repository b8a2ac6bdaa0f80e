"""Blocks: codecs that fill one buffer by themselves: levels, dictionaries, offsets and counts.

A block codec knows how many values it must give. Blocks of many chunks are decoded together, as a
run whose buffer 0 holds them; a codec without payload gets an empty buffer. Runs (run-length
encoding) are two blocks.

Clauses: L.codec.encoding.payload, L.codec.encoding.context, L.codec.delta.width,
L.codec.limits.expansion, L.codec.rle.pairs
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs import (
    bitpack,
    bitpack_out_of_line,
    general,
    nested,
    sequence,
    variable_offsets,
)
from lanceref.codecs.chunk_run import ChunkRun, decode_flat, has_payload, unsupported, value_bits
from lanceref.codecs.values import Fixed, Values
from lanceref.core.cursor import Cursor
from lanceref.core.errors import CorruptPage, LimitExceeded
from lanceref.proto import encodings_v2_1_pb2 as pb
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding


def decode_blocks(encoding: CompressiveEncoding, run: ChunkRun, name: str = "values") -> Values:
    """Decode buffer 0 of every chunk, joined. Raises LimitExceeded, UnknownEncoding."""
    size = run.num_values * (value_bits(encoding) or 0) // 8
    budget, arm = run.ctx.limits.expanded(len(run.data)), encoding.WhichOneof("compression")
    if size > budget:
        clause, wanted = "L.codec.limits.expansion", f"at most {budget} bytes"
        raise LimitExceeded(clause, run.place(), f"{size} bytes of values", wanted)
    if not has_payload(encoding):
        run.check("L.codec.encoding.payload", run.sizes[0] > 0, run.sizes[0], f"none for {arm}")
    match arm:
        case "flat":
            return decode_flat(run, encoding.flat.bits_per_value, name)
        case "inline_bitpacking":
            bits = encoding.inline_bitpacking.uncompressed_bits_per_value
            return bitpack.decode_inline(run, bits)
        case "out_of_line_bitpacking":
            packed = encoding.out_of_line_bitpacking
            width = packed.values.flat.bits_per_value
            return bitpack_out_of_line.decode_out_of_line(
                run, packed.uncompressed_bits_per_value, width
            )
        case "rle":
            parts = sequence.split_runs(run) if has_payload(encoding) else run.without_bytes(2)
            return decode_rle(encoding.rle, parts)
        case "general":
            return decode_blocks(*below_general(encoding, run), name)
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
            return variable_offsets.decode_block(run)
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
    """Decode runs whose values are in buffer 0 and whose lengths are in buffer 1.

    The size of a child that is flat tells how many there are. Raises UnknownEncoding.
    """
    children = (
        below_general(encoding.values, run.only(0)),
        below_general(encoding.run_lengths, run.only(1)),
    )
    flat = [(child.flat, part) for child, part in children if child.HasField("flat")]
    counts = [part.sizes[0] // (child.bits_per_value // 8) for child, part in flat]
    if len(counts) > 1:
        one, other = counts
        run.check("L.codec.rle.pairs", one != other, one, other, "runs")
    elif not counts and has_payload(encoding.values) | has_payload(encoding.run_lengths):
        raise unsupported(encoding.values, "runs of unknown number", run.place())
    runs = counts[0] if counts else sequence.computed_runs(encoding.run_lengths, run)
    (child, part), (length_child, length_part) = children
    values = decode_blocks(child, part.counting(runs), "run values")
    assert isinstance(values, Fixed)  # check_encoding: no other child
    lengths = integers(length_child, length_part.counting(runs), "run lengths")
    return sequence.expand_runs(run, runs, values, lengths)


def below_general(
    encoding: CompressiveEncoding, run: ChunkRun
) -> tuple[CompressiveEncoding, ChunkRun]:
    """Return an encoding and its run below general compression. Raises UnknownEncoding."""
    while encoding.HasField("general"):
        name = general.codec_name(encoding.general, run.place())
        encoding, run = encoding.general.values, general.decompress_run(name, run)
    return encoding, run


def decode_block(encoding: CompressiveEncoding, cursor: Cursor, count: int) -> Values:
    """Decode `count` values that fill the cursor; a codec without payload takes an empty one."""
    base, size = cursor.offset, cursor.remaining
    data = np.frombuffer(cursor.skip(size, "block", "L.codec.encoding.context"), np.uint8)
    zero, sizes = np.zeros((1, 1), np.int64), np.array([[size]], np.int64)
    run = ChunkRun(cursor.ctx, data, base, zero, sizes, np.array([count], np.int64))
    return decode_blocks(encoding, run)


def decode_levels(encoding: CompressiveEncoding, run: ChunkRun) -> NDArray[np.unsignedinteger]:
    """Decode buffer 0 of every chunk as levels, joined; u8 when they are packed to one bit, or u16.

    The result is (levels,). Raises UnknownEncoding.
    """
    packed = encoding.out_of_line_bitpacking
    if (packed.uncompressed_bits_per_value, packed.values.flat.bits_per_value) == (16, 1):
        return bitpack_out_of_line.decode_flags(run).view(np.uint8)
    values = decode_blocks(encoding, run, "levels")
    if not isinstance(values, Fixed) or values.bits != 16:
        raise unsupported(encoding, "levels", run.place())
    return values.data.view("<u2")

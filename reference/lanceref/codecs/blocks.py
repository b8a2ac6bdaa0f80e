"""Blocks: the codec that a message asks for, for values that fill one buffer.

Levels, dictionaries, offsets, positions and counts are blocks. A block codec knows how many values
it must give. Blocks of many chunks are decoded together, as a run whose buffer 0 holds them; a
codec without payload gets an empty buffer. Runs (run-length encoding) are two blocks.

Clauses: L.codec.encoding.context, L.codec.encoding.payload, L.codec.delta.width,
L.codec.limits.expansion, L.codec.rle.pairs
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs import (
    bitpack,
    fixed_size_list,
    flat,
    general,
    rle,
    sequence,
    variable,
)
from lanceref.codecs.chunks import ChunkRun
from lanceref.codecs.description_checks import has_payload, unsupported, value_bits
from lanceref.codecs.values import Bools, Fixed, Ints, Values
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
        sizes = run.sizes[0]
        run.check("L.codec.encoding.payload", sizes > 0, sizes, f"none for {arm}")
    match arm:
        case "flat":
            return flat.decode(run, encoding.flat.bits_per_value, name)
        case "inline_bitpacking":
            return bitpack.decode_inline(
                run, encoding.inline_bitpacking.uncompressed_bits_per_value
            )
        case "out_of_line_bitpacking":
            packed = encoding.out_of_line_bitpacking
            width = packed.values.flat.bits_per_value
            return bitpack.decode_out_of_line(run, packed.uncompressed_bits_per_value, width)
        case "rle" if has_payload(encoding):
            return decode_rle(encoding.rle, rle.split_frames(run))
        case "rle":
            runs = rle.computed_runs(encoding.rle.run_lengths, run)
            lengths = integers(encoding.rle.run_lengths, run.counting(runs), "run lengths")
            values = _fixed(encoding.rle.values, run.counting(runs), "run values")
            return rle.expand(run, runs, values, lengths)
        case "general":
            codec = general.codec_name(encoding.general, run.place())
            return decode_blocks(encoding.general.values, general.decompress_run(codec, run), name)
        case "constant":
            return sequence.decode_constant(encoding.constant, run)
        case "range":
            return sequence.decode_range(encoding.range, run)
        case "delta":
            return sequence.decode_delta(encoding.delta, _deltas(encoding.delta, run), run)
        case "dictionary":
            count = encoding.dictionary.num_dictionary_items
            indices_run, items_run = sequence.split_dictionary(run, count)
            indices = integers(encoding.dictionary.indices, indices_run, "indices")
            items = _fixed(encoding.dictionary.items, items_run, "items")
            return sequence.look_up(run, indices, items, count)
        case "fixed_size_list":
            return fixed_size_list.decode_block(encoding.fixed_size_list, run)
        case "variable" if run.num_chunks == 1:
            return variable.decode_block(run)
    raise unsupported(encoding, "a block", run.place())


def _deltas(encoding: pb.Delta, run: ChunkRun) -> NDArray[np.uint64]:
    """Decode the differences of every chunk: one fewer than it has values."""
    width, wanted = value_bits(encoding.deltas), encoding.uncompressed_bits_per_value
    if width not in (wanted, 0):
        raise CorruptPage("L.codec.delta.width", run.place(), width, wanted)
    return integers(encoding.deltas, run.counting(np.maximum(run.counts - 1, 0)), "deltas")


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
        runs = rle.computed_runs(encoding.run_lengths, run)
    else:
        runs = _count_runs(encoding, run)
    values = decode_blocks(encoding.values, run.only(0).counting(runs), "run values")
    assert isinstance(values, Fixed)  # check_encoding: no other child
    lengths = integers(encoding.run_lengths, run.only(1).counting(runs), "run lengths")
    return rle.expand(run, runs, values, lengths)


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

"""Blocks: values of one buffer, such as levels, dictionaries, offsets, positions and counts.

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
    dictionary,
    fixed_size_list,
    flat,
    general,
    rle,
    sequence,
    variable,
)
from lanceref.codecs.chunks import ChunkRun
from lanceref.codecs.description_checks import has_payload, unsupported, value_bits
from lanceref.codecs.values import Fixed, Values
from lanceref.core.errors import CorruptPage, LimitExceeded
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding, Delta, Dictionary, Rle


def decode(encoding: CompressiveEncoding, run: ChunkRun, name: str = "values") -> Values:
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
        return decode(encoding.general.values, general.decompress_run(codec, run), name)
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
    values = decode(encoding, run, name)
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
    values = decode(encoding.values, run.only(0).counting(runs), "run values")
    assert isinstance(values, Fixed)  # gates.check_encoding: no other child
    lengths = integers(encoding.run_lengths, run.only(1).counting(runs), "run lengths")
    return rle.expand(run, runs, values, lengths)


def _count_runs(encoding: Rle, run: ChunkRun) -> NDArray[np.int64]:
    """Return the runs of each chunk, as the child says whose size tells how many values it has."""
    values = _own_counts(encoding.values, run.only(0))
    lengths = _own_counts(encoding.run_lengths, run.only(1))
    if values is not None and lengths is not None:
        rle.check_pairs(run, values, lengths)
    known = lengths if values is None else values
    if known is None:
        raise unsupported(encoding.values, "runs of unknown number", run.place())
    return known


def _own_counts(encoding: CompressiveEncoding, run: ChunkRun) -> NDArray[np.int64] | None:
    """Return the values of each chunk when the size of its buffer tells it."""
    arm = encoding.WhichOneof("compression")
    if arm == "flat":
        counts: NDArray[np.int64] = run.sizes[0] // (encoding.flat.bits_per_value // 8)
        return counts
    if arm == "general":
        codec = general.codec_name(encoding.general, run.place())
        silent = replace(run, ctx=replace(run.ctx, spans=None))
        return _own_counts(encoding.general.values, general.decompress_run(codec, silent))
    return None


def _decode_dictionary(encoding: Dictionary, run: ChunkRun) -> Fixed:
    indices_run, items_run = dictionary.split_frames(run, encoding.num_dictionary_items)
    indices = integers(encoding.indices, indices_run, "indices")
    items = _fixed(encoding.items, items_run, "items")
    return dictionary.look_up(run, indices, items, encoding.num_dictionary_items)

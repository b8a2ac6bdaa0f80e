"""Blocks: codecs that fill one buffer by themselves: levels, dictionaries, offsets and counts.

A block codec knows how many values it must give; one without payload gets an empty buffer. Runs
(run-length encoding) are two blocks.

Clauses: L.codec.encoding.payload, L.codec.encoding.context, L.codec.delta.width,
L.codec.limits.expansion, L.codec.rle.pairs
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs import bitpack, general, nested, sequence, variable_offsets
from lanceref.codecs.buffers import Buffer, decode_flat, has_payload, unsupported, value_bits
from lanceref.codecs.values import Fixed, Values
from lanceref.core.errors import CorruptPage, LimitExceeded
from lanceref.proto import encodings_v2_1_pb2 as pb
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding


def decode_block(
    encoding: CompressiveEncoding, buffer: Buffer, count: int, name: str = "values"
) -> Values:
    """Decode `count` values, `name` in spans, that fill the buffer. Raises BytesError."""
    size, place = count * (value_bits(encoding) or 0) // 8, buffer.place
    budget, arm = buffer.ctx.limits.expanded(buffer.size), encoding.WhichOneof("compression")
    if size > budget:
        clause, wanted = "L.codec.limits.expansion", f"at most {budget} bytes"
        raise LimitExceeded(clause, place, f"{size} bytes of values", wanted)
    if buffer.size and not has_payload(encoding):
        found, wanted = f"{buffer.size} bytes", f"none for {arm}"
        raise CorruptPage("L.codec.encoding.payload", place, found, wanted)
    match arm:
        case "flat":
            return decode_flat(buffer, count, encoding.flat.bits_per_value, name)
        case "inline_bitpacking":
            bits = encoding.inline_bitpacking.uncompressed_bits_per_value
            return bitpack.decode_inline(buffer, count, bits)
        case "out_of_line_bitpacking":
            packed = encoding.out_of_line_bitpacking
            bits, width = packed.uncompressed_bits_per_value, packed.values.flat.bits_per_value
            return bitpack.decode_out_of_line(buffer, count, bits, width)
        case "rle":
            values = lengths = buffer
            if has_payload(encoding):
                values, lengths = sequence.split_frame(buffer, ["values"], "L.codec.rle.frame")
            return decode_rle(encoding.rle, values, lengths, count)
        case "general":
            return decode_block(*below_general(encoding, buffer), count, name)
        case "constant":
            return sequence.decode_constant(encoding.constant, count, place)
        case "range":
            return sequence.decode_range(encoding.range, count, place)
        case "delta":
            child, widths = encoding.delta.deltas, (value_bits(encoding), 0)
            if value_bits(child) not in widths:
                raise CorruptPage("L.codec.delta.width", place, value_bits(child), widths[0])
            deltas = integers(child, buffer, max(count - 1, 0), "deltas")
            return sequence.decode_delta(encoding.delta, deltas, count, place)
        case "dictionary":
            number = encoding.dictionary.num_dictionary_items
            stored_indices, stored_items = sequence.split_dictionary(buffer)
            indices = integers(encoding.dictionary.indices, stored_indices, count, "indices")
            items = _words(encoding.dictionary.items, stored_items, number, "items")
            return sequence.look_up(indices, items, place)
        case "fixed_size_list":
            return nested.decode_list_block(encoding.fixed_size_list, buffer, count)
        case "variable":
            return variable_offsets.decode_strings(buffer, count)
    raise unsupported(encoding, "a block", place)


def integers(
    encoding: CompressiveEncoding, buffer: Buffer, count: int, name: str = "values"
) -> NDArray[np.uint64]:
    """Decode a block of unsigned integers of at most 64 bits. The result is (count,)."""
    values = _words(encoding, buffer, count, name)
    if values.bits == 0:
        return np.zeros(0, np.uint64)
    return values.data.view(f"<u{values.bits // 8}").astype(np.uint64)


def _words(encoding: CompressiveEncoding, buffer: Buffer, count: int, name: str) -> Fixed:
    values = decode_block(encoding, buffer, count, name)
    if not isinstance(values, Fixed) or values.bits not in (0, 8, 16, 32, 64):
        raise unsupported(encoding, f"integers ({name})", buffer.place)
    return values


def decode_rle(encoding: pb.Rle, values: Buffer, lengths: Buffer, count: int) -> Fixed:
    """Decode runs of `count` values in all from the buffers of run values and run lengths.

    The size of a child that is flat tells how many there are. Raises UnknownEncoding, CorruptPage.
    """
    place = values.place
    children = below_general(encoding.values, values), below_general(encoding.run_lengths, lengths)
    flat = [(child.flat, part) for child, part in children if child.HasField("flat")]
    numbers = [part.size // (child.bits_per_value // 8) for child, part in flat]
    if len(set(numbers)) > 1:
        found, wanted = (f"{number} runs" for number in numbers)
        raise CorruptPage("L.codec.rle.pairs", place, found, wanted)
    if not numbers:
        if has_payload(encoding.values) | has_payload(encoding.run_lengths):
            raise unsupported(encoding.values, "runs of unknown number", place)
        numbers = [sequence.computed_runs(encoding.run_lengths, count, place)]
    run_values = decode_block(*children[0], numbers[0], "run values")
    assert isinstance(run_values, Fixed)  # check_encoding: no other child
    run_lengths = integers(*children[1], numbers[0], "run lengths")
    return sequence.expand_runs(run_values, run_lengths, count, lengths)


def below_general(
    encoding: CompressiveEncoding, buffer: Buffer
) -> tuple[CompressiveEncoding, Buffer]:
    """Return an encoding and its buffer below general compression. Raises UnknownEncoding."""
    while encoding.HasField("general"):
        name = general.codec_name(encoding.general, buffer.place)
        encoding, buffer = encoding.general.values, general.decompress_buffer(name, buffer)
    return encoding, buffer


def decode_levels(encoding: CompressiveEncoding, buffer: Buffer, count: int) -> NDArray[np.uint16]:
    """Decode `count` levels, u16. The result is (count,). Raises UnknownEncoding."""
    values = decode_block(encoding, buffer, count, "levels")
    if not isinstance(values, Fixed) or values.bits != 16:
        raise unsupported(encoding, "levels", buffer.place)
    return values.data.view("<u2")

"""Blocks by hand: a sequence of integers in each of the codecs that can hold it.

What a codec cannot say (a constant of two values) is the caller's fault: nothing is checked here.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pyarrow as pa
from lanceref.proto.encodings_v2_1_pb2 import (
    COMPRESSION_ALGORITHM_LZ4,
    COMPRESSION_ALGORITHM_ZSTD,
    CompressiveEncoding,
)

from lance_conformance.recipes.handmade_files import fast_lanes, words

Block = tuple[CompressiveEncoding, bytes]
"""A description and its bytes; none for what lies in the description."""

SCHEMES = {"lz4": COMPRESSION_ALGORITHM_LZ4, "zstd": COMPRESSION_ALGORITHM_ZSTD}


def flat(values: Sequence[int], bits: int) -> Block:
    """Store each value in its whole width."""
    encoding = CompressiveEncoding()
    encoding.flat.bits_per_value = bits
    return encoding, words(*values, width=bits // 8)


def inline(values: Sequence[int], bits: int) -> Block:
    """Pack up to 1024 values after the word that tells their width."""
    encoding = CompressiveEncoding()
    encoding.inline_bitpacking.uncompressed_bits_per_value = bits
    width = max(values).bit_length()
    return encoding, words(width, width=bits // 8) + fast_lanes(values, bits, width)


def out_of_line(values: Sequence[int], bits: int) -> Block:
    """Pack up to 1024 values into a whole block of the width the description tells."""
    encoding = CompressiveEncoding()
    width = max(values).bit_length()
    encoding.out_of_line_bitpacking.uncompressed_bits_per_value = bits
    encoding.out_of_line_bitpacking.values.flat.bits_per_value = width
    return encoding, fast_lanes(values, bits, width)


def compressed(inner: Block, scheme: str = "lz4", level: int | None = None) -> Block:
    """Compress what another codec made, after its size."""
    encoding = CompressiveEncoding()
    encoding.general.compression.scheme = SCHEMES[scheme]
    if level is not None:
        encoding.general.compression.level = level
    encoding.general.values.CopyFrom(inner[0])
    codec = pa.Codec("lz4_raw" if scheme == "lz4" else scheme)
    size = words(len(inner[1]), width=4 if scheme == "lz4" else 8)
    return encoding, size + bytes(codec.compress(inner[1], asbytes=True))


def runs(values: Block, lengths: Block) -> Block:
    """Frame the values of runs and their lengths."""
    encoding = CompressiveEncoding()
    encoding.rle.values.CopyFrom(values[0])
    encoding.rle.run_lengths.CopyFrom(lengths[0])
    if not values[1] and not lengths[1]:
        return encoding, b""
    return encoding, words(len(values[1])) + values[1] + lengths[1]


def constant(value: int, bits: int) -> Block:
    """Say one value for all."""
    encoding = CompressiveEncoding()
    encoding.constant.value = words(value, width=bits // 8)
    return encoding, b""


def steps(start: int, step: int, bits: int) -> Block:
    """Count from a start by a step."""
    encoding = CompressiveEncoding()
    encoding.range.uncompressed_bits_per_value = bits
    encoding.range.start, encoding.range.step = start, step
    return encoding, b""


def differences(base: int, deltas: Block, bits: int) -> Block:
    """Add differences to a base."""
    encoding = CompressiveEncoding()
    encoding.delta.uncompressed_bits_per_value, encoding.delta.base = bits, base
    encoding.delta.deltas.CopyFrom(deltas[0])
    return encoding, deltas[1]


def distinct(indices: Block, items: Block, num_items: int) -> Block:
    """Frame indices and the items that they name."""
    encoding = CompressiveEncoding()
    encoding.dictionary.indices.CopyFrom(indices[0])
    encoding.dictionary.items.CopyFrom(items[0])
    encoding.dictionary.num_dictionary_items = num_items
    return encoding, words(len(indices[1]), len(items[1])) + indices[1] + items[1]


def every(values: Sequence[int], bits: int) -> dict[str, Block]:
    """Return values in each codec that can hold any."""
    pool = sorted(set(values))
    picks = [pool.index(value) for value in values]
    ones = [1] * len(values)
    return {
        "flat": flat(values, bits),
        "inline_bitpacking": inline(values, bits),
        "out_of_line_bitpacking": out_of_line(values, bits),
        "general": compressed(flat(values, bits)),
        "general at a level": compressed(flat(values, bits), level=4),
        "general, zstd": compressed(flat(values, bits), "zstd"),
        "rle": runs(flat(values, bits), flat(ones, 32)),
        "rle, constant lengths": runs(flat(values, bits), constant(1, 32)),
        "rle, packed lengths": runs(flat(values, bits), out_of_line(ones, 32)),
        "rle, packed values": runs(out_of_line(values, bits), flat(ones, 32)),
        "dictionary": distinct(flat(picks, 32), flat(pool, bits), len(pool)),
        "dictionary, packed indices": distinct(inline(picks, 32), flat(pool, bits), len(pool)),
    }


def rising(values: Sequence[int], bits: int) -> dict[str, Block]:
    """Return values that rise in each codec that can hold such; differences are not nested far."""
    first = values[0]
    deltas = [after - before for before, after in pairwise(values)]
    packed = {name: make(deltas, bits) for name, make in _DELTAS.items()}
    named = {f"delta, {name}": differences(first, made, bits) for name, made in packed.items()}
    return {**every(values, bits), **named}


_DELTAS = {"flat": flat, "inline": inline, "out of line": out_of_line}

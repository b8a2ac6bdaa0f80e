"""Blocks by hand: a sequence of integers in each of the codecs that can hold it.

Whether a codec can encode the values (a constant of two values) is not checked here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import pyarrow as pa
from lanceref.proto import encodings_v2_1_pb2 as pb

from lance_conformance.recipes.edits import build
from lance_conformance.recipes.handmade_files import fast_lanes, words

Block = tuple[pb.CompressiveEncoding, bytes]
"""A description and its bytes, which are empty if the description has all."""

SCHEMES = {"lz4": pb.COMPRESSION_ALGORITHM_LZ4, "zstd": pb.COMPRESSION_ALGORITHM_ZSTD}
described = partial(build, pb.CompressiveEncoding)
"""Builds a description from paths and values."""


def packed(bits: int, width: int) -> pb.CompressiveEncoding:
    """Describe values packed out of line."""
    arm = "out_of_line_bitpacking"
    return described(
        {f"{arm}.uncompressed_bits_per_value": bits, f"{arm}.values.flat.bits_per_value": width}
    )


def flat(values: Sequence[int], bits: int) -> Block:
    """Store each value in its whole width."""
    return described({"flat.bits_per_value": bits}), words(*values, width=bits // 8)


def inline(values: Sequence[int], bits: int) -> Block:
    """Pack up to 1024 values after a word with their width."""
    encoding = described({"inline_bitpacking.uncompressed_bits_per_value": bits})
    width = max(values).bit_length()
    return encoding, words(width, width=bits // 8) + fast_lanes(values, bits, width)


def out_of_line(values: Sequence[int], bits: int) -> Block:
    """Pack up to 1024 values into a whole block of the width in the description."""
    width = max(values).bit_length()
    return packed(bits, width), fast_lanes(values, bits, width)


def compressed(inner: Block, scheme: str = "lz4", level: int | None = None) -> Block:
    """Compress a block of another codec, after its size."""
    paths = {"general.compression.scheme": SCHEMES[scheme], "general.values": inner[0]}
    encoding = described(paths if level is None else {**paths, "general.compression.level": level})
    codec = pa.Codec("lz4_raw" if scheme == "lz4" else scheme)
    size = words(len(inner[1]), width=4 if scheme == "lz4" else 8)
    return encoding, size + bytes(codec.compress(inner[1], asbytes=True))


def rle(values: Block, lengths: Block) -> Block:
    """Frame the values of runs and their lengths."""
    encoding = described({"rle.values": values[0], "rle.run_lengths": lengths[0]})
    if not values[1] and not lengths[1]:
        return encoding, b""
    return encoding, words(len(values[1])) + values[1] + lengths[1]


def constant(value: int, bits: int) -> Block:
    """Encode one value for all."""
    return described({"constant.value": words(value, width=bits // 8)}), b""


def range_(start: int, step: int, bits: int) -> Block:
    """Count from a start by a step."""
    paths = {"uncompressed_bits_per_value": bits, "start": start, "step": step}
    return described({f"range.{path}": value for path, value in paths.items()}), b""


def delta(base: int, deltas: Block, bits: int) -> Block:
    """Add differences to a base."""
    paths = {"uncompressed_bits_per_value": bits, "base": base, "deltas": deltas[0]}
    return described({f"delta.{path}": value for path, value in paths.items()}), deltas[1]


def dictionary(indices: Block, items: Block, num_items: int) -> Block:
    """Encode indices and the items that they select."""
    paths = {"indices": indices[0], "items": items[0], "num_dictionary_items": num_items}
    encoding = described({f"dictionary.{path}": value for path, value in paths.items()})
    return encoding, words(len(indices[1]), len(items[1])) + indices[1] + items[1]


def codecs(values: Sequence[int], bits: int) -> dict[str, Block]:
    """Return the values in each general codec."""
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
        "rle": rle(flat(values, bits), flat(ones, 32)),
        "rle, constant lengths": rle(flat(values, bits), constant(1, 32)),
        "rle, packed lengths": rle(flat(values, bits), out_of_line(ones, 32)),
        "rle, packed values": rle(out_of_line(values, bits), flat(ones, 32)),
        "dictionary": dictionary(flat(picks, 32), flat(pool, bits), len(pool)),
        "dictionary, packed indices": dictionary(inline(picks, 32), flat(pool, bits), len(pool)),
    }


def ascending(values: Sequence[int], bits: int) -> dict[str, Block]:
    """Return ascending values in each codec that can encode them, with deltas at one level."""
    first = values[0]
    deltas = [after - before for before, after in pairwise(values)]
    packed = {name: make(deltas, bits) for name, make in _DELTAS.items()}
    named = {f"delta, {name}": delta(first, made, bits) for name, made in packed.items()}
    return {**codecs(values, bits), **named}


_DELTAS = {"flat": flat, "inline": inline, "out of line": out_of_line}

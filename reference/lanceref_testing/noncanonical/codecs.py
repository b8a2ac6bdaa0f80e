"""Codecs: legal encodings of values in chunks that no writer chooses.

Chunks of any power of two, bit widths larger than necessary, run-length encoding without runs,
compression of incompressible data, random symbol tables.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from lanceref.codecs import bitpack, general, nested, sequence, symbol_coder, variable
from lanceref.codecs.bitpack import BLOCK, WIDTHS
from lanceref.codecs.buffers import MiniBlocks, flat_blocks, flat_encoding
from lanceref.codecs.choose import Encode, Kind, fsst_encoding
from lanceref.codecs.encoder_inputs import bytes_per_word, max_value_bytes, unsigned
from lanceref.codecs.values import Fixed, FixedSizeList, Rows, Values, Variable
from lanceref.core.file_versions import V2_1, V2_2, FileVersion
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding
from numpy.typing import NDArray

from lanceref_testing.noncanonical.variations import VariationSampler

CHUNK_BYTES = 12_000
"""Most bytes of the values of a chunk, which stays below 32 KiB with its levels."""

LARGE_CHUNK_BYTES = 1 << 20
"""Most bytes of the values of a large chunk of 2.2."""


def draw_chunk_counts(
    rng: VariationSampler, count: int, value_bytes: int, version: FileVersion = V2_1
) -> NDArray[np.int64]:
    """Draw the number of values of each chunk [chunks]: powers of two, the last any number."""
    largest, size = 12, CHUNK_BYTES
    if version >= V2_2 and rng.varies("large chunks", 0.3):
        largest, size = 15, LARGE_CHUNK_BYTES
    most = max(1, size // max(1, value_bytes)).bit_length() - 1
    counts, rest = [], count
    while rest:
        chunk = 1 << rng.randint(1, max(1, min(largest, most)))
        counts.append(min(chunk, rest))
        rest -= counts[-1]
    return np.array(counts, np.int64)


def encode_mini_blocks(
    rng: VariationSampler, values: Values, kind: Kind, version: FileVersion
) -> MiniBlocks:
    """Encode values in chunks by a random codec."""
    blocks = _mini(rng, values, kind, version)
    last = int(blocks.counts[-1])
    if last > 1 and last & last - 1 == 0 and rng.varies("explicit count of the last chunk"):
        return replace(blocks, last_says_count=True)
    return blocks


def _mini(rng: VariationSampler, values: Values, kind: Kind, version: FileVersion) -> MiniBlocks:
    if isinstance(values, Variable):
        blocks = _variable(rng, values, kind, version)
    elif isinstance(values, FixedSizeList):
        size = bytes_per_word(values)[0]
        counts = draw_chunk_counts(rng, values.count, size, version)
        return nested.encode_lists(values, counts)
    elif isinstance(values, Rows):
        encoding, joined = nested.join_rows(values)
        return _flat(rng, joined, version, encoding)
    else:
        assert isinstance(values, Fixed)
        blocks = _fixed(rng, values, version)
    return _compressed(rng, blocks) if rng.random() < 0.3 else blocks


def _flat(
    rng: VariationSampler,
    values: Fixed,
    version: FileVersion,
    encoding: CompressiveEncoding | None = None,
) -> MiniBlocks:
    counts = draw_chunk_counts(rng, values.count, -(-values.bits // 8), version)
    if values.bits % 8:
        counts = np.append(np.full(values.count // 64, 64), values.count % 64)
        counts = counts[counts > 0]
    sizes = -(-counts * values.bits // 8)
    return MiniBlocks(encoding or flat_encoding(values.bits), counts, ((values.data, sizes),))


def _fixed(rng: VariationSampler, values: Fixed, version: FileVersion) -> MiniBlocks:
    if values.bits not in WIDTHS:
        return _flat(rng, values, version)
    numbers, arm = unsigned(values), rng.choice(("flat", "packed", "runs", "streams"))
    if arm == "packed":
        widths = bitpack.block_widths(numbers)
        most = values.bits if rng.varies("values packed to any width") else 3
        extra = np.array([rng.randint(0, most) for _ in widths], np.int64)
        return bitpack.encode_inline(numbers, np.minimum(widths + extra, values.bits))
    if arm == "runs":
        counts, cuts = draw_chunk_counts(rng, values.count, values.bits // 8 + 1, version), []
        if rng.varies("runs cut anywhere"):
            cuts = [rng.randrange(values.count) for _ in range(rng.randint(1, 20))]
        return sequence.encode_runs(numbers, counts, np.array(cuts, np.int64))
    if arm == "streams" and values.bits in (32, 64):
        return general.encode_streams(values, 1 << rng.randint(1, 10))
    return _flat(rng, values, version)


def _variable(
    rng: VariationSampler, values: Variable, kind: Kind, version: FileVersion
) -> MiniBlocks:
    size = max_value_bytes(values) + kind.offset_bits // 8
    if rng.random() < 0.3 and kind.is_text:
        table, coded = encode_fsst(rng, values)
        counts = draw_chunk_counts(rng, values.count, 2 * size, version)
        blocks = variable.encode_mini(coded, kind.offset_bits, counts)
        return MiniBlocks(fsst_encoding(table, blocks.encoding), blocks.counts, blocks.buffers)
    return variable.encode_mini(
        values, kind.offset_bits, draw_chunk_counts(rng, values.count, size, version)
    )


def encode_fsst(rng: VariationSampler, values: Variable) -> tuple[bytes, Variable]:
    """Compress strings by random symbols: parts of the strings, and some that never occur."""
    data = bytes(values.data[: int(values.offsets[-1])])
    symbols = [bytes([rng.randrange(256)]) for _ in range(rng.randint(1, 5))]
    for _ in range(rng.randint(0, 40)):
        start = rng.randrange(len(data) + 1)
        symbols.append(data[start : start + rng.randint(1, 8)] or b"\x00")
    symbols = list(dict.fromkeys(symbols))
    return variable.symbol_table(symbols, is_on=True), symbol_coder.apply(symbols, values)


def _compressed(rng: VariationSampler, blocks: MiniBlocks) -> MiniBlocks:
    """Compress buffer 0 of every chunk, even where it becomes larger."""
    scheme, level = rng.choice((("lz4", None), ("zstd", None), ("zstd", 7)))
    data, sizes = blocks.buffers[0]
    ends = np.cumsum(sizes).tolist()
    view = np.ascontiguousarray(data).data
    frames = [
        general.compress(scheme, level, view[start:end]) for start, end in zip([0, *ends], ends)
    ]
    stored = np.frombuffer(b"".join(frames), np.uint8), np.array([len(f) for f in frames], np.int64)
    encoding = general.general_encoding(scheme, level, blocks.encoding)
    return MiniBlocks(encoding, blocks.counts, (stored, *blocks.buffers[1:]))


def encode_levels(
    rng: VariationSampler,
    levels: NDArray[np.uint16],
    counts: NDArray[np.int64],
    version: FileVersion,
) -> tuple[CompressiveEncoding, NDArray[np.uint8], NDArray[np.int64]]:
    """Encode the levels of a page by a random codec; return it, and bytes and size per chunk."""
    numbers = np.ascontiguousarray(levels, "<u2")
    width = int(bitpack.block_widths(numbers).max(initial=0))
    codecs: list[tuple[CompressiveEncoding, Encode]] = [(flat_encoding(16), flat_blocks)]
    any_width = rng.varies("levels packed to any width")
    packed = rng.randint(width, 16) if any_width else rng.randint(max(1, width), 15)
    encoding = bitpack.out_of_line_encoding(16, packed)
    codecs.append((encoding, partial(bitpack.encode_out_of_line, width=packed)))
    if counts.max(initial=0) <= BLOCK:
        codecs.append((bitpack.inline_encoding(16), bitpack.encode_inline_chunks))
    if version >= V2_2:
        codecs.append((sequence.rle_encoding(16), sequence.encode_run_blocks))
    encoding, encode = rng.choice(codecs)
    return encoding, *encode(numbers, counts)

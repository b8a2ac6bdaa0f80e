"""Choice of codecs: how values are encoded when nothing else is asked for.

The decisions are those of the oracle, in its order, so that the same values give the same bytes;
the codecs themselves encode what they are told. Field metadata (`params`) overrides single steps.

Clauses: L.codec.encoding.context
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs import (
    bitpack_encode,
    fixed_size_list,
    flat,
    fsst_encode,
    general,
    packed_struct,
    rle,
    variable,
)
from lanceref.codecs.bitpack import BLOCK, WIDTHS, Unsigned
from lanceref.codecs.encoder_inputs import (
    Params,
    byte_entropy,
    flat_chunk,
    max_chunk_values,
    max_value_bytes,
    packed_bytes,
    rle_counts,
    run_bytes,
    unsigned,
)
from lanceref.codecs.values import (
    Fixed,
    FixedSizeList,
    MiniBlocks,
    Rows,
    Values,
    Variable,
    even_counts,
    flat_encoding,
)
from lanceref.core.file_versions import V2_1, V2_2, V2_3, FileVersion
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding

__all__ = ["Kind", "encode_block", "encode_levels", "encode_mini", "encode_zip", "max_value_bytes"]

MIN_TEXT_BYTES, MIN_TEXT_LENGTH = 32 * 1024, 5
"""Bytes with offsets, and longest value, from which strings are coded with FSST."""

LARGE_VALUE = 32 * 1024
"""Longest value above which each value is compressed on its own."""

ENTROPY_LIMIT = 4.0
"""Mean entropy of bytes below which their streams are split."""

Coded = tuple[NDArray[np.uint8], NDArray[np.int64]]
"""The bytes of all chunks joined, and the size in each chunk."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What the Arrow type says of values: offsets of 64 bits, text, and so for packed fields."""

    wide: bool = False
    is_text: bool = False
    fields: tuple[Kind, ...] = ()

    @property
    def offset_bits(self) -> int:
        """Bits of an offset or length."""
        return 64 if self.wide else 32


def encode_mini(values: Values, params: Params, version: FileVersion, kind: Kind) -> MiniBlocks:
    """Encode values as chunks of a mini-block page. Raises ValueError for an unknown scheme."""
    if isinstance(values, Variable):
        return _mini_variable(values, params, version, kind)
    if isinstance(values, FixedSizeList):
        size, per_word = fixed_size_list.rows_per_chunk_bytes(values)
        per_chunk = flat_chunk(size, per_word)
        blocks = fixed_size_list.encode_mini(values, even_counts(values.count, per_chunk))
        return replace(blocks, last_says_count=values.count % per_chunk == 0)
    if isinstance(values, Rows):
        encoding, joined = packed_struct.join(values)
        return _flat(joined, encoding)
    assert isinstance(values, Fixed)
    return _mini_fixed(values, params)


def _flat(values: Fixed, encoding: CompressiveEncoding | None = None) -> MiniBlocks:
    per_word = 1 if values.bits % 8 == 0 else 8
    per_chunk = flat_chunk(values.bits * per_word // 8, per_word)
    counts = even_counts(values.count, per_chunk)
    buffers = ((values.data, -(-counts * values.bits // 8)),)
    is_full = values.count % per_chunk == 0
    return MiniBlocks(encoding or flat_encoding(values.bits), counts, buffers, is_full)


def _mini_fixed(values: Fixed, params: Params) -> MiniBlocks:
    scheme = params.compression
    if scheme == "none":
        return _flat(values)
    if scheme is not None and values.bits in (32, 64) and _splits_streams(values, params):
        blocks = flat.encode_streams(values)
    else:
        blocks = _plain_mini_fixed(values, params)
    if scheme in (None, "fsst"):
        return blocks
    general.check_scheme(scheme)
    return general.compress_mini(blocks, scheme, params.compression_level)


def _splits_streams(values: Fixed, params: Params) -> bool:
    if params.bss in ("on", "off"):
        return params.bss == "on"
    return byte_entropy(values) < ENTROPY_LIMIT


def _plain_mini_fixed(values: Fixed, params: Params) -> MiniBlocks:
    """Encode as runs, packed bits or plain values, whichever takes the fewest bytes."""
    if values.bits not in WIDTHS:
        return _flat(values)
    numbers = unsigned(values)
    widths = bitpack_encode.block_widths(numbers)
    packed = packed_bytes(numbers, widths)
    runs, runs_bytes = run_bytes(numbers, min(len(values.data), packed + 1))
    few = params.rle_threshold is None or runs < params.rle_threshold * values.count
    if few and runs_bytes < len(values.data) and runs_bytes <= packed:
        return rle.encode_mini(numbers, rle_counts(numbers))
    if packed < len(values.data):
        return bitpack_encode.encode_inline(numbers, widths)
    return _flat(values)


def _mini_variable(
    values: Variable, params: Params, version: FileVersion, kind: Kind
) -> MiniBlocks:
    scheme, bits = params.compression, kind.offset_bits
    if scheme not in (None, "none", "fsst"):
        general.check_scheme(scheme)
        plain = _plain_mini_variable(values, bits, params)
        return general.compress_mini(plain, scheme, params.compression_level)
    if scheme == "fsst" or (scheme is None and _is_coded(values, kind)):
        table, coded = fsst_encode.encode(values)
        blocks = _plain_mini_variable(coded, bits, params)
        return MiniBlocks(fsst_encoding(table, blocks.encoding), blocks.counts, blocks.buffers)
    counts = _variable_counts(values, bits, params)
    short = None
    if version >= V2_3 and scheme is None and values.count:
        short = variable.encode_short_offsets(values, bits, counts)
    return variable.encode_mini(values, bits, counts) if short is None else short


def _plain_mini_variable(values: Variable, bits: int, params: Params) -> MiniBlocks:
    return variable.encode_mini(values, bits, _variable_counts(values, bits, params))


def _variable_counts(values: Variable, bits: int, params: Params) -> NDArray[np.int64]:
    chunk_bytes = params.minichunk_size or variable.CHUNK_BYTES
    return variable.chunk_counts(values, bits, chunk_bytes, max_chunk_values())


def _is_coded(values: Variable, kind: Kind) -> bool:
    """Whether text is long enough for FSST."""
    size = int(values.offsets[-1]) + len(values.offsets) * kind.offset_bits // 8
    return kind.is_text and size >= MIN_TEXT_BYTES and max_value_bytes(values) >= MIN_TEXT_LENGTH


def fsst_encoding(table: bytes, inner: CompressiveEncoding) -> CompressiveEncoding:
    """Return the description of coded strings."""
    encoding = CompressiveEncoding()
    encoding.fsst.symbol_table = table
    encoding.fsst.values.CopyFrom(inner)
    return encoding


def encode_levels(
    levels: NDArray[np.uint16], counts: NDArray[np.int64], version: FileVersion
) -> tuple[CompressiveEncoding, NDArray[np.uint8], NDArray[np.int64]]:
    """Encode the levels of a page, `counts` in each chunk; return bytes and sizes of the chunks."""
    numbers = np.ascontiguousarray(levels, "<u2")
    codec = number_codec(numbers, version)
    data, sizes = codec.encode_chunks(numbers, counts)
    return codec.encoding, data, sizes


@dataclass(frozen=True, slots=True)
class NumberCodec:
    """How blocks of integers are stored: the description, and what encodes one of them.

    `encode_all`, where there is one, encodes many at once: it is faster than one after the other.
    """

    encoding: CompressiveEncoding
    encode: Callable[[Unsigned], NDArray[np.uint8]]
    encode_all: Callable[[Unsigned, NDArray[np.int64]], Coded] | None = None

    def encode_chunks(self, numbers: Unsigned, counts: NDArray[np.int64]) -> Coded:
        """Encode a block for each chunk of `counts` integers."""
        if self.encode_all is not None:
            return self.encode_all(numbers, counts)
        ends = np.cumsum(counts).tolist()
        parts = [self.encode(numbers[start:end]) for start, end in zip([0, *ends], ends)]
        return np.concatenate(parts), np.array([len(part) for part in parts], np.int64)


def number_codec(numbers: Unsigned, version: FileVersion) -> NumberCodec:
    """Return the block codec of integers: runs, packed bits or plain, the smallest of them."""
    bits, raw = numbers.dtype.itemsize * 8, numbers.nbytes
    widths = bitpack_encode.block_widths(numbers)
    width = int(widths.max(initial=0))
    is_small = len(numbers) <= BLOCK
    packed = packed_bytes(numbers, widths)
    if not is_small:
        packed = bitpack_encode.out_of_line_bytes(numbers, width)
    if version >= V2_2:
        least = min(raw, packed) - rle.HEADER_BYTES
        if run_bytes(numbers, least)[1] < least:
            return NumberCodec(rle.rle_encoding(bits), rle.encode_block, rle.encode_blocks)
    if width >= bits or packed > raw or (packed == raw and width):
        return NumberCodec(flat_encoding(bits), _plain_bytes)
    if is_small:
        encoding = bitpack_encode.inline_encoding(bits)
        return NumberCodec(encoding, bitpack_encode.encode_inline_block)
    return NumberCodec(
        bitpack_encode.out_of_line_encoding(bits, width),
        partial(bitpack_encode.encode_out_of_line, width=width),
        partial(bitpack_encode.encode_out_of_line_chunks, width=width),
    )


def _plain_bytes(numbers: Unsigned) -> NDArray[np.uint8]:
    return numbers.view(np.uint8)


def encode_block(
    values: Values, params: Params, version: FileVersion, kind: Kind
) -> tuple[CompressiveEncoding, bytes]:
    """Encode the items of a dictionary as one buffer."""
    encoding, data = _plain_block(values, version, kind)
    scheme = params.dict_values_compression or "lz4"
    if version == V2_1 or scheme == "none" or encoding.WhichOneof("compression") in _PACKED:
        return encoding, data
    general.check_scheme(scheme)
    level = params.dict_values_compression_level
    packed = general.compress(scheme, level, data)
    return general.general_encoding(scheme, level, encoding), packed


_PACKED = ("rle", "inline_bitpacking", "out_of_line_bitpacking")
"""Block codecs that leave nothing to compress."""


def _plain_block(
    values: Values, version: FileVersion, kind: Kind
) -> tuple[CompressiveEncoding, bytes]:
    if isinstance(values, Variable):
        bits = kind.offset_bits
        return variable.variable_encoding(bits), variable.encode_block(values, bits)
    if isinstance(values, FixedSizeList):
        encoding, rows = fixed_size_list.encode_zip(values)
        return encoding, rows.data.tobytes()
    assert isinstance(values, Fixed)
    if values.bits not in WIDTHS:
        return flat_encoding(values.bits), values.data.tobytes()
    numbers = unsigned(values)
    codec = number_codec(numbers, version)
    return codec.encoding, codec.encode(numbers).tobytes()


def encode_zip(
    values: Values, params: Params, version: FileVersion, kind: Kind
) -> tuple[CompressiveEncoding, Fixed | Variable]:
    """Encode values one by one for a full-zip page."""
    if isinstance(values, Fixed):
        return flat_encoding(values.bits), values
    if isinstance(values, FixedSizeList):
        return fixed_size_list.encode_zip(values)
    if isinstance(values, Variable):
        return _zip_variable(values, params, kind)
    assert isinstance(values, Rows)
    if all(isinstance(field, Fixed) for field in values.fields):
        return packed_struct.join(values)
    pairs = zip(values.fields, kind.fields, strict=True)
    cells = [(*encode_zip(field, Params(), version, one), one.offset_bits) for field, one in pairs]
    return packed_struct.join_variable(values.count, cells)


def _zip_variable(
    values: Variable, params: Params, kind: Kind
) -> tuple[CompressiveEncoding, Variable]:
    plain, scheme = variable.variable_encoding(kind.offset_bits), params.compression
    size = int(values.offsets[-1]) + len(values.offsets) * kind.offset_bits // 8
    if scheme == "none":
        return plain, values
    asked = scheme is not None and scheme != "fsst"
    if (asked or max_value_bytes(values) > LARGE_VALUE) and size >= MIN_TEXT_BYTES:
        stored = general.compress_each(values, "zstd", 0)
        return general.general_encoding("zstd", 0, plain), stored
    if scheme == "fsst" or _is_coded(values, kind):
        table, coded = fsst_encode.encode(values)
        return fsst_encoding(table, plain), coded
    return plain, values

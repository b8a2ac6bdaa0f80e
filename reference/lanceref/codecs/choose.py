"""Choice of codecs: how values are encoded when nothing else is asked for.

The decisions are those of the oracle, in its order, so that the same values give the same bytes;
the codecs themselves encode what they are given. Field metadata (`Params`) overrides single steps.

Clauses: L.codec.encoding.context, L.page.dictionary.index-width
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs import (
    bitpack,
    general,
    nested,
    sequence,
    symbol_coder,
    variable,
    variable_offsets,
)
from lanceref.codecs import encoder_inputs as inputs
from lanceref.codecs.bitpack import BLOCK, WIDTHS, Unsigned
from lanceref.codecs.buffers import MiniBlocks, Part, even_counts, flat_blocks, flat_encoding
from lanceref.codecs.encoder_inputs import Params, flat_chunk, max_value_bytes, unsigned
from lanceref.codecs.values import Bytes, Fixed, FixedSizeList, Ints, Rows, Values, Variable
from lanceref.core.arrow_buffers import TEXT, has_wide_offsets
from lanceref.core.context import specified
from lanceref.core.file_versions import V2_1, V2_2, V2_3, FileVersion
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding

MIN_TEXT_BYTES, MIN_TEXT_LENGTH = 32 * 1024, 5
"""Bytes with offsets, and longest value, from which strings are coded with FSST."""

LARGE_VALUE = 32 * 1024
"""Longest value above which each value is compressed on its own."""

ENTROPY_LIMIT = 4.0
"""Mean entropy of bytes below which their streams are split."""

Encode = Callable[[Unsigned, Ints], Part]
"""Encodes integers in chunks of given counts, a block for each chunk."""


@dataclass(frozen=True, slots=True)
class Kind:
    """Facts of the Arrow type: offsets of 64 bits, text, and the same of packed fields."""

    wide: bool = False
    is_text: bool = False
    fields: tuple[Kind, ...] = ()

    @property
    def offset_bits(self) -> int:
        """Bits of one offset, or of one length in full-zip pages."""
        return 64 if self.wide else 32

    def size_bytes(self, values: Variable) -> int:
        """Return the bytes of values and plain offsets."""
        return int(values.offsets[-1]) + len(values.offsets) * self.offset_bits // 8


def kind_of(type_: pa.DataType) -> Kind:
    """Return what a type says of its values beside their bytes; of a dictionary its items'."""
    if pa.types.is_dictionary(type_):
        return kind_of(type_.value_type)
    if pa.types.is_struct(type_):
        return Kind(fields=tuple(kind_of(field.type) for field in type_))
    return Kind(has_wide_offsets(type_), type_ in TEXT)


def encode_mini(values: Values, params: Params, version: FileVersion, kind: Kind) -> MiniBlocks:
    """Encode values as chunks of a mini-block page. Raises DataRefused for an unknown scheme."""
    if isinstance(values, Variable):
        return _mini_variable(values, params, version, kind)
    if isinstance(values, FixedSizeList):
        per_chunk = flat_chunk(*inputs.bytes_per_word(values))
        blocks = nested.encode_lists(values, even_counts(values.count, per_chunk))
        return replace(blocks, last_says_count=values.count % per_chunk == 0)
    if isinstance(values, Rows):
        encoding, joined = nested.join_rows(values)
        return _mini_flat(joined, encoding)
    assert isinstance(values, Fixed)
    scheme = params.compression
    if scheme == "none":
        return _mini_flat(values)
    if scheme is not None and values.bits in (32, 64) and _splits_streams(values, params):
        blocks = general.encode_streams(values, flat_chunk(values.bits // 8, 1))
    else:
        blocks = _mini_numbers(values, params)
    if scheme in (None, "fsst"):
        return blocks
    return general.compress_mini(blocks, scheme, params.compression_level)


def _mini_flat(values: Fixed, encoding: CompressiveEncoding | None = None) -> MiniBlocks:
    per_word = 1 if values.bits % 8 == 0 else 8
    per_chunk = flat_chunk(values.bits * per_word // 8, per_word)
    counts = even_counts(values.count, per_chunk)
    buffers = ((values.data, -(-counts * values.bits // 8)),)
    is_full = values.count % per_chunk == 0
    return MiniBlocks(encoding or flat_encoding(values.bits), counts, buffers, is_full)


def _splits_streams(values: Fixed, params: Params) -> bool:
    if params.bss in ("on", "off"):
        return params.bss == "on"
    return inputs.byte_entropy(values) < ENTROPY_LIMIT


def _mini_numbers(values: Fixed, params: Params) -> MiniBlocks:
    """Encode as runs, packed bits or plain values, whichever takes the fewest bytes."""
    if values.bits not in WIDTHS:
        return _mini_flat(values)
    numbers = unsigned(values)
    widths = bitpack.block_widths(numbers)
    packed = inputs.packed_bytes(numbers, widths)
    runs, runs_bytes = inputs.run_bytes(numbers, min(len(values.data), packed + 1))
    few = params.rle_threshold is None or runs < params.rle_threshold * values.count
    if few and runs_bytes < len(values.data) and runs_bytes <= packed:
        return sequence.encode_runs(numbers, inputs.rle_counts(numbers))
    if packed < len(values.data):
        return bitpack.encode_inline(numbers, widths)
    return _mini_flat(values)


def _mini_variable(
    values: Variable, params: Params, version: FileVersion, kind: Kind
) -> MiniBlocks:
    scheme, bits = params.compression, kind.offset_bits
    table = b""
    if scheme == "fsst" or (scheme is None and _is_coded(values, kind)):
        table, values = symbol_coder.encode(values)
    chunk_bytes = params.minichunk_size or variable.CHUNK_BYTES
    if version == V2_1 and chunk_bytes >= variable.WORD_BYTES:
        chunk_bytes = variable.CHUNK_BYTES
    counts = variable.chunk_counts(values, bits, chunk_bytes, inputs.MAX_CHUNK_VALUES)
    if version >= V2_3 and scheme is None and values.count and not table:
        short = variable_offsets.encode_short_offsets(values, bits, counts)
        if short is not None:
            return short
    blocks = variable.encode_mini(values, bits, counts)
    if table:
        return replace(blocks, encoding=fsst_encoding(table, blocks.encoding))
    if scheme in (None, "none"):
        return blocks
    return general.compress_mini(blocks, scheme, params.compression_level)


def _is_coded(values: Variable, kind: Kind) -> bool:
    is_large = kind.is_text and kind.size_bytes(values) >= MIN_TEXT_BYTES
    return is_large and max_value_bytes(values) >= MIN_TEXT_LENGTH


def fsst_encoding(table: bytes, inner: CompressiveEncoding) -> CompressiveEncoding:
    """Return the description of strings coded with a symbol table."""
    return CompressiveEncoding(fsst={"symbol_table": table, "values": inner})


def encode_levels(
    levels: NDArray[np.uint16], counts: Ints, version: FileVersion
) -> tuple[CompressiveEncoding, Bytes, Ints]:
    """Encode the levels of a page, `counts` in each chunk; return bytes and sizes of the chunks.

    `levels` (n,), `counts` and the sizes (chunks,).
    """
    numbers = np.ascontiguousarray(levels, "<u2")
    encoding, encode = _number_codec(numbers, version)
    return encoding, *encode(numbers, counts)


def _number_codec(numbers: Unsigned, version: FileVersion) -> tuple[CompressiveEncoding, Encode]:
    """Return the block codec of integers: runs, packed bits or plain, the smallest of them."""
    bits, raw = numbers.dtype.itemsize * 8, numbers.nbytes
    widths = bitpack.block_widths(numbers)
    width = int(widths.max(initial=0))
    is_small = len(numbers) <= BLOCK
    packed = inputs.packed_bytes(numbers, widths)
    if not is_small:
        packed = bitpack.out_of_line_bytes(len(numbers), bits, width)
    if version >= V2_2:
        least = min(raw, packed) - sequence.RUNS_HEADER_BYTES
        if inputs.run_bytes(numbers, least)[1] < least:
            return sequence.rle_encoding(bits), sequence.encode_run_blocks
    if width >= bits or packed > raw or (packed == raw and width):
        return flat_encoding(bits), flat_blocks
    if is_small:
        return bitpack.inline_encoding(bits), bitpack.encode_inline_chunks
    encode = partial(bitpack.encode_out_of_line, width=width)
    return bitpack.out_of_line_encoding(bits, width), encode


_COMPACT = ("rle", "inline_bitpacking", "out_of_line_bitpacking")
"""Block codecs that leave nothing to compress."""


def encode_block(
    values: Values, params: Params, version: FileVersion, kind: Kind
) -> tuple[CompressiveEncoding, bytes]:
    """Encode the items of a dictionary as one buffer."""
    encoding, data = _plain_block(values, version, kind)
    scheme = params.dict_values_compression or "lz4"
    if version == V2_1 or scheme == "none" or encoding.WhichOneof("compression") in _COMPACT:
        return encoding, data
    level = params.dict_values_compression_level
    packed = general.compress(scheme, level, data)
    return general.general_encoding(scheme, level, encoding), packed


def _plain_block(
    values: Values, version: FileVersion, kind: Kind
) -> tuple[CompressiveEncoding, bytes]:
    if isinstance(values, Variable):
        bits = kind.offset_bits
        return variable.variable_encoding(bits), variable_offsets.encode_block(values, bits)
    if isinstance(values, FixedSizeList):
        encoding, rows = nested.encode_zipped_lists(values)
        return encoding, rows.data.tobytes()
    assert isinstance(values, Fixed)
    if values.bits not in WIDTHS:
        return flat_encoding(values.bits), values.data.tobytes()
    numbers = unsigned(values)
    encoding, encode = _number_codec(numbers, version)
    return encoding, encode(numbers, np.array([len(numbers)]))[0].tobytes()


def encode_zip(
    values: Values, params: Params, version: FileVersion, kind: Kind
) -> tuple[CompressiveEncoding, Fixed | Variable]:
    """Encode values one by one for a full-zip page."""
    if isinstance(values, Fixed):
        return flat_encoding(values.bits), values
    if isinstance(values, FixedSizeList):
        return nested.encode_zipped_lists(values)
    if isinstance(values, Variable):
        return _zip_variable(values, params, kind)
    assert isinstance(values, Rows)
    if all(isinstance(field, Fixed) for field in values.fields):
        return nested.join_rows(values)
    pairs = zip(values.fields, kind.fields, strict=True)
    cells = [(*encode_zip(field, Params(), version, one), one.offset_bits) for field, one in pairs]
    return nested.join_variable_rows(values.count, cells)


def _zip_variable(
    values: Variable, params: Params, kind: Kind
) -> tuple[CompressiveEncoding, Variable]:
    plain, scheme = variable.variable_encoding(kind.offset_bits), params.compression
    is_general = scheme not in (None, "none", "fsst")
    is_long = scheme != "none" and max_value_bytes(values) > LARGE_VALUE
    if (is_general or is_long) and kind.size_bytes(values) >= MIN_TEXT_BYTES:
        stored, ends = general.compress_each(values.data, values.offsets, "zstd", 0)
        return general.general_encoding("zstd", 0, plain), Variable(ends, stored)
    if scheme == "fsst" or (scheme != "none" and _is_coded(values, kind)):
        table, coded = symbol_coder.encode(values)
        return fsst_encoding(table, plain), coded
    return plain, values


INDEX_BYTES = 4
"""Bytes of an index of a dictionary."""

Indexed = tuple[NDArray[np.uint32], Values]
"""Indices of values, and the distinct values in the order of their first use."""


def choose_dictionary(
    values: Values, params: Params, version: FileVersion, kind: Kind
) -> Indexed | None:
    """Return indices and items when a dictionary is small enough; None when it is not."""
    if not _may_repeat(values, version) or values.count < params.dict_too_small:
        return None
    most = min(values.count // params.dict_divisor, params.dict_max_cardinality)
    indexed = index_distinct(values, most)
    if indexed is None:
        return None
    items = _items(values, indexed.dictionary)
    size, raw = (
        kind.size_bytes(one) if isinstance(one, Variable) else len(_plain(one)[0])
        for one in (items, values)
    )
    if size + values.count * INDEX_BYTES > params.dict_size_ratio * raw:
        return None
    indices = np.frombuffer(indexed.indices.buffers()[1], np.int32)[: values.count].view(np.uint32)
    return indices, items


@specified
def index_distinct(values: Values, most: int) -> pa.DictionaryArray | None:
    """Return values as indices of the distinct ones; None where more than `most` are distinct."""
    indexed = byte_strings(values).dictionary_encode()
    return indexed if len(indexed.dictionary) <= most else None


def _may_repeat(values: Values, version: FileVersion) -> bool:
    if isinstance(values, Fixed):
        return values.bits == 128 or (values.bits == 64 and version > V2_1)
    if isinstance(values, FixedSizeList):
        is_plain = values.validity is None and isinstance(values.items, Fixed)
        return version == V2_3 and is_plain and values.items.bits % 8 == 0
    return isinstance(values, Variable)


def byte_strings(values: Values) -> pa.Array:
    """Return values of fixed width, lists of these, or variable ones as Arrow byte strings."""
    if isinstance(values, Variable):
        buffers = [None, pa.py_buffer(values.offsets), pa.py_buffer(values.data)]
        return pa.Array.from_buffers(pa.large_binary(), values.count, buffers)
    data, width = _plain(values)
    return pa.Array.from_buffers(pa.binary(width), values.count, [None, pa.py_buffer(data)])


def _plain(values: Values) -> tuple[Bytes, int]:
    assert isinstance(values, Fixed | FixedSizeList)
    inner = values.innermost if isinstance(values, FixedSizeList) else values
    return inner.data, values.bits // 8


def _items(values: Values, items: pa.Array) -> Values:
    stored = inputs.stored_values(items)
    if not isinstance(values, FixedSizeList):
        return stored
    assert isinstance(stored, Fixed)
    inner = Fixed(values.items.bits, len(items) * values.dimension, stored.data)
    return replace(values, count=len(items), items=inner)

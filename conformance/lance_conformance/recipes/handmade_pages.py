"""Pages and chunks by hand that cases of several topics have."""

from __future__ import annotations

from typing import cast

import numpy as np
import pyarrow as pa
from google.protobuf.any_pb2 import Any as AnyMessage
from lanceref.proto.encodings_v2_0_pb2 import ArrayEncoding, Buffer, ColumnEncoding, Flat
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding, PageLayout, RepDefLayer
from lanceref.proto.file2_pb2 import ColumnMetadata

from lance_conformance.recipes.columns import RANDOM_SEED
from lance_conformance.recipes.edits import column_edit
from lance_conformance.recipes.handmade_files import words
from lance_conformance.recipes.model import MessageEdit


def column_encoding(arm: str) -> MessageEdit:
    """Describe the first column as another kind of column."""

    def edit(message: ColumnMetadata) -> None:
        direct = message.encoding.direct
        packed = AnyMessage.FromString(direct.encoding)
        encoding = ColumnEncoding()
        getattr(encoding, arm).SetInParent()
        packed.value = encoding.SerializeToString()
        direct.encoding = packed.SerializeToString()

    return column_edit(edit)


def flat_page(bits: int, buffer: int = 0, kind: Buffer.BufferType = Buffer.page) -> ArrayEncoding:
    """Describe flat values in a buffer of the page (0) or of the column (1)."""
    flat = Flat(bits_per_value=bits)
    flat.buffer.buffer_index = buffer
    flat.buffer.buffer_type = kind
    return ArrayEncoding(flat=flat)


def flat_layout(bits: int) -> CompressiveEncoding:
    """Describe flat values."""
    encoding = CompressiveEncoding()
    encoding.flat.bits_per_value = bits
    return encoding


def mini_block(values: CompressiveEncoding, num_items: int, layers: tuple[int, ...]) -> PageLayout:
    """Describe a mini-block page of 2.2 without levels."""
    layout = PageLayout()
    mini = layout.mini_block_layout
    mini.value_compression.CopyFrom(values)
    mini.num_items, mini.num_buffers, mini.has_large_chunk = (num_items, 1, True)
    mini.layers.extend(cast(tuple[RepDefLayer, ...], layers))
    return layout


def chunk(*buffers: bytes, levels: tuple[bytes, ...] = (), num_levels: int = 0) -> bytes:
    """Lay out a chunk: header, levels, value buffers, all padded to eight bytes."""
    sizes = words(num_levels, *(len(part) for part in levels), width=2)
    header = sizes + words(*(len(part) for part in buffers), width=4)
    return b"".join(part + b"\xfe" * (-len(part) % 8) for part in (header, *levels, *buffers))


def table(*chunks: tuple[bytes, int]) -> bytes:
    """Return the chunk table: size in units of eight bytes less one, then log2 of the values."""
    return words(*(len(part) // 8 - 1 << 4 | log for part, log in chunks), width=4)


def vectors_3(nulls: tuple[int, ...]) -> pa.Array:
    rng = np.random.default_rng(RANDOM_SEED)
    items = pa.array(rng.standard_normal(8 * 100), pa.float32())
    mask = pa.array([i in nulls for i in range(8)])
    return pa.FixedSizeListArray.from_arrays(items, 100, mask=mask)


PICKS = (3, 0, 2, 2, 1)


def pair(width: int) -> list[int]:
    """The largest value of a width, and one with every other bit."""
    return [2**width - 1, 0x5555555555555555 % 2**width]


def array_blocks(bits: int, widths: range) -> pa.Array:
    values = [value for width in widths for value in pair(width)]
    return pa.array(values, getattr(pa, f"uint{bits}")())

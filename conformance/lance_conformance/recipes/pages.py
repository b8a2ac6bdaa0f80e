"""Handmade pages: chunks and zipped entries with any encoding, of any version.

The values are given in encoded form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, cast

import numpy as np
import pyarrow as pa
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import Message
from lanceref.pages.planar import dense_layout
from lanceref.proto.encodings_v2_0_pb2 import ArrayEncoding, Buffer, ColumnEncoding, Flat
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding, PageLayout, RepDefLayer
from lanceref.proto.encodings_v2_3_pb2 import SparseValiditySet, ZippedValues

from lance_conformance.recipes.blocks import Block, flat
from lance_conformance.recipes.columns import RANDOM_SEED
from lance_conformance.recipes.edits import build, column_edit, inside
from lance_conformance.recipes.handmade_files import Page, words
from lance_conformance.recipes.model import MessageEdit

VALID, NULLABLE = 1, 3
"""Codes of leaves without and with nulls."""

FILL = b"\xfe"


@dataclass(frozen=True, slots=True)
class Chunk:
    """Value buffers and number of values of a chunk; definition levels where the page has them."""

    num_values: int
    buffers: tuple[bytes, ...]
    levels: bytes = b""


def chunked(
    version: str,
    values: CompressiveEncoding,
    chunks: Sequence[Chunk],
    *,
    definition: CompressiveEncoding | None = None,
    dictionary: tuple[Block, int] | None = None,
) -> Page:
    """Lay out a mini-block page without lists; `dictionary` are its items and their number."""
    layout = PageLayout()
    mini = layout.mini_block_layout
    mini.value_compression.CopyFrom(values)
    mini.num_items = sum(chunk.num_values for chunk in chunks)
    mini.num_buffers = len(chunks[0].buffers)
    mini.has_large_chunk = version != "2.1"
    mini.layers.append(cast(RepDefLayer, VALID if definition is None else NULLABLE))
    if definition is not None:
        mini.def_compression.CopyFrom(definition)
    tail: tuple[bytes, ...] = ()
    if dictionary is not None:
        (encoding, data), mini.num_dictionary_items = dictionary
        mini.dictionary.CopyFrom(encoding)
        tail = (data,)
    wide = version != "2.1"
    parts = [_chunk(chunk, definition is not None, wide) for chunk in chunks]
    logs = [chunk.num_values.bit_length() - 1 for chunk in chunks[:-1]] + [0]
    table = (((len(part) // 8 - 1) << 4) | log for part, log in zip(parts, logs, strict=True))
    buffers = (words(*table, width=4 if wide else 2), b"".join(parts), *tail)
    return Page(_described(layout, version), mini.num_items, buffers)


def one_chunk(version: str, block: Block, num_values: int, **others: Any) -> Page:
    """Lay out a mini-block page of one chunk, whose values are a block."""
    return chunked(version, block[0], [Chunk(num_values, (block[1],))], **others)


def _chunk(chunk: Chunk, has_levels: bool, wide: bool) -> bytes:
    header = words(chunk.num_values if has_levels else 0, width=2)
    levels = (chunk.levels,) if has_levels else ()
    header += words(*map(len, levels), width=2)
    header += words(*map(len, chunk.buffers), width=4 if wide else 2)
    return b"".join(part + FILL * (-len(part) % 8) for part in (header, *levels, *chunk.buffers))


def zipped(
    version: str,
    values: CompressiveEncoding,
    entries: Sequence[bytes],
    *,
    layers: tuple[int, ...] = (VALID,),
    bits: tuple[int, int] = (0, 0),
    value_bits: int | None = None,
    rows: Sequence[int] = (),
    index_width: int = 0,
    length_bits: int = 32,
) -> Page:
    """Lay out a full-zip page of whole entries; values of one width are `value_bits` wide.

    `rows` are the numbers of the entries that begin a row, by default all; a row index of
    `index_width` bytes a number follows.
    """
    layout = PageLayout()
    full = layout.full_zip_layout
    full.value_compression.CopyFrom(values)
    full.layers.extend(cast(tuple[RepDefLayer, ...], layers))
    full.bits_rep, full.bits_def = bits
    if value_bits is None:
        full.bits_per_offset = length_bits
    else:
        full.bits_per_value = value_bits
    full.num_items = full.num_visible_items = len(entries)
    begins = list(rows) or list(range(len(entries)))
    buffers: tuple[bytes, ...] = (b"".join(entries),)
    if index_width:
        ends = [sum(map(len, entries[:number])) for number in (*begins, len(entries))]
        buffers = (*buffers, words(*ends, width=index_width))
    return Page(_described(layout, version), len(begins), buffers)


def _described(layout: PageLayout, version: str) -> Message:
    return dense_layout(layout) if version == "2.3" else layout


NO_NULLS = build(SparseValiditySet,
    {"meaning": SparseValiditySet.NULL_POSITIONS, "positions.constant": {}})  # fmt: skip
"""The validity of slots of which none is null."""


def zipped_items(count: int) -> ZippedValues:
    """Describe the zipped items that indices name."""
    paths = {"compression.variable.offsets.flat.bits_per_value": 32, "bits_per_offset": 32}
    return build(ZippedValues, {**paths, "num_items": count, "num_visible_items": count})


def zip_items(items: Sequence[bytes]) -> tuple[bytes, bytes]:
    """Return items after their lengths, and where each begins and the last ends, a byte each."""
    parts = [words(len(item), width=4) + item for item in items]
    return b"".join(parts), bytes(accumulate(map(len, parts), initial=0))


def column_encoding(arm: str) -> MessageEdit:
    """Describe the first column as another kind of column."""
    encoded = build(ColumnEncoding, {arm: {}}).SerializeToString()
    return column_edit({"encoding.direct.encoding": inside(AnyMessage, {"value": encoded})})


def flat_page(bits: int, buffer: int = 0, kind: Buffer.BufferType = Buffer.page) -> ArrayEncoding:
    """Describe flat values in a buffer of the page (0) or of the column (1)."""
    flat = Flat(bits_per_value=bits)
    flat.buffer.buffer_index = buffer
    flat.buffer.buffer_type = kind
    return ArrayEncoding(flat=flat)


def vectors_3(nulls: tuple[int, ...]) -> pa.Array:
    rng = np.random.default_rng(RANDOM_SEED)
    items = pa.array(rng.standard_normal(8 * 100), pa.float32())
    mask = pa.array([i in nulls for i in range(8)])
    return pa.FixedSizeListArray.from_arrays(items, 100, mask=mask)


PICKS = (3, 0, 2, 2, 1)


def picked(version: str, items: Block, count: int) -> Page:
    """Lay out a dictionary page of five indices and some items."""
    return one_chunk(version, flat(PICKS, 8), len(PICKS), dictionary=(items, count))


def pair(width: int) -> list[int]:
    """The largest value of a width, and one with every other bit."""
    return [2**width - 1, 0x5555555555555555 % 2**width]


def array_blocks(bits: int, widths: Sequence[int]) -> pa.Array:
    values = [value for width in widths for value in pair(width)]
    return pa.array(values, getattr(pa, f"uint{bits}")())

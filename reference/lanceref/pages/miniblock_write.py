"""Mini-block pages, written: chunks of values with their levels.

Layout: see `miniblock` and `chunks`.

Clauses: L.page.miniblock.log, L.page.miniblock.chunk-bytes, L.page.miniblock.chunk-header,
L.page.miniblock.num-levels, L.page.miniblock.padding
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.choose import encode_levels
from lanceref.codecs.values import MiniBlocks
from lanceref.core.file_versions import V2_1, FileVersion
from lanceref.file.column_writer import Buffer
from lanceref.pages.repindex import repetition_index
from lanceref.pages.shred import LevelArray, RavelledLevels
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding, MiniBlockLayout

Part = tuple[NDArray[np.uint8], NDArray[np.int64]]
"""One buffer of all chunks: their bytes joined, and the size in each chunk."""

Coded = tuple[CompressiveEncoding, NDArray[np.uint8], NDArray[np.int64]]
"""A description, the bytes of all chunks joined, and the size in each chunk."""

LevelEncoder = Callable[[LevelArray, NDArray[np.int64], FileVersion], Coded]
"""Encodes the levels of a page, with the number of them in each chunk."""

CHUNK_ALIGNMENT = 8
FILL = 0xFE
"""What pads the parts of a chunk."""

MAX_LEVELS = 2**16 - 1
"""Levels that the header of a chunk can count."""


@dataclass(frozen=True, slots=True)
class StoredDictionary:
    """The encoded items of a page's dictionary."""

    encoding: CompressiveEncoding
    data: Buffer
    count: int


def miniblock_page(
    levels: RavelledLevels,
    values: MiniBlocks,
    dictionary: StoredDictionary | None,
    version: FileVersion,
    encode: LevelEncoder = encode_levels,
    fill: int = FILL,
) -> tuple[list[Buffer], MiniBlockLayout]:
    """Return the buffers of a page, and its description.

    `encode` chooses the codec of levels; `fill` pads the parts of chunks.
    """
    layout = MiniBlockLayout(
        value_compression=values.encoding,
        layers=levels.codes,  # type: ignore[arg-type]
        num_buffers=len(values.buffers),
        num_items=int(values.counts.sum()),
        has_large_chunk=version > V2_1,
    )
    ends = chunk_ends(levels, values.counts)
    num_levels = np.diff(ends, prepend=0)
    parts: list[Part] = []
    if levels.rep is not None:
        encoding, data, sizes = encode(levels.rep, num_levels, version)
        layout.rep_compression.CopyFrom(encoding)
        parts.append((data, sizes))
    if levels.definition is not None:
        encoding, data, sizes = encode(levels.definition, num_levels, version)
        layout.def_compression.CopyFrom(encoding)
        parts.append((data, sizes))
    counted = num_levels if parts else np.zeros_like(num_levels)
    words, chunks = frame(counted, parts, values, "<u2" if version == V2_1 else "<u4", fill)
    buffers: list[Buffer] = [words, chunks]
    if dictionary is not None:
        layout.dictionary.CopyFrom(dictionary.encoding)
        layout.num_dictionary_items = dictionary.count
        buffers.append(dictionary.data)
    if levels.rep is not None:
        layout.repetition_index_depth = 1
        index = repetition_index(levels.rep, levels.max_rep, ends)
        buffers.append(index.reshape(-1).view(np.uint8))
    return buffers, layout


def chunk_ends(levels: RavelledLevels, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the entry after each chunk's last: placeholders after a chunk's values go on."""
    ends = np.cumsum(counts)
    visible = levels.visible
    if visible is not None:
        ends = np.flatnonzero(visible)[ends - 1] + 1
        ends[-1] = levels.num_entries
    return ends


def frame(
    num_levels: NDArray[np.int64],
    level_parts: list[Part],
    values: MiniBlocks,
    wide: str,
    fill: int = FILL,
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return the chunk words and the chunks; `wide` is the type of words and value sizes."""
    columns = [num_levels.astype("<u2"), *(sizes.astype("<u2") for _, sizes in level_parts)]
    columns += [sizes.astype(wide) for _, sizes in values.buffers]
    header = np.concatenate(
        [column.view(np.uint8).reshape(len(num_levels), -1) for column in columns], axis=1
    )
    parts = [*level_parts, *values.buffers]
    header_bytes = -(-header.shape[1] // CHUNK_ALIGNMENT) * CHUNK_ALIGNMENT
    sizes = np.full(len(num_levels), header_bytes)
    for _, part_sizes in parts:
        sizes += _padded(part_sizes)
    ends = np.cumsum(sizes)
    at = ends - sizes
    out = np.full(int(ends[-1]) if len(ends) else 0, fill, np.uint8)
    out[at[:, None] + np.arange(header.shape[1])] = header
    at = at + header_bytes
    for data, part_sizes in parts:
        place(out, at, data, part_sizes)
        at = at + _padded(part_sizes)
    logs = np.log2(np.maximum(values.counts, 1)).astype(np.int64)
    if not values.last_says_count:
        logs[-1:] = 0
    words = (((sizes // CHUNK_ALIGNMENT) - 1) << 4 | logs).astype(wide)
    return words.view(np.uint8), out


def place(
    out: NDArray[np.uint8],
    at: NDArray[np.int64],
    data: NDArray[np.uint8],
    sizes: NDArray[np.int64],
) -> None:
    """Copy consecutive pieces of `data` to the positions `at` of `out`."""
    first = 0
    for position, size in zip(at.tolist(), sizes.tolist(), strict=True):
        out[position : position + size] = data[first : first + size]
        first += size


def _padded(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return -(-sizes // CHUNK_ALIGNMENT) * CHUNK_ALIGNMENT

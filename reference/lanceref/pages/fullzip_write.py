"""Full-zip pages, written: each value with its levels before it.

Layout: see `fullzip` and `rowindex`.

Clauses: L.page.fullzip.control-word, L.page.fullzip.entry, L.page.rowindex.width,
L.page.rowindex.order, L.page.rowindex.total
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.values import Fixed, Variable
from lanceref.file.column_writer import Buffer
from lanceref.pages.shred import RavelledLevels
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding, FullZipLayout

Offsets = NDArray[np.int64]
"""Positions in a page's data."""


def fullzip_page(
    levels: RavelledLevels,
    encoding: CompressiveEncoding,
    values: Fixed | Variable,
    *,
    wide: bool,
    bits: tuple[int, int] | None = None,
) -> tuple[list[Buffer], FullZipLayout]:
    """Return the buffers of a page, and its description; `wide` lengths take 8 bytes, others 4.

    `values` are the compressed ones, one per visible entry; `bits` those of a repetition and of a
    definition level, by default as many as the highest ones need.
    """
    bits_rep, bits_def = bits or (_bits(levels.rep), _bits(levels.definition))
    layout = FullZipLayout(
        bits_rep=bits_rep,
        bits_def=bits_def,
        num_items=levels.num_entries,
        num_visible_items=values.count,
        value_compression=encoding,
        layers=levels.codes,  # type: ignore[arg-type]
    )
    words = control_words(levels, bits_rep, bits_def)
    if isinstance(values, Fixed):
        layout.bits_per_value = values.bits
        data, ends = _zip_fixed(levels, words, values)
        bound = values.bits // 8 * values.count + words.size
        needs_index = levels.rep is not None
    else:
        layout.bits_per_offset = 64 if wide else 32
        data, ends = _zip_variable(levels, words, values, layout.bits_per_offset // 8)
        bound = len(values.data) + words.size + layout.bits_per_offset // 8 * values.count
        needs_index = True
    buffers: list[Buffer] = [data]
    if needs_index:
        buffers.append(row_index(levels, ends, bound))
    return buffers, layout


def _bits(levels: NDArray[np.uint16] | None) -> int:
    return 0 if levels is None or not len(levels) else int(levels.max()).bit_length()


def control_words(levels: RavelledLevels, bits_rep: int, bits_def: int) -> NDArray[np.uint8]:
    """Return the control word of every entry, uint8 (entries, bytes of a word)."""
    bits = bits_rep + bits_def
    width = 0 if bits == 0 else 1 if bits <= 8 else 2 if bits <= 16 else 4
    words = np.zeros(levels.num_entries, np.uint32)
    if levels.rep is not None:
        words |= levels.rep.astype(np.uint32) << np.uint32(bits_def)
    if levels.definition is not None:
        words |= levels.definition
    return np.ascontiguousarray(words.astype("<u4").view(np.uint8).reshape(-1, 4)[:, :width])


def _zip_fixed(
    levels: RavelledLevels, words: NDArray[np.uint8], values: Fixed
) -> tuple[NDArray[np.uint8], Offsets]:
    """Return the data, and where each entry ends: every visible entry has a value."""
    width, count = values.bits // 8, levels.num_entries
    rows = values.data.reshape(values.count, width)
    visible = levels.visible
    if visible is None:
        zipped = np.concatenate([words, rows], axis=1)
        return zipped.reshape(-1), np.arange(1, count + 1) * zipped.shape[1]
    sizes = words.shape[1] + width * visible
    ends = np.cumsum(sizes)
    out = np.empty(int(ends[-1]), np.uint8)
    starts = ends - sizes
    out[starts[:, None] + np.arange(words.shape[1])] = words
    out[(starts[visible] + words.shape[1])[:, None] + np.arange(width)] = rows
    return out, ends


def _zip_variable(
    levels: RavelledLevels, words: NDArray[np.uint8], values: Variable, length_bytes: int
) -> tuple[NDArray[np.uint8], Offsets]:
    """Return the data, and where each entry ends: only a valid entry has length and bytes."""
    lengths = np.zeros(levels.num_entries, np.int64)
    visible = levels.visible
    lengths[slice(None) if visible is None else visible] = np.diff(values.offsets)
    valid = np.ones(levels.num_entries, np.bool_)
    if levels.definition is not None:
        valid = levels.definition == 0
    stored = values.offsets[:-1] if visible is None else _spread(values.offsets[:-1], visible)
    sizes = words.shape[1] + np.where(valid, length_bytes + lengths, 0)
    ends = np.cumsum(sizes)
    out = np.empty(int(ends[-1]) if len(ends) else 0, np.uint8)
    starts = ends - sizes
    out[starts[:, None] + np.arange(words.shape[1])] = words
    at = starts[valid] + words.shape[1]
    prefix = lengths[valid].astype("<u8").view(np.uint8).reshape(-1, 8)[:, :length_bytes]
    out[at[:, None] + np.arange(length_bytes)] = prefix
    view, source = out.data, np.ascontiguousarray(values.data).data
    pieces = zip((at + length_bytes).tolist(), stored[valid].tolist(), lengths[valid].tolist())
    for to, begin, size in pieces:
        view[to : to + size] = source[begin : begin + size]
    return out, ends


def _spread(values: Offsets, visible: NDArray[np.bool_]) -> Offsets:
    """Return one number per entry, those of visible entries taken in turn."""
    out = np.zeros(len(visible), np.int64)
    out[visible] = values
    return out


def row_index(levels: RavelledLevels, ends: Offsets, bound: int) -> NDArray[np.uint8]:
    """Return where each row starts and the total, in the bytes that the upper bound needs."""
    starts = np.append(0, ends)
    if levels.rep is not None:
        first = np.flatnonzero(levels.rep == levels.max_rep)
        starts = np.append(starts[first], starts[-1])
    return starts.astype(index_type(bound)).view(np.uint8)


def index_type(bound: int) -> str:
    """Return the smallest unsigned type that holds `bound`."""
    return next(name for name in ("<u1", "<u2", "<u4", "<u8") if bound < 1 << 8 * int(name[2:]))

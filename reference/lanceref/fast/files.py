"""Fast forms of what reads data files; importing this module registers all of them.

Mini-block pages are in `fast.pages` and `fast.chunk_runs`.

Pieces of bytes are copied each as wide as the longest: they are written in order, and each
overwrites what the one before it wrote too much.

Bit-packed blocks are unpacked in runs that fit the cache, or compiled; the specification is
`codecs.bitpack`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs import bitpack
from lanceref.codecs import values as codec_values
from lanceref.codecs.bitpack import BLOCK, ORDER, Unsigned
from lanceref.codecs.values import Bools, Bytes, Ints
from lanceref.core import cursor
from lanceref.core.errors import BytesError
from lanceref.encodings_2_0 import values as values_2_0
from lanceref.encodings_2_0.flat import FixedSizeListRows, FlatRows, RawFlat
from lanceref.encodings_2_0.page import Page, ReadRows
from lanceref.fast.codecs import KERNEL_USE
from lanceref.pages import entries, layers
from lanceref.pages.entries import CutEntries, FullZip, Zipped


class Unusual(Exception):
    """Bytes that only the plain form decodes, or refuses."""


def expect(holds: Bools | np.bool_ | bool) -> None:
    """Raise Unusual unless a condition holds everywhere: bool (n,)."""
    if not np.all(holds):
        raise Unusual


SPARE_BYTES = 2048
"""How much shorter than the longest the mean piece may be: more costs more than single copies."""

SLAB_BYTES = 2**18
"""Bytes copied at a time: they stay in the cache."""


def windows(data: Bytes, size: int) -> NDArray[np.void]:
    """Return the `size` bytes (at least one) from each byte of `data` on that has them: a view.

    The result is (bytes - size + 1,).
    """
    return np.ndarray((max(0, len(data) - size + 1),), f"V{size}", data.data, 0, (1,))


def _at_equal_distances(data: Bytes, starts: Ints, size: int) -> Bytes | None:
    """Return a view of rows that lie at equal distances and do not overlap: (n, size); or None."""
    step = int(starts[1] - starts[0]) if len(starts) > 1 else 0
    if step < size or (np.diff(starts) != step).any():
        return None
    return np.ndarray((len(starts), size), np.uint8, data.data, int(starts[0]), (step, 1))


def gather_rows(data: Bytes, starts: Ints, size: int) -> Bytes:
    """Return `size` bytes from each of `starts`, inside `data`: uint8 (len(starts), size).

    `starts` (n,).
    """
    if not 0 < size <= SLAB_BYTES:
        return join_pieces(data, starts, starts + size).reshape(len(starts), size)
    if (view := _at_equal_distances(data, starts, size)) is not None:
        return view
    rows: Bytes = windows(data, size)[starts].view(np.uint8).reshape(-1, size)
    return rows


@codec_values.join_pieces.replaced_by
def join_pieces(data: Bytes, starts: Ints, ends: Ints) -> Bytes:
    """Return the byte ranges `starts`..`ends` of `data`, inside it, joined.

    `starts` and `ends` (n,), the result (sum of sizes,).
    """
    sizes = ends - starts
    total = int(sizes.sum())
    if len(sizes) > 2 and (sizes[:-1] == sizes[0]).all():
        rows = _at_equal_distances(data, starts[:-1], int(sizes[0]))
        if rows is not None:
            out = np.empty(total, np.uint8)
            out[: rows.size].reshape(rows.shape)[:] = rows
            out[rows.size :] = data[int(starts[-1]) : int(ends[-1])]
            return out
    out = np.empty(total + SLAB_BYTES, np.uint8)
    _put(out, np.cumsum(sizes) - sizes, data, starts, sizes)
    return out[:total]


def _put(out: Bytes, at: Ints, data: Bytes, starts: Ints, sizes: Ints) -> None:
    """Copy `sizes` bytes from `starts` to `at`, ascending; SLAB_BYTES after each may change."""
    width = int(sizes.max(initial=0))
    spare = width - int(sizes.sum()) // max(1, len(sizes))
    together = np.zeros(len(starts), np.bool_)
    if 0 < width <= SLAB_BYTES and spare <= SPARE_BYTES:
        together = starts <= len(data) - width
        sources, targets = windows(data, width), windows(out, width)
        from_, to = starts[together], at[together]
        step = SLAB_BYTES // width
        for first in range(0, len(to), step):
            some = slice(first, first + step)
            targets[to[some]] = sources[from_[some]]  # assigned in the order of the indices
    alone = ~together
    source, target = data.data, out.data
    pieces = zip(at[alone].tolist(), starts[alone].tolist(), sizes[alone].tolist())
    for begin, start, size in pieces:
        target[begin : begin + size] = source[start : start + size]


@values_2_0.read_pages.replaced_by
def read_pages(parts: Sequence[values_2_0.Part]) -> Iterable[tuple[Page, pa.Array]]:
    """Return the wanted rows of every page: those of 2.0's flat values are read at once."""
    flat = [one for _, read, _ in parts if (one := _flat_rows(read)) is not None]
    few = sum(len(rows.starts) for *_, rows in parts) <= len(parts)  # a scan: copied once
    if few or len(flat) < len(parts) or not flat[0][1]:
        return values_2_0.read_pages.plain(parts)
    (page, read, _), size = parts[0], flat[0][1]
    first = [one.extent.offset + rows.starts * size for (one, _), (*_, rows) in zip(flat, parts)]
    starts = np.concatenate(first)
    sizes = np.concatenate([rows.counts for *_, rows in parts]) * size
    data, at = cursor.read_extents(page.file, starts, sizes, "page buffer", "L.file.pages.extent")
    count = int(sizes.sum()) // size
    return [(page, _array(read, count, join_pieces(data, at, at + sizes)))]


def _flat_rows(read: ReadRows) -> tuple[RawFlat, int] | None:
    """Return the bytes that rows are cut from, and those of a row; None where others are read."""
    if isinstance(read, FixedSizeListRows):
        items = _flat_rows(read.items)
        return items and (items[0], items[1] * int(read.type.list_size))
    if isinstance(read, FlatRows) and isinstance(read.values, RawFlat) and read.values.bits > 1:
        return read.values, read.values.bits // 8
    return None


def _array(read: ReadRows, count: int, data: Bytes) -> pa.Array:
    if isinstance(read, FlatRows):
        return read.array(count, data)
    assert isinstance(read, FixedSizeListRows)
    items = _array(read.items, count * int(read.type.list_size), data)
    return pa.Array.from_buffers(read.type, count, [None], children=[items])


@layers.count_before.replaced_by
def count_before(flags: Bools, at: Ints) -> Ints:
    """Return how many of `flags` are set before each of the positions `at`.

    `flags` (n,); `at` and the result (m,).
    """
    words = np.zeros(len(flags) // 64 + 1, np.uint64)
    packed = np.packbits(flags, bitorder="little")
    words.view(np.uint8)[: len(packed)] = packed
    counts = np.bitwise_count(words)
    word, bit = at >> 6, (at & 63).astype(np.uint64)
    below = words[word] & ((np.uint64(1) << bit) - np.uint64(1))
    before: Ints = np.cumsum(counts, dtype=np.int64)[word] - counts[word]
    before += np.bitwise_count(below)
    return before


FEW_ROWS = 32
"""Below this many unfinished rows entries are found one by one."""


@entries.cut_entries.replaced_by
def cut_entries(zipped: Zipped, shape: FullZip) -> CutEntries:
    """Cut the entries of all rows at once: the first ones, the next ones, and so on."""
    if zipped.ctx.spans is None:
        with suppress(Unusual, BytesError):
            return _cut(zipped, shape)
    return entries.cut_entries.plain(zipped, shape)


def _cut(zipped: Zipped, shape: FullZip) -> CutEntries:
    """Cut entries that break no clause. Raises Unusual."""
    at, ends = zipped.starts, zipped.ends
    expect(at < ends)
    if shape.value_bytes is not None and not shape.control_bytes:  # an entry is its value
        return CutEntries(at, shape.levels(at), at, ends - at)
    words, owners, lengths, sizes = _measure(zipped, shape, at, ends)
    if (at + sizes != ends).any():
        at = _walk(zipped, shape)
        ends = ends[np.searchsorted(zipped.starts, at, "right") - 1]
        words, owners, lengths, _ = _measure(zipped, shape, at, ends)
    levels = shape.levels(words)
    starts = layers.row_starts(levels, shape.layers)
    expect(np.array_equal(at[starts], zipped.starts))
    values = at[owners] + shape.control_bytes + shape.length_bytes
    return CutEntries(at, levels, values, lengths[owners])


def _walk(zipped: Zipped, shape: FullZip) -> Ints:
    """Return where every entry begins, ascending: (entries,)."""
    at, ends = zipped.starts, zipped.ends
    found: list[Ints] = []
    while len(at) >= FEW_ROWS or not found:
        found.append(at)
        at = at + _measure(zipped, shape, at, ends)[3]
        rest = at < ends
        at, ends = at[rest], ends[rest]
    for start, end in zip(at.tolist(), ends.tolist(), strict=True):
        row = entries.cut_row(zipped, shape, start, end)
        found.append(np.array([entry.at for entry in row], np.int64))
    return np.sort(np.concatenate(found))


def _measure(
    zipped: Zipped, shape: FullZip, at: Ints, ends: Ints
) -> tuple[NDArray[np.uint32], Bools, Ints, Ints]:
    """Return of the entries at `at` the control word, whether a value follows, its size, and all.

    Raises Unusual for an entry that does not lie before its `ends`.
    """
    body, bits_def = at + shape.control_bytes, shape.layout.bits_def
    expect(body <= ends)
    words = _integers(zipped.data, at, shape.control_bytes).astype(np.uint32)
    expect(words >> np.uint64(shape.layout.bits_rep + bits_def) == 0)
    owners = words & np.uint32((1 << bits_def) - 1) <= shape.max_stored
    lengths = np.full(len(at), shape.value_bytes or 0, np.int64)
    if shape.value_bytes is None:
        expect(body + np.where(owners, shape.length_bytes, 0) <= ends)
        stored = _integers(zipped.data, body[owners], shape.length_bytes)
        expect(stored <= len(zipped.data))
        lengths[owners] = stored
    sizes = shape.control_bytes + np.where(owners, shape.length_bytes + lengths, 0)
    expect(at + sizes <= ends)
    return words, owners, lengths, sizes


def _integers(data: Bytes, at: Ints, width: int) -> NDArray[np.uint64]:
    """Gather little-endian integers of `width` bytes from the places `at` (n,)."""
    value = np.zeros(len(at), dtype=np.uint64)
    for byte in range(width):
        value |= data[at + byte].astype(np.uint64) << np.uint64(8 * byte)
    return value


UNPACKED_BYTES = 2**19
"""Output of the blocks unpacked at a time: with their temporaries it stays in the cache."""

LANE_ROW = np.dtype("V128")
"""One value of every lane, 1 024 bits whatever T is: they lie together in a block."""


@bitpack.unpack.replaced_by
def unpack(packed: Unsigned, width: int, out: Unsigned) -> None:
    """Unpack blocks: those of values that are cut, by operations over many blocks.

    `packed` (blocks, width * 1024 / T), `out` (blocks, 1024).
    """
    bits, blocks = out.dtype.itemsize * 8, len(packed)
    if KERNEL_USE.use(out.nbytes) and packed.flags.c_contiguous:
        from lanceref.fast import compiled as kernel

        starts, widths = np.arange(blocks) * (width * BLOCK // 8), np.full(blocks, width)
        data = packed.reshape(-1).view(np.uint8)
        words = out.view(np.uint64)
        kernel.unpack_blocks(data, starts, widths, bits, words)
    elif 1 < width < bits:
        _unpack_planar(packed, width, out)
    else:
        bitpack.unpack.plain(packed, width, out)


def _unpack_planar(packed: Unsigned, width: int, out: Unsigned) -> None:
    """Unpack with operations over all blocks of a slab: faster for wide values.

    Rows are first written one after the other, then put in their places, a lane row as one item.
    """
    bits, groups = out.dtype.itemsize * 8, out.dtype.itemsize
    lanes, slab = BLOCK // bits, max(1, min(len(out), UNPACKED_BYTES // (BLOCK * groups)))
    rank = np.argsort(np.argsort(ORDER[:groups])).tolist()
    mask = out.dtype.type((1 << width) - 1)
    planes = np.empty(width * slab * lanes, out.dtype)
    rows = np.empty(bits * slab * lanes, out.dtype)
    for at in range(0, len(packed), slab):
        source, target = packed[at : at + slab], out[at : at + slab]
        n = len(source)
        words, values = planes[: width * n * lanes], rows[: bits * n * lanes]
        words.view(LANE_ROW).reshape(width, n)[:] = source.view(LANE_ROW).T
        _unpack_rows(words.reshape(width, n * lanes), values.reshape(bits, n * lanes))
        np.bitwise_and(values, mask, out=values)
        unpacked = values.view(LANE_ROW).reshape(groups, 8, n)
        placed = target.view(LANE_ROW).reshape(n, 8, groups)
        for group in range(groups):
            placed[:, :, rank[group]] = unpacked[group].T


def _unpack_rows(words: Unsigned, rows: Unsigned) -> None:
    """Unpack `words` (width, n) to `rows` (T, n); the bits above the width are not cleared.

    Rows whose values begin at the same bit of a word come at equal distances.
    """
    word, bits, width = rows.dtype.type, len(rows), len(words)
    alike = math.gcd(width, bits)
    words, rows = words.reshape(alike, width // alike, -1), rows.reshape(alike, bits // alike, -1)
    for row in range(bits // alike):
        k, shift = divmod(row * width, bits)
        values = rows[:, row]
        np.right_shift(words[:, k], word(shift), out=values)
        if shift + width > bits:
            values |= words[:, k + 1] << word(bits - shift)


def groups(key: Ints) -> Iterator[tuple[int, Ints]]:
    """Yield (value, chunk numbers) for every distinct value of `key`, one per chunk."""
    if len(key) and (key == key[0]).all():
        yield int(key[0]), np.arange(len(key))
        return
    for value in np.unique(key).tolist():
        yield int(value), np.flatnonzero(key == value)


FEW_BLOCKS = 12
"""Blocks of each width below which rows are found one by one: groups cost their calls."""


def unpack_chunks(data: Bytes, starts: Ints, widths: Ints, out: Unsigned) -> None:
    """Unpack blocks from `starts` of `data`, each of its own width.

    `starts` and `widths` (blocks,), `out` (blocks, 1024).
    """
    if KERNEL_USE.is_ready(out.nbytes):  # else `unpack` counts the bytes
        from lanceref.fast import compiled as kernel

        kernel.unpack_blocks(data, starts, widths, 8 * out.itemsize, out.view(np.uint64))
    elif len(found := list(groups(widths))) > 1 and len(out) < FEW_BLOCKS * len(found):
        _unpack_few(data, starts, widths, out)
    else:
        for width, chunks in found:
            packed = gather_rows(data, starts[chunks], width * BLOCK // 8).view(out.dtype)
            target = out[int(chunks[0]) : int(chunks[-1]) + 1]
            if len(target) == len(chunks):
                bitpack.unpack(packed, width, target)
            else:
                target = np.empty((len(chunks), BLOCK), out.dtype)
                bitpack.unpack(packed, width, target)
                out[chunks] = target


def _unpack_few(data: Bytes, starts: Ints, widths: Ints, out: Unsigned) -> None:
    """Unpack blocks by operations over the rows of all, whatever their widths.

    Each row begins in a word of each lane, which lie together, and may end in the next of these.
    """
    size, bits, row_bytes = out.itemsize, 8 * out.itemsize, LANE_ROW.itemsize
    order = np.array(bitpack.ROW_STARTS[:bits]) * size // row_bytes
    word, shift = np.divmod(widths[:, None] * np.arange(bits), bits)
    places = starts[:, None] + word * row_bytes
    is_held = np.broadcast_to(widths[:, None] > 0, places.shape)
    is_split = shift + widths[:, None] > bits
    rows = np.zeros((len(out), bits, row_bytes // size), out.dtype)
    rows[is_held] = gather_rows(data, places[is_held], row_bytes).view(out.dtype)
    rows >>= shift.astype(out.dtype)[:, :, None]
    high = gather_rows(data, places[is_split] + row_bytes, row_bytes).view(out.dtype)
    rows[is_split] |= high << (bits - shift[is_split]).astype(out.dtype)[:, None]
    rows &= np.array([(1 << width) - 1 for width in widths.tolist()], out.dtype)[:, None, None]
    out.view(LANE_ROW).reshape(len(out), bits)[:, order] = rows.view(LANE_ROW)[:, :, 0]

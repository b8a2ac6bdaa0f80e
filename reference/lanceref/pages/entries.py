"""Entries of a full-zip page: control words, lengths and values, cut out of the zipped bytes.

The size of an entry follows from its control word and length, so entries are found one after the
other, but in all rows at once.

Layout: see `fullzip`.

Clauses: L.page.fullzip.control-word, L.page.fullzip.length, L.page.fullzip.entry,
L.page.fullzip.row-start
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.values import join_ranges
from lanceref.core.context import Context
from lanceref.core.errors import CorruptPage
from lanceref.pages.layers import Levels, row_starts
from lanceref.pages.level_numbering import Layers
from lanceref.proto.encodings_v2_1_pb2 import FullZipLayout

Positions = NDArray[np.int64]
"""Byte positions in the zipped bytes at hand."""

FEW_ROWS = 32
"""Below this many unfinished rows entries are found one by one."""
MAX_ENTRY_SPANS = 4096
"""Pages with more entries record one span per row."""


def control_width(bits: int) -> int:
    """Return the bytes of a control word with so many bits of levels."""
    return 0 if bits == 0 else 1 if bits <= 8 else 2 if bits <= 16 else 4


@dataclass(frozen=True, slots=True)
class FullZip:
    """The description of a full-zip page of any version, and how its entries are laid out."""

    layers: Layers
    layout: FullZipLayout

    @property
    def value_bytes(self) -> int | None:
        """Size of a value; None for variable ones."""
        return self.layout.bits_per_value // 8 if self.layout.HasField("bits_per_value") else None

    @property
    def length_bytes(self) -> int:
        """Size of the length of a value; 0 for fixed ones."""
        return self.layout.bits_per_offset // 8

    @property
    def control_bytes(self) -> int:
        """Bytes of the control word of each entry: 0, 1, 2 or 4."""
        return control_width(self.layout.bits_rep + self.layout.bits_def)

    @property
    def stride(self) -> int:
        """Size of an entry with a value of fixed width."""
        return self.control_bytes + (self.value_bytes or 0)

    @property
    def max_stored(self) -> int:
        """The highest definition of an entry that is followed by a value."""
        return self.layers.max_visible if self.value_bytes is not None else 0

    def levels(self, words: NDArray[np.integer]) -> Levels:
        """Split control words into levels. `words` (entries,)."""
        if not self.control_bytes:
            return Levels(len(words), None, None)
        bits_rep, bits_def = self.layout.bits_rep, self.layout.bits_def
        definition = (words & ((1 << bits_def) - 1)).astype(np.uint16)
        rep = np.minimum(words >> bits_def, 0xFFFF).astype(np.uint16)
        return Levels(len(words), rep if bits_rep else None, definition if bits_def else None)


@dataclass(frozen=True, slots=True)
class Zipped:
    """Zipped bytes and where the rows (page slots) `starts`..`ends` lie in them.

    `base` is the absolute offset of the first byte.
    """

    ctx: Context
    data: NDArray[np.uint8]
    base: int
    starts: Positions
    ends: Positions


@dataclass(frozen=True, slots=True)
class CutEntries:
    """Entries: where each begins, its levels, and where the values (of those that own one) lie."""

    at: Positions
    levels: Levels
    value_starts: Positions
    value_sizes: Positions

    def values_in(self, data: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return the bytes of the values, joined. `data`, the zipped bytes, (n,)."""
        joined = join_ranges(data, self.value_starts, self.value_starts + self.value_sizes)
        return joined.view(np.uint8)


def cut_entries(zipped: Zipped, shape: FullZip) -> CutEntries:
    """Find the entries of all rows; every row must be filled exactly by its entries.

    Raises CorruptPage.
    """
    for row in np.flatnonzero(zipped.starts >= zipped.ends).tolist():
        start = int(zipped.starts[row])
        raise _broken("L.page.fullzip.entry", zipped, start, "a row without bytes", "bytes")
    at = zipped.starts
    if shape.value_bytes is not None and not shape.control_bytes:  # an entry is its value
        cut = CutEntries(at, shape.levels(at), at, zipped.ends - at)
        record(zipped, shape, cut)
        return cut
    words, owners, lengths, sizes = _measure(zipped, shape, at, zipped.ends)
    if (at + sizes != zipped.ends).any():
        at = _walk(zipped, shape)
        bounds = zipped.ends[np.searchsorted(zipped.starts, at, "right") - 1]
        words, owners, lengths, _ = _measure(zipped, shape, at, bounds)
    levels = shape.levels(words)
    starts = row_starts(levels, shape.layers)
    if len(starts) != len(zipped.starts) or (at[starts] != zipped.starts).any():
        place = zipped.ctx.at(zipped.base, len(zipped.data))
        found = f"{len(starts)} row starts among {len(at)} entries"
        wanted = f"one at each of the {len(zipped.starts)} positions of the row index"
        raise CorruptPage("L.page.fullzip.row-start", place, found, wanted)
    values = at[owners] + shape.control_bytes + shape.length_bytes
    cut = CutEntries(at, levels, values, lengths[owners])
    record(zipped, shape, cut)
    return cut


def _walk(zipped: Zipped, shape: FullZip) -> Positions:
    """Return where every entry begins, ascending."""
    at, ends = zipped.starts, zipped.ends
    entries: list[Positions] = []
    while len(at) >= FEW_ROWS or not entries:
        entries.append(at)
        at = at + _measure(zipped, shape, at, ends)[3]
        rest = at < ends
        at, ends = at[rest], ends[rest]
    for start, end in zip(at.tolist(), ends.tolist(), strict=True):
        entries.append(_walk_row(zipped, shape, start, end))
    return np.sort(np.concatenate(entries))


def _walk_row(zipped: Zipped, shape: FullZip, start: int, end: int) -> Positions:
    """Return the entries of one row, found one by one."""
    data, at = zipped.data.data, [start]
    control, highest = shape.control_bytes, shape.max_stored
    mask = (1 << shape.layout.bits_def) - 1
    while at[-1] < end:
        body = at[-1] + control
        word = int.from_bytes(data[at[-1] : body], "little")
        size = 0
        if word & mask <= highest:
            size = shape.value_bytes or 0
            if shape.value_bytes is None:
                length = int.from_bytes(data[body : body + shape.length_bytes], "little")
                size = shape.length_bytes + length
        if body + size > end:
            raise _overrun(zipped, at[-1], body + size, end)
        at.append(body + size)
    return np.array(at[:-1], dtype=np.int64)


def _measure(
    zipped: Zipped, shape: FullZip, at: Positions, ends: Positions
) -> tuple[NDArray[np.uint32], NDArray[np.bool_], Positions, Positions]:
    """Return of the entries at `at` the control word, whether a value follows, its size, and all.

    Raises CorruptPage for an entry that does not lie before its `ends`.
    """
    _bound(zipped, at, at + shape.control_bytes, ends)
    words = _integers(zipped.data, at, shape.control_bytes).astype(np.uint32)
    _check_words(zipped, shape, at, words)
    owners = words & np.uint32((1 << shape.layout.bits_def) - 1) <= shape.max_stored
    body = at + shape.control_bytes
    if shape.value_bytes is not None:
        lengths = np.full(len(at), shape.value_bytes, dtype=np.int64)
    else:
        _bound(zipped, at, body + np.where(owners, shape.length_bytes, 0), ends)
        lengths = np.zeros(len(at), dtype=np.int64)
        stored = _integers(zipped.data, body[owners], shape.length_bytes)
        if len(stored) and int(stored.max()) > len(zipped.data):
            row = int(np.argmax(stored))
            start = int(at[owners][row])
            raise _overrun(zipped, start, start + int(stored[row]), len(zipped.data))
        lengths[owners] = stored
    sizes = shape.control_bytes + np.where(owners, shape.length_bytes + lengths, 0)
    _bound(zipped, at, at + sizes, ends)
    return words, owners, lengths, sizes


def _check_words(zipped: Zipped, shape: FullZip, at: Positions, words: NDArray[np.uint32]) -> None:
    """Refuse control words with bits beyond those of the two levels."""
    bits = shape.layout.bits_rep + shape.layout.bits_def
    for row in np.flatnonzero(words >> np.uint32(bits)).tolist() if bits < 32 else []:
        found = f"control word {int(words[row]):#x}"
        wanted = f"a word of {bits} bits"
        raise _broken("L.page.fullzip.control-word", zipped, int(at[row]), found, wanted)


def _bound(zipped: Zipped, at: Positions, needed: Positions, ends: Positions) -> None:
    for row in np.flatnonzero(needed > ends).tolist():
        raise _overrun(zipped, int(at[row]), int(needed[row]), int(ends[row]))


def _integers(data: NDArray[np.uint8], at: Positions, width: int) -> NDArray[np.uint64]:
    """Gather little-endian integers of `width` bytes."""
    value = np.zeros(len(at), dtype=np.uint64)
    for byte in range(width):
        value |= data[at + byte].astype(np.uint64) << np.uint64(8 * byte)
    return value


def _overrun(zipped: Zipped, start: int, needed: int, end: int) -> CorruptPage:
    found, wanted = f"an entry of {needed - start} bytes", f"at most {end - start} in its row"
    return _broken("L.page.fullzip.length", zipped, start, found, wanted)


def _broken(clause: str, zipped: Zipped, at: int, found: str, wanted: str) -> CorruptPage:
    return CorruptPage(clause, zipped.ctx.at(zipped.base + at), found, wanted)


def record(zipped: Zipped, shape: FullZip, cut: CutEntries) -> None:
    """Own the entries: each part of each, or whole rows in a page with very many entries."""
    ctx, base = zipped.ctx, zipped.base
    if ctx.spans is None:
        return
    if shape.layout.num_items > MAX_ENTRY_SPANS:
        for start, end in zip(zipped.starts.tolist(), zipped.ends.tolist(), strict=True):
            ctx.leaf(base + start, base + end, "row", "zipped row", "L.page.fullzip.entry")
        return
    for at in (cut.at + base).tolist():
        ctx.leaf(at, at + shape.control_bytes, "control word", "levels")
    for start, size in zip((cut.value_starts + base).tolist(), cut.value_sizes.tolist()):
        ctx.leaf(start - shape.length_bytes, start, "length", f"u{8 * shape.length_bytes}")
        ctx.leaf(start, start + size, "value", "zipped value")

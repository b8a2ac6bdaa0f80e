"""Entries of a full-zip page: control words, lengths and values, cut out of the zipped bytes.

The size of an entry follows from its control word and length, so entries are found one after the
other.

Clauses: L.page.fullzip.control-word, L.page.fullzip.length, L.page.fullzip.entry,
L.page.fullzip.row-start
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.values import Bytes, Ints, join_ranges
from lanceref.core.context import Context, specified
from lanceref.core.cursor import Extent
from lanceref.core.errors import CorruptPage
from lanceref.pages.layers import Levels, row_starts
from lanceref.pages.level_numbering import Layers
from lanceref.proto.encodings_v2_1_pb2 import FullZipLayout

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
    data: Bytes
    base: int
    starts: Ints
    ends: Ints


@dataclass(frozen=True, slots=True)
class CutEntries:
    """Entries: where each begins, its levels, and where the values (of those that own one) lie."""

    at: Ints
    levels: Levels
    value_starts: Ints
    value_sizes: Ints

    def values_in(self, data: Bytes) -> Bytes:
        """Return the bytes of the values, joined. `data`, the zipped bytes, (n,)."""
        joined = join_ranges(data, self.value_starts, self.value_starts + self.value_sizes)
        return joined.view(np.uint8)


class Entry(NamedTuple):
    """One entry: where it begins, its control word, and where its value lies, if it has one."""

    at: int
    word: int
    value: Extent | None


@specified
def cut_entries(zipped: Zipped, shape: FullZip) -> CutEntries:
    """Cut every row into its entries, one after the other. Raises CorruptPage."""
    entries = list[Entry]()
    for start, end in zip(zipped.starts.tolist(), zipped.ends.tolist(), strict=True):
        if start >= end:
            raise _broken("L.page.fullzip.entry", zipped, start, "a row without bytes", "bytes")
        entries += cut_row(zipped, shape, start, end)
    at = np.array([entry.at for entry in entries], np.int64)
    levels = shape.levels(np.array([entry.word for entry in entries], np.uint32))
    starts = row_starts(levels, shape.layers)
    if not np.array_equal(at[starts], zipped.starts):
        place = zipped.ctx.at(zipped.base, len(zipped.data))
        found = f"{len(starts)} row starts among {len(at)} entries"
        wanted = f"one at each of the {len(zipped.starts)} positions of the row index"
        raise CorruptPage("L.page.fullzip.row-start", place, found, wanted)
    values = [entry.value for entry in entries if entry.value is not None]
    value_starts, value_sizes = np.array(values, np.int64).reshape(-1, 2).T
    cut = CutEntries(at, levels, value_starts, value_sizes)
    record(zipped, shape, cut)
    return cut


def cut_row(zipped: Zipped, shape: FullZip, start: int, end: int) -> Iterator[Entry]:
    """Yield the entries that fill bytes `start`..`end`: each says how long it is.

    Raises CorruptPage.
    """
    data, layout, max_stored = zipped.data.data, shape.layout, shape.max_stored
    control_bytes, length_bytes = shape.control_bytes, shape.length_bytes
    value_bytes = shape.value_bytes
    mask, most = (1 << layout.bits_def) - 1, 1 << (layout.bits_rep + layout.bits_def)
    while start < end:
        stop, value = start + control_bytes, None
        word = int.from_bytes(data[start:stop], "little")
        if word >= most and stop <= end:
            found, wanted = f"control word {word:#x}", f"a word of {most.bit_length() - 1} bits"
            raise _broken("L.page.fullzip.control-word", zipped, start, found, wanted)
        if word & mask <= max_stored:
            size = value_bytes
            if size is None:
                stop += length_bytes
                size = int.from_bytes(data[stop - length_bytes : stop], "little")
            value = Extent(stop, size)
            stop += size
        if stop > end:
            found, wanted = f"an entry of {stop - start} bytes", f"at most {end - start} in its row"
            raise _broken("L.page.fullzip.length", zipped, start, found, wanted)
        yield Entry(start, word, value)
        start = stop


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

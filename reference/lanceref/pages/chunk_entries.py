"""Entries of chunks: levels and values of decoded chunks, brought together.

What the header of a chunk announces is decoded here: the level buffers with a block codec, the
value buffers with the page's mini codec (or as indices into its dictionary), and both are held
against each other.

Layout: see `chunks`.

Clauses: L.page.miniblock.visible, L.page.dictionary.index-width, L.page.dictionary.index-range,
L.page.limits.levels
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs.chunks import ChunkRun, count_before
from lanceref.codecs.compressive import decode_levels, decode_mini
from lanceref.codecs.random_access import pick
from lanceref.codecs.values import Fixed
from lanceref.core.cursor import Cursor
from lanceref.core.errors import CorruptPage, LimitExceeded, Place
from lanceref.core.file_versions import FileVersion
from lanceref.core.integers import arrow_array
from lanceref.core.nesting import whole
from lanceref.pages.chunk_table import Chosen, Counts
from lanceref.pages.chunks import Chunks, ChunkShape, parse_chunks
from lanceref.pages.layers import Layers
from lanceref.pages.leafvalues import indexed_array, leaf_array
from lanceref.pages.repdef import LEVEL_BYTES, Entries, Level, Levels, check_ranges, row_starts
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding

Slots = slice | Counts
"""Values by their numbers: a range, or some of them, ascending."""


@dataclass(frozen=True, slots=True)
class Items:
    """The dictionaries of some pages, each of `count` items, one after the other in `values`.

    `firsts` is for each chunk of the pages where the items of its page begin; None for one page.
    """

    values: pa.Array
    count: int
    firsts: Counts | None = None


def join_items(parts: Sequence[tuple[Items, int]]) -> Items:
    """Return the items of pages that have as many each; each comes with its number of chunks."""
    count = parts[0][0].count
    firsts = np.repeat(np.arange(len(parts)) * count, [num_chunks for _, num_chunks in parts])
    return Items(pa.concat_arrays([items.values for items, _ in parts]), count, firsts)


@dataclass(frozen=True, slots=True)
class ChunkEntries:
    """Chunks whose levels are decoded, the first entry of each, and where they lie."""

    levels: Levels
    first_entry: Counts
    place: Place
    values: Callable[[Slots], pa.Array]

    def leaf(self, slots: Slots) -> pa.Array:
        """Decode the values: those of some slots of the visible entries."""
        return self.values(slots)

    @property
    def entries(self) -> Entries:
        """All entries."""
        return Entries(self.levels, self.leaf(slice(None)))


@dataclass(frozen=True, slots=True)
class ChunkDecoder:
    """How the chunks of one page are decoded; `max_bytes` is what levels may expand to."""

    layers: Layers
    shape: ChunkShape
    rep: CompressiveEncoding | None
    definition: CompressiveEncoding | None
    values: CompressiveEncoding
    type: pa.DataType
    version: FileVersion
    max_bytes: int

    def decode(self, cursor: Cursor, chosen: Chosen, items: Items | None) -> ChunkEntries:
        """Decode chunks that start at positions of `cursor`: their levels now, values on demand."""
        place = cursor.ctx.at(cursor.offset, cursor.remaining)
        chunks = parse_chunks(cursor, self.shape, chosen)
        counts = chunks.num_levels if self.shape.num_levels else chunks.run.counts
        first_entry = np.cumsum(counts) - counts
        levels = self._levels(chunks, int(counts.sum()), place)
        self._check_visible(levels, chunks, first_entry, chosen.numbers)
        values = partial(self._leaf, chunks, chosen, levels, items, place)
        return ChunkEntries(levels, first_entry, place, values)

    def _levels(self, chunks: Chunks, count: int, place: Place) -> Levels:
        if self.shape.num_levels and count * LEVEL_BYTES > self.max_bytes:
            raise LimitExceeded(
                "L.page.limits.levels",
                place,
                found=f"{count} levels in one run",
                wanted=f"{self.max_bytes // LEVEL_BYTES} at most",
            )
        rep: Level | None = None
        definition: Level | None = None
        if self.rep is not None:
            rep = _narrow(decode_levels(self.rep, chunks.level_run(0)))
        if self.definition is not None:
            definition = _narrow(
                decode_levels(self.definition, chunks.level_run(self.shape.num_levels - 1))
            )
        levels = Levels(count, rep, definition)
        check_ranges(levels, self.layers, place)
        return levels if rep is None else replace(levels, starts=row_starts(levels, self.layers))

    def _check_visible(
        self, levels: Levels, chunks: Chunks, first_entry: Counts, numbers: Counts
    ) -> None:
        """Hold the visible entries of each chunk against its values."""
        counts, visible = chunks.run.counts, levels.visible(self.layers)
        found = chunks.num_levels if levels.rep is not None else counts
        if visible is not None:
            found = np.diff(count_before(visible, np.append(first_entry, len(visible))))
        if (found != counts).any():
            at = int(np.flatnonzero(found != counts)[0])
            raise CorruptPage(
                "L.page.miniblock.visible",
                chunks.run.place(0, at),
                found=f"{int(found[at])} visible entries in chunk {int(numbers[at])}",
                wanted=f"{int(counts[at])}, its values",
            )

    def _leaf(
        self,
        chunks: Chunks,
        chosen: Chosen,
        levels: Levels,
        items: Items | None,
        place: Place,
        slots: Slots,
    ) -> pa.Array:
        validity = levels.leaf_validity(self.layers)
        run = chunks.value_run
        if run.num_values == 0:
            return pa.array([], self.type)
        if items is not None:
            indices = self._indices(run, chosen, items, place, slots)
            validity = None if validity is None else validity[slots]
            return indexed_array(self.type, indices, items.values, validity, place)
        if isinstance(slots, slice):
            values = decode_mini(self.values, run, self.version)
            return leaf_array(self.type, values, validity, place)[slots]
        picked = pick(self.values, run, slots)
        if picked is not None:
            validity = None if validity is None else validity[slots]
            return leaf_array(self.type, picked, validity, place)
        values = decode_mini(self.values, run, self.version)
        return whole(leaf_array(self.type, values, validity, place)).take(arrow_array(slots))

    def _indices(
        self, run: ChunkRun, chosen: Chosen, items: Items, place: Place, slots: Slots
    ) -> NDArray[np.unsignedinteger]:
        """Return indices of some slots into all the items."""
        values = None if isinstance(slots, slice) else pick(self.values, run, slots)
        chosen_only = values is not None
        if values is None:
            values = decode_mini(self.values, run, self.version)
        if not isinstance(values, Fixed) or values.bits not in (8, 16, 32, 64):
            raise CorruptPage(
                "L.page.dictionary.index-width", place, found=values, wanted="unsigned integers"
            )
        indices: NDArray[np.unsignedinteger] = values.data.view(f"<u{values.bits // 8}")
        if len(indices) and int(indices.max()) >= items.count:
            raise CorruptPage(
                "L.page.dictionary.index-range",
                place,
                found=f"an index {int(indices.max())}",
                wanted=f"an index below {items.count}",
            )
        if not chosen_only:
            indices = indices[slots]
        if items.firsts is None:
            return indices
        at = np.arange(run.num_values)[slots] if isinstance(slots, slice) else slots
        owners = np.searchsorted(np.cumsum(run.counts), at, "right")
        return indices + items.firsts[chosen.numbers[owners]].astype(np.uint64)


def _narrow(levels: NDArray[np.uint16] | NDArray[np.bool_]) -> Level:
    """Return levels as unsigned integers: one-bit levels come as booleans."""
    return levels.view(np.uint8) if levels.dtype == np.bool_ else levels.view(np.uint16)

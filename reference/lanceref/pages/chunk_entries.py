"""Entries of chunks: levels and values of decoded chunks, brought together.

What the header of a chunk announces is decoded here: the level buffers with a block codec, the
value buffers with the page's mini codec (or as indices into its dictionary), and both are held
against each other.

Layout: see `chunks`.

Clauses: L.page.miniblock.visible, L.page.dictionary.index-width, L.page.dictionary.index-range,
L.page.limits.levels
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs.compressive import decode_levels, decode_mini
from lanceref.codecs.ragged import count_before
from lanceref.codecs.values import Fixed
from lanceref.cursor import Cursor
from lanceref.errors import CorruptPage, LimitExceeded, Place
from lanceref.file.versions import FileVersion
from lanceref.pages.chunk_table import Chosen, Counts
from lanceref.pages.chunks import Chunks, ChunkShape, parse_chunks
from lanceref.pages.layers import Layers
from lanceref.pages.leafvalues import indexed_array, leaf_array
from lanceref.pages.repdef import LEVEL_BYTES, Entries, Level, Levels, check_ranges, row_starts
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding


@dataclass(frozen=True, slots=True)
class ChunkEntries:
    """Decoded chunks: their entries, the first entry of each, and where they lie."""

    entries: Entries
    first_entry: Counts
    place: Place


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

    def decode(self, cursor: Cursor, chosen: Chosen, dictionary: pa.Array | None) -> ChunkEntries:
        """Decode chunks that start at positions of `cursor`."""
        place = cursor.ctx.at(cursor.offset, cursor.remaining)
        chunks = parse_chunks(cursor, self.shape, chosen)
        counts = chunks.num_levels if self.shape.num_levels else chunks.run.counts
        first_entry = np.cumsum(counts) - counts
        levels = self._levels(chunks, int(counts.sum()), place)
        self._check_visible(levels, chunks, first_entry, chosen.numbers)
        leaf = self._leaf(chunks, levels, dictionary, place)
        return ChunkEntries(Entries(levels, leaf), first_entry, place)

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
        wrong = np.flatnonzero(found != counts)
        if len(wrong):
            at = int(wrong[0])
            raise CorruptPage(
                "L.page.miniblock.visible",
                chunks.run.place(0, at),
                found=f"{int(found[at])} visible entries in chunk {int(numbers[at])}",
                wanted=f"{int(counts[at])}, its values",
            )

    def _leaf(
        self, chunks: Chunks, levels: Levels, dictionary: pa.Array | None, place: Place
    ) -> pa.Array:
        validity = levels.leaf_validity(self.layers)
        if chunks.run.num_values == 0:
            return pa.array([], self.type)
        values = decode_mini(self.values, chunks.value_run, self.version)
        if dictionary is None:
            return leaf_array(self.type, values, validity, place)
        if not isinstance(values, Fixed) or values.bits not in (8, 16, 32, 64):
            raise CorruptPage(
                "L.page.dictionary.index-width", place, found=values, wanted="unsigned integers"
            )
        indices = values.data.view(f"<u{values.bits // 8}")
        if len(indices) and int(indices.max()) >= len(dictionary):
            raise CorruptPage(
                "L.page.dictionary.index-range",
                place,
                found=f"an index {int(indices.max())}",
                wanted=f"an index below {len(dictionary)}",
            )
        return indexed_array(self.type, indices, dictionary, validity, place)


def _narrow(levels: NDArray[np.uint16] | NDArray[np.bool_]) -> Level:
    """Return levels as unsigned integers: one-bit levels come as booleans."""
    return levels.view(np.uint8) if levels.dtype == np.bool_ else levels.view(np.uint16)

"""Pages with sparse structure (2.3): values that know no nesting, and the structure around them.

The leaf slots of the structure (see `sparse`) are the rows of the value plane. Chunked and constant
planes have a value for every leaf slot, a zipped plane only for the slots that are valid at every
layer, an indexed plane an index for every slot and the distinct values zipped.

Layout (page buffers): those of the value plane (indexed: indices, then the zipped items), then
those of the structure.

Clauses: L.page.planar.planes, L.page.sparse.levels, L.page.sparse.values, L.page.sparse.stored,
L.page.sparse.index-range, L.page.sparse.none

Divergences: D.page.sparse-chunk-words
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs.blocks import decode_block
from lanceref.codecs.buffers import remaining_buffer
from lanceref.codecs.compressive import check_encoding
from lanceref.codecs.values import Bools, Fixed, Ints
from lanceref.core.arrow_buffers import whole
from lanceref.core.cursor import FileBytes
from lanceref.core.errors import CorruptPage
from lanceref.core.file_versions import V2_3
from lanceref.core.run_sizes import RUN_BYTES
from lanceref.file.container import PageMetadata, StoredPage
from lanceref.pages import chunks
from lanceref.pages.constant import ConstantPage
from lanceref.pages.entries import FullZip
from lanceref.pages.fullzip import FullZipPage
from lanceref.pages.layers import Nested, Page, parse_layers, ranges
from lanceref.pages.leafvalues import Path, scale_of, width_bits
from lanceref.pages.level_numbering import ALL_VALID_ITEM
from lanceref.pages.miniblock import MiniBlockPage
from lanceref.pages.planar import fill_layout
from lanceref.pages.sparse import Structure, StructureDecoder, check_structure, domains
from lanceref.proto.encodings_v2_1_pb2 import ConstantLayout, FullZipLayout, MiniBlockLayout
from lanceref.proto.encodings_v2_3_pb2 import PlanarLayout, ZippedValues

SLOT_BYTES = 32
"""Memory that a leaf slot takes while its value is read."""

ValuePage = MiniBlockPage | FullZipPage | ConstantPage
"""Values without nesting: one row per leaf slot, or per stored value."""


class SparsePage(Page):
    """A `Page` with sparse structure and a checked description."""

    def __init__(
        self, file: FileBytes, page: PageMetadata, layout: PlanarLayout, path: Path
    ) -> None:
        scale = scale_of(path)
        if scale < 1 or page.num_rows % scale:
            found, wanted = page.num_rows, f"times {scale}"
            raise CorruptPage("L.page.layout.scale", page.place, found, wanted)
        self.num_rows = page.num_rows // scale
        self._file, self._page, self._plane = file, page, layout.values
        self._layers = layout.structure.sparse.layers
        self._type: pa.DataType = path[-1].field.arrow.type
        self._domains = domains(self._layers, path, self.num_rows, page.place)
        if self._plane.WhichOneof("codec") is None:
            raise CorruptPage("L.page.planar.planes", page.place, "no value plane", "both planes")
        self._flat = parse_layers([ALL_VALID_ITEM], path[-1:], page.place)
        self._values, used = self._open_values()
        check_structure(self._layers, len(page.extents) - used, file, page.place)
        self._structure_extents = page.extents[used:]

    def run_end(self, start: int) -> int:
        per_run = max(1, RUN_BYTES // (SLOT_BYTES + (width_bits(self._type) or 256) // 8))
        stop = min(self.num_rows, start + per_run)
        slots = self._structure.leaf_slots(np.arange(start, stop + 1))
        fitting = int(np.searchsorted(slots, int(slots[0]) + per_run, "right")) - 1
        return start + max(1, fitting)

    def scan(self, start: int, end: int) -> Iterator[Nested]:
        """Yield rows `start`..`end`, about RUN_BYTES at a time; takes alone keep the structure."""
        is_kept = "_structure" in self.__dict__
        yield from super().scan(start, end)
        if not is_kept:
            self.__dict__.pop("_structure", None)

    def read(self, starts: Ints, ends: Ints) -> Nested:
        layers, slots, valid = self._structure.take(ranges(starts, ends))
        return Nested(layers, self._leaf(slots, valid))

    def check(self) -> None:
        """Decode structure and values, and compare one with the other."""
        _ = self._structure, self._indices
        self._values.check()
        if self._plane.HasField("zipped"):
            _ = self._stored_before
        if self._plane.HasField("none"):  # L.page.sparse.none
            self.read(np.array([0]), np.array([self.num_rows]))

    @cached_property
    def _structure(self) -> Structure:
        """The layers around the leaf and its validity, decoded once."""
        decoder = StructureDecoder(self._file, self._structure_extents, self._page.place)
        return decoder.decode(self._layers, self._domains)

    def _open_values(self) -> tuple[ValuePage, int]:
        codec, slots, place = self._plane.WhichOneof("codec"), self._domains[-1], self._page.place
        if codec == "chunked":
            chunked = self._plane.chunked
            if chunked.HasField("levels") or chunked.num_items not in (0, slots):
                wanted = "a value for each leaf slot alone"
                raise CorruptPage("L.page.sparse.levels", place, "levels", wanted)
            layout = MiniBlockLayout()
            fill_layout(layout, chunked, place)
            layout.num_items = slots
            mini = chunks.describe(layout, self._flat, V2_3, place)
            used = 2 + (mini.dictionary is not None)
            part = self._part(0, used, slots)
            return MiniBlockPage(part, mini), used
        if codec == "zipped":
            return self._zipped(self._plane.zipped, 0)
        if codec == "indexed":
            check_encoding(self._plane.indexed.indices, V2_3, self._file.ctx, place)
            return self._zipped(self._plane.indexed.items, 1)
        constant = ConstantLayout()
        if codec == "constant":
            constant.inline_value = self._plane.constant.scalar
        return ConstantPage(self._part(0, 0, slots), constant, self._flat), 0

    def _zipped(self, zipped: ZippedValues, first: int) -> tuple[FullZipPage, int]:
        place = self._page.place
        if zipped.HasField("levels"):
            raise CorruptPage("L.page.sparse.levels", place, "levels", "values alone")
        layout = FullZipLayout()
        fill_layout(layout, zipped, place)
        used = first + 1 + layout.HasField("bits_per_offset")
        part = self._part(first, used, zipped.num_items)
        return FullZipPage(part, FullZip(self._flat, layout)), used

    def _part(self, first: int, end: int, num_rows: int) -> StoredPage:
        """Return the page of some of the buffers, with one row per value."""
        extents, place, limit = self._page.extents, self._page.place, self._file.ctx.limits
        if len(extents) < end:
            found, wanted = f"{len(extents)} buffers", f"{end} or more"
            raise CorruptPage("L.page.sparse.values", place, found, wanted)
        if num_rows > limit.page_rows:
            raise CorruptPage("L.page.limits.items", place, num_rows, f"{limit.page_rows} at most")
        part = replace(self._page, extents=extents[first:end], num_rows=num_rows)
        return StoredPage(self._file, part, self._type, V2_3)

    def _leaf(self, slots: Ints, valid: Bools) -> pa.Array:
        codec = self._plane.WhichOneof("codec")
        if codec == "zipped":
            stored = self._take(self._stored_before[slots[valid]])
            return stored.take(pa.array(np.cumsum(valid) - 1, mask=~valid))
        if codec == "indexed":
            return self._items.take(pa.array(self._indices[slots], mask=~valid))
        if codec == "none" and valid.any() and not pa.types.is_struct(self._type):
            found, wanted = f"{int(np.count_nonzero(valid))} valid slots", "a plane of values"
            raise CorruptPage("L.page.sparse.none", self._page.place, found, wanted)
        leaf = self._take(slots)
        return leaf if valid.all() else leaf.take(pa.array(np.arange(len(slots)), mask=~valid))

    def _take(self, values: Ints) -> pa.Array:
        """Return values of the plane by their numbers, ascending."""
        if not len(values):
            return pa.nulls(0, self._type)
        starts, ends = values, values + 1
        if values[-1] - values[0] < len(values):  # they are all there are between the two
            starts, ends = values[:1], ends[-1:]
        return whole(self._values.read(starts, ends).leaf)

    @cached_property
    def _stored_before(self) -> Ints:
        """How many stored values lie before each leaf slot (zipped plane)."""
        _, _, valid = self._structure.take(np.arange(self.num_rows))
        ends = np.cumsum(valid, dtype=np.int64)
        stored, held = int(ends[-1]) if len(ends) else 0, self._values.num_rows
        if self._plane.HasField("zipped") and stored != held:
            wanted = f"{stored}, the slots that are valid at every layer"
            raise CorruptPage("L.page.sparse.stored", self._page.place, f"{held} values", wanted)
        return ends - valid

    @cached_property
    def _items(self) -> pa.Array:
        parts = [part.leaf for part in self._values.scan(0, self._values.num_rows)]
        return pa.concat_arrays(parts) if parts else pa.nulls(0, self._type)

    @cached_property
    def _indices(self) -> NDArray[np.uint32]:
        """The index of each leaf slot (indexed plane)."""
        count, place = self._domains[-1], self._page.place
        if not self._plane.HasField("indexed"):
            return np.empty(0, dtype="<u4")
        cursor = self._file.cursor(self._page.extents[0], "indices", "L.page.sparse.values")
        values = decode_block(self._plane.indexed.indices, remaining_buffer(cursor), count)
        if not isinstance(values, Fixed) or values.bits != 32 or values.count != count:
            raise CorruptPage("L.page.sparse.values", place, values, f"{count} u32")
        indices: NDArray[np.uint32] = values.data.view("<u4")
        if count and int(indices.max()) >= self._values.num_rows:
            found, wanted = int(indices.max()), f"below {self._values.num_rows}"
            raise CorruptPage("L.page.sparse.index-range", place, found, wanted)
        return indices

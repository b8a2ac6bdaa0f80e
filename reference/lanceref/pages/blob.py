"""Blob pages (2.1, 2.2): large values stored outside the page.

The page holds a descriptor for each row, in a mini-block page of its own that knows no nulls; the
payloads are buffers of the file that only the descriptors know. Descriptors without bytes hold the
nulls of the value and of the structs around it. A writer puts each value that is not empty into the
file at once.

Layout of a descriptor: u64 position (absolute), u64 size. Size 0: position 0 is an empty value, any
other position is (definition level << 16) | repetition level of a null.

Clauses: L.page.blob.column, L.page.blob.inner, L.page.blob.null, L.page.blob.payload,
L.page.layout.blob

Divergences: D.page.blob-position, D.page.blob-in-list-unread
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

from lanceref.codecs.values import Ints
from lanceref.core.arrow_buffers import bitmap
from lanceref.core.cursor import Extent
from lanceref.core.errors import CorruptPage, NotStorable, Place, UnknownEncoding
from lanceref.core.file_versions import FileVersion
from lanceref.core.run_sizes import RUN_BYTES
from lanceref.file.column_io import DESCRIPTOR, DataArea, extents, fetch, runs, store, words
from lanceref.file.container import StoredPage
from lanceref.pages import chunks
from lanceref.pages.chunks import MiniBlock
from lanceref.pages.encode import Encoded, LeafPolicy, encode_dense
from lanceref.pages.layers import Layer, Levels, Nested, Page, parse_layers, unravel
from lanceref.pages.leafvalues import Path
from lanceref.pages.level_numbering import ALL_VALID_ITEM, Layers
from lanceref.pages.miniblock import MiniBlockPage
from lanceref.pages.shred import RavelledLevels, Shred, ravel
from lanceref.proto.encodings_v2_1_pb2 import BlobLayout, PageLayout

DESCRIPTOR_BYTES = 16
"""Bytes of a descriptor."""

DEFINITION_SHIFT = 16
"""Bits of the repetition level below the definition level of a null."""


def describe(
    layout: BlobLayout, layers: Layers, path: Path, version: FileVersion, place: Place
) -> MiniBlock:
    """Return the description of the descriptors in a message.

    Raises CorruptPage, and UnknownEncoding below lists.
    """
    if not path[-1].field.is_blob:
        raise CorruptPage("L.page.blob.column", place, "a blob page", "a field of blobs")
    if layers.max_rep:
        found = "blobs inside lists"
        raise UnknownEncoding("L.page.layout.blob", place, found, "another layout")
    inner = layout.inner_layout
    arm = inner.WhichOneof("layout")
    if arm != "mini_block_layout" or list(inner.mini_block_layout.layers) != [ALL_VALID_ITEM]:
        wanted = "a mini-block page without nulls"
        raise CorruptPage("L.page.blob.inner", place, f"{arm}", wanted)
    described = parse_layers(inner.mini_block_layout.layers, path[-1:], place)
    return chunks.describe(inner.mini_block_layout, described, version, place)


class BlobPage(Page):
    """Descriptors and the payloads they point to; `type_` says which of them are the values."""

    def __init__(self, stored: StoredPage, layers: Layers, inner: MiniBlock) -> None:
        self._file, self._page, self._type = stored.file, stored.metadata, stored.type
        if self._type not in (DESCRIPTOR, pa.large_binary()):
            raise CorruptPage("L.page.blob.column", self._page.place, self._type, "large_binary")
        self._layers, self._described, self._scale = layers, inner, layers.scale
        self._descriptors = replace(stored, type=DESCRIPTOR)
        self._inner = MiniBlockPage(self._descriptors, inner)
        self.num_rows = self._page.num_rows // self._scale

    def scan(self, start: int, end: int) -> Iterator[Nested]:
        """Yield rows `start`..`end` of the page, about RUN_BYTES of payloads at a time."""
        while start < end:
            stop = min(end, self.run_end(start))
            descriptors = self._slots(np.array([start]), np.array([stop]))
            whole = self._type == DESCRIPTOR
            for part in [descriptors] if whole else runs(descriptors, self._scale):
                yield self._rows(part)
            start = stop

    def run_end(self, start: int) -> int:
        return start + max(1, RUN_BYTES // (DESCRIPTOR_BYTES * self._scale))

    def read(self, starts: Ints, ends: Ints) -> Nested:
        """Read the descriptors of ranges of rows (n,), then their payloads together."""
        return self._rows(self._slots(starts, ends))

    def _slots(self, starts: Ints, ends: Ints) -> pa.Array:
        return self._inner.read(starts * self._scale, ends * self._scale).leaf

    def check(self) -> None:
        """Check the descriptors; sound ones lead to the payloads, which then own their bytes."""
        ctx = self._file.ctx
        known = len(ctx.findings) if ctx.findings is not None else 0
        self._inner.check()
        if ctx.findings is None or len(ctx.findings) == known:
            with ctx.group("payloads"):
                for part in self._scan_descriptors():
                    for run in runs(part):
                        self._values(run, self._levels(run))

    def payload_extents(self) -> Iterator[Extent]:
        """Yield where the payloads lie, which only the descriptors know."""
        for part in self._scan_descriptors():
            yield from extents(part)

    def _scan_descriptors(self) -> Iterator[pa.Array]:
        """Read the descriptors without recording their bytes again."""
        page = MiniBlockPage(replace(self._descriptors, file=self._file.quiet()), self._described)
        for nested in page.scan(0, self._page.num_rows):
            yield nested.leaf

    def _rows(self, descriptors: pa.Array) -> Nested:
        """Return the values of descriptors, null where these say so."""
        levels = self._levels(descriptors)
        values, rows = self._values(descriptors, levels), len(descriptors) // self._scale
        return unravel(self._layers, levels, values, rows, self._page.place)

    def _values(self, descriptors: pa.Array, levels: Levels) -> pa.Array:
        validity = levels.leaf_validity(self._layers)
        if self._type == DESCRIPTOR:
            children, own = [descriptors.field(0), descriptors.field(1)], [bitmap(validity)]
            return pa.Array.from_buffers(DESCRIPTOR, len(descriptors), own, children=children)
        valid = np.ones(len(descriptors), np.bool_) if validity is None else validity
        return fetch(self._file, descriptors, valid, "L.page.blob.payload", self._page.place)

    def _levels(self, descriptors: pa.Array) -> Levels:
        """Return the definition levels that descriptors without bytes hold. Raises CorruptPage."""
        positions, sizes = words(descriptors)
        stored, highest = np.where(sizes == 0, positions, 0), self._layers.max_def
        levels = stored >> np.uint64(DEFINITION_SHIFT)
        repeated = stored & np.uint64((1 << DEFINITION_SHIFT) - 1)
        for row in np.flatnonzero((repeated != 0) | (levels > highest)).tolist():
            found = f"position {int(stored[row])} of a payload of 0 bytes"
            wanted = f"a definition level of at most {highest} in bits 16 to 31, or 0"
            raise CorruptPage("L.page.blob.null", self._page.place, found, wanted)
        return Levels(len(stored), None, levels.astype(np.uint16) if highest else None)


def store_blobs(rows: Shred, data: DataArea) -> tuple[Shred, tuple[int, ...]]:
    """Write the values of a leaf out of line; return their descriptors and the layer codes.

    Raises NotStorable for blobs in lists.
    """
    levels = ravel(rows)
    if levels.max_rep:
        raise NotStorable("blobs in lists have no layout that can be read")
    definition = levels.definition
    if definition is None:
        definition = np.zeros(levels.num_entries, np.uint16)
    nulls = definition.astype(np.uint64) << np.uint64(DEFINITION_SHIFT)
    stored = store(rows.leaf, nulls, data)
    return Shred((Layer(len(stored), None),), stored), levels.codes


def encode_blobs(
    rows: Shred, levels: RavelledLevels, codes: tuple[int, ...], policy: LeafPolicy
) -> Encoded:
    """Return a page of descriptors; `codes` are the layers of the values themselves."""
    buffers, inner = encode_dense(rows, levels, replace(policy, structural=None))
    return buffers, PageLayout(blob_layout=BlobLayout(inner_layout=inner, layers=codes))  # type: ignore[arg-type]

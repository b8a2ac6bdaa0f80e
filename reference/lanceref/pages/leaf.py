"""Leaf column: the pages of one physical column.

Each page says for itself which layout and which layers it uses. Here its message is recognised, its
description checked (that of every page when the column is opened), and rows of the column are
brought to rows of its pages.

Clauses: L.page.layout.present, L.page.layout.scale, L.page.limits.row
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from google.protobuf.message import Message
from numpy.typing import NDArray

from lanceref.core.cursor import FileBytes
from lanceref.core.errors import CorruptPage, LimitExceeded
from lanceref.core.file_versions import FileVersion
from lanceref.file.container import ColumnMetadata, PageMetadata
from lanceref.pages import blob, constant, fullzip, miniblock, planar
from lanceref.pages.layers import Nested, Page, Path, parse_layers
from lanceref.pages.leafvalues import width_bits
from lanceref.pages.page_coalescing import coalesce, take
from lanceref.pages.sparse_page import SparsePage
from lanceref.proto.encodings_v2_1_pb2 import PageLayout
from lanceref.proto.encodings_v2_3_pb2 import PlanarLayout


@dataclass(frozen=True, slots=True)
class LeafColumn:
    """The pages of a leaf; `first_rows` is the first row of each page, and the total at the end."""

    path: Path
    pages: tuple[Page, ...]
    first_rows: NDArray[np.int64]

    @property
    def num_rows(self) -> int:
        """Rows of the column."""
        return int(self.first_rows[-1])

    def scan(self, start: int, end: int) -> Iterator[Nested]:
        """Yield rows `start`..`end`."""
        for page, begin, stop in coalesce(self._parts(start, end)):
            yield from page.scan(begin, stop)

    def _parts(self, start: int, end: int) -> Iterator[tuple[Page, int, int]]:
        """Yield the pages that rows `start`..`end` lie in, and which of their rows these are."""
        for page, first in zip(self.pages, self.first_rows.tolist()):
            begin, stop = max(start - first, 0), min(end - first, page.num_rows)
            if begin < stop:
                yield page, begin, stop

    def take(self, rows: NDArray[np.int64]) -> Iterator[Nested]:
        """Yield the given rows (ascending, each once) in pieces."""
        cuts = np.searchsorted(rows, self.first_rows)
        firsts = zip(self.pages, self.first_rows.tolist(), cuts.tolist(), cuts.tolist()[1:])
        return take((page, rows[a:b] - first) for page, first, a, b in firsts if a < b)


def open_leaf(
    file: FileBytes, path: Path, column: ColumnMetadata, version: FileVersion
) -> LeafColumn:
    """Open every page of a physical column. Raises for a description that breaks a clause."""
    pages: list[Page] = []
    for page in column.pages:
        pages.append(open_page(file, path, page, version, pages[-1] if pages else None))
    rows = [page.num_rows for page in pages]
    return LeafColumn(path, tuple(pages), np.append(0, np.cumsum(rows, dtype=np.int64)))


def open_page(
    file: FileBytes,
    path: Path,
    page: PageMetadata,
    version: FileVersion,
    before: Page | None = None,
) -> Page:
    """Recognise the layout of one page; the page `before` it in the column is often like it.

    Raises CorruptPage, UnknownEncoding, LimitExceeded.
    """
    type_ = path[-1].field.arrow.type
    row_bytes, limit = (width_bits(type_) or 0) // 8, file.ctx.limits.expanded(file.size)
    if row_bytes > limit:
        found, wanted = f"{row_bytes} bytes", f"{limit} at most"
        raise LimitExceeded("L.page.limits.row", page.place, found, wanted)
    if isinstance(page.encoding, PlanarLayout) and page.encoding.structure.HasField("sparse"):
        return SparsePage(file, page, page.encoding, path)
    description = _describe(page.encoding, path, page, version)
    scale = description.layers.scale
    if page.num_rows % scale:
        found, wanted = f"a page of {page.num_rows}", f"a multiple of {scale}"
        raise CorruptPage("L.page.layout.scale", page.place, found, wanted)
    if isinstance(description, miniblock.MiniBlock):
        known = before if isinstance(before, miniblock.MiniBlockPage) else None
        return miniblock.MiniBlockPage(file, page, description, type_, version, known)
    if isinstance(description, blob.Blob):
        return blob.BlobPage(file, page, description, type_, version)
    if isinstance(description, fullzip.FullZip):
        return fullzip.FullZipPage(file, page, description, type_, version)
    return constant.ConstantPage(file, page, description, type_, version)


def _describe(
    encoding: Message, path: Path, page: PageMetadata, version: FileVersion
) -> planar.Description | blob.Blob:
    if isinstance(encoding, PlanarLayout):
        return planar.describe(encoding, path, len(page.extents), page.place)
    assert isinstance(encoding, PageLayout)
    arm = encoding.WhichOneof("layout")
    if arm is None:
        raise CorruptPage("L.page.layout.present", page.place, "no layout", "a page layout")
    if arm == "blob_layout":
        return blob.describe(encoding.blob_layout, path, version, page.place)
    layout = getattr(encoding, arm)
    layers = parse_layers(layout.layers, path, page.place)
    if arm == "mini_block_layout":
        return miniblock.describe(layout, layers, version, page.place)
    if arm == "full_zip_layout":
        return fullzip.describe(layout, layers, page.place)
    return constant.describe(layout, layers)

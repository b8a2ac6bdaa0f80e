"""Column of 2.1 and later: the pages of its leaves, and the field that is read from them.

One physical column stores one leaf of a field's type tree; structs, lists and maps own none. Each
page says for itself which layout and which layers it uses: its message is recognised and its
description checked when the column is opened. A field is read by bringing the runs of its leaves,
whose pages end at different rows, to common rows and joining them.

Siblings below a struct each repeat the layers they share, which are compared before. Levels and
layers say which values are null, whatever the schema says of the field; a table that breaks its own
schema is refused. A null under a null struct is none of the field's, and neither are items under a
null list.

Clauses: L.page.layout.present, L.page.layout.scale, L.page.limits.row, L.page.siblings.rows,
L.page.siblings.validity, L.page.siblings.offsets, L.page.required.null
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Protocol

import numpy as np
import pyarrow as pa

from lanceref.codecs.values import Bools, Ints
from lanceref.core.arrow_buffers import bitmap, offsets_buffer, whole
from lanceref.core.context import expect, specified
from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.errors import CorruptPage, Place
from lanceref.core.file_versions import FileVersion
from lanceref.core.integers import arrow_array, unique_inverse
from lanceref.file.container import ColumnMetadata, PageMetadata, StoredPage
from lanceref.file.schema import Field
from lanceref.pages import blob, chunks, planar
from lanceref.pages.constant import ConstantPage
from lanceref.pages.entries import FullZip
from lanceref.pages.fullzip import FullZipPage
from lanceref.pages.layers import Layer, Nested, Page, parse_layers
from lanceref.pages.leafvalues import Path, leaf_paths, width_bits
from lanceref.pages.miniblock import MiniBlockPage
from lanceref.pages.sparse_page import SparsePage
from lanceref.proto.encodings_v2_1_pb2 import PageLayout
from lanceref.proto.encodings_v2_3_pb2 import PlanarLayout


class Scanned(Protocol):
    """Rows of a leaf that can be read one after the other."""

    num_rows: int

    def scan(self, start: int, end: int) -> Iterator[Nested]:
        """Yield rows `start`..`end`, about RUN_BYTES at a time."""


@dataclass(frozen=True, slots=True)
class LeafColumn:
    """The pages of a leaf; `first_rows` is the first row of each page, and the total at the end."""

    path: Path
    pages: tuple[Page, ...]
    first_rows: Ints

    @property
    def num_rows(self) -> int:
        """Number of rows that the column holds."""
        return int(self.first_rows[-1])

    def scan(self, start: int, end: int) -> Iterator[Nested]:
        """Yield rows `start` to `end` in pieces, page by page."""
        return scan_pages(self._parts(start, end))

    def _parts(self, start: int, end: int) -> Iterator[tuple[Page, int, int]]:
        """Yield the pages that rows `start`..`end` lie in, and which of their rows these are."""
        for page, first in zip(self.pages, self.first_rows.tolist()):
            begin, stop = max(start - first, 0), min(end - first, page.num_rows)
            if begin < stop:
                yield page, begin, stop

    def take(self, rows: Ints) -> Iterator[Nested]:
        """Yield the given rows (ascending, each once) in pieces."""
        cuts = np.searchsorted(rows, self.first_rows)
        firsts = zip(self.pages, self.first_rows.tolist(), cuts.tolist(), cuts.tolist()[1:])
        return take_pages((page, rows[a:b] - first) for page, first, a, b in firsts if a < b)


Part = tuple[Scanned, int, int]
"""A page, and the range of its rows that is wanted."""

PageRows = tuple[Page, Ints]
"""A page, and the rows (ascending, each once) that are wanted of it."""


@specified
def scan_pages(parts: Iterable[Part]) -> Iterator[Nested]:
    """Yield the wanted range of rows of every page."""
    return chain.from_iterable(page.scan(start, end) for page, start, end in parts)


@specified
def take_pages(parts: Iterable[PageRows]) -> Iterator[Nested]:
    """Yield the wanted rows of every page, in one or more pieces."""
    return (page.take(rows) for page, rows in parts)


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
    file.bound_output((width_bits(type_) or 0) // 8, "L.page.limits.row", page.place, "a row")
    encoding, place = page.encoding, page.place
    if isinstance(encoding, PlanarLayout):
        if encoding.structure.HasField("sparse"):
            return SparsePage(file, page, encoding, path)
        encoding = planar.page_layout(encoding, len(page.extents), place)
    assert isinstance(encoding, PageLayout)
    arm = encoding.WhichOneof("layout")
    if arm is None:
        raise CorruptPage("L.page.layout.present", place, "no layout", "a page layout")
    layout, stored = getattr(encoding, arm), StoredPage(file, page, type_, version)
    layers = parse_layers(layout.layers, path, place)
    if page.num_rows % layers.scale:
        found, wanted = f"a page of {page.num_rows}", f"a multiple of {layers.scale}"
        raise CorruptPage("L.page.layout.scale", place, found, wanted)
    if arm == "mini_block_layout":
        known = before if isinstance(before, MiniBlockPage) else None
        described = chunks.describe(layout, layers, version, place)
        return MiniBlockPage(stored, described, known)
    if arm == "full_zip_layout":
        return FullZipPage(stored, FullZip(layers, layout))
    if arm == "blob_layout":
        return blob.BlobPage(stored, layers, blob.describe(layout, layers, path, version, place))
    return ConstantPage(stored, layout, layers)


class PageColumn:
    """The rows of one field, stored in the given physical columns: one per leaf, in order."""

    def __init__(
        self, file: FileBytes, field: Field, columns: Sequence[ColumnMetadata], version: FileVersion
    ) -> None:
        self._file, self._field, self._columns, self._version = file, field, columns, version
        self._place = columns[0].place
        self._leaves: list[LeafColumn] = []
        for path, column in zip(leaf_paths(field), columns, strict=True):
            self._leaves.append(open_leaf(file, path, column, version))
        self.type: pa.DataType = field.arrow.type
        self._required = field.has_required and not file.ctx.discarded
        self.num_rows = self._leaves[0].num_rows
        for leaf, column in zip(self._leaves, columns, strict=True):
            if leaf.num_rows != self.num_rows:
                found = f"{leaf.num_rows} rows in column {column.index}"
                wanted = f"{self.num_rows}, as in column {columns[0].index}"
                raise CorruptPage("L.page.siblings.rows", column.place, found, wanted)

    def scan(self, start: int, end: int) -> Iterator[pa.Array]:
        """Yield consecutive arrays that cover rows `start`..`end`."""
        return self._join([leaf.scan(start, end) for leaf in self._leaves])

    def take(self, rows: Ints) -> pa.Array:
        """Return the given rows (ascending, may repeat)."""
        once, places = unique_inverse(rows)
        parts = list(self._join([leaf.take(once) for leaf in self._leaves]))
        if not parts:
            return pa.nulls(0, self.type)
        array = parts[0] if len(parts) == 1 else pa.concat_arrays(parts)
        return array if len(once) == len(rows) else whole(array).take(arrow_array(places))

    def check(self) -> None:
        """Check every page on its own, then read the field through."""
        self.check_rows(0, self.num_rows)

    def check_rows(self, start: int, end: int) -> None:
        """Check every page that begins in rows `start`..`end`, then read these rows through.

        Of a field that is a leaf itself, and may be null, the pages are all there is to check.
        """
        ctx = self._file.ctx
        known = len(ctx.findings) if ctx.findings is not None else 0
        for leaf, column in zip(self._leaves, self._columns, strict=True):
            for number, (page, first) in enumerate(zip(leaf.pages, leaf.first_rows.tolist())):
                if start <= first < end or first == end == self.num_rows:
                    with ctx.group(f"column {column.index} page {number}"), ctx.piece():
                        page.check()
        if self._field.is_leaf and not self._required:
            return
        if ctx.findings is None or len(ctx.findings) == known:
            with ctx.piece():
                again = PageColumn(self._file.quiet(), self._field, self._columns, self._version)
                for _ in again.scan(start, end):
                    pass

    def payload_extents(self) -> Iterator[Extent]:
        """Yield where the payloads of blob pages lie, which only their descriptors know."""
        for leaf in self._leaves:
            for page in leaf.pages:
                if isinstance(page, blob.BlobPage):
                    yield from page.payload_extents()

    def _join(self, runs: list[Iterator[Nested]]) -> Iterator[pa.Array]:
        """Yield arrays of the field at the rows where any of the leaves' runs ends."""
        rest: list[Nested | None] = list(map(next, runs, repeat(None)))
        while all(part is not None for part in rest):
            parts = [part for part in rest if part is not None]
            rows = min(part.num_rows for part in parts)
            array = assemble(self._field, [part.slice(0, rows) for part in parts], self._place)
            if self._required:
                check_required(self._field, array, self._place)
            yield array
            for at, (part, run) in enumerate(zip(parts, runs, strict=True)):
                longer = part.num_rows > rows
                rest[at] = part.slice(rows, part.num_rows) if longer else next(run, None)


def assemble(field: Field, leaves: Sequence[Nested], place: Place, depth: int = 0) -> pa.Array:
    """Build the array of `field` from the same rows of each of its leaves.

    `depth` is the number of layers above the field. Raises CorruptPage, LimitExceeded.
    """
    if field.is_leaf:
        leaf = leaves[0].leaf  # what is empty, but not at the start, Arrow cannot join
        return leaf if len(leaf) else pa.nulls(0, leaf.type)
    layer, *others = [leaf.layers[depth] for leaf in leaves]
    for other in others:
        check_siblings(layer, other, field.name, place)
    children, at = [], 0
    for child in field.children:
        used = len(leaf_paths(child))
        children.append(assemble(child, leaves[at : at + used], place, depth + 1))
        at += used
    buffers, type_ = [bitmap(layer.validity)], field.arrow.type
    if pa.types.is_map(type_):  # pyarrow ends the process where an entry or a key is null
        nulls = sum(one.null_count for one in (*children, children[0].field(0)))
        expect("L.page.required.null", f"{nulls} null items", "0 null items", place)
    if layer.offsets is not None:
        buffers.append(offsets_buffer(type_, layer.offsets, "L.page.leaf.kind", place))
    return pa.Array.from_buffers(type_, layer.count, buffers, children=children)


def check_siblings(layer: Layer, other: Layer, name: str, place: Place) -> None:
    """Raise CorruptPage unless two columns below the field `name` have the same layer."""
    if layer.offsets is None or other.offsets is None:
        same = layer.offsets is other.offsets
    else:
        same = np.array_equal(layer.offsets, other.offsets)
    clause = "L.page.siblings.validity" if same else "L.page.siblings.offsets"
    if not same or not np.array_equal(_validity(layer), _validity(other)):
        found = f"other layers in the columns below {name!r}"
        raise CorruptPage(clause, place, found, "the same in each")


def _validity(layer: Layer) -> Bools:
    return np.broadcast_to(np.True_ if layer.validity is None else layer.validity, layer.count)


def check_required(field: Field, array: pa.Array, place: Place) -> None:
    """Refuse nulls of `field` in its `array`, and below; none lies under a null.

    Raises CorruptPage.
    """
    if array.null_count and not field.nullable:
        found = f"{array.null_count} nulls of {field.name!r}"
        raise CorruptPage("L.page.required.null", place, found, "none: it is not nullable")
    is_list = pa.types.is_fixed_size_list(array.type)  # whose items are not looked at
    if is_list or not any(child.has_required for child in field.children):
        return
    if array.null_count:
        array = whole(array).drop_null()
    if isinstance(array, pa.StructArray):
        below = array.flatten()
    else:
        below = [array.values[array.offsets[0].as_py() : array.offsets[-1].as_py()]]
    for child, values in zip(field.children, below, strict=True):
        check_required(child, values, place)

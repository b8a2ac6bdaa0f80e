"""RTREE: the bounding boxes of geometries, in a tree of pages.

Leaves are the boxes of rows along a Hilbert curve: the centre of a box is a point of a grid of
2**16 by 2**16 over all boxes, its number, 32 bits, how far along the curve it lies. So many
neighbours are a page; of each page the level above has one box, that of all of its boxes, until a
level fits one page.

A search reads the pages whose box intersects that of the geometry asked for; the rows found are
candidates. Which rows are null is known exactly; an empty geometry is nowhere.

Layout: `page_data.lance`: bbox struct of xmin, ymin, xmax, ymax (float64), id uint64: of leaves the
row, else the number of the page below; level by level from the leaves on. Metadata page_size,
num_pages, num_items, bbox. `nulls.lance`: nulls binary, one RowAddrTreeMap.

Clauses: L.index.rtree.levels, L.index.rtree.pages, L.index.rtree.nulls, L.index.rtree.order,
L.index.rtree.boxes
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.context import expect
from lanceref.core.errors import FormatError
from lanceref.file.schema import EXTENSION_KEY, Field
from lanceref.index.entries import Entries, EntryType
from lanceref.index.geometry import CORNERS, Boxes, boxes_of, column_boxes, geometries, is_geometry
from lanceref.index.index_file import IndexFile
from lanceref.index.index_type import Built, Parameters, whole_number
from lanceref.index.predicate import Intersects, IsNull, Predicate
from lanceref.index.row_set import Keys, RowSet
from lanceref.index.segment import Segment, SegmentWriter
from lanceref.index.training import Training, mask_of, trained
from lanceref.proto import index_pb2

BITS = 16
TOP = (1 << BITS) - 1
"""Highest coordinate of the grid (= 65535)."""


def hilbert_numbers(boxes: Boxes) -> NDArray[np.uint32]:
    """Return the numbers of boxes among themselves: uint32. `boxes` (n, 4), the result (n,)."""
    if not len(boxes):
        return np.empty(0, np.uint32)
    x, y = (_on_grid(boxes[:, axis], boxes[:, axis + 2]) for axis in (0, 1))
    return curve_numbers(x, y)


def _on_grid(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.uint32]:
    """Return the coordinates of centres on one axis; where it has no width all are 0."""
    with np.errstate(all="ignore"):
        least = low.min()
        width = high.max() - least
        if not width > 0:
            return np.zeros(len(low), np.uint32)
        scaled = ((low + high) / 2 - least) / width * TOP
        placed = np.nan_to_num(np.clip(np.trunc(scaled), 0, TOP), nan=0)
    return np.asarray(placed, np.uint32)


def curve_numbers(x: NDArray[np.uint32], y: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return how far along the curve points of the grid lie: all arrays are uint32 (n,)."""
    numbers = np.zeros(len(x), np.uint32)
    for shift in range(BITS - 1, -1, -1):
        right, up = (x >> shift) & 1, (y >> shift) & 1
        numbers |= ((3 * right) ^ up) << (2 * shift)
        low = up ^ 1
        turn = np.asarray((right & low) * TOP ^ (x ^ y) * low, np.uint32)
        x, y = x ^ turn, y ^ turn  # low: they change places; right, too: both are flipped
    return numbers


DATA = "page_data.lance"
NULLS = "nulls.lance"
PAGE_ROWS = 4096
"""Boxes of a page by default."""

LEAST_ROWS = 2
"""With fewer there would be no end of levels."""

ENDS = ("minx", "miny", "maxx", "maxy")
"""Names of the box of all boxes in the metadata."""

BOX = pa.struct([pa.field(name, pa.float64(), nullable=False) for name in CORNERS])
_BOXES = pa.field("bbox", BOX, nullable=False, metadata={EXTENSION_KEY: "geoarrow.box"})
SCHEMA = pa.schema([_BOXES, pa.field("id", pa.uint64(), nullable=False)])


@dataclass(frozen=True, slots=True)
class Level:
    """Rows of the file that are boxes of one level, and the number of its first page."""

    start: int
    rows: int
    first_page: int


def levels_of(num_items: int, page_rows: int) -> list[Level]:
    """Return the levels of a tree from the leaves on."""
    levels = []
    start, rows, page = 0, num_items, 0
    while rows:
        levels.append(Level(start, rows, page))
        pages = -(-rows // page_rows)
        start, page = start + rows, page + pages
        rows = pages if pages > 1 else 0
    return levels


def checked_levels(file: IndexFile) -> list[Level]:
    """Return the levels of a file. Raises FormatError unless they are all of its rows."""
    items, page_rows = file.number("num_items"), file.number("page_size")
    stated = f"{items} boxes, pages of {page_rows}, {file.num_rows} rows"
    if page_rows < LEAST_ROWS or items > file.num_rows:
        wanted = f"pages of {LEAST_ROWS} boxes or more, no more boxes than rows"
        raise FormatError("L.index.rtree.levels", file.place, stated, wanted)
    levels = levels_of(items, page_rows)
    rows = sum(level.rows for level in levels)
    pages = levels[-1].first_page + 1 if levels else 0
    if rows != file.num_rows or pages != file.number("num_pages"):
        stated = f"{stated}, {file.number('num_pages')} pages"
        wanted = f"{rows} rows, {pages} pages"
        raise FormatError("L.index.rtree.levels", file.place, stated, wanted)
    return levels


def check_pages(file: IndexFile, below: Level, rows: NDArray[np.int64], ids: Keys) -> None:
    """Raise FormatError unless boxes have the pages of the level below: rows and ids (n,)."""
    wanted = rows.astype(np.uint64) + np.uint64(below.first_page)
    if not np.array_equal(ids, wanted):
        found, pages = ids[:4].tolist(), wanted[:4].tolist()
        raise FormatError("L.index.rtree.pages", file.place, f"pages {found}", pages)


def check_boxes(file: IndexFile, boxes: Boxes, pages: NDArray[np.int64], around: Boxes) -> None:
    """Raise FormatError unless `around` (pages, 4) are those of the boxes (n, 4), NaN for any."""
    own = boxes_around(boxes, np.flatnonzero(np.diff(pages, prepend=-1)))
    same = (own == around) | np.isnan(around)
    if not same.all():
        number = int(np.argmin(same.all(axis=1)))
        found = f"a page with boxes from {own[number, :2]} to {own[number, 2:]}"
        wanted = f"from {around[number, :2]} to {around[number, 2:]}, as above it"
        raise FormatError("L.index.rtree.boxes", file.place, found, wanted)


def whole_box(file: IndexFile) -> NDArray[np.float64]:
    """Return the box of all boxes, float64 (4,), or (0,) without any. Raises CorruptPage."""
    text = file.text("bbox")
    try:
        box = json.loads(text)
        ends = [box[name] for name in ENDS] if isinstance(box, dict) else []
        return np.array([np.nan if one is None else float(one) for one in ends]).reshape(4)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise file.corrupt("L.index.files.metadata", f"{text[:40]!r}", "four numbers") from error


def read_boxes(file: IndexFile, rows: NDArray[np.int64]) -> tuple[Boxes, Keys]:
    """Return boxes (n, 4) and ids (n,) of ascending rows (n,) of the file. Raises FormatError."""
    boxes = file.take("bbox", rows, BOX)
    ids = file.take("id", rows, pa.uint64(), "L.index.files.column")
    corners = [np.asarray(boxes.field(number), np.float64) for number in range(len(CORNERS))]
    return np.stack(corners, axis=1), np.asarray(ids, np.uint64)


def read_nulls(segment: Segment) -> RowSet:
    """Return the rows that are null. Raises FormatError."""
    file = segment.file(NULLS)
    expect("L.index.rtree.nulls", f"rows: {file.num_rows}", "rows: 1", file.place)
    (cursor,) = file.take_cursors("nulls", np.arange(1), "L.index.rtree.nulls")
    return RowSet.parse(cursor)


class RTree(EntryType[int]):
    """The type; an opened segment knows where its levels are."""

    name, shown, details = "RTREE", "RTree", "lance.index.pb.RTreeIndexDetails"
    exact = (IsNull,)
    inexact = (Intersects,)
    inherits = "one"
    rewrite_on_move = False

    @staticmethod
    def accepts(field: Field, /) -> bool:
        """Return whether a field holds geometries, which the index needs."""
        return is_geometry(field.arrow.type, field.metadata.get(EXTENSION_KEY, ""))

    def __init__(self, segment: Segment) -> None:
        super().__init__(segment)
        self._file = segment.file(DATA)
        self.stored_parameters = self._page_rows = self._file.number("page_size")
        self.levels = checked_levels(self._file)

    def search(self, predicate: Predicate) -> RowSet:
        """Return the rows whose box meets that of a geometry, or that are null."""
        if isinstance(predicate, IsNull):
            return read_nulls(self.segment)
        assert isinstance(predicate, Intersects)
        (wanted,) = boxes_of(geometries(pa.array([predicate.geometry], pa.binary()), ""))
        if not self.levels:
            return RowSet()
        pages, around = np.zeros(1, np.int64), whole_box(self._file)[None]
        for number in range(len(self.levels) - 1, -1, -1):
            level = self.levels[number]
            rows = (pages[:, None] * self._page_rows + np.arange(self._page_rows)).ravel()
            rows = rows[rows < level.rows]  # counted within the level
            boxes, ids = read_boxes(self._file, rows + level.start)
            check_boxes(self._file, boxes, rows // self._page_rows, around)
            meets = _intersects(boxes, wanted)
            if number:
                check_pages(self._file, self.levels[number - 1], rows, ids)
                pages, around = rows[meets], boxes[meets]
        return RowSet.of(ids[meets])

    @classmethod
    def requested(cls, parameters: Parameters) -> int:
        """Return the boxes of a page that a caller asks for. Raises OperationRefused."""
        return whole_number(parameters, "page_size", PAGE_ROWS, LEAST_ROWS)

    def entries(self) -> Entries:
        """Return the boxes (n, 4), and the rows that are null. Raises FormatError."""
        leaves = np.arange(self.levels[0].rows if self.levels else 0, dtype=np.int64)
        return Entries(*read_boxes(self._file, leaves), read_nulls(self.segment).keys)

    @classmethod
    def entries_of(cls, training: Training, own: int) -> Entries:
        """Return the boxes of rows (n, 4), but for those of empty geometries."""
        values, keys = trained(training)
        boxes = column_boxes(values, training.indexed.field.metadata.get(EXTENSION_KEY, ""))
        is_box = ~np.isnan(boxes).any(axis=1)
        return Entries(boxes[is_box], keys[is_box], keys[mask_of(values.is_null())])

    @classmethod
    def write(cls, entries: Entries, own: int, training: Training, writer: SegmentWriter) -> Built:
        """Write both files, with pages of so many boxes."""
        boxes: Boxes = np.asarray(entries.values, np.float64)
        keys, nulls = entries.keys, entries.nulls
        assert nulls is not None
        order = np.argsort(hilbert_numbers(boxes), kind="stable")
        boxes, keys = boxes[order], keys[order]
        levels = levels_of(len(boxes), own)
        tree_boxes, tree_ids = [boxes], [keys]
        for below, level in pairwise(levels):
            starts = np.arange(0, len(tree_boxes[-1]), own)
            tree_boxes.append(boxes_around(tree_boxes[-1], starts))
            tree_ids.append(np.arange(level.rows, dtype=np.uint64) + np.uint64(below.first_page))
        corners = [pa.array(one) for one in np.concatenate(tree_boxes).T]
        column = pa.StructArray.from_arrays(corners, fields=list(BOX))
        metadata = {
            "page_size": f"{own}",
            "num_pages": f"{levels[-1].first_page + 1 if levels else 0}",
            "num_items": f"{len(boxes)}",
            "bbox": _box_text(boxes),
        }
        batch = pa.record_batch([column, pa.array(np.concatenate(tree_ids))], schema=SCHEMA)
        writer.write_file(DATA, SCHEMA, [batch], metadata)
        data = RowSet.of(nulls).encode()
        writer.write_columns(NULLS, {"nulls": pa.array([data], pa.binary())})
        return Built(index_pb2.RTreeIndexDetails(), 0)

    @classmethod
    def check(cls, segment: Segment) -> None:
        """Report leaves off the Hilbert curve, and boxes that are not those of their pages."""
        index, _ = cls(segment), read_nulls(segment)
        file, levels = index._file, index.levels
        boxes, ids = read_boxes(file, np.arange(file.num_rows, dtype=np.int64))
        leaves = boxes[: levels[0].rows if levels else 0]
        if levels:
            root = boxes[levels[-1].start :]
            check_boxes(file, root, np.zeros(len(root), np.int64), whole_box(file)[None])
        numbers = hilbert_numbers(leaves)
        if np.any(numbers[1:] < numbers[:-1]):
            file.lint("L.index.rtree.order", "leaves off the curve", "along it")
        for below, level in pairwise(levels):
            own = slice(level.start, level.start + level.rows)
            children = boxes[below.start : below.start + below.rows]
            parents = np.arange(below.rows) // index.stored_parameters
            check_boxes(file, children, parents, boxes[own])
            check_pages(file, below, np.arange(level.rows, dtype=np.int64), ids[own])


def _intersects(boxes: Boxes, wanted: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which boxes intersect one; an empty one intersects none."""
    left, low, right, high = wanted
    along = (boxes[:, 0] <= right) & (boxes[:, 2] >= left)
    return np.asarray(along & (boxes[:, 1] <= high) & (boxes[:, 3] >= low), np.bool_)


def boxes_around(boxes: Boxes, starts: NDArray[np.int64]) -> Boxes:
    """Return boxes (runs, 4) around runs of boxes (n, 4), as pages, by their starts (runs,)."""
    low = np.minimum.reduceat(boxes[:, :2], starts)
    return np.concatenate([low, np.maximum.reduceat(boxes[:, 2:], starts)], axis=1)


def _box_text(boxes: Boxes) -> str:
    """Return the box of all boxes as the metadata has it; what is not finite is null."""
    ends = [*boxes[:, :2].min(axis=0), *boxes[:, 2:].max(axis=0)] if len(boxes) else [np.nan] * 4
    numbers = [float(one) if np.isfinite(one) else None for one in ends]
    return json.dumps(dict(zip(ENDS, numbers, strict=True)), separators=(",", ":"))

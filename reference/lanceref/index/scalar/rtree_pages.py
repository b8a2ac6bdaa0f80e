"""RTREE pages: the levels of boxes that an RTREE is made of, and the rows that are null.

Leaves are the boxes of rows along a Hilbert curve. So many neighbours are a page; of each page the
level above has one box, that of all of its boxes, until a level fits one page.

Layout: `page_data.lance`: bbox struct of xmin, ymin, xmax, ymax (float64), id uint64: of leaves the
row, else the number of the page below; level by level from the leaves on. Metadata page_size,
num_pages, num_items, bbox. `nulls.lance`: nulls binary, one RowAddrTreeMap.

Clauses: L.index.rtree.levels, L.index.rtree.pages, L.index.rtree.nulls, L.index.rtree.order,
L.index.rtree.boxes

Hilbert order: boxes along a curve on which neighbours lie near each other.

The centre of a box is a point of a grid of 2**16 by 2**16 over all boxes; its number is how far
along the curve it lies, 32 bits.

Clauses: L.index.rtree.order
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.cursor import Cursor
from lanceref.core.errors import CorruptPage, FormatError
from lanceref.core.logical_types import EXTENSION_KEY
from lanceref.index.geometry import Boxes
from lanceref.index.index_file import IndexFile
from lanceref.index.row_set import Keys, RowSet, encode_row_set, parse_row_set, row_set
from lanceref.index.segment import Segment, SegmentWriter

BITS = 16
TOP = (1 << BITS) - 1
"""Highest coordinate of the grid (= 65535)."""


def hilbert_numbers(boxes: Boxes) -> NDArray[np.uint32]:
    """Return the numbers of boxes among themselves: uint32."""
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
    """Return how far along the curve points of the grid lie."""
    x, y = x.copy(), y.copy()
    found = np.zeros(len(x), np.uint32)
    for shift in range(BITS - 1, -1, -1):
        right, up = (x >> shift) & 1, (y >> shift) & 1
        found |= ((3 * right) ^ up) << (2 * shift)
        flip = (up == 0) & (right == 1)
        x, y = np.where(flip, TOP - x, x), np.where(flip, TOP - y, y)
        x, y = np.where(up == 0, y, x), np.where(up == 0, x, y)
    return found


DATA = "page_data.lance"
NULLS = "nulls.lance"
PAGE_ROWS = 4096
"""Boxes of a page unless the index says otherwise."""

LEAST_ROWS = 2
"""With fewer there would be no end of levels."""

ENDS = ("minx", "miny", "maxx", "maxy")
"""Names of the box of all boxes in the metadata."""

CORNERS = ("xmin", "ymin", "xmax", "ymax")
BOX = pa.struct([pa.field(name, pa.float64(), nullable=False) for name in CORNERS])
SCHEMA = pa.schema(
    [
        pa.field("bbox", BOX, nullable=False, metadata={EXTENSION_KEY: "geoarrow.box"}),
        pa.field("id", pa.uint64(), nullable=False),
    ]
)
NULL_SCHEMA = pa.schema([pa.field("nulls", pa.binary(), nullable=False)])


@dataclass(frozen=True, slots=True)
class Level:
    """Rows of the file that are boxes of one level, and the number of its first page."""

    start: int
    rows: int
    first_page: int


def levels_of(num_items: int, page_rows: int) -> list[Level]:
    """Return the levels of a tree from the leaves on."""
    found = []
    start, rows, page = 0, num_items, 0
    while rows:
        found.append(Level(start, rows, page))
        pages = -(-rows // page_rows)
        start, page = start + rows, page + pages
        rows = pages if pages > 1 else 0
    return found


def checked_levels(file: IndexFile) -> list[Level]:
    """Return the levels of a file. Raises FormatError unless they are all of its rows."""
    items, page_rows = file.number("num_items"), file.number("page_size")
    stated = f"{items} boxes, pages of {page_rows}"
    if page_rows < LEAST_ROWS or items > file.num_rows:
        raise FormatError(
            "L.index.rtree.levels",
            file.place,
            found=f"{stated}, {file.num_rows} rows",
            wanted=f"pages of {LEAST_ROWS} boxes or more, no more boxes than rows",
        )
    levels = levels_of(items, page_rows)
    rows = sum(level.rows for level in levels)
    pages = levels[-1].first_page + 1 if levels else 0
    if rows != file.num_rows or pages != file.number("num_pages"):
        raise FormatError(
            "L.index.rtree.levels",
            file.place,
            found=f"{stated}, {file.num_rows} rows, {file.number('num_pages')} pages",
            wanted=f"{rows} rows, {pages} pages",
        )
    return levels


def check_pages(file: IndexFile, below: Level, rows: NDArray[np.int64], ids: Keys) -> None:
    """Raise FormatError unless boxes, by their rows in a level, have the pages of that below."""
    wanted = rows.astype(np.uint64) + np.uint64(below.first_page)
    if not np.array_equal(ids, wanted):
        raise FormatError(
            "L.index.rtree.pages",
            file.place,
            found=f"pages {ids[:4].tolist()}",
            wanted=f"{wanted[:4].tolist()}",
        )


def check_boxes(file: IndexFile, boxes: Boxes, pages: NDArray[np.int64], around: Boxes) -> None:
    """Raise FormatError unless the boxes of pages, which rise, lie in one around each page.

    What is not a number around them says nothing.
    """
    starts = np.flatnonzero(np.diff(pages, prepend=-1))
    own = _around(boxes, starts)
    same = (own == around) | np.isnan(around)
    if not same.all():
        number = int(np.argmin(same.all(axis=1)))
        raise FormatError(
            "L.index.rtree.boxes",
            file.place,
            found=f"a page with boxes from {own[number, :2]} to {own[number, 2:]}",
            wanted=f"from {around[number, :2]} to {around[number, 2:]}, as above it",
        )


def whole_box(file: IndexFile) -> NDArray[np.float64]:
    """Return the box of all boxes: four numbers, or none. Raises CorruptPage."""
    text = file.text("bbox")
    try:
        held = json.loads(text)
        ends = [held[name] for name in ENDS] if isinstance(held, dict) else []
        return np.array([np.nan if one is None else float(one) for one in ends]).reshape(4)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise CorruptPage(
            "L.index.files.metadata", file.place, found=f"{text[:40]!r}", wanted="four numbers"
        ) from error


def read_boxes(file: IndexFile, rows: NDArray[np.int64]) -> tuple[Boxes, Keys]:
    """Return boxes and ids of rows of the file, ascending. Raises FormatError."""
    boxes, ids = file.take("bbox", rows, BOX), file.take("id", rows, pa.uint64())
    corners = [np.asarray(boxes.field(number), np.float64) for number in range(len(CORNERS))]
    return np.stack(corners, axis=1), file.whole("id", np.uint64, ids)


def read_nulls(segment: Segment) -> RowSet:
    """Return the rows that are null. Raises FormatError."""
    file = segment.file(NULLS)
    held = file.read("nulls", pa.binary())
    if len(held) != 1 or held.null_count:
        raise CorruptPage(
            "L.index.rtree.nulls", file.place, found=f"{len(held)} rows", wanted="one set of rows"
        )
    return parse_row_set(Cursor(memoryview(held[0].as_buffer()), 0, file.ctx))


def write_rtree(
    boxes: Boxes, keys: Keys, nulls: Keys, page_rows: int, writer: SegmentWriter
) -> None:
    """Write both files over boxes in any order, in pages of so many."""
    order = np.argsort(hilbert_numbers(boxes), kind="stable")
    boxes, keys = boxes[order], keys[order]
    levels = levels_of(len(boxes), page_rows)
    tree_boxes, tree_ids = [boxes], [keys]
    for below, level in pairwise(levels):
        tree_boxes.append(page_boxes(tree_boxes[-1], page_rows))
        tree_ids.append(np.arange(level.rows, dtype=np.uint64) + np.uint64(below.first_page))
    corners = [pa.array(one) for one in np.concatenate(tree_boxes).T]
    column = pa.StructArray.from_arrays(corners, fields=list(BOX))
    batch = pa.record_batch([column, pa.array(np.concatenate(tree_ids))], schema=SCHEMA)
    metadata = {
        "page_size": f"{page_rows}",
        "num_pages": f"{levels[-1].first_page + 1 if levels else 0}",
        "num_items": f"{len(boxes)}",
        "bbox": _box_text(boxes),
    }
    writer.write_file(DATA, SCHEMA, [batch], metadata)
    held = pa.array([encode_row_set(row_set(nulls))], pa.binary())
    writer.write_file(NULLS, NULL_SCHEMA, [pa.record_batch([held], schema=NULL_SCHEMA)])


def page_boxes(boxes: Boxes, page_rows: int) -> Boxes:
    """Return the box of each page of boxes."""
    return _around(boxes, np.arange(0, len(boxes), page_rows))


def _around(boxes: Boxes, starts: NDArray[np.int64]) -> Boxes:
    """Return the boxes around runs of boxes."""
    low = np.minimum.reduceat(boxes[:, :2], starts)
    return np.concatenate([low, np.maximum.reduceat(boxes[:, 2:], starts)], axis=1)


def _box_text(boxes: Boxes) -> str:
    """Return the box of all boxes as the metadata has it; what is not finite is null."""
    ends = [*boxes[:, :2].min(axis=0), *boxes[:, 2:].max(axis=0)] if len(boxes) else [np.nan] * 4
    held = [float(one) if np.isfinite(one) else None for one in ends]
    return json.dumps(dict(zip(ENDS, held, strict=True)), separators=(",", ":"))


def check(segment: Segment) -> None:
    """Report leaves that are in no Hilbert order, and boxes that are not those of their pages."""
    file = segment.file(DATA)
    read_nulls(segment)
    page_rows = file.number("page_size")
    levels = checked_levels(file)
    boxes, ids = read_boxes(file, np.arange(file.num_rows, dtype=np.int64))
    leaves = boxes[: levels[0].rows if levels else 0]
    if levels:
        top = levels[-1]
        root = boxes[top.start : top.start + top.rows]
        check_boxes(file, root, np.zeros(top.rows, np.int64), whole_box(file)[None])
    numbers = hilbert_numbers(leaves)
    if np.any(numbers[1:] < numbers[:-1]):
        file.ctx.lint(
            "L.index.rtree.order", file.place, found="leaves off the curve", wanted="along it"
        )
    for below, level in pairwise(levels):
        own = slice(level.start, level.start + level.rows)
        children = boxes[below.start : below.start + below.rows]
        check_boxes(file, children, np.arange(below.rows) // page_rows, boxes[own])
        check_pages(file, below, np.arange(level.rows, dtype=np.int64), ids[own])

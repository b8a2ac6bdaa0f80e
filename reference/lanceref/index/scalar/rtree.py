"""RTREE: the bounding boxes of geometries, in a tree of pages.

A search reads the pages whose box meets that of the geometry asked for; the rows found have to be
looked at. Null is known exactly; an empty geometry is nowhere.

Layout: that of RTREE pages.

Clauses: L.index.rtree.pages
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.compute import pc
from lanceref.core.errors import OperationRefused
from lanceref.core.logical_types import EXTENSION_KEY
from lanceref.file.schema import Field
from lanceref.index.geometry import Boxes, boxes_of, geometries, is_geometry
from lanceref.index.index_type import Built, Kind, Parameters
from lanceref.index.predicate import Intersects, IsNull, Predicate
from lanceref.index.row_set import NO_KEYS, Keys, RowSet, row_set
from lanceref.index.scalar.rtree_pages import (
    DATA,
    LEAST_ROWS,
    PAGE_ROWS,
    check,
    check_boxes,
    check_pages,
    checked_levels,
    read_boxes,
    read_nulls,
    whole_box,
    write_rtree,
)
from lanceref.index.segment import Moved, Segment, SegmentWriter
from lanceref.index.training import Training, leaf
from lanceref.proto import index_pb2

BOX_BYTES = pa.binary(32)
"""A box as bytes."""


class RTree:
    """An opened segment: it knows where its levels are."""

    def __init__(self, segment: Segment) -> None:
        self._segment = segment
        self._file = segment.file(DATA)
        self._page_rows = self._file.number("page_size")
        self._levels = checked_levels(self._file)

    def search(self, predicate: Predicate) -> RowSet:
        """Return the rows whose box meets that of a geometry, or that are null."""
        if isinstance(predicate, IsNull):
            return read_nulls(self._segment)
        assert isinstance(predicate, Intersects)
        (wanted,) = boxes_of(geometries(pa.array([predicate.geometry], pa.binary()), ""))
        if not self._levels:
            return RowSet()
        pages, around = np.zeros(1, np.int64), whole_box(self._file)[None]
        for number in range(len(self._levels) - 1, -1, -1):
            rows = self._rows_of(number, pages)
            boxes, ids = read_boxes(self._file, rows + self._levels[number].start)
            check_boxes(self._file, boxes, rows // self._page_rows, around)
            met = _meet(boxes, wanted)
            if number:
                check_pages(self._file, self._levels[number - 1], rows, ids)
                pages, around = rows[met], boxes[met]
        return row_set(ids[met])

    def _rows_of(self, number: int, pages: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows of pages of a level, counted within it."""
        rows = (pages[:, None] * self._page_rows + np.arange(self._page_rows)).ravel()
        return rows[rows < self._levels[number].rows]

    def statistics(self) -> dict[str, object]:
        """Return how many boxes and pages there are, and the box of all of them."""
        size = self._page_rows
        offsets = [
            start
            for level in self._levels
            for start in range(level.start, level.start + level.rows, size)
        ]
        return {
            "page_size": size,
            "num_pages": len(offsets),
            "num_items": self._file.number("num_items"),
            "bbox": json.loads(self._file.text("bbox")),
            "page_offsets": offsets,
        }


def _meet(boxes: Boxes, wanted: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which boxes meet one; an empty one meets none."""
    left, low, right, high = wanted
    along = (boxes[:, 0] <= right) & (boxes[:, 2] >= left)
    return np.asarray(along & (boxes[:, 1] <= high) & (boxes[:, 3] >= low), np.bool_)


def leaves_of(segment: Segment) -> tuple[Boxes, Keys]:
    """Return boxes and rows of a segment. Raises FormatError."""
    file = segment.file(DATA)
    checked_levels(file)
    return read_boxes(file, np.arange(file.number("num_items"), dtype=np.int64))


def _trained(training: Training) -> tuple[Boxes, Keys, Keys]:
    """Return boxes of rows, the rows, and those that are null; empty geometries are left out."""
    name = _extension(training.field)
    boxes, keys, nulls = [np.empty((0, 4))], [NO_KEYS], [NO_KEYS]
    for run in training.runs():
        own = boxes_of(geometries(run.values, name))
        there = ~np.isnan(own).any(axis=1)
        null = np.asarray(run.values.is_null().to_numpy(zero_copy_only=False), np.bool_)
        boxes.append(own[there])
        keys.append(run.keys[there])
        nulls.append(run.keys[null])
    return np.concatenate(boxes), np.concatenate(keys), np.concatenate(nulls)


def build(training: Training, writer: SegmentWriter, parameters: Parameters) -> Built:
    """Build over rows; `page_size` is the boxes of a page. Raises OperationRefused."""
    rows = parameters.get("page_size", PAGE_ROWS)
    if not isinstance(rows, int) or rows < LEAST_ROWS:
        raise OperationRefused(f"page_size must be at least {LEAST_ROWS}, got {rows!r}")
    write_rtree(*_trained(training), rows, writer)
    return Built(index_pb2.RTreeIndexDetails(), 0)


def rewrite(
    segments: Sequence[tuple[Segment, Moved]], training: Training, writer: SegmentWriter
) -> Built:
    """Write what is left of segments, and new rows, as one segment."""
    boxes, keys, nulls = ([one] for one in _trained(training))
    for segment, moved in segments:
        own, before = leaves_of(segment)
        kept, after = moved(before)
        boxes.append(own[kept])
        keys.append(after)
        nulls.append(moved(read_nulls(segment).keys)[1])
    rows = segments[0][0].file(DATA).number("page_size")
    write_rtree(np.concatenate(boxes), np.concatenate(keys), np.concatenate(nulls), rows, writer)
    return Built(index_pb2.RTreeIndexDetails(), 0)


def entries(segment: Segment) -> tuple[pa.Array, Keys]:
    """Return the bytes of the box and the key of every row; null is null."""
    boxes, keys = leaves_of(segment)
    nulls = read_nulls(segment).keys
    none = pa.nulls(len(nulls), BOX_BYTES)
    return pa.concat_arrays([_as_bytes(boxes), none]), np.concatenate([keys, nulls])


def _as_bytes(boxes: Boxes) -> pa.Array:
    data = pa.py_buffer(np.ascontiguousarray(boxes, "<f8").tobytes())
    return pa.FixedSizeBinaryArray.from_buffers(BOX_BYTES, len(boxes), [None, data])


def rows_of(training: Training, segment: Segment) -> Training:
    """Return the bytes of the boxes of rows, without those of empty geometries."""
    held = []
    for run in training.runs():
        boxes = boxes_of(geometries(run.values, _extension(training.field)))
        null = run.values.is_null()
        there = pc.or_(null, pa.array(~np.isnan(boxes).any(axis=1)))
        own = pc.if_else(null, pa.scalar(None, BOX_BYTES), _as_bytes(boxes))
        keys = run.keys[np.asarray(there.to_numpy(zero_copy_only=False), np.bool_)]
        held.append(replace(run, values=own.filter(there), keys=keys))
    return training.of(held)


def _extension(field: Field) -> str:
    """Return the extension name of the indexed part of a column."""
    return leaf(field).metadata.get(EXTENSION_KEY, "")


def accepts(field: Field) -> bool:
    """Return whether a column holds geometries."""
    return is_geometry(leaf(field).arrow.type, _extension(field))


RTREE = Kind(
    name="RTREE",
    shown="RTree",
    details="lance.index.pb.RTreeIndexDetails",
    version=0,
    exact=(IsNull,),
    inexact=(Intersects,),
    accepts=accepts,
    open=RTree,
    build=build,
    rewrite=rewrite,
    inherits="one",
    rewrite_on_move=False,
    check=check,
    entries=entries,
    rows_of=rows_of,
)
"""The index type."""

"""Geometries: what columns of points, lines, polygons, boxes, text and well-known binary hold.

The extension name of a column is its kind: `geoarrow.point` (a struct of x, y and more),
`geoarrow.linestring`, `geoarrow.polygon`, `geoarrow.multipoint`, `geoarrow.multilinestring`,
`geoarrow.multipolygon` (lists of these), `geoarrow.box`, `geoarrow.wkb`, `geoarrow.wkt`. Text
without a name is well-known text and bytes are well-known binary.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate
from struct import unpack_from

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.compute import pc
from lanceref.core.errors import QueryFailed
from lanceref.core.limits import DEFAULT_LIMITS
from lanceref.index.training import BINARY, TEXT, is_any, mask_of

Geometries = NDArray[np.object_]
"""Geometries, `None` where there is none."""

Boxes = NDArray[np.float64]
"""Bounding boxes: xmin, ymin, xmax, ymax of each; NaN where there is no geometry."""

PREFIX = "geoarrow."

_LISTS = {"linestring": 1, "polygon": 2, "multipoint": 1, "multilinestring": 2, "multipolygon": 3}
"""Levels of lists above the points."""

DEEPEST = DEFAULT_LIMITS.depth
"""Geometries inside each other: the library parses each on the stack."""

_HEADER_BYTES = 9
"""Bytes of a geometry that holds others: byte order, type, number."""

_AXES = ("x", "y", "z")
CORNERS = ("xmin", "ymin", "xmax", "ymax")


def is_geometry(type_: pa.DataType, name: str) -> bool:
    """Return whether a column of a type and an extension name holds geometries."""
    if is_any(type_, *TEXT):
        return name in ("", f"{PREFIX}wkt")
    if is_any(type_, *BINARY):
        return name in ("", f"{PREFIX}wkb")
    kind = name.removeprefix(PREFIX)
    if not name.startswith(PREFIX) or kind not in (*_LISTS, "point", "box"):
        return False
    for _ in range(_LISTS.get(kind, 0)):
        if not is_any(type_, "list", "large_list"):
            return False
        type_ = type_.value_type
    names = CORNERS if kind == "box" else _AXES[:2]
    return pa.types.is_struct(type_) and all(
        type_.get_field_index(one) >= 0 and pa.types.is_float64(type_.field(one).type)
        for one in names
    )


def geometries(values: pa.Array, name: str) -> Geometries:
    """Return the geometries of a column. Raises QueryFailed for a value that is none: (rows,)."""
    import shapely

    valid = mask_of(values.is_valid())
    present = values.filter(pa.array(valid))
    shapes: Geometries = np.full(len(values), None, np.object_)
    kind = name.removeprefix(PREFIX)
    try:
        if is_any(present.type, *TEXT):
            texts = present.to_numpy(zero_copy_only=False)
            for text in texts:
                _check_text(text)
            shapes[valid] = shapely.from_wkt(texts)
        elif is_any(present.type, *BINARY):
            parts = present.to_numpy(zero_copy_only=False)
            for data in parts:
                if len(data) > DEEPEST * _HEADER_BYTES:
                    _check_binary(data)
            shapes[valid] = shapely.from_wkb(parts)
        elif kind == "box":
            shapes[valid] = shapely.box(*_floats(present, CORNERS).T)
        else:
            shapes[valid] = _ragged(present, kind)
    except (shapely.errors.ShapelyError, ValueError) as error:
        raise QueryFailed(f"no geometry: {error}") from error
    return shapes


def _check_text(text: str) -> None:
    """Raise QueryFailed for well-known text nested deeper than the library can parse."""
    if text.count("(") > DEEPEST:
        steps = (1 if bracket[0] == "(" else -1 for bracket in re.finditer("[()]", text))
        if max(accumulate(steps)) > DEEPEST:
            raise QueryFailed(f"more than {DEEPEST} geometries inside each other")


def _check_binary(data: bytes) -> None:
    """Raise QueryFailed for well-known binary nested deeper than the library can parse."""
    if data[0] in b"01":  # hexadecimal
        try:
            data = bytes.fromhex(data.decode("ascii"))
        except ValueError:
            return
    # `left` counts, innermost last, the geometries still to come in each that is open.
    at, order, left = 0, "<", [1]
    while left and at + _HEADER_BYTES <= len(data):
        if not left[-1]:
            left.pop()
            continue
        left[-1] -= 1
        order = {0: ">", 1: "<"}.get(data[at], order)
        code, count = unpack_from(f"{order}II", data, at + 1)
        # Z and M are thousands of the type (ISO) or its high bits (extended).
        kind, iso = (code & 0xFFFF) % 1000, (code & 0xFFFF) // 1000
        axes = 2 + (code >> 31 or iso in (1, 3)) + (code >> 30 & 1 or iso in (2, 3))
        at += 5
        if code >> 29 & 1:  # the number of a reference system
            at += 4
            count = unpack_from(f"{order}I", data, at)[0] if at + 4 <= len(data) else 0
        if kind == 1:
            at += 8 * axes
            continue
        at += 4
        if kind in (2, 8):
            at += 8 * axes * count
        # a polygon: rings, each a count and its points
        elif kind == 3:
            while count and at + 4 <= len(data):
                at += 4 + 8 * axes * unpack_from(f"{order}I", data, at)[0]
                count -= 1
        else:
            # a collection of geometries, each with a header of its own
            left.append(count)
        if len(left) > DEEPEST:
            raise QueryFailed(f"more than {DEEPEST} geometries inside each other")


def _ragged(values: pa.Array, kind: str) -> Geometries:
    """Return geometries of points, or of lists of points."""
    import shapely

    offsets: list[NDArray[np.int64]] = []
    for _ in range(_LISTS.get(kind, 0)):
        lengths = np.asarray(pc.fill_null(pc.list_value_length(values), 0), np.int64)
        offsets.append(np.concatenate([[0], np.cumsum(lengths)]))
        values = values.flatten()
    axes = [axis for axis in _AXES if values.type.get_field_index(axis) >= 0]
    points = _floats(values, axes)
    if kind == "point":
        return np.asarray(shapely.points(points))
    type_ = getattr(shapely.GeometryType, kind.upper())
    return np.asarray(shapely.from_ragged_array(type_, points, tuple(reversed(offsets))))


def _floats(structs: pa.Array, names: Sequence[str]) -> Boxes:
    """Return the named fields of structs: [structs, names]."""
    parts = [structs.field(structs.type.get_field_index(name)) for name in names]
    columns = [np.asarray(one.fill_null(np.nan), np.float64) for one in parts]
    return np.stack(columns, axis=1) if len(structs) else np.empty((0, len(names)))


def boxes_of(shapes: Geometries) -> Boxes:
    """Return the bounding boxes of geometries: [geometries, 4]."""
    import shapely

    return np.asarray(shapely.bounds(shapes)).reshape(len(shapes), 4)


def column_boxes(values: pa.Array, name: str) -> Boxes:
    """Return the bounding boxes of the geometries of a column: [rows, 4], NaN where there is none.

    Raises QueryFailed for a value that is no geometry.
    """
    if name != f"{PREFIX}point":
        return boxes_of(geometries(values, name))
    points = _floats(values, _AXES[:2])
    points[mask_of(values.is_null())] = np.nan
    return np.concatenate([points, points], axis=1)


def binary_of(text: str) -> bytes:
    """Return a geometry as well-known binary. Raises QueryFailed for invalid text."""
    import shapely

    _check_text(text)
    try:
        return bytes(shapely.to_wkb(shapely.from_wkt(text)))
    except shapely.errors.ShapelyError as error:
        raise QueryFailed(f"no geometry: {error}") from error

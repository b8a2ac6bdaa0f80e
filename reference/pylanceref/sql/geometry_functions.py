"""Functions of queries over geometries.

A column says by its extension name what it holds; text is well-known text, and what functions
return as a geometry is well-known binary. Where one side is null the result is null.
"""

from __future__ import annotations

import pyarrow as pa
from lanceref.index.geometry import Geometries, geometries

RELATIONS = {
    "st_contains": "contains",
    "st_coveredby": "covered_by",
    "st_covers": "covers",
    "st_crosses": "crosses",
    "st_disjoint": "disjoint",
    "st_equals": "equals",
    "st_intersects": "intersects",
    "st_overlaps": "overlaps",
    "st_touches": "touches",
    "st_within": "within",
}
"""Functions of two geometries that say how they lie to each other, and the names of these."""

MEASURES = {"st_distance": "distance"}
"""Functions of two geometries that return a float."""

MADE = {"st_geomfromtext": pa.utf8(), "st_geomfromwkb": pa.binary()}
"""Functions that make a geometry, and of what."""

NAMES = frozenset({*RELATIONS, *MEASURES, *MADE})
"""Every function over geometries."""


BINARY_OF = "#wkb "
"""Begins the name of the column that has the geometries of another one as well-known binary."""


def binary_of_column(column: pa.Array, extension: str) -> pa.Array:
    """Return the geometries of a column as well-known binary. Raises QueryFailed."""
    import shapely

    return pa.array(shapely.to_wkb(geometries(column, extension)), pa.binary())


def _read(held: pa.Array) -> Geometries:
    """Return geometries written as text or in binary form: no binary form begins like a text."""
    values = held.to_pylist()
    is_text = [one is not None and one[:1] not in (b"\0", b"\1", b"0") for one in values]
    texts = [one.decode() if text else None for one, text in zip(values, is_text, strict=True)]
    parts = [None if text else one for one, text in zip(values, is_text, strict=True)]
    found = geometries(pa.array(parts, pa.binary()), "")
    written = geometries(pa.array(texts, pa.utf8()), "")
    found[is_text] = written[is_text]
    return found


def binary(held: pa.Array) -> pa.Array:
    """Return geometries as well-known binary."""
    import shapely

    return pa.array(shapely.to_wkb(_read(held)), pa.binary())


def related(name: str, left: pa.Array, right: pa.Array) -> pa.Array:
    """Return what a function says of two columns, null where one of them is."""
    import shapely

    sides = _read(left), _read(right)
    missing = shapely.is_missing(sides[0]) | shapely.is_missing(sides[1])
    found = getattr(shapely, RELATIONS.get(name) or MEASURES[name])(*sides)
    return pa.array(found, pa.bool_() if name in RELATIONS else pa.float64(), mask=missing)

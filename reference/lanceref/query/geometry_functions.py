"""Functions of queries over geometries.

A column says by its extension name what it holds; text is well-known text, and what functions
return as a geometry is well-known binary. Where one side is null the result is null.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from lanceref.core.errors import QueryRefused
from lanceref.core.extension_types import EXTENSION_KEY
from lanceref.index.geometry import Geometries, geometries, is_geometry
from lanceref.query.bound import Bound, apply
from lanceref.query.casts import Datum

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


def bind_geometry(name: str, arguments: Sequence[Bound], schema: pa.Schema) -> Bound:
    """Return a function of geometries, bound. Raises QueryRefused for what are none."""
    wanted = 1 if name in MADE else 2
    if len(arguments) != wanted:
        raise QueryRefused(f"{name} takes {wanted} arguments, got {len(arguments)}")
    names = [extension_of(one, schema) for one in arguments]
    for bound, extension in zip(arguments, names, strict=True):
        if not is_geometry(bound.type, extension):
            raise QueryRefused(f"{name} takes geometries, got {bound.type}")
    if name in MADE:
        return apply(_binary, *arguments, type_=pa.binary())
    shapely_name = RELATIONS.get(name) or MEASURES[name]
    type_ = pa.bool_() if name in RELATIONS else pa.float64()
    return apply(
        lambda left, right: _related(shapely_name, type_, (left, right), names),
        *arguments,
        type_=type_,
    )


def extension_of(bound: Bound, schema: pa.Schema) -> str:
    """Return the extension name of a column, empty without one."""
    if not bound.is_column or len(bound.paths) != 1:
        return ""
    first, *rest = min(bound.paths).split(".")
    field = schema.field(first)
    for name in rest:
        field = field.type.field(name)
    metadata = field.metadata or {}
    held: bytes = metadata.get(EXTENSION_KEY.encode(), b"")
    return held.decode("utf-8", "replace")


def _read(held: Datum, extension: str) -> Geometries:
    """Return geometries of a column, or one of a literal."""
    if isinstance(held, pa.Scalar):
        return geometries(pa.array([held.as_py()], held.type), extension)
    column = held.combine_chunks() if isinstance(held, pa.ChunkedArray) else held
    return geometries(column, extension)


def _binary(held: Datum) -> Datum:
    """Return geometries as well-known binary."""
    import shapely

    made = pa.array(shapely.to_wkb(_read(held, "")), pa.binary())
    return made[0] if isinstance(held, pa.Scalar) else made


def _related(name: str, type_: pa.DataType, sides: Sequence[Datum], names: Sequence[str]) -> Datum:
    """Return what holds for two columns, or a column and a literal."""
    import shapely

    left, right = (_read(one, extension) for one, extension in zip(sides, names, strict=True))
    missing = shapely.is_missing(left) | shapely.is_missing(right)
    found = pa.array(getattr(shapely, name)(left, right), type_, mask=missing)
    return found[0] if all(isinstance(one, pa.Scalar) for one in sides) else found

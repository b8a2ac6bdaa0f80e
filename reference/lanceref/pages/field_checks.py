"""Checks of a field that is read: its leaves agree on the layers they share, its nulls are allowed.

Siblings below a struct each repeat the layers they share. Levels and layers say which values are
null, whatever the schema says of the field; a table that breaks its own schema is refused. A null
under a null struct is none of the field's, and neither are items under a null list.

Clauses: L.page.siblings.validity, L.page.siblings.offsets, L.page.required.null
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.arrow_buffers import whole
from lanceref.core.errors import CorruptPage, Place
from lanceref.file.schema import Field
from lanceref.pages.layers import Layer


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


def _validity(layer: Layer) -> NDArray[np.bool_]:
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

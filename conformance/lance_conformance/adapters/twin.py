"""Twins: an operation of the reference as the same operation of pylance.

The two have classes of the same names and fields; only a fragment and a schema are carried over in
the forms both can read: JSON and field messages. A bitmap becomes a set.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from lanceref.core.compute import bitmaps
from lanceref.file.arrow_schema import field_message
from lanceref.file.schema import LanceSchema
from pylanceref.metadata import FragmentMetadata
from pylanceref.schema import LanceSchema as PublicSchema
from pylanceref.transactions import lance_schema


def twin(places: Sequence[Any], value: object) -> Any:
    """Return the object that says what `value` says, of the classes found in the modules `places`.

    Raises LookupError for a class that none of them has, and for a field that its class lacks.
    """
    if isinstance(value, FragmentMetadata):
        return _class(places, "FragmentMetadata").from_json(json.dumps(value.to_json()))
    if isinstance(value, LanceSchema | PublicSchema):
        held = lance_schema(value)
        messages = [field_message(one).SerializeToString() for one in held.flat()]
        return _class(places, "LanceSchema")._from_protos(json.dumps(held.metadata), *messages)
    if is_dataclass(value):
        given = {
            one.name.lstrip("_"): twin(places, getattr(value, one.name)) for one in fields(value)
        }
        made = _class(places, type(value).__qualname__)
        return made(**_offered(made, given))
    if isinstance(value, bitmaps.BitMap):
        return set(value)  # older releases take no other kind
    if isinstance(value, list | set):
        return type(value)(twin(places, one) for one in value)
    if isinstance(value, dict):
        return {key: twin(places, one) for key, one in value.items()}
    return value


def _offered(made: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Return what a class has fields for. Raises LookupError when more is said than it can hold."""
    held = {one.name.lstrip("_") for one in fields(made)}
    lost = sorted(name for name, value in given.items() if name not in held and value)
    if lost:
        raise LookupError(f"{made.__qualname__} has no {', '.join(lost)}")
    return {name: value for name, value in given.items() if name in held}


def _class(places: Sequence[Any], name: str) -> Any:
    """Return a class by its name, which may lie in another class."""
    outer, _, inner = name.rpartition(".")
    if outer:
        return getattr(_class(places, outer), inner)
    for place in places:
        if hasattr(place, inner):
            return getattr(place, inner)
    raise LookupError(f"no class {name}")

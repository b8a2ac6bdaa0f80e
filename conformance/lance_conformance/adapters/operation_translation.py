"""Translation of operations of the reference to those of pylance.

Both have classes of the same names and fields; fragments and schemas are converted through JSON and
field messages, which both can read. A bitmap becomes a set.
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


def translate_operation(modules: Sequence[Any], value: object) -> Any:
    """Return the equivalent of `value` with the classes found in `modules`.

    Raises LookupError for a class that no module has, and for a field that its class lacks.
    """
    if isinstance(value, FragmentMetadata):
        return _find_class(modules, "FragmentMetadata").from_json(json.dumps(value.to_json()))
    if isinstance(value, LanceSchema | PublicSchema):
        schema = lance_schema(value)
        messages = [field_message(one).SerializeToString() for one in schema.flat()]
        return _find_class(modules, "LanceSchema")._from_protos(
            json.dumps(schema.metadata), *messages
        )
    if is_dataclass(value):
        values = {
            one.name.lstrip("_"): translate_operation(modules, getattr(value, one.name))
            for one in fields(value)
        }
        cls = _find_class(modules, type(value).__qualname__)
        return cls(**_accepted_fields(cls, values))
    if isinstance(value, bitmaps.BitMap):
        return set(value)  # older releases accept only sets
    if isinstance(value, list | set):
        return type(value)(translate_operation(modules, one) for one in value)
    if isinstance(value, dict):
        return {key: translate_operation(modules, one) for key, one in value.items()}
    return value


def _accepted_fields(cls: Any, values: dict[str, Any]) -> dict[str, Any]:
    """Return the values of existing fields. Raises LookupError for other values that are set."""
    accepted = {one.name.lstrip("_") for one in fields(cls)}
    lost = sorted(name for name, value in values.items() if name not in accepted and value)
    if lost:
        raise LookupError(f"{cls.__qualname__} has no {', '.join(lost)}")
    return {name: value for name, value in values.items() if name in accepted}


def _find_class(modules: Sequence[Any], name: str) -> Any:
    """Return a class by its name, which may be nested."""
    outer, _, inner = name.rpartition(".")
    if outer:
        return getattr(_find_class(modules, outer), inner)
    for module in modules:
        if hasattr(module, inner):
            return getattr(module, inner)
    raise LookupError(f"no class {name}")

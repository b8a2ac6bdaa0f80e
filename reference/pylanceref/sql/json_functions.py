"""Functions of queries over documents of json columns.

A document comes as text, as a json column reads, or in binary form, as `json_get` returns it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import lru_cache
from typing import cast

import pyarrow as pa
from lanceref.core.errors import QueryFailed
from lanceref.core.query_limits import charge
from lanceref.json import json_text as jsontext
from lanceref.json.documents import text_of
from lanceref.json.json_path import Json, parse_path, select

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_FLOAT = re.compile(r"[+-]?(inf|infinity|nan)", re.IGNORECASE)

_INT64 = range(-(2**63), 2**63)


class _Absent:
    """No value: what is nowhere in a document."""


@lru_cache(64)
def _steps(path: str) -> list[Callable[[Json], list[Json]]]:
    return parse_path(path)


def _extract(value: Json, path: str) -> str | None:
    """Return what a path finds as text; more than one value are an array."""
    found = select(value, _steps(path))
    if not found:
        return None
    if len(found) == 1:
        return text_of(found[0])
    texts = []
    for one in found:
        texts.append(text_of(one))
        charge(len(texts[-1]))
    return f"[{','.join(texts)}]"


def _exists(value: Json, path: str) -> bool:
    return bool(select(value, _steps(path)))


def _array_length(value: Json, path: str) -> int | None:
    """Return the length of the array at a path, 0 where something else is, None for nothing."""
    found = select(value, _steps(path))
    if not found:
        return None
    return len(found[0]) if len(found) == 1 and isinstance(found[0], list) else 0


def _array_contains(value: Json, path: str, wanted: str | float | bool) -> bool:
    """Return whether the array at a path has a string, or a value that prints so."""
    found = select(value, _steps(path))
    if len(found) != 1 or not isinstance(found[0], list):
        return False
    text = wanted if isinstance(wanted, str) else text_of(wanted)
    return any(one == text or text_of(one) == text for one in found[0])


def _member(value: Json, key: str | int) -> object:
    """Return a member by its name or an element by its number, `_Absent` for none."""
    if isinstance(value, dict):
        return value.get(str(key), _Absent)
    if isinstance(value, list) and str(key).isdecimal() and int(key) < len(value):
        return value[int(key)]
    return _Absent


def _get(value: Json, key: str | int) -> bytes | None:
    found = _member(value, key)
    return None if found is _Absent else jsontext.document(text_of(cast("Json", found)))


def _typed(name: str, convert: Callable[[Json], object]) -> Callable[[Json, str | int], object]:
    """Return the function of members that are of a type or become one; null for null."""

    def get(value: Json, key: str | int) -> object:
        found = _member(value, key)
        if found is _Absent or found is None:
            return None
        made = convert(cast("Json", found))
        if made is None:
            raise QueryFailed(f"Execution error: Failed to convert to {name}: InvalidCast")
        return made

    return get


def _string(value: Json) -> str | None:
    if isinstance(value, list | dict):
        return None
    return value if isinstance(value, str) else text_of(value)


def _boolean(value: Json) -> bool | None:
    if isinstance(value, bool):
        return value
    words = {"true": True, "yes": True, "false": False, "no": False}
    return words.get(value.lower()) if isinstance(value, str) else None


def _integer(value: Json) -> int | None:
    """Return an integer; half a unit is rounded away from zero."""
    if isinstance(value, str):
        if not _NUMBER.fullmatch(value):
            return None
        value = int(value) if value.lstrip("+-").isdecimal() else float(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        value = int(math.copysign(math.floor(abs(value) + 0.5), value))
    return int(value) if isinstance(value, int) and value in _INT64 else None


def _float(value: Json) -> float | None:
    if isinstance(value, str) and not _NUMBER.fullmatch(value) and not _FLOAT.fullmatch(value):
        return None
    return float(value) if isinstance(value, str | int | float) else None


Function = Callable[..., object]

JSON_FUNCTIONS: dict[str, tuple[Function, int, pa.DataType]] = {
    "json_array_contains": (_array_contains, 3, pa.bool_()),
    "json_array_length": (_array_length, 2, pa.int64()),
    "json_exists": (_exists, 2, pa.bool_()),
    "json_extract": (_extract, 2, pa.utf8()),
    "json_get": (_get, 2, pa.large_binary()),
    "json_get_bool": (_typed("boolean", _boolean), 2, pa.bool_()),
    "json_get_float": (_typed("float", _float), 2, pa.float64()),
    "json_get_int": (_typed("integer", _integer), 2, pa.int64()),
    "json_get_string": (_typed("string", _string), 2, pa.utf8()),
}
"""Functions of one row by name, their arguments and the type of what they return."""

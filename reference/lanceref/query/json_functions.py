"""Functions of queries over documents of json columns.

A document comes as text, as a json column reads, or in binary form, as `json_get` returns it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from functools import lru_cache
from typing import cast

import pyarrow as pa

from lanceref.core.context import Context
from lanceref.core.errors import Place, QueryFailed, QueryRefused
from lanceref.json import json_text as jsontext
from lanceref.json import jsonb
from lanceref.query.budget import charge
from lanceref.query.casts import Datum
from lanceref.query.json_path import Json, parse_path, select

_NOWHERE = Place("a document of a query", 0, 0)

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_FLOAT = re.compile(r"[+-]?(inf|infinity|nan)", re.IGNORECASE)

_INT64 = range(-(2**63), 2**63)


class _Absent:
    """No value: what is nowhere in a document."""


def document(value: object) -> Json:
    """Return the document of a text or of its binary form. Raises QueryFailed, FormatError."""
    if isinstance(value, bytes):
        (value,) = jsonb.texts(
            pa.array([value], pa.large_binary()), Context(_NOWHERE.file), _NOWHERE
        ).to_pylist()
    try:
        return cast("Json", json.loads(str(value)))
    except (ValueError, RecursionError) as error:
        raise QueryFailed(f"Execution error: no JSON: {error}") from error


def text_of(value: Json) -> str:
    """Print a value: compact, numbers as a json column shows them."""
    if isinstance(value, float):
        return jsonb.double_text(value)
    if isinstance(value, list):
        return f"[{','.join(map(text_of, value))}]"
    if isinstance(value, dict):
        members = (f"{json.dumps(k, ensure_ascii=False)}:{text_of(v)}" for k, v in value.items())
        return f"{{{','.join(members)}}}"
    return json.dumps(value, ensure_ascii=False)


def _by_row(type_: pa.DataType, function: Callable[..., object]) -> Callable[..., Datum]:
    """Return a function of columns and constants; null where one of them is null."""

    def run(held: Datum, *others: Datum) -> Datum:
        _check(held)
        arguments = (held, *others)
        rows = [len(one) for one in arguments if not isinstance(one, pa.Scalar)]
        columns = [
            [one.as_py()] * (rows[0] if rows else 1)
            if isinstance(one, pa.Scalar)
            else one.to_pylist()
            for one in arguments
        ]
        found = [
            None if any(one is None for one in row) else function(document(row[0]), *row[1:])
            for row in zip(*columns, strict=True)
        ]
        return pa.array(found, type_) if rows else pa.scalar(found[0], type_)

    return run


def _check(held: Datum) -> None:
    known = (pa.types.is_string, pa.types.is_large_string, pa.types.is_large_binary)
    if not any(test(held.type) for test in known):
        raise QueryRefused(f"a JSON document is expected here, not {held.type}")


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


JSON_FUNCTIONS: dict[str, Callable[..., Datum]] = {
    "json_array_contains": _by_row(pa.bool_(), _array_contains),
    "json_array_length": _by_row(pa.int64(), _array_length),
    "json_exists": _by_row(pa.bool_(), _exists),
    "json_extract": _by_row(pa.utf8(), _extract),
    "json_get": _by_row(pa.large_binary(), _get),
    "json_get_bool": _by_row(pa.bool_(), _typed("boolean", _boolean)),
    "json_get_float": _by_row(pa.float64(), _typed("float", _float)),
    "json_get_int": _by_row(pa.int64(), _typed("integer", _integer)),
    "json_get_string": _by_row(pa.utf8(), _typed("string", _string)),
}

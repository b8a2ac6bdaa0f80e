"""Functions that Lance adds to those of DataFusion: documents, geometries and words.

A column says by its extension name which geometries it holds; text is well-known text, and what
functions return as a geometry is well-known binary. A document comes as text, as a json column
reads, or in binary form, as `json_get` returns it. Where an argument is null the result is null.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, cast

import pyarrow as pa
from lanceref.core.errors import LanceError, QueryFailed
from lanceref.core.query_limits import calling, charge
from lanceref.index.full_text.tokenizers import simple
from lanceref.index.geometry import Geometries, geometries
from lanceref.json import jsonb as jsontext
from lanceref.json.json_path import Json, document, parse_path, select, text_of

if TYPE_CHECKING:
    from datafusion import SessionContext


_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_FLOAT = re.compile(r"[+-]?(inf|infinity|nan)", re.IGNORECASE)

_INT64 = range(-(2**63), 2**63)


class _Absent:
    """No value: what is nowhere in a document."""


Function = Callable[..., object]


_steps = lru_cache(64)(parse_path)


def _found(function: Function) -> Function:
    """Return the function of a document and a path for one of what the path finds."""
    return lambda value, path, *others: function(select(value, _steps(path)), *others)


def _extract(found: list[Json]) -> str | None:
    """Return what a path finds as text; more than one value are an array."""
    if len(found) < 2:
        return text_of(found[0]) if found else None
    texts = []
    for one in found:
        texts.append(text_of(one))
        charge(len(texts[-1]))
    return f"[{','.join(texts)}]"


def _array(found: list[Json]) -> list[Json]:
    """Return the array that a path finds, an empty one for something else."""
    return found[0] if len(found) == 1 and isinstance(found[0], list) else []


def _array_contains(found: list[Json], wanted: str | float | bool) -> bool:
    """Return whether an array has a string, or a value that prints so."""
    text = wanted if isinstance(wanted, str) else text_of(wanted)
    return any(one == text or text_of(one) == text for one in _array(found))


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


JSON_FUNCTIONS: dict[str, tuple[Function, int, pa.DataType]] = {
    "json_array_contains": (_found(_array_contains), 3, pa.bool_()),
    "json_array_length": (_found(lambda one: len(_array(one)) if one else None), 2, pa.int64()),
    "json_exists": (_found(bool), 2, pa.bool_()),
    "json_extract": (_found(_extract), 2, pa.utf8()),
    "json_get": (_get, 2, pa.large_binary()),
    "json_get_bool": (_typed("boolean", _boolean), 2, pa.bool_()),
    "json_get_float": (_typed("float", _float), 2, pa.float64()),
    "json_get_int": (_typed("integer", _integer), 2, pa.int64()),
    "json_get_string": (_typed("string", _string), 2, pa.utf8()),
}
"""Functions of one row by name, their arguments and the type of what they return."""


RELATIONS = {
    f"st_{name.replace('_', '')}": name
    for name in (
        *("contains", "covered_by", "covers", "crosses", "disjoint", "distance", "equals"),
        *("intersects", "overlaps", "touches", "within"),
    )
}
"""Functions of two geometries that say how they lie to each other, and the names of these."""

NAMES = frozenset((*RELATIONS, "st_geomfromtext", "st_geomfromwkb"))
"""Every function over geometries; the last ones make one."""


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
    found[is_text] = geometries(pa.array(texts, pa.utf8()), "")[is_text]
    return found


def binary(held: pa.Array) -> pa.Array:
    """Return geometries of any encoding as well-known binary."""
    import shapely

    return pa.array(shapely.to_wkb(_read(held)), pa.binary())


def related(name: str, left: pa.Array, right: pa.Array) -> pa.Array:
    """Return what a function says of two columns, null where one of them is."""
    import shapely

    sides = _read(left), _read(right)
    missing = shapely.is_missing(sides[0]) | shapely.is_missing(sides[1])
    return pa.array(getattr(shapely, RELATIONS[name])(*sides), mask=missing)


ColumnFunction = Callable[..., pa.Array]
"""A function of whole columns."""

Note = Callable[[LanceError], None]
"""Keeps the error of a function."""

BINARY_HEADERS = (b"\x80", b"\x40", b"\x20\0")
"""First bytes of documents in binary form; a text has none of them."""


def register(session: SessionContext, note: Note) -> None:
    """Register the functions of Lance with a session; errors are noted."""
    from datafusion import udf

    text, geometry = pa.utf8(), pa.binary()
    found: dict[str, tuple[ColumnFunction, list[pa.DataType], pa.DataType]] = {
        "contains_tokens": (contains_tokens, [text, text], pa.bool_())
    }
    for name, (one, count, returned) in JSON_FUNCTIONS.items():
        arguments = [pa.large_binary(), *[text] * (count - 1)]
        found[name] = partial(_of_documents, one, returned), arguments, returned
    for name in NAMES - RELATIONS.keys():
        found[name] = binary, [geometry], geometry
    for name, method in RELATIONS.items():
        returned = pa.float64() if method == "distance" else pa.bool_()
        found[name] = partial(related, name), [geometry, geometry], returned
    for name, (function, arguments, returned) in found.items():
        session.register_udf(udf(_noted(function, note), arguments, returned, "immutable", name))


def _noted(function: ColumnFunction, note: Note) -> ColumnFunction:
    """Return a function with a budget of its own whose errors are kept."""

    def run(*arguments: pa.Array) -> pa.Array:
        try:
            with calling(QueryFailed):
                return function(*arguments)
        except LanceError as error:
            note(error)
            raise

    return run


def _of_documents(function: Function, type_: pa.DataType, *columns: pa.Array) -> pa.Array:
    """Apply a function to a document and more of each row; null where one of them is."""
    rows = zip(*(one.to_pylist() for one in columns), strict=True)
    found: list[object] = []
    for row in rows:
        if None in row:
            found.append(None)
            continue
        data = row[0]
        held = data if data.startswith(BINARY_HEADERS) else data.decode("utf-8", "replace")
        found.append(function(document(held), *row[1:]))
    return pa.array(found, type_)


def contains_tokens(texts: pa.Array, wanted: pa.Array) -> pa.Array:
    """Return whether each text has every word of another; null where one of them is null.

    A word is a run of letters and digits of any script, as it is written.

    Divergences: D.query.contains-tokens-nothing
    """
    found = [
        None if one is None or other is None else {*simple(other)[0]} <= {*simple(one)[0]}
        for one, other in zip(texts.to_pylist(), wanted.to_pylist(), strict=True)
    ]
    return pa.array(found, pa.bool_())

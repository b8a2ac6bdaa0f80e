"""Arrow expressions as SQL, so that they find and ask what SQL does.

Nothing but its Substrait form says what an Arrow expression is made of. That is a protobuf message:
scalar functions (3) of field references (2) and literals (1), and lists of choices (8). What has
no counterpart here has no SQL.

Layout: ExtendedExpression: 2 extensions {3 function {2 number, 3 name}}, 3 referred expressions
{1 expression}. Scalar function: 1 number, 4 arguments {3 expression}, 5 options {1 name, 2 choice}.
Reference: 1 {2 struct field {1 number, 2 the same below}}. List: 1 value, 2 choices.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

Part = int | bytes
"""A number, or bytes of text, of a message, of a fixed width."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_INFIX = {
    "equal": "=",
    "not_equal": "!=",
    "lt": "<",
    "lte": "<=",
    "gt": ">",
    "gte": ">=",
    "and": "and",
    "or": "or",
}
_CALLS = {"starts_with": "starts_with", "contains": "contains", "is_nan": "isnan"}
_BEHIND = {"is_null": "is null", "is_not_null": "is not null"}
_AS_WRITTEN = (b"case_sensitivity", b"CASE_SENSITIVE")


class _NoSql(Exception):
    """A part of an expression that has no SQL here."""


def sql_of(expression: pc.Expression, schema: pa.Schema) -> str | None:
    """Return an expression over columns as SQL, None when it has none."""
    try:
        from pyarrow.substrait import serialize_expressions  # built without it: no SQL

        held = [
            pa.field(f"\0{number}", pa.int8()) if _is_strange(field.type) else field
            for number, field in enumerate(schema)
        ]
        data = bytes(serialize_expressions([expression], ["filter"], pa.schema(held)))
    except (ImportError, pa.ArrowException, KeyError, ValueError):
        return None
    functions: dict[int, str] = {}
    trees: list[bytes] = []
    for number, part in _parts(data):
        if number == 2:
            for kind, function in _parts(_bytes(part)):
                named = dict(_parts(_bytes(function)))
                if kind == 3:
                    functions[_int(named.get(2, 0))] = _bytes(named[3]).decode()
        if number == 3:
            trees.append(_bytes(dict(_parts(_bytes(part)))[1]))
    try:
        (tree,) = trees
        return _Reader(schema, functions).sql(tree)
    except (_NoSql, KeyError, ValueError, OverflowError):
        return None


def _is_strange(type_: pa.DataType) -> bool:
    """Return whether Substrait has no such type; the column only keeps its place."""
    if isinstance(type_, pa.BaseExtensionType) or pa.types.is_fixed_size_list(type_):
        return True
    if pa.types.is_struct(type_):
        fields = [type_.field(number) for number in range(type_.num_fields)]
        return any(one.metadata is not None or _is_strange(one.type) for one in fields)
    is_list = pa.types.is_list(type_) or pa.types.is_large_list(type_)
    return is_list and _is_strange(type_.value_type)


def _parts(data: bytes) -> Iterator[tuple[int, Part]]:
    """Yield the fields of a message by their numbers."""
    at = 0

    def varint() -> int:
        nonlocal at
        found = shift = 0
        while True:
            byte = data[at]
            at, found, shift = at + 1, found | (byte & 127) << shift, shift + 7
            if byte < 128:
                return found

    while at < len(data):
        key = varint()
        width = {1: 8, 5: 4}.get(key & 7)
        if key & 7 == 0:
            yield key >> 3, varint()
            continue
        size = varint() if width is None else width
        yield key >> 3, data[at : at + size]
        at += size


def _int(part: Part) -> int:
    """Return a signed number."""
    if isinstance(part, bytes):
        raise _NoSql
    return part - (1 << 64) if part >> 63 else part


def _bytes(part: Part) -> bytes:
    if not isinstance(part, bytes):
        raise _NoSql
    return part


class _Reader:
    """Writes the SQL of one expression."""

    def __init__(self, schema: pa.Schema, functions: Mapping[int, str]) -> None:
        self._schema = schema
        self._functions = functions

    def sql(self, data: bytes) -> str:
        """Return an expression as SQL. Raises _NoSql."""
        ((kind, part),) = list(_parts(data))
        if kind == 1:
            return _literal(_bytes(part))
        if kind == 2:
            return self._column(_bytes(part))
        if kind == 3:
            return self._call(_bytes(part))
        if kind == 8:
            return self._choice(_bytes(part))
        raise _NoSql

    def _column(self, data: bytes) -> str:
        """Return the name of a column, and of the parts of it."""
        segment = dict(_parts(_bytes(dict(_parts(data))[1])))
        field: pa.Field | None = None
        names = []
        while segment:
            step = dict(_parts(_bytes(segment[2])))
            number = _int(step.get(1, 0))
            field = self._schema.field(number) if field is None else field.type.field(number)
            names.append(field.name)
            segment = dict(_parts(_bytes(step.get(2, b""))))
        if any("`" in name for name in names):
            raise _NoSql
        return ".".join(f"`{name}`" for name in names)

    def _call(self, data: bytes) -> str:
        """Return a call of a function as SQL."""
        number, arguments = 0, []
        for kind, part in _parts(data):
            if kind == 1:
                number = _int(part)
            elif kind == 4:
                arguments.append(self.sql(_bytes(dict(_parts(_bytes(part)))[3])))
            elif kind == 5 and tuple(one for _, one in _parts(_bytes(part))) != _AS_WRITTEN:
                raise _NoSql
        name = self._functions[number]
        if name in _INFIX:
            return f"({f' {_INFIX[name]} '.join(arguments)})"
        if name in _BEHIND:
            return f"({arguments[0]} {_BEHIND[name]})"
        if name == "not":
            return f"(not {arguments[0]})"
        return f"{_CALLS[name]}({', '.join(arguments)})"

    def _choice(self, data: bytes) -> str:
        """Return a value among others as SQL."""
        parts = [(kind, self.sql(_bytes(part))) for kind, part in _parts(data)]
        value = next(text for kind, text in parts if kind == 1)
        choices = [text for kind, text in parts if kind == 2]
        if not choices or "null" in choices:
            raise _NoSql
        return f"({value} in ({', '.join(choices)}))"


def _literal(data: bytes) -> str:
    """Return a literal as SQL. Raises _NoSql for a type that is not written here."""
    parts = [(kind, part) for kind, part in _parts(data) if kind in _LITERALS]
    if len(parts) != 1:
        raise _NoSql
    ((kind, part),) = parts
    return _LITERALS[kind](part)


def _text(part: Part) -> str:
    return "'" + _bytes(part).decode().replace("'", "''") + "'"


def _float(part: Part) -> str:
    (value,) = struct.unpack("<f" if len(_bytes(part)) == 4 else "<d", _bytes(part))
    finite = value - value == 0
    return repr(value) if finite else f"cast('{value}' as double)"


def _decimal(part: Part) -> str:
    """Return a decimal: 1 value, 2 digits in all, 3 digits behind the point."""
    held = dict(_parts(_bytes(part)))
    digits, scale = _int(held[2]), _int(held.get(3, 0))
    value = Decimal(int.from_bytes(_bytes(held[1]), "little", signed=True)).scaleb(-scale)
    return f"cast('{value:f}' as decimal({digits}, {scale}))"


def _large_text(part: Part) -> str:
    """Return text of a type that Substrait does not have: 2 {2 {1 text}}."""
    inside = dict(_parts(_bytes(dict(_parts(_bytes(part)))[2])))
    if not _bytes(inside[1]).endswith(b"google.protobuf.StringValue"):
        raise _NoSql
    return _text(dict(_parts(_bytes(inside[2]))).get(1, b""))


_LITERALS: dict[int, Callable[[Part], str]] = {
    1: lambda part: "true" if part else "false",
    **dict.fromkeys((2, 3, 5, 7), lambda part: str(_int(part))),
    10: _float,
    11: _float,
    12: _text,
    13: lambda part: f"X'{_bytes(part).hex()}'",
    14: lambda part: f"timestamp '{_moment(_int(part)):%Y-%m-%d %H:%M:%S.%f}'",
    16: lambda part: f"date '{_moment(_int(part) * 86_400_000_000):%Y-%m-%d}'",
    24: _decimal,
    29: lambda _: "null",
    33: _large_text,
}
"""How each type of literal is written."""


def _moment(microseconds: int) -> datetime:
    """Return a moment by the microseconds since 1970."""
    return _EPOCH + timedelta(microseconds=microseconds)

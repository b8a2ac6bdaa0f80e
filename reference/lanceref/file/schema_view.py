"""Schema, as it is shown: the fields that names choose, and extension types under their names.

A name with dots names a field below others, any part of which may be quoted in backticks.

An Arrow extension type is a storage type under a name with parameters; in a schema that is stored,
name and parameters are two entries of the field's metadata. pyarrow shows the parameters of its own
extension types only in the C form of a schema: i32 number of pairs, then for each pair i32 length
and bytes of the key, i32 length and bytes of the value.

Changing the leaves of a nested array keeps everything above them: validity and offsets stay as they
are, only the type and the children are new.

Clause: L.file.schema.extension-name
"""

from __future__ import annotations

import ctypes
import re
import struct
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

import pyarrow as pa

from lanceref.core.arrow_buffers import children_of, nests_fixed_size_lists, whole
from lanceref.core.errors import NotFound
from lanceref.file.schema import Field, LanceSchema

QUOTED = re.compile(r"`((?:[^`]|``)+)`(?:\.(?=.)|$)")
"""A name in backticks, and the point that follows it."""


def project(schema: LanceSchema, names: Iterable[str]) -> tuple[Field, ...]:
    """Return the named fields in the order asked for; `a.b` keeps only `b` of struct `a`.

    A name with a point or other signs may be quoted in backticks.
    Raises NotFound for a name the schema does not have.
    """
    chosen: dict[str, list[str]] = {}
    top = {f.name: f for f in schema.fields}
    for name in names:
        first, rest = next_name(name, top)
        if first not in top:
            valid = ", ".join(top)
            raise NotFound(f"Schema error: No field named {name}. Valid fields are {valid}.")
        if not rest:
            chosen[first] = []
        elif first not in chosen or chosen[first]:
            chosen.setdefault(first, []).append(rest)
    return tuple(_prune(top[name], below) for name, below in chosen.items())


def split_path(path: str) -> tuple[str, str]:
    """Return the first name of a path and what follows its point.

    A name may be quoted in backticks, where one of its own is doubled; an unclosed quote is part of
    the name.
    """
    quoted = QUOTED.match(path)
    if quoted is None:
        first, _, rest = path.partition(".")
        return first, rest
    return quoted[1].replace("``", "`"), path[quoted.end() :]


def next_name(path: str, names: Collection[str]) -> tuple[str, str]:
    """Split a path whose first name is one of some; where that is none, all of it may be."""
    first, rest = split_path(path)
    return (path, "") if first not in names and path in names else (first, rest)


def names_in(path: str) -> Iterator[str]:
    """Yield the names that a path consists of, outermost first."""
    while path:
        name, path = split_path(path)
        yield name


def joined_path(names: Iterable[str]) -> str:
    """Return the path of a field from the names on the way to it, those with a point quoted."""
    quoted = ("`" + one.replace("`", "``") + "`" if set(one) & {".", "`"} else one for one in names)
    return ".".join(quoted)


def _prune(whole: Field, names: list[str]) -> Field:
    """Keep of a struct only the named children (all when no names are given)."""
    if not names:
        return whole
    if whole.logical_type != "struct":
        raise NotFound(f"{whole.name!r} is a {whole.logical_type} and has no field {names[0]!r}")
    kept = project(LanceSchema(whole.children), names)
    type_ = pa.struct([f.arrow for f in kept])
    packed = (whole.packed or whole) if whole.is_packed else None
    return replace(whole, children=kept, arrow=whole.arrow.with_type(type_), packed=packed)


_PAIRS = struct.Struct("@i")

FAILURES = (
    pa.ArrowException, ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError,
    TypeError, ValueError,
)  # fmt: skip
"""What a class of a type may raise that cannot read what is stored of it."""


class _ArrowSchema(ctypes.Structure):
    """The first members of the C form of a field."""

    _fields_ = [
        ("format", ctypes.c_char_p),
        ("name", ctypes.c_char_p),
        ("metadata", ctypes.c_void_p),
    ]


class _InCForm:
    """A schema or batch of which only the C form is shown, so that it is read anew."""

    def __init__(self, held: pa.Schema | pa.RecordBatch) -> None:
        self._held = held

    def __arrow_c_schema__(self) -> object:
        return self._held.__arrow_c_schema__()

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        capsules: tuple[object, object] = self._held.__arrow_c_array__(requested_schema)
        return capsules


def resolved(schema: pa.Schema) -> pa.Schema:
    """Return the schema with the extension types that pyarrow knows by their names.

    A name over a storage type that does not fit stays what it is: an entry of the metadata.
    """
    try:
        return pa.schema(_InCForm(schema))
    except FAILURES:
        return schema


def resolved_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch under the `resolved` form of its schema, without a copy."""
    return pa.record_batch(_InCForm(batch))


def storage_of(field: pa.Field) -> tuple[pa.DataType, dict[str, str]]:
    """Return the storage type of a field and its metadata, extension name and parameters too."""
    if not isinstance(field.type, pa.BaseExtensionType):
        pairs = (field.metadata or {}).items()
        return field.type, {key.decode(): value.decode() for key, value in pairs}
    return field.type.storage_type, _stored_metadata(field)


def _stored_metadata(field: pa.Field) -> dict[str, str]:
    """Read the metadata out of the C form of a field."""
    capsule = field.__arrow_c_schema__()
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    schema = _ArrowSchema.from_address(pointer_of(capsule, b"arrow_schema"))
    at = schema.metadata
    texts: list[str] = []
    (pairs,) = _PAIRS.unpack(ctypes.string_at(at, 4))
    at += 4
    for _ in range(2 * pairs):
        (size,) = _PAIRS.unpack(ctypes.string_at(at, 4))
        texts.append(ctypes.string_at(at + 4, size).decode())
        at += 4 + size
    return dict(zip(texts[::2], texts[1::2], strict=True))


def from_start(array: pa.Array) -> pa.Array:
    """Return the array with offset 0, as a copy where it has another."""
    return pa.concat_arrays([array, array.slice(0, 0)]) if array.offset else array


def mapped(
    array: pa.Array, type_: pa.DataType, child: Callable[[int, pa.Array], pa.Array]
) -> pa.Array:
    """Return an array of `type_` over the children that `child` makes of those of `array`.

    `child` takes the number of a child and the child; lengths stay as they are.
    """
    array = from_start(array)
    children = [child(number, below) for number, below in enumerate(children_of(array))]
    validity_only = pa.types.is_struct(type_) or pa.types.is_fixed_size_list(type_)
    buffers = array.buffers()[: 1 if validity_only else 2]
    return pa.Array.from_buffers(type_, len(array), buffers, array.null_count, 0, children)


def with_leaves(field: pa.Field, leaf: Callable[[pa.DataType], pa.DataType]) -> pa.Field:
    """Return a field with other types where it has no children; an extension type stays."""
    type_, types = field.type, pa.types
    if isinstance(type_, pa.BaseExtensionType):
        return field
    kinds = (types.is_struct, types.is_list, types.is_large_list, types.is_fixed_size_list)
    if not any(is_kind(type_) for is_kind in (*kinds, types.is_map)):
        return field.with_type(leaf(type_))
    below = [with_leaves(type_.field(number), leaf) for number in range(type_.num_fields)]
    return field.with_type(type_over(type_, below))


def without_view(type_: pa.DataType) -> pa.DataType:
    """Return text or bytes in place of a view, of which pyarrow takes no rows; others as it is."""
    return {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}.get(type_, type_)


def type_over(type_: pa.DataType, below: Sequence[pa.Field]) -> pa.DataType:
    """Return a nested type over other children."""
    if pa.types.is_struct(type_):
        return pa.struct(below)
    (item,) = below
    if pa.types.is_large_list(type_):
        return pa.large_list(item)
    if pa.types.is_fixed_size_list(type_):
        return pa.list_(item, type_.list_size)
    if pa.types.is_map(type_):
        return pa.map_(*item.type, keys_sorted=type_.keys_sorted)
    return pa.list_(item)


R = TypeVar("R", pa.Table, pa.RecordBatch)


def whole_rows(rows: R) -> R:
    """Return rows of which pyarrow takes the right ones: the same, or with columns copied."""
    if not any(map(nests_fixed_size_lists, rows.schema.types)):
        return rows
    if isinstance(rows, pa.RecordBatch):
        return pa.RecordBatch.from_arrays([*map(whole, rows.columns)], schema=rows.schema)
    return pa.Table.from_arrays([*map(_whole_parts, rows.columns)], schema=rows.schema)


def _whole_parts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pa.chunked_array([*map(whole, column.chunks)], column.type)

"""Coverage of types: the logical types in schemas of each file version."""

from __future__ import annotations

from collections.abc import Iterator

from google.protobuf.message import Message
from lanceref.proto import file_pb2

from lance_conformance.coverage.messages import Fact

_INTEGERS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
_UNITS = ("s", "ms", "us", "ns")
_ALL_VERSIONS = (
    *("null", "bool", *_INTEGERS, "halffloat", "float", "double"),
    *("string", "large_string", "binary", "large_binary", "fixed_size_binary"),
    *("date32:day", "date64:ms", "time32:s", "time32:ms", "time64:us", "time64:ns"),
    *(f"duration:{unit}" for unit in _UNITS),
    *(f"timestamp:{unit}" for unit in _UNITS),
    *(f"timestamp:{unit} with a zone" for unit in _UNITS),
    *("decimal:128", "decimal:256"),
    *(f"dict:{key}" for key in _INTEGERS),
    *("struct", "list", "list.struct", "large_list", "large_list.struct"),
    *("fixed_size_list", "fixed_size_list of bfloat16"),
)
_SINCE_2_2 = (*_ALL_VERSIONS, "map", "fixed_size_list of structs", "fixed_size_list of lists")

AXES: dict[str, tuple[str, ...]] = {
    "type in 0.1": _ALL_VERSIONS,
    "type in 2.0": (*_ALL_VERSIONS, "json"),
    "type in 2.1": (*_ALL_VERSIONS, "json"),
    "type in 2.2": (*_SINCE_2_2, "json"),
    "type in 2.3": (*_SINCE_2_2, "json"),
}
"""Axes of logical types, without unbounded parameters."""


def message_facts(message: Message, version: str) -> Iterator[Fact]:
    """Yield the type of one field of a schema."""
    if isinstance(message, file_pb2.Field):
        yield f"type in {version}", _without_parameters(message.logical_type)


def _without_parameters(logical: str) -> str:
    kind, _, rest = logical.partition(":")
    if kind == "timestamp":
        unit, _, zone = rest.partition(":")
        return f"timestamp:{unit}" + ("" if zone == "-" else " with a zone")
    if kind == "fixed_size_list":
        item = rest.partition(":")[0]
        named = {"lance.bfloat16": "bfloat16", "struct": "structs", "fixed_size_list": "lists"}
        return f"{kind} of {named[item]}" if item in named else kind
    if kind == "decimal":
        return f"decimal:{rest.partition(':')[0]}"
    if kind == "dict":
        return f"dict:{rest.split(':')[-2]}"
    return kind if kind == "fixed_size_binary" else logical

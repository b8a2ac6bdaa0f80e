"""Accepted types: the Arrow types that a reader may return in place of the expected one.

The table holds for the whole suite and is printed in every report, so that leniency is visible; a
case may extend it. Names of list items, nullability and metadata are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

ACCEPTED_TYPES: Mapping[str, tuple[str, ...]] = {
    "string": ("large_string", "string_view"),
    "binary": ("large_binary", "binary_view"),
    "list": ("large_list", "list_view", "large_list_view"),
    "dictionary": ("its value type",),
    "run_end_encoded": ("its value type",),
    "extension": ("its storage type",),
}
"""Other types that are accepted for a type."""

ExtraTypes = Mapping[str, Sequence[str]]
"""Types that one case accepts in addition: other types by expected type, as Arrow names."""


def canonical_type(kind: pa.DataType) -> str:
    """Return a name that is the same for all types that are accepted for each other."""
    if isinstance(kind, pa.BaseExtensionType):
        return canonical_type(kind.storage_type)
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return canonical_type(kind.value_type)
    if pa.types.is_fixed_size_list(kind):
        return f"fixed_size_list[{kind.list_size}]<{canonical_type(kind.value_type)}>"
    if pa.types.is_map(kind):
        return f"map<{canonical_type(kind.key_type)}, {canonical_type(kind.item_type)}>"
    if pa.types.is_nested(kind) and not pa.types.is_struct(kind) and hasattr(kind, "value_type"):
        return f"list<{canonical_type(kind.value_type)}>"
    if pa.types.is_struct(kind):
        return (
            f"struct<{', '.join(f'{field.name}: {canonical_type(field.type)}' for field in kind)}>"
        )
    name = str(kind).removeprefix("large_").removesuffix("_view")
    return name if name in ("string", "binary") else str(kind)


def schema_difference(expected: pa.Schema, found: pa.Schema, widened: ExtraTypes) -> str | None:
    """Return how the columns differ in names or types, None when the types are accepted."""
    if expected.names != found.names:
        return f"columns: expected {expected.names}, found {found.names}"
    for ours, theirs in zip(expected, found, strict=True):
        if str(theirs.type) in widened.get(str(ours.type), ()):
            continue
        if canonical_type(ours.type) != canonical_type(theirs.type):
            return f"column {ours.name}: expected type {ours.type}, found {theirs.type}"
    return None


def accepted_differences(expected: pa.Schema, found: pa.Schema) -> Iterator[str]:
    """Yield each column whose type is accepted but is not the expected one."""
    for ours, theirs in zip(expected, found, strict=True):
        if not ours.type.equals(theirs.type) and _type_signature(ours.type) != _type_signature(
            theirs.type
        ):
            yield f"{ours.name}: {theirs.type} taken for {ours.type}"


def _type_signature(kind: pa.DataType) -> str:
    """Return the type without the names and nullability of list items."""
    if pa.types.is_struct(kind):
        return (
            f"struct<{', '.join(f'{field.name}: {_type_signature(field.type)}' for field in kind)}>"
        )
    if pa.types.is_nested(kind) and hasattr(kind, "value_type"):
        size = getattr(kind, "list_size", "")
        return f"{kind.id}[{size}]<{_type_signature(kind.value_type)}>"
    return str(kind)

"""Accepted types: where a reader may give another Arrow type than the expected one.

The table is suite-wide and is printed in every report, so that leniency is visible; a case may
widen it. Names of list items, nullability and metadata are no part of a type here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

ACCEPTED: Mapping[str, tuple[str, ...]] = {
    "string": ("large_string", "string_view"),
    "binary": ("large_binary", "binary_view"),
    "list": ("large_list", "list_view", "large_list_view"),
    "dictionary": ("its value type",),
    "run_end_encoded": ("its value type",),
    "extension": ("its storage type",),
}
"""Types that count as one."""

Widened = Mapping[str, Sequence[str]]
"""What one case accepts beside: expected type → other types, by their Arrow names."""


def canonical(kind: pa.DataType) -> str:
    """Return a name that is the same for types that count as one."""
    if isinstance(kind, pa.BaseExtensionType):
        return canonical(kind.storage_type)
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return canonical(kind.value_type)
    if pa.types.is_fixed_size_list(kind):
        return f"fixed_size_list[{kind.list_size}]<{canonical(kind.value_type)}>"
    if pa.types.is_map(kind):
        return f"map<{canonical(kind.key_type)}, {canonical(kind.item_type)}>"
    if pa.types.is_nested(kind) and not pa.types.is_struct(kind) and hasattr(kind, "value_type"):
        return f"list<{canonical(kind.value_type)}>"
    if pa.types.is_struct(kind):
        return f"struct<{', '.join(f'{field.name}: {canonical(field.type)}' for field in kind)}>"
    name = str(kind).removeprefix("large_").removesuffix("_view")
    return name if name in ("string", "binary") else str(kind)


def mismatch(expected: pa.Schema, found: pa.Schema, widened: Widened) -> str | None:
    """Return how the columns differ in names or types, None when they count as the same."""
    if expected.names != found.names:
        return f"columns: expected {expected.names}, found {found.names}"
    for ours, theirs in zip(expected, found, strict=True):
        if str(theirs.type) in widened.get(str(ours.type), ()):
            continue
        if canonical(ours.type) != canonical(theirs.type):
            return f"column {ours.name}: expected type {ours.type}, found {theirs.type}"
    return None


def leniencies(expected: pa.Schema, found: pa.Schema) -> Iterator[str]:
    """Yield each column whose type was not the expected one and yet accepted."""
    for ours, theirs in zip(expected, found, strict=True):
        if not ours.type.equals(theirs.type) and _skeleton(ours.type) != _skeleton(theirs.type):
            yield f"{ours.name}: {theirs.type} taken for {ours.type}"


def _skeleton(kind: pa.DataType) -> str:
    """Return the type as written, without the names and nullability of list items."""
    if pa.types.is_struct(kind):
        return f"struct<{', '.join(f'{field.name}: {_skeleton(field.type)}' for field in kind)}>"
    if pa.types.is_nested(kind) and hasattr(kind, "value_type"):
        size = getattr(kind, "list_size", "")
        return f"{kind.id}[{size}]<{_skeleton(kind.value_type)}>"
    return str(kind)

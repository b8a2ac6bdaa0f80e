"""Undetectable damage: the bytes that the format keeps without any means to see a change.

A flip may change the answer only in the bytes listed here. Any other byte that changes it must at
least be reported by `validate`; if it is not, the flip escaped.

Value bytes, by the kind of their owner:

* `<type>[]`, `bytes`, `zipped value`, `packed rows`, `n-bit values`, `blob`, `dictionary keys`,
  `bitpacked ...`, symbols and compressed blocks: stored values; the format has no checksum, and
  every pattern is a value;
* `bitmap`: one null, or one deleted row, more or less;
* `levels`, `u16[]` levels, control words: another level in the legal range is another null or
  another end of a list;
* `offsets ...`: an end moved between its neighbours moves bytes or items from one row to the next.

Facts that lie in one place only, by the name of the field that holds them: names, nullability,
types of equal width and metadata of the schema, and values inside the description of a page.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

from lanceref.core.spans import Span

VALUES = (
    "*[[]]",
    "bitmap",
    "levels",
    "offsets *",
    "bytes",
    "bytes *",
    "zipped value",
    "packed rows",
    "*-bit values",
    "blob",
    "dictionary keys *",
    "bitpacked *",
    "fsst *",
    "lz4 *",
    "zstd *",
    "rle *",
)
"""Kinds of leaf whose bytes are values."""

SCHEMA_FACTS = ("name", "nullable", "logical_type", "extension_name", "key", "value")
"""Fields of the schema that nothing else in a file repeats."""

PAGE_FACTS = ("symbol_table", "inline_value", "step")
"""Fields of the description of a page that are values."""


def owners(root: Span) -> dict[int, tuple[Span, bool]]:
    """Return the owner of every byte, and whether it lies inside a schema."""
    owned: dict[int, tuple[Span, bool]] = {}

    def walk(span: Span, in_schema: bool) -> None:
        in_schema = in_schema or span.name.endswith(": Field")
        if span.is_leaf:
            owned.update(dict.fromkeys(range(span.start, span.end), (span, in_schema)))
        for child in span.children:
            walk(child, in_schema)

    walk(root, False)
    return owned


def may_change(owner: Span, in_schema: bool) -> bool:
    """Whether a change of the owner's bytes may change what is read without anybody noticing."""
    if owner.kind == "proto field":
        return owner.name in (SCHEMA_FACTS if in_schema else PAGE_FACTS)
    return any(fnmatchcase(owner.kind, pattern) for pattern in VALUES)

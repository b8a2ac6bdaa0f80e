"""Anatomy of a file: its regions, numbers, page buffers and padding.

The spans that `explain` returns for the undamaged file determine the mutations, the region of each
byte, and which damage is undetectable: bytes whose changes no reader can detect. A flip may change
the rows only in the bytes listed here; `validate` must report any other flip that does.

Value bytes, by the kind of their owner:

* `<type>[]`, `bytes`, `zipped value`, `constant value`, `packed rows`, `n-bit values`, `blob`,
  `dictionary keys`, `bitpacked ...`, symbols and compressed blocks: stored values; the format has
  no checksum, and every pattern is a value;
* `bitmap`: one null, or one deleted row, more or less;
* `levels`, `levels u16`, `u16[]` levels, control words: another level in the legal range is another
  null or another end of a list;
* `offsets ...`: another end between its neighbours moves bytes or items from one row to the next.

Facts that are stored once, by the name of their field: names, nullability, types of equal width and
metadata of the schema, and values in the encoding of a page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property

from lanceref.core.context import Context
from lanceref.core.errors import LanceError
from lanceref.core.spans import Span
from lanceref.data_file.data_file import open_file
from lanceref.inspection import explain_source
from lanceref.storage import BytesSource

VALUES = (
    "*[[]]",
    "bitmap",
    "levels",
    "levels *",
    "constant value",
    "offsets *",
    "bytes",
    "bytes *",
    "byte streams",
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
"""Fields of the schema that a file stores once."""

IN_SCHEMA = (": Field", ": MetadataEntry", ": SchemaMetadataEntry")
"""Suffixes of the names of messages of a schema."""

PAGE_FACTS = ("symbol_table", "inline_value", "step")
"""Fields of the encoding of a page that are values."""


def is_undetectable(owner: Span, in_schema: bool) -> bool:
    """Whether a change of the owner's bytes may change the rows without being detected."""
    if owner.kind == "proto field":
        return owner.name in (SCHEMA_FACTS if in_schema else PAGE_FACTS)
    return any(fnmatchcase(owner.kind, pattern) for pattern in VALUES)


PADDING = "padding"
PAGES = "page buffers"
DATA = "data"

REGIONS = {"footer": "footer", "CMO": "column table", "GBO": "global buffer table"}
"""Regions by the name of the group of a leaf."""

SCHEMA_GROUPS = frozenset({"file descriptor"})
COLUMN_GROUPS = "column metadata"

WORD_BYTES = {"u64": 8, "u32": 4, "i64": 8, "pages i64": 8, "header": 4, "message prefix": 4}
"""Kinds of leaf that are offsets, sizes or counts, and the width of one number in bytes."""

MAX_WORDS = 16
"""Most numbers of one leaf that are replaced."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of a byte: the leaf span, whether it is part of a schema, and its region."""

    leaf: Span
    in_schema: bool
    region: str

    @property
    def undetectable(self) -> bool:
        """Whether no reader can detect a change of the byte: a value, or padding."""
        return self.region == PADDING or is_undetectable(self.leaf, self.in_schema)


@dataclass(frozen=True)
class Anatomy:
    """The bytes of a file with their owners; `name` determines the format."""

    name: str
    data: bytes

    @cached_property
    def owners(self) -> dict[int, Owner]:
        """The owner of every byte that a reader reads."""
        if self.name.endswith(".blob"):
            whole = Owner(Span(0, len(self.data), "blobs", "blob"), False, DATA)
            return dict.fromkeys(range(len(self.data)), whole)
        root = explain_source(BytesSource(self.data, self.name)).root
        owned: dict[int, Owner] = {}
        for leaf, path in _leaves(root, ()):
            in_schema = any(name.endswith(IN_SCHEMA) for name in path)
            owner = Owner(leaf, in_schema, _region(leaf, path))
            owned.update(dict.fromkeys(range(leaf.start, leaf.end), owner))
        return owned

    @cached_property
    def buffers(self) -> tuple[tuple[int, int], ...]:
        """Start and end of every page buffer, or of the leaves with values in other files."""
        try:
            source = BytesSource(self.data, self.name)
            columns = open_file(source, Context(self.name)).columns
        except LanceError:
            leaves = {owner.leaf.start: owner.leaf for owner in self.owners.values()}
            return tuple(
                (leaf.start, leaf.end)
                for leaf in leaves.values()
                if is_undetectable(leaf, in_schema=False) and leaf.end - leaf.start >= 8
            )
        extents = [extent for column in columns for page in column.pages for extent in page.extents]
        return tuple((offset, offset + size) for offset, size in extents if size)

    @cached_property
    def words(self) -> tuple[tuple[int, int], ...]:
        """Offset and width of every number of the footer and the tables."""
        words: list[tuple[int, int]] = []
        for leaf in {id(owner.leaf): owner.leaf for owner in self.owners.values()}.values():
            width = WORD_BYTES.get(leaf.kind)
            if width is not None and self.region(leaf.start) not in (PAGES, DATA):
                last = min(leaf.end, leaf.start + MAX_WORDS * width) - width
                words += [(at, width) for at in range(leaf.start, last + 1, width)]
        return tuple(sorted(words))

    @property
    def has_versions(self) -> bool:
        """Whether the file ends with two version words and the magic."""
        return self.data[-4:] == b"LANC"

    def region(self, at: int) -> str:
        """Region of a byte."""
        owner = self.owners.get(at)
        return "unowned" if owner is None else owner.region

    def region_of(self, places: Sequence[int]) -> str:
        """Region of damaged bytes, or that they are in several; a truncation has none."""
        regions = {self.region(at) for at in places}
        if not regions:
            return "the file's length"
        return regions.pop() if len(regions) == 1 else "several regions"

    def leaf_of(self, places: Sequence[int]) -> str:
        """Name of the leaf of damaged bytes; empty if there are several."""
        names = {self.owners[at].leaf.name for at in places if at in self.owners}
        return names.pop() if len(names) == 1 else ""

    def undetectable(self, places: Sequence[int]) -> bool:
        """Whether there are damaged bytes, and no reader can detect a change of any of them."""
        return bool(places) and all(
            at in self.owners and self.owners[at].undetectable for at in places
        )


def _leaves(span: Span, path: tuple[str, ...]) -> Iterator[tuple[Span, tuple[str, ...]]]:
    if span.is_leaf:
        yield span, path
    for child in span.children:
        yield from _leaves(child, (*path, span.name))


def _region(leaf: Span, path: tuple[str, ...]) -> str:
    if leaf.kind == "padding":
        return PADDING
    for name in path:
        if name in REGIONS:
            return REGIONS[name]
        if name in SCHEMA_GROUPS:
            return "schema buffer"
        if name.startswith(COLUMN_GROUPS):
            return "column metadata"
        if " page " in name or name.startswith(("batch ", "field ")):
            return PAGES
    return DATA if is_undetectable(leaf, in_schema=False) else "metadata"

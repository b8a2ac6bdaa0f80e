"""Negative cases of 0.1: footer, metadata, page table, pages, dictionaries, statistics."""

from __future__ import annotations

from collections.abc import Callable

from lanceref.proto.file_pb2 import Field, Metadata
from lanceref.proto.table_pb2 import Manifest

from lance_conformance.recipes.messages import manifest, setting
from lance_conformance.recipes.model import Change, MessageEdit, Negative, Resize, SpanPatch
from lance_conformance.recipes.tables.edits import byte

DATA_FILE = "data/*.lance"
WORKED = "container/worked"
UNSIZED = "container/no-size"


def _case(
    parent: str,
    slug: str,
    title: str,
    clause: str,
    change: Change,
    kind: str = "negative-dataset",
) -> Negative:
    topic, name = parent.split("/")
    prefix = "lint" if kind == "lint" else "neg"
    return Negative(
        id=f"file/0.1/{topic}/{prefix}-{name}-{slug}",
        title=title,
        clause=f"L.legacy.{clause}",
        parent=f"file/0.1/{parent}",
        change=change,
        meaning=title,
        kind=kind,
    )


def _lint(parent: str, slug: str, title: str, clause: str, change: Change) -> Negative:
    return _case(parent, slug, title, clause, change, kind="lint")


def _span(
    *path: str, new: int | bytes | Callable[[bytes], bytes], nth: int = 0, at: int = 0
) -> SpanPatch:
    return SpanPatch(path, new, nth, at, DATA_FILE)


def _byte(*path: str, at: int, new: int, nth: int = 0) -> SpanPatch:
    patch = byte(*path, at=at, new=new, nth=nth)
    return SpanPatch(path, patch.new, nth, 0, DATA_FILE)


def i64(*values: int) -> bytes:
    """Return numbers as in the page table."""
    return b"".join(value.to_bytes(8, "little", signed=True) for value in values)


def _pages(field_id: int, *, position: int | None = None, length: int | None = None) -> SpanPatch:
    """Change position or length of a field's page in batch 0."""
    value, at = (position, 0) if position is not None else (length, 8)
    assert value is not None
    return _span("page table", f"pages of id {field_id}", new=i64(value), at=at)


def _metadata(edit: Callable[[Metadata], None]) -> MessageEdit:
    return MessageEdit("metadata", edit, DATA_FILE)


def _field(**values: object) -> MessageEdit:
    """Change the first field of the table's schema."""
    return manifest(lambda message: setting(**values)(message.fields[0]))


def _dictionary(edit: Callable[[Field], None]) -> MessageEdit:
    return manifest(lambda message: edit(message.fields[0]))


def _one_more(offsets: bytes) -> bytes:
    """Move the end of the first value one byte on."""
    return offsets[:8] + i64(int.from_bytes(offsets[8:16], "little") + 1) + offsets[16:]


def _unknown_field(message: Manifest) -> None:
    """Name a second field that the file has no pages for."""
    field = message.fields.add()
    field.CopyFrom(message.fields[0])
    field.name, field.id = "b", 1
    message.fragments[0].files[0].fields.append(1)


_CONTAINER = (
    _case(UNSIZED, "size", "a file of ten bytes", "footer.size",
          Resize(keep=10, target=DATA_FILE)),
    _case(UNSIZED, "only-footer", "a file that is nothing but a footer", "footer.position",
          Resize(keep=0, append=bytes(8) + b"\0\0\2\0LANC", target=DATA_FILE)),
    _case(WORKED, "magic", "a file that ends with LANX", "footer.magic",
          _span("footer", "magic", new=b"LANX")),
    _case(WORKED, "version", "version words 0, 3", "footer.version",
          _span("footer", "minor", new=3)),
    _case(WORKED, "version-huge", "version words 65535, 2", "footer.version",
          _span("footer", "major", new=0xFFFF)),
    _lint(WORKED, "version-old", "version words 0, 1", "footer.version-written",
          _span("footer", "minor", new=1)),
    _case(WORKED, "position", "metadata in the footer", "footer.position",
          _span("footer", "metadata_position", new=295)),
    _case(WORKED, "position-huge", "metadata at 2**64 - 1", "footer.position",
          _span("footer", "metadata_position", new=2**64 - 1)),
    _case(WORKED, "metadata-length", "metadata that reaches into the footer", "metadata.length",
          _span("metadata section", "length", new=120)),
    _case(WORKED, "metadata-bytes", "metadata that does not parse", "metadata.message",
          _byte("metadata section", "manifest_position", at=0, new=0xFF)),
    _lint(WORKED, "metadata-end", "bytes between metadata and footer", "metadata.end",
          _span("metadata section", "length", new=8)),
    _case(WORKED, "no-batches", "no batch offsets", "metadata.batches",
          _byte("metadata section", "batch_offsets", at=0, new=0x32)),
    _case(UNSIZED, "one-offset", "one batch offset", "metadata.batches",
          _metadata(lambda m: m.batch_offsets.__delitem__(-1))),
    _case("container/batches", "falling", "batch offsets 0, 6, 3, 7", "metadata.batch-offsets",
          _span("metadata section", "batch_offsets", new=b"\x12\x04\x00\x06\x03\x07")),
    _case("container/batches", "first", "batch offsets from 1", "metadata.batch-offsets",
          _byte("metadata section", "batch_offsets", at=2, new=1)),
    _case("container/batches", "same", "a batch without rows", "metadata.batch-offsets",
          _byte("metadata section", "batch_offsets", at=3, new=6)),
    _case(UNSIZED, "manifest-position", "a manifest after the file", "manifest.position",
          _metadata(setting(manifest_position=2**40))),
    _case(WORKED, "manifest-late", "a manifest of which two bytes lie before the metadata",
          "manifest.position", _metadata(setting(manifest_position=170))),
    _case(WORKED, "manifest-length", "a manifest that reaches into the metadata",
          "manifest.section", _span("manifest section", "length", new=61)),
    _case(WORKED, "manifest-bytes", "a manifest that does not parse", "manifest.message",
          _byte("manifest section", "name", at=0, new=0xFF)),
    _lint(WORKED, "manifest-version", "a manifest inside of version 2", "manifest.content",
          _span("manifest section", "version", new=b"\x18\x02")),
)  # fmt: skip

_PAGE_TABLE = (
    _case(UNSIZED, "table-position", "a page table after the file", "page-table.extent",
          _metadata(setting(page_table_position=2**40))),
    _case(WORKED, "table-late", "a page table that ends in the manifest", "page-table.extent",
          _byte("metadata", "page_table_position", at=1, new=100)),
    _case(WORKED, "page-negative", "a page at -4", "page-table.range", _pages(0, position=-4)),
    _case(WORKED, "page-late", "a page that reaches into the page table", "page-table.range",
          _pages(0, position=1)),
    _case(WORKED, "page-huge", "a page at 2**63 - 1", "page-table.range",
          _pages(0, position=2**63 - 1)),
    _case(WORKED, "page-short", "a page of two of three rows", "page-table.length",
          _pages(0, length=2)),
    _case(WORKED, "page-long", "a page of four rows, and a batch of three", "page-table.length",
          _pages(0, length=4)),
    _case("list/lists", "offsets-short", "a page of lists with as many offsets as rows",
          "page-table.length", _pages(0, length=5)),
    _case("list/lists", "offsets-late", "offsets that reach into the page table",
          "page-table.range", _pages(0, position=30)),
    _case("list/of-lists", "no-end", "a page of inner lists without the offset that ends it",
          "page-table.length", _pages(1, length=0)),
    _case("list/lists", "items-negative", "a page of -1 items", "page-table.length",
          _pages(1, length=-1)),
    _lint("container/hole", "hole", "a page for an id that no field has", "page-table.holes",
          _pages(1, length=2)),
    _case(WORKED, "no-pages", "a field that the page table does not reach", "column.pages",
          manifest(_unknown_field)),
    _case("plain/vectors", "type", "vectors of strings", "column.type",
          _field(logical_type="fixed_size_list:string:2")),
    _lint("container/hole", "overlap", "two fields on one page", "layout.overlap",
          _pages(2, position=0)),
    _lint(WORKED, "gap", "statistics that nothing refers to", "layout.gaps",
          _byte("metadata", "tag and length of statistics", at=0, new=0x32)),
)  # fmt: skip

_PAGES = (
    _case("binary/bytes", "falling", "offsets 0, 3, 1, 3", "binary.ascending",
          _span("field b", "offsets", new=i64(3), at=8)),
    _case("binary/bytes", "outside", "an offset after the data", "binary.offsets",
          _span("field l", "offsets", new=i64(2**40), at=24)),
    _case("binary/bytes", "negative", "an offset of -1", "binary.offsets",
          _span("field b", "offsets", new=i64(-1))),
    _case("binary/strings", "utf8", "a string that is not UTF-8", "binary.utf8",
          _byte("field s", "bytes of values", at=0, new=0xFF)),
    _case("list/lists", "first", "a first offset of 1", "list.first-offset",
          _byte("field l", "offsets", at=0, new=1)),
    _case("list/large", "falling", "offsets 0, 4, 1, 3", "list.ascending",
          _byte("field l", "offsets", at=8, new=4)),
    _case("list/lists", "items", "offsets that leave out an item", "list.items",
          _byte("field l", "offsets", at=20, new=4)),
    _case("list/lists", "items-more", "offsets that name an item too many", "list.items",
          _byte("field l", "offsets", at=20, new=6)),
    _case("list/of-structs", "children", "children of three and two items", "struct.children",
          _pages(3, length=2)),
    _case("dictionary/strings", "key", "a key of 2, and two values", "dictionary.key-range",
          _byte("field d", "values", at=1, new=2)),
    _case("dictionary/strings", "key-negative", "a key of -1", "dictionary.key-range",
          _byte("field d", "values", at=0, new=0xFF)),
    _case("dictionary/strings", "no-location", "a schema that does not say where the values are",
          "dictionary.location", _dictionary(lambda f: f.ClearField("dictionary"))),
    _case("dictionary/strings", "far", "values after the file", "dictionary.values",
          _dictionary(lambda f: setting(offset=2**40)(f.dictionary))),
    _case("dictionary/strings", "many", "2**40 values", "dictionary.values",
          _dictionary(lambda f: setting(length=2**40)(f.dictionary))),
    _case("dictionary/integers", "type", "booleans as values", "dictionary.value-type",
          _field(logical_type="dict:bool:int8:false")),
)  # fmt: skip

_STATISTICS = (
    _lint(WORKED, "null-count", "four nulls in three rows", "statistics.null-count",
          _span("statistics of field 0", "values", new=i64(4))),
    _lint(WORKED, "bound", "a greatest value of 1, and one null", "statistics.bounds",
          _byte("statistics of field 0", "values", at=0, new=1, nth=2)),
    _lint("statistics/strings", "bound", "a least string that is not the least",
          "statistics.bounds",
          _byte("statistics of field 0", "bytes of values", at=0, new=0x62, nth=0)),
    _lint("statistics/floats", "zero-sign", "a least zero that is positive",
          "statistics.zero-sign",
          _byte("statistics of field 0", "values", at=7, new=0, nth=1)),
    _lint("statistics/binary", "prefix", "a bound of 65 bytes", "statistics.prefix",
          _span("statistics of field 0", "offsets", new=_one_more)),
    _lint(WORKED, "ids", "ids 0, 1, 3, 3", "statistics.fields",
          _byte("metadata", "fields", at=4, new=3)),
    _lint(WORKED, "no-ids", "no ids", "statistics.no-fields",
          _byte("metadata", "fields", at=0, new=0x22)),
    _lint(WORKED, "name", "statistics of a field a", "statistics.schema",
          _byte("metadata", "schema: Field", "name", at=2, new=0x61)),
    _lint(WORKED, "types", "a greatest value of another type than the least", "statistics.schema",
          _span("metadata", "schema: Field", "logical_type", new=b"64", nth=3, at=5)),
    _lint("statistics/structs", "covered", "statistics of a field that has none",
          "statistics.covered", _byte("metadata", "schema: Field", "name", at=2, new=0x30)),
)  # fmt: skip

NEGATIVES: tuple[Negative, ...] = (*_CONTAINER, *_PAGE_TABLE, *_PAGES, *_STATISTICS)
"""Every negative case of 0.1."""

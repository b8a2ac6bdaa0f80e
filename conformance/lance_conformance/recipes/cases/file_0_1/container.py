"""Cases of files of 0.1: footer, metadata, page table, statistics; how files are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from lanceref.proto.table_pb2 import Manifest

from lance_conformance.recipes.columns import with_column
from lance_conformance.recipes.constructors import case, fault, lint
from lance_conformance.recipes.edits import DATA_FILES, byte, data_file, manifest
from lance_conformance.recipes.handmade_files import edited
from lance_conformance.recipes.model import Input, MessageEdit, Paths, Recipe, Resize, SpanPatch
from lance_conformance.recipes.oracle_files import dataset, stored, write


def span(
    *path: str, new: int | bytes | Callable[[bytes], bytes], nth: int = 0, at: int = 0
) -> SpanPatch:
    return SpanPatch(path, new, nth, at, DATA_FILES)


byte_of = partial(byte, target=DATA_FILES)


def i64(*values: int) -> bytes:
    """Return numbers as in the page table."""
    return b"".join(value.to_bytes(8, "little", signed=True) for value in values)


def pages(field_id: int, *, position: int | None = None, length: int | None = None) -> SpanPatch:
    """Change position or length of a field's page in batch 0."""
    value, at = (position, 0) if position is not None else (length, 8)
    assert value is not None
    return span("page table", f"pages of id {field_id}", new=i64(value), at=at)


LEGACY = {"data_storage_version": "legacy"}
INT32 = pa.int32()


def early_table(
    arrays: Mapping[str, pa.Array], reads: Mapping[str, list[object]] | None = None, **options: Any
) -> Callable[[], Input]:
    """Return a maker of a table; `reads` says what columns read as that come back otherwise."""
    table = expected = pa.table(dict(arrays))
    for name, values in (reads or {}).items():
        expected = with_column(expected, name, values)
    return stored(table, holds=expected, version="legacy", **options)


POINT = pa.struct([("x", pa.int32()), ("name", pa.string())])


def _metadata(edit: Paths) -> MessageEdit:
    return MessageEdit("metadata", edit, DATA_FILES)


def _unknown_field(message: Manifest) -> None:
    """Name a second field that the file has no pages for."""
    field = message.fields.add()
    field.CopyFrom(message.fields[0])
    field.name, field.id = ("b", 1)
    message.fragments[0].files[0].fields.append(1)


def _hole(uri: str) -> pa.Table:
    """Drop the second of three fields and all rows; what is appended has the ids 0 and 2."""
    rows = pa.table({name: pa.array([1, 2], INT32) for name in "abc"})
    ds = write(rows, uri, **LEGACY)
    ds.drop_columns(["b"])
    ds.delete("a > 0")
    for path in Path(uri, "data").iterdir():
        path.unlink()
    rows = rows.select(["a", "c"])
    write(rows, uri, mode="append")
    return rows


WORKED = early_table({"a": pa.array([1, None, 3], INT32)}, {"a": [1, 0, 3]})
_PAIRS = pa.table({"a": pa.array([3, 1, 2], pa.int32()), "b": pa.array([7, 9, 8], pa.int32())})


def _one_more(offsets: bytes) -> bytes:
    """Move the end of the first value one byte on."""
    return offsets[:8] + i64(int.from_bytes(offsets[8:16], "little") + 1) + offsets[16:]


_ADDED = pa.table({"a": pa.array([1, 2], INT32)})


CASES: tuple[Recipe, ...] = (
    case("file/0.1/container/worked", "the worked example: 311 bytes", ("L.legacy.layout.gaps",
            "L.legacy.plain.values", "L.legacy.plain.nulls", "L.legacy.page-table.first-id"),
        WORKED),
    fault("worked-magic", "a file that ends with LANX", "L.legacy.footer.magic",
        span("footer", "magic", new=b"LANX")),
    fault("worked-version", "version words 0, 3", "L.legacy.footer.version",
        span("footer", "minor", new=3)),
    fault("worked-version-huge", "version words 65535, 2", "L.legacy.footer.version",
        span("footer", "major", new=0xFFFF)),
    lint("worked-version-old", "version words 0, 1", "L.legacy.footer.version-written",
        span("footer", "minor", new=1)),
    fault("worked-position", "metadata in the footer", "L.legacy.footer.position",
        span("footer", "metadata_position", new=295)),
    fault("worked-position-huge", "metadata at 2**64 - 1", "L.legacy.footer.position",
        span("footer", "metadata_position", new=2 ** 64 - 1)),
    fault("worked-metadata-length", "metadata that reaches into the footer",
        "L.legacy.metadata.length", span("metadata section", "length", new=120)),
    fault("worked-metadata-bytes", "metadata that does not parse", "L.legacy.metadata.message",
        byte_of("metadata section", "manifest_position", at=0, new=0xFF)),
    lint("worked-metadata-end", "bytes between metadata and footer", "L.legacy.metadata.end",
        span("metadata section", "length", new=8)),
    fault("worked-no-batches", "no batch offsets", "L.legacy.metadata.batches",
        byte_of("metadata section", "batch_offsets", at=0, new=0x32)),
    fault("worked-manifest-late", "a manifest of which two bytes lie before the metadata",
        "L.legacy.manifest.position", _metadata({"manifest_position": 170})),
    fault("worked-manifest-length", "a manifest that reaches into the metadata",
        "L.legacy.manifest.section", span("manifest section", "length", new=61)),
    fault("worked-manifest-bytes", "a manifest that does not parse", "L.legacy.manifest.message",
        byte_of("manifest section", "name", at=0, new=0xFF)),
    lint("worked-manifest-version", "a manifest inside of version 2", "L.legacy.manifest.content",
        span("manifest section", "version", new=b"\x18\x02")),
    fault("worked-table-late", "a page table that ends in the manifest",
        "L.legacy.page-table.extent", byte_of("metadata", "page_table_position", at=1, new=100)),
    *(fault(f"worked-page-{slug}", title, f"L.legacy.page-table.{clause}", pages(0, **where))
        for slug, title, clause, where in (("negative", "a page at -4", "range", {"position": -4}),
            ("late", "a page that reaches into the page table", "range", {"position": 1}),
            ("huge", "a page at 2**63 - 1", "range", {"position": 2 ** 63 - 1}),
            ("short", "a page of two of three rows", "length", {"length": 2}),
            ("long", "a page of four rows, and a batch of three", "length", {"length": 4}))),
    fault("worked-no-pages", "a field that the page table does not reach", "L.legacy.column.pages",
        manifest(_unknown_field)),
    lint("worked-gap", "statistics that nothing refers to", "L.legacy.layout.gaps",
        byte_of("metadata", "tag and length of statistics", at=0, new=0x32)),
    lint("worked-null-count", "four nulls in three rows", "L.legacy.statistics.null-count",
        span("statistics of field 0", "values", new=i64(4))),
    lint("worked-bound", "a greatest value of 1, and one null", "L.legacy.statistics.bounds",
        byte_of("statistics of field 0", "values", at=0, new=1, nth=2)),
    lint("worked-ids", "ids 0, 1, 3, 3", "L.legacy.statistics.fields",
        byte_of("metadata", "fields", at=4, new=3)),
    lint("worked-no-ids", "no ids", "L.legacy.statistics.no-fields",
        byte_of("metadata", "fields", at=0, new=0x22)),
    lint("worked-name", "statistics of a field a", "L.legacy.statistics.schema",
        byte_of("metadata", "schema: Field", "name", at=2, new=0x61)),
    lint("worked-types", "a greatest value of another type than the least",
        "L.legacy.statistics.schema",
        span("metadata", "schema: Field", "logical_type", new=b"64", nth=3, at=5)),
    fault("worked-wide", "a page of more values than it has bytes", "L.legacy.page-table.length",
        SpanPatch(("page table", "pages of id 0"), b"\x00\x00\x01", at=8, target="data/*.lance"),
        also="L.legacy.plain.values"),
    case("file/0.1/container/no-size", "a manifest that does not say the size of its file",
        "L.legacy.footer.size", edited(WORKED, data_file({"file_size_bytes": None}))),
    fault("no-size-size", "a file of ten bytes", "L.legacy.footer.size",
        Resize(keep=10, target="data/*.lance")),
    fault("no-size-only-footer", "a file that is nothing but a footer", "L.legacy.footer.position",
        Resize(keep=0, append=bytes(8) + b"\x00\x00\x02\x00LANC", target="data/*.lance")),
    fault("no-size-no-metadata", "a file that is a length of 0 and a footer",
        "L.legacy.metadata.batches",
        Resize(keep=0, append=bytes(12) + b"\x00\x00\x02\x00LANC", target="data/*.lance")),
    fault("no-size-one-offset", "one batch offset", "L.legacy.metadata.batches",
        _metadata({"batch_offsets.-1": None})),
    fault("no-size-manifest-position", "a manifest after the file", "L.legacy.manifest.position",
        _metadata({"manifest_position": 2 ** 40})),
    fault("no-size-table-position", "a page table after the file", "L.legacy.page-table.extent",
        _metadata({"page_table_position": 2 ** 40})),
    case("file/0.1/container/batches", "seven rows in batches of three",
        "L.legacy.metadata.batch-offsets",
        early_table({"a": pa.array(range(7), INT32), "s": pa.array(list("abcdefg"))},
            max_rows_per_group=3)),
    fault("batches-falling", "batch offsets 0, 6, 3, 7", "L.legacy.metadata.batch-offsets",
        span("metadata section", "batch_offsets", new=b"\x12\x04\x00\x06\x03\x07")),
    fault("batches-first", "batch offsets from 1", "L.legacy.metadata.batch-offsets",
        byte_of("metadata section", "batch_offsets", at=2, new=1)),
    fault("batches-same", "a batch without rows", "L.legacy.metadata.batch-offsets",
        byte_of("metadata section", "batch_offsets", at=3, new=6)),
    lint("batches-statistics", "a manifest that states a format, and no statistics",
        "L.legacy.statistics.covered",
        byte_of("metadata", "tag and length of statistics", at=0, new=0x32),
        also="L.legacy.layout.gaps"),
    case("file/0.1/container/two-files", "two fragments of one batch each",
        "L.legacy.metadata.batches",
        early_table({"a": pa.array(range(4), INT32)}, max_rows_per_file=2, max_rows_per_group=2)),
    case("file/0.1/container/added-column", "a file whose page table begins at id 1",
        "L.legacy.page-table.first-id", stored(_ADDED, lambda ds: ds.add_columns({"b": "a * 2"}),
            holds=_ADDED.append_column("b", pa.array([2, 4], INT32)), version="legacy")),
    case("file/0.1/container/hole", "a file without the field 1: a row of zeros in its page table",
        "L.legacy.page-table.holes", dataset(_hole)),
    lint("hole-hole", "a page for an id that no field has", "L.legacy.page-table.holes",
        pages(1, length=2)),
    lint("hole-overlap", "two fields on one page", "L.legacy.layout.overlap", pages(2, position=0)),
    case("file/0.1/container/first-gone", "a file whose first column counts no longer",
        "L.legacy.page-table.first-id",
        edited(stored(_PAIRS, holds=_PAIRS.select(["b"]), version="legacy"),
            manifest({"fields": lambda old: old[1:], "fragments.0.files.0.fields.0": -2}))),
    case("file/0.1/statistics/integers", "a batch of nulls has the bounds of the type",
        ("L.legacy.statistics.all-null", "L.legacy.statistics.null-count"),
        early_table({"a": pa.array([5, 1, None, None, 7, None], pa.int16())},
            {"a": [5, 1, 0, 0, 7, 0]}, max_rows_per_group=2)),
    case("file/0.1/statistics/floats", "NaN is left out, zeros have their signs",
        ("L.legacy.statistics.nan", "L.legacy.statistics.zero-sign"),
        early_table({"f": pa.array([0.0, 0.0, -1.0, -0.0, float("nan"), float("nan")])},
            max_rows_per_group=2)),
    lint("zero-sign", "a least zero that is positive", "L.legacy.statistics.zero-sign",
        byte_of("statistics of field 0", "values", at=7, new=0, nth=1)),
    lint("nan", "a greatest value that is no number", "L.legacy.statistics.bounds",
        SpanPatch(("statistics of field 0", "values"), bytes.fromhex("000000000000f87f"), 2,
            target="data/*.lance"), also="L.legacy.statistics.nan"),
    case("file/0.1/statistics/strings", "bounds of 64 bytes, the greatest made greater",
        ("L.legacy.statistics.prefix", "L.legacy.statistics.increment"), early_table(
            {"s": pa.array(["zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz",
                        "a", "üüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüü", "x"])},
            max_rows_per_group=2)),
    lint("bound", "a least string that is not the least", "L.legacy.statistics.bounds",
        byte_of("statistics of field 0", "bytes of values", at=0, new=0x62)),
    case("file/0.1/statistics/binary", "a greatest value that carries, and one that cannot grow",
        ("L.legacy.statistics.prefix", "L.legacy.statistics.increment"),
        early_table({"b": pa.array([b"a" + b"\xff" * 64, b"b", b"\xff" * 65, b"c"])},
            max_rows_per_group=2)),
    lint("prefix", "a bound of 65 bytes", "L.legacy.statistics.prefix",
        span("statistics of field 0", "offsets", new=_one_more)),
    case("file/0.1/statistics/structs", "fields in structs are covered, below lists not",
        ("L.legacy.statistics.covered", "L.legacy.statistics.schema", "L.legacy.statistics.fields"),
        early_table({"l": pa.array([[1], [2]], pa.list_(INT32)),
                "s": pa.array([{"x": 1, "name": "a"}, {"x": 2, "name": "b"}], POINT)})),
    lint("covered", "statistics of a field that has none", "L.legacy.statistics.covered",
        byte_of("metadata", "schema: Field", "name", at=2, new=0x30)),
    case("file/0.1/statistics/none", "timestamps have none", "L.legacy.statistics.covered",
        early_table({"t": pa.array([1, 2], pa.timestamp("us"))})),
)  # fmt: skip

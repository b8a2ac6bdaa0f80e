"""Cases of the container: footer, tables, descriptor, schema, pages."""

from __future__ import annotations

import pyarrow as pa

from lance_conformance.recipes.constructors import case, cases, fault, faults
from lance_conformance.recipes.edits import column_edit
from lance_conformance.recipes.model import Made, Maker, Recipe
from lance_conformance.recipes.oracle_made import column, file

_ROWS = pa.array([1, None, 3], pa.int32())
_TWO = pa.table({"a": pa.array([1, 2], pa.int32()), "b": pa.array(["x", None])})


_NESTED = pa.table({"lists": pa.array([[1, 2], None, [3]], pa.list_(pa.int32())),
    "texts": pa.array(["a", None, "c"]), "numbers": pa.array([1, None, 3], pa.int32()),
    "vectors": pa.array([[1.0, 2.0]] * 3, pa.list_(pa.float32(), 2)),
    "keys": pa.array(["x", "y", "x"]).dictionary_encode(),
    "structs": pa.array([{"a": 1, "b": [True]}, {"a": 2, "b": []}, {"a": 3, "b": None}]),
    "flags": pa.array([True, None, False])})  # fmt: skip


def _key(kind: str) -> pa.Field:
    """Return a field that is a key of the table which nobody enforces."""
    word = f"lance-schema:unenforced-{kind}-key"
    return pa.field("k", pa.int64(), False, {word: "true", f"{word}:position": "1"})


def _no_rows(version: str) -> Maker:
    """Return the case of a file with a column of each kind, of which no row is asked for."""
    return lambda: Made(file(_NESTED, version)().files, _NESTED.slice(0, 0))


CASES: tuple[Recipe, ...] = (
    case("file/2.0/container/footer-2-0", "the footer of a 2.0 file says 0, 3",
        ("L.file.footer.version-2-0", "L.file.footer.magic", "L.file.footer.size"), _ROWS),
    case("file/2.1/container/footer-2-1", "the footer of a 2.1 file says 2, 1",
        ("L.file.footer.version", "L.file.footer.num-columns", "L.file.footer.num-global-buffers"),
        _ROWS),
    case("file/2.1/container/two-columns",
        "two columns: metadata in column order, tables and footer after them", ("L.file.cmo.entry",
        "L.file.columns.order", "L.file.columns.message", "L.file.schema.num-columns"), _TWO),
    case("file/2.2/container/starts", "column metadata, tables and footer touch",
        ("L.file.footer.column-metadata-start", "L.file.footer.cmo-start",
            "L.file.footer.gbo-start"), _TWO),
    case("file/2.1/container/user-global-buffers",
        "two global buffers of the application before the descriptor",
        ("L.file.gbo.entry", "L.file.globals.descriptor", "L.file.alignment.buffers"),
        file(column(_ROWS), "2.1", global_buffers=(b"one", bytes(range(100))))),
    case("file/2.1/container/schema-metadata", "metadata of the schema",
        "L.file.globals.descriptor",
        file(column(_ROWS), "2.1", schema_metadata={"team": "conformance"})),
    case("file/2.1/container/extension-name",
        "an extension type: its name lies in the field and in its metadata",
        ("L.file.schema.extension-name", "L.file.schema.logical-type"),
        pa.Table.from_arrays([pa.array([bytes(16), None], pa.binary(16))],
            schema=pa.schema([pa.field("u", pa.binary(16),
                        metadata={"ARROW:extension:name": "arrow.uuid"})]))),
    case("file/2.1/container/no-rows", "no rows: columns without pages",
        ("L.file.descriptor.length", "L.file.columns.encoding"), pa.array([], pa.int32())),
    case("file/2.1/container/nested-schema", "parents before children, one column a leaf",
        ("L.file.schema.parent-first", "L.file.schema.unique-ids", "L.file.schema.children",
        "L.file.schema.top-level-names"), pa.table({"s": pa.array([{"x": 1, "y": {"z": "a"}}])})),
    case("file/2.0/container/padding", "buffers start at multiples of 64, with H between them",
        ("L.file.padding.value", "L.file.buffers.overlap", "L.file.pages.extent",
            "L.file.pages.extents-pair", "L.file.pages.encoding", "L.file.pages.type-url"),
        pa.array(["a", None, "bc"])),
    case("file/2.1/container/field-ids", "field ids that are not positions",
        "L.file.schema.unique-ids", pa.Table.from_arrays([pa.array([1], pa.int32()), pa.array([2],
        pa.int32())], schema=pa.schema([pa.field("a", pa.int32(), metadata={"lance:field_id": "7"}),
        pa.field("b", pa.int32(), metadata={"lance:field_id": "3"})]))),
    case("file/2.1/container/primary-key", "a field that is the primary key",
        "L.file.globals.descriptor", pa.Table.from_arrays([pa.array([1, 2]), pa.array([3, None])],
        schema=pa.schema([_key("primary"), pa.field("v", pa.int64())]))),
    case("file/2.1/container/clustering-key", "a field that rows are clustered by",
        "L.file.globals.descriptor",
        pa.Table.from_arrays([pa.array([1, 2])], schema=pa.schema([_key("clustering")]))),
    *cases("file/{2.0,2.1}/container/no-columns", "a file without columns, and so without rows",
        ("L.file.footer.column-metadata-start", "L.file.footer.num-columns"), pa.table({})),
    case("file/2.0/pages/int64", "six pages of one column",
        ("L.file.pages.length", "L.file.pages.priority"),
        file(column(pa.array(range(1800), pa.int64())), "2.0", batches=6, data_cache_bytes=1024)),
    *(case(f"file/{version}/pages/no-rows", "a take of no rows, from a column of each kind",
            "L.file.pages.length", _no_rows(version), args={"rows": []})
        for version in ("2.0", "2.1", "2.3")),
    *(case(f"file/{version}/pages/int32", "four pages, the first rows as priority",
        ("L.file.pages.priority", "L.file.pages.length"), file(column(pa.array(range(2000),
        pa.int32())), version, batches=4, data_cache_bytes=1024)) for version in ("2.1", "2.2")),
    *faults("file/2.2/pages/int32", fault("rows", "a page of one row less",
        "L.page.miniblock.num-items", column_edit({"pages.0.length": lambda old: old - 1}))),
)  # fmt: skip

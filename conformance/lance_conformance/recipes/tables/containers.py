"""Positive cases of the container: what lies around the pages, in any 2.x version."""

from __future__ import annotations

import pyarrow as pa

from lance_conformance.recipes.model import Positive
from lance_conformance.recipes.oracle_made import column, file

_ROWS = pa.array([1, None, 3], pa.int32())

_TWO = pa.table({"a": pa.array([1, 2], pa.int32()), "b": pa.array(["x", None])})


def _case(
    slug: str,
    title: str,
    clauses: tuple[str, ...],
    table: pa.Table,
    version: str,
    global_buffers: tuple[bytes, ...] = (),
    schema_metadata: dict[str, str] | None = None,
) -> Positive:
    return Positive(
        id=f"file/{version}/container/{slug}",
        title=title,
        clauses=clauses,
        make=file(table, version, global_buffers=global_buffers, schema_metadata=schema_metadata),
        version=version,
    )


_FIELD = pa.field("u", pa.binary(16), metadata={"ARROW:extension:name": "arrow.uuid"})

_IDS = pa.schema(
    [
        pa.field("a", pa.int32(), metadata={"lance:field_id": "7"}),
        pa.field("b", pa.int32(), metadata={"lance:field_id": "3"}),
    ]
)

_KEY = pa.schema(
    [
        pa.field(
            "k", pa.int64(), nullable=False,
            metadata={"lance-schema:unenforced-primary-key": "true",
                      "lance-schema:unenforced-primary-key:position": "1"},
        ),
        pa.field("v", pa.int64()),
    ]
)  # fmt: skip

_CLUSTERED = pa.schema(
    [
        pa.field(
            "k", pa.int64(), nullable=False,
            metadata={"lance-schema:unenforced-clustering-key": "true",
                      "lance-schema:unenforced-clustering-key:position": "1"},
        ),
    ]
)  # fmt: skip

POSITIVES: tuple[Positive, ...] = (
    _case(
        "footer-2-0",
        "the footer of a 2.0 file says 0, 3",
        ("L.file.footer.version-2-0", "L.file.footer.magic", "L.file.footer.size"),
        column(_ROWS), "2.0", ),
    _case(
        "footer-2-1",
        "the footer of a 2.1 file says 2, 1",
        ("L.file.footer.version", "L.file.footer.num-columns", "L.file.footer.num-global-buffers"),
        column(_ROWS), "2.1", ),
    _case(
        "two-columns",
        "two columns: metadata in column order, tables and footer after them",
        ("L.file.cmo.entry", "L.file.columns.order", "L.file.columns.message",
         "L.file.schema.num-columns"),
        _TWO, "2.1", ),
    _case(
        "starts",
        "column metadata, tables and footer touch",
        ("L.file.footer.column-metadata-start", "L.file.footer.cmo-start",
         "L.file.footer.gbo-start"),
        _TWO, "2.2", ),
    _case(
        "user-global-buffers",
        "two global buffers of the application before the descriptor",
        ("L.file.gbo.entry", "L.file.globals.descriptor", "L.file.alignment.buffers"),
        column(_ROWS), "2.1", global_buffers=(b"one", bytes(range(100))),
    ),
    _case(
        "schema-metadata",
        "metadata of the schema",
        ("L.file.globals.descriptor",),
        column(_ROWS), "2.1", schema_metadata={"team": "conformance"},
    ),
    _case(
        "extension-name",
        "an extension type: its name lies in the field and in its metadata",
        ("L.file.schema.extension-name", "L.file.schema.logical-type"),
        pa.Table.from_arrays(
            [pa.array([bytes(16), None], pa.binary(16))], schema=pa.schema([_FIELD])
        ),
        "2.1", ),
    _case(
        "no-rows",
        "no rows: columns without pages",
        ("L.file.descriptor.length", "L.file.columns.encoding"),
        column(pa.array([], pa.int32())), "2.1", ),
    _case(
        "nested-schema",
        "parents before children, one column a leaf",
        ("L.file.schema.parent-first", "L.file.schema.unique-ids", "L.file.schema.children",
         "L.file.schema.top-level-names"),
        pa.table({"s": pa.array([{"x": 1, "y": {"z": "a"}}])}), "2.1", ),
    _case(
        "padding",
        "buffers start at multiples of 64, with H between them",
        ("L.file.padding.value", "L.file.buffers.overlap", "L.file.pages.extent",
         "L.file.pages.extents-pair", "L.file.pages.encoding", "L.file.pages.type-url"),
        column(pa.array(["a", None, "bc"])), "2.0", ),
    _case(
        "field-ids",
        "field ids that are not positions",
        ("L.file.schema.unique-ids",),
        pa.Table.from_arrays([pa.array([1], pa.int32()), pa.array([2], pa.int32())], schema=_IDS),
        "2.1", ),
    _case(
        "primary-key",
        "a field that is the primary key",
        ("L.file.globals.descriptor",),
        pa.Table.from_arrays([pa.array([1, 2]), pa.array([3, None])], schema=_KEY),
        "2.1", ),
    _case(
        "clustering-key",
        "a field that rows are clustered by",
        ("L.file.globals.descriptor",),
        pa.Table.from_arrays([pa.array([1, 2])], schema=_CLUSTERED),
        "2.1", ),
)  # fmt: skip
"""Every positive case of the container."""

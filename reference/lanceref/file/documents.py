"""Documents: the content of json columns, held against its own clauses.

Clauses: L.json.header, L.json.entries, L.json.payload
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from lanceref import jsonb
from lanceref.context import Context
from lanceref.errors import Place
from lanceref.file.data_file import DataFile
from lanceref.file.schema import Field
from lanceref.nesting import children_of, from_start


def check_documents(opened: DataFile, field: Field) -> None:
    """Check every JSONB document at or below a field that reads without findings."""
    ctx = opened.bytes.ctx
    if not any(one.logical_type == "json" for one in field.flat()):
        return
    quiet = replace(opened, bytes=opened.bytes.during(replace(ctx, spans=None)), readers={})
    for array in quiet.open_field(field).scan(0, opened.num_rows):
        _check(array, field, ctx.during("decode"), opened.descriptor.place)


def _check(array: pa.Array, field: Field, ctx: Context, place: Place) -> None:
    if field.logical_type == "json":
        jsonb.check_documents(array, ctx, place)
    for below, child in zip(children_of(from_start(array)), field.children):
        _check(below, child, ctx, place)

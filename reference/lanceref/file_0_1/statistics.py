"""Statistics: null count, least and greatest value of every batch.

Stored like a small file inside the file: a schema of its own, a page table of its own with one
batch, and in it a row for each batch of the file. A reader may skip batches by them and never needs
them.

Layout (message Metadata.StatisticsMetadata): 1 schema: for every field with statistics, ascending
by id, a struct named by the decimal id with the children null_count (int64), min_value and
max_value (the field's type, nullable); ids count 0, 1, … depth first. 2 fields: all those ids. 3
page_table_position.

Clauses: L.legacy.statistics.schema, L.legacy.statistics.fields, L.legacy.statistics.no-fields,
L.legacy.statistics.covered, L.legacy.statistics.null-count, L.legacy.statistics.bounds,
L.legacy.statistics.zero-sign, L.legacy.statistics.prefix

Divergences: D.legacy.statistics-fields, D.legacy.statistics-types
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lanceref.core.cursor import FileBytes
from lanceref.core.errors import BadSchema, Place
from lanceref.file.schema import Field, LanceSchema, schema_of
from lanceref.file.schema_messages import parse_schema
from lanceref.file_0_1.batch_ranges import Pieces
from lanceref.file_0_1.bounds import Bounds, bounds_array, is_covered
from lanceref.file_0_1.column import open_node
from lanceref.file_0_1.metadata import Metadata
from lanceref.file_0_1.page_table import PageTable, parse_page_table

CHILDREN = ("null_count", "min_value", "max_value")
"""Names of the three children of each struct."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """The parsed statistics: by the text of a field id a struct array, one row for each batch."""

    by_field: dict[str, pa.Array]
    schema: LanceSchema
    table: PageTable
    place: Place


def covered_fields(schema: LanceSchema) -> Iterator[Field]:
    """Yield the fields that have statistics, ascending by id: none below a list."""
    fields = [field for top in schema.fields for field in _outside_lists(top)]
    yield from sorted(
        (field for field in fields if is_covered(field.arrow.type)), key=lambda field: field.id
    )


def _outside_lists(field: Field) -> Iterator[Field]:
    yield field
    if pa.types.is_struct(field.arrow.type):
        for child in field.children:
            yield from _outside_lists(child)


def parse_statistics(file: FileBytes, metadata: Metadata, end: int) -> Statistics | None:
    """Parse schema, page table and all pages, which end by `end`; None when there are none."""
    if not metadata.message.HasField("statistics"):
        return None
    message, place = metadata.message.statistics, metadata.place
    if not message.fields or min(message.fields) < 0:
        raise BadSchema(
            "L.legacy.statistics.no-fields",
            place,
            found=f"statistics of fields {list(message.fields)[:8]}",
            wanted="ids of 0 or more",
        )
    schema = parse_schema(message.schema, {}, file.ctx, place)
    ids = [field.id for field in schema.flat()]
    if list(message.fields) != ids or ids != list(range(len(ids))):
        file.ctx.lint(
            "L.legacy.statistics.fields",
            place,
            found=f"ids {list(message.fields)[:8]}",
            wanted="the ids of the schema, which count from 0",
        )
    table = parse_page_table(
        file,
        message.page_table_position,
        (0, max(message.fields)),
        1,
        (end, message.page_table_position),
    )
    rows = np.array([metadata.num_batches])
    found = {}
    for top in schema.fields:
        with file.ctx.group(f"statistics of field {top.name}"), file.ctx.piece():
            _check_shape(top, place)
            node = open_node(file, top, table, {}, rows)
            found[top.name] = node.read(Pieces.whole(0, metadata.num_batches))
    return Statistics(found, schema, table, place)


def _check_shape(top: Field, place: Place) -> None:
    """Refuse a struct that is not the statistics of a field."""
    names = tuple(child.name for child in top.children)
    types = [child.arrow.type for child in top.children]
    named = top.name.isascii() and top.name.isdigit()
    fits = names == CHILDREN and types[0] == pa.int64() and types[1] == types[2]
    if not (named and fits):
        raise BadSchema(
            "L.legacy.statistics.schema",
            place,
            found=f"{top.name[:20]!r} with {', '.join(names)[:80]}",
            wanted=f"a struct named by a field id with {', '.join(CHILDREN)}",
        )


def statistics_schema(fields: list[Field]) -> LanceSchema:
    """Return the schema of the statistics of the given fields."""
    structs = []
    for field in fields:
        bound = field.arrow.type
        children = [
            pa.field(CHILDREN[0], pa.int64(), nullable=False),
            pa.field(CHILDREN[1], bound),
            pa.field(CHILDREN[2], bound),
        ]
        structs.append(pa.field(str(field.id), pa.struct(children), nullable=False))
    return schema_of(pa.schema(structs))


def statistics_arrays(batches: list[Bounds], type_: pa.DataType) -> list[pa.Array]:
    """Return the three columns of one field, one row for each batch."""
    return [
        pa.array([each.null_count for each in batches], pa.int64()),
        bounds_array([each.low for each in batches], type_),
        bounds_array([each.high for each in batches], type_),
    ]

"""Statistics: null count, least and greatest value of every batch.

Stored like a small file inside the file: a schema of its own, a page table of its own with one
batch, and in it a row for each batch of the file. A reader may skip batches by them and never needs
them. A null reads as what was stored below it, which may lie anywhere: as many values may be
outside of the bounds as nulls were counted.

Layout (message Metadata.StatisticsMetadata): 1 schema: for every field with statistics, ascending
by id, a struct named by the decimal id with the children null_count (int64), min_value and
max_value (the field's type, nullable); 2 fields: all ids of that schema; 3 page_table_position.

Clauses: L.legacy.statistics.schema, L.legacy.statistics.fields, L.legacy.statistics.no-fields,
L.legacy.statistics.covered, L.legacy.statistics.null-count, L.legacy.statistics.bounds,
L.legacy.statistics.zero-sign, L.legacy.statistics.prefix, L.legacy.statistics.all-null,
L.legacy.statistics.nan, L.legacy.statistics.increment

Divergences: D.legacy.statistics-fields, D.legacy.statistics-types
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lanceref.core.arrow_buffers import STRINGS, TEXT
from lanceref.core.compute import pc
from lanceref.core.cursor import FileBytes
from lanceref.core.errors import BadSchema, Place
from lanceref.file.arrow_schema import schema_of
from lanceref.file.schema import Field, LanceSchema, parse_schema
from lanceref.file_0_1.column import open_node
from lanceref.file_0_1.data_file import Metadata
from lanceref.file_0_1.page_table import BatchRanges, parse_page_table

PREFIX_BYTES = 64
"""Longest bound of strings and byte strings before it is incremented."""

CHILDREN = ("null_count", "min_value", "max_value")
"""Names of the three children of each struct."""


def is_covered(type_: pa.DataType) -> bool:
    """Whether fields of this type have statistics."""
    others = (pa.bool_(), pa.float32(), pa.float64(), pa.date32(), pa.date64(), *STRINGS)
    return bool(pa.types.is_integer(type_) or pa.types.is_decimal128(type_) or type_ in others)


def bounds_of(array: pa.Array) -> pa.StructArray:
    """Return null count, least and greatest value of a batch: (1,)."""
    valid, type_ = array.drop_null() if array.null_count else array, array.type
    if pa.types.is_boolean(type_):
        has_true, has_false = valid.true_count > 0, valid.false_count > 0
        bounds = pa.array([has_true and not has_false, has_true or not has_false])
    elif type_ in STRINGS:
        bounds = pa.array(_of_strings(valid), pa.large_binary()).cast(type_)
    elif pa.types.is_decimal128(type_) and len(valid):
        bounds = pa.array([*pc.min_max(valid).values()], type_)
    else:
        bounds = pa.Array.from_buffers(type_, 2, [None, pa.py_buffer(_of_numbers(valid))])
    count = pa.array([array.null_count], pa.int64())
    return pa.StructArray.from_arrays([count, bounds.slice(0, 1), bounds.slice(1)], CHILDREN)


def _of_numbers(valid: pa.Array) -> bytes:
    """Return the least and the greatest of integers, dates or floats; of no decimals too."""
    if pa.types.is_decimal128(valid.type):
        # outside of the declared precision, but so it is written
        return bytes(15) + b"\x80" + bytes([255] * 15) + b"\x7f"
    if pa.types.is_date(valid.type):
        valid = valid.view(pa.int32() if valid.type == pa.date32() else pa.int64())
    values = valid.to_numpy()
    if pa.types.is_floating(valid.type):
        values = values[~np.isnan(values)]  # L.legacy.statistics.nan
        low, high = (values.min(), values.max()) if len(values) else (-np.inf, np.inf)
        low, high = -0.0 if low == 0 else low, 0.0 if high == 0 else high
    else:
        limits = np.iinfo(values.dtype)  # L.legacy.statistics.all-null
        low, high = (values.min(), values.max()) if len(values) else (limits.min, limits.max)
    return np.array([low, high], values.dtype).tobytes()


def _of_strings(valid: pa.Array) -> list[bytes | None]:
    """Return the bounds of strings or byte strings without nulls."""
    if not len(valid):
        return [None, None]
    text = valid.type in TEXT
    data = valid.cast(pa.large_binary())
    if pc.max(pc.binary_length(data)).as_py() <= PREFIX_BYTES:
        return [one.as_py() for one in pc.min_max(data).values()]
    cut = [prefix(value, text=text) for value in data.to_pylist()]
    # L.legacy.statistics.increment
    return [min(cut), increment_text(max(cut)) if text else increment(max(cut))]


def prefix(value: bytes, *, text: bool) -> bytes:
    """Return at most 64 bytes of a value, of text whole characters."""
    if len(value) <= PREFIX_BYTES:
        return value
    return value[:PREFIX_BYTES].decode("utf-8", "ignore").encode() if text else value[:PREFIX_BYTES]


def increment(value: bytes) -> bytes | None:
    """Return the value plus one as a number of as many bytes; None when all bytes are 255."""
    number = int.from_bytes(value, "big") + 1
    return None if number >> (8 * len(value)) else number.to_bytes(len(value), "big")


def increment_text(value: bytes) -> bytes | None:
    """Return valid text that is greater: the last byte that can grow, grown as little as can be.

    None when no byte can grow.
    """
    for at in reversed(range(len(value))):
        for byte in range(value[at] + 1, 256):
            grown = value[:at] + bytes([byte]) + value[at + 1 :]
            if grown.decode("utf-8", "ignore").encode() == grown:
                return grown
    return None


@dataclass(frozen=True, slots=True)
class Statistics:
    """The parsed statistics: by the text of a field id a struct array, one row for each batch."""

    by_field: dict[str, pa.Array]
    schema: LanceSchema
    place: Place


def covered_fields(schema: LanceSchema) -> Iterator[Field]:
    """Yield the fields that have statistics, ascending by id: none below a list."""
    fields = [field for top in schema.fields for field in _outside_lists(top)]
    covered = [field for field in fields if is_covered(field.arrow.type)]
    yield from sorted(covered, key=lambda field: field.id)


def _outside_lists(field: Field) -> Iterator[Field]:
    yield field
    if pa.types.is_struct(field.arrow.type):
        for child in field.children:
            yield from _outside_lists(child)


def parse_statistics(file: FileBytes, metadata: Metadata, end: int) -> Statistics | None:
    """Parse schema, page table and all pages, which end by `end`; None when there are none.

    Raises BadSchema.
    """
    if not metadata.message.HasField("statistics"):
        return None
    message, place = metadata.message.statistics, metadata.place
    stated = list(message.fields)
    if not stated or min(stated) < 0:
        raise BadSchema("L.legacy.statistics.no-fields", place, stated[:8], "ids of 0 or more")
    schema = parse_schema(message.schema, {}, file.ctx, place)
    ids = [field.id for field in schema.flat()]
    if stated != ids or ids != list(range(len(ids))):
        wanted = "the ids of the schema, which count from 0"
        file.ctx.lint("L.legacy.statistics.fields", place, stated[:8], wanted)
    table = parse_page_table(file, message.page_table_position, (0, max(stated)), 1, end)
    rows = np.array([metadata.num_batches])
    by_field = {}
    for top in schema.fields:
        with file.ctx.group(f"statistics of field {top.name}"), file.ctx.piece():
            names = tuple(child.name for child in top.children)
            types = [child.arrow.type for child in top.children]
            named = top.name.isascii() and top.name.isdigit() and names == CHILDREN
            if not (named and types[0] == pa.int64() and types[1] == types[2]):
                clause, found = "L.legacy.statistics.schema", f"{top.name[:20]!r} with {names}"
                raise BadSchema(clause, place, found[:100], f"a field id, {CHILDREN}")
            node = open_node(file, top, table, {}, rows)
            by_field[top.name] = node.read(BatchRanges.whole(0, metadata.num_batches))
    return Statistics(by_field, schema, place)


def statistics_schema(fields: list[Field]) -> LanceSchema:
    """Return the schema of the statistics of the given fields."""
    count, low, high = CHILDREN
    structs = []
    for field in fields:
        bounds = [pa.field(low, field.arrow.type), pa.field(high, field.arrow.type)]
        type_ = pa.struct([pa.field(count, pa.int64(), nullable=False), *bounds])
        structs.append(pa.field(str(field.id), type_, nullable=False))
    return schema_of(pa.schema(structs))


Fault = tuple[str, str, str]
"""Clause, found, wanted."""


def faults(values: pa.Array, null_count: int, low: pa.Scalar, high: pa.Scalar) -> Iterator[Fault]:
    """Yield what is wrong with the statistics of one batch."""
    if not 0 <= null_count <= len(values):
        found = f"{null_count} nulls"
        yield "L.legacy.statistics.null-count", found, f"0 to {len(values)}"
    if values.type in STRINGS:
        for bound in (low, high):
            size = len(bound.as_buffer()) if bound.is_valid else 0
            if size > PREFIX_BYTES:
                clause, wanted = "L.legacy.statistics.prefix", f"at most {PREFIX_BYTES}"
                yield clause, f"a bound of {size} bytes", wanted
        values, low, high = (each.cast(pa.large_binary()) for each in (values, low, high))
    elif pa.types.is_floating(values.type):
        for bound, negative, name in ((low, True, "-0.0"), (high, False, "0.0")):
            if bound.as_py() == 0 and bool(np.signbit(bound.as_py())) != negative:
                yield "L.legacy.statistics.zero-sign", str(bound), name
        values = values.filter(pc.invert(pc.is_nan(values)))
    inside = pa.array(np.ones(len(values), np.bool_))  # a null bound encloses all
    if low.is_valid:
        inside = pc.and_kleene(inside, pc.greater_equal(values, low))
    if high.is_valid:
        inside = pc.and_kleene(inside, pc.less_equal(values, high))
    outside = values.filter(pc.invert(inside))
    if len(outside) > max(0, null_count):
        wanted = f"at most {null_count} values not in {str(low)[:40]} to {str(high)[:40]}"
        found = f"{len(outside)} values, the first {str(outside[0])[:40]}"
        yield "L.legacy.statistics.bounds", found, wanted

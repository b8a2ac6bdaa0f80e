"""Data file: the container of 2.0 to 2.3.

Page buffers come first, the description of everything last, so a file is opened from its end: the
footer leads to the offset tables, they lead to the column metadata and the global buffers. Which
fields own a physical column differs by version: in 2.0 structs and lists own a column (header,
offsets) before those of their children; from 2.1 on only the leaves of the type tree do. A packed
struct and a blob are one column in every version.

Layout::

    page, column and user global buffers, each padded with 0x48 to a multiple of 64
    global buffer 0: FileDescriptor
    column metadata 0, 1, …
    CMO table: num_columns x (u64 position, u64 size)
    GBO table: num_global_buffers x (u64 position, u64 size)
    footer, 40 bytes

Clauses: L.file.cmo.entry, L.file.gbo.entry, L.file.columns.message, L.file.descriptor.length,
L.file.schema.num-columns
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field

from lanceref.core.context import Context
from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.errors import BadSchema, OutOfRange, Place
from lanceref.core.file_versions import V2_0, FileVersion
from lanceref.encodings_2_0 import column as arrays
from lanceref.encodings_2_0.column import is_early
from lanceref.file import container
from lanceref.file.column_io import ColumnReader
from lanceref.file.schema import Field, LanceSchema
from lanceref.pages import column as pages
from lanceref.storage import Source


def column_owners(field: Field, version: FileVersion) -> Iterator[Field]:
    """Yield the fields at or below `field` that own a physical column, in column order."""
    whole = field.is_leaf
    if whole or (version == V2_0 and not field.logical_type.startswith("fixed_size_list")):
        yield field
    if not whole:
        for child in field.children:
            yield from column_owners(child, version)


def assign_columns(
    schema: LanceSchema,
    version: FileVersion,
    columns: Sequence[container.ColumnMetadata],
    ctx: Context,
    place: Place,
) -> dict[int, int]:
    """Return field id -> column index when columns follow the schema. Raises BadSchema.

    Strings of early files own two columns; the first is named.
    """
    owners = [owner for top in schema.fields for owner in column_owners(top, version)]
    assigned, index, num_columns = dict[int, int](), 0, len(columns)
    for owner in owners:
        assigned[owner.id] = index
        index += 1
        if version == V2_0 and index < num_columns and is_early(owner, columns[index - 1]):
            index += 1
    if index != num_columns:
        clause, wanted = "L.file.schema.num-columns", f"{index}, one for each field that owns one"
        error = BadSchema(clause, place, f"{num_columns} columns", wanted)
        if index > num_columns:
            raise error
        ctx.refuse(error)
    return assigned


@dataclass(frozen=True, slots=True)
class DataFile:
    """An opened file: everything but the page data is parsed.

    `assigned` maps field ids of the file's own schema to column indices; `readers` keeps those of
    its top-level fields, with what they have read of their page tables.
    """

    bytes: FileBytes
    footer: container.Footer
    descriptor: container.Descriptor
    columns: tuple[container.ColumnMetadata, ...]
    column_extents: tuple[Extent, ...]
    global_buffers: tuple[Extent, ...]
    assigned: dict[int, int]
    readers: dict[int, tuple[Field, ColumnReader]] = dataclass_field(default_factory=dict)

    @property
    def version(self) -> FileVersion:
        """The file version that the footer states."""
        return self.footer.version

    @property
    def schema(self) -> LanceSchema:
        """The fields of the file, as the descriptor says."""
        return self.descriptor.schema

    @property
    def num_rows(self) -> int:
        """Rows of the file, as the descriptor says."""
        return self.descriptor.num_rows

    def open_field(self, field: Field, assigned: dict[int, int] | None = None) -> ColumnReader:
        """Return the reader of a field (possibly pruned) of the file's schema or a dataset's.

        `assigned` maps field ids to column indices; by default the file's own schema decides.
        Raises BadSchema, OutOfRange.
        """
        whole, reader = self.readers.get(field.id, (None, None))
        if assigned is None and whole is field and reader is not None:
            return reader
        num_columns, version, place = len(self.columns), self.version, self.descriptor.place
        by_id = self.assigned if assigned is None else assigned
        columns, clause = list[container.ColumnMetadata](), "L.file.schema.num-columns"
        for owner in column_owners(field, version):
            if owner.id not in by_id:
                raise BadSchema(clause, place, f"no column for field {owner.name!r}", "a column")
            index = by_id[owner.id]
            if not 0 <= index < num_columns:
                found = f"column {index} for field {field.name!r}"
                raise OutOfRange(clause, place, found, f"below {num_columns}")
            columns.append(self.columns[index])
            early = version == V2_0 and is_early(owner, self.columns[index])
            if early and index + 1 < num_columns:  # the bytes are the next column
                columns.append(self.columns[index + 1])
        file = self.bytes.during(self.bytes.ctx.during("decode"))
        if version == V2_0:
            return arrays.open_column(file, field, columns)
        return pages.PageColumn(file, field, columns, version)


def open_file(source: Source, ctx: Context) -> DataFile:
    """Open a file and each of its fields, which must have as many rows. Raises OutOfRange."""
    opened = open_metadata(source, ctx)
    for field in opened.descriptor.schema.fields:
        reader = opened.open_field(field)
        opened.readers[field.id] = (field, reader)
        if reader.num_rows != opened.num_rows:
            clause, found = "L.file.descriptor.length", f"{reader.num_rows} rows of {field.name!r}"
            error = OutOfRange(clause, opened.descriptor.place, found, opened.num_rows)
            opened.bytes.ctx.refuse(error)
    return opened


def open_metadata(source: Source, ctx: Context) -> DataFile:
    """Parse footer, tables, column metadata and descriptor: one read when 4 KiB hold them.

    Raises OutOfRange.
    """
    file = container.open_tail(source, ctx)
    footer = container.parse_footer(file)
    start = footer.column_metadata_start
    file = file.during(file.ctx.during("metadata"))
    table, num_buffers = footer.gbo_start, footer.num_global_buffers
    global_buffers = container.parse_table(file, table, num_buffers, "GBO", "L.file.gbo.entry")
    first = min(start, global_buffers[0].offset)
    if first < file.size - container.TAIL_BYTES:
        file = file.with_tail(file.size - first)
    table, clause = footer.cmo_start, "L.file.cmo.entry"
    extents = container.parse_table(file, table, footer.num_columns, "CMO", clause)
    container.check_global_buffers(global_buffers, footer.version, start, file)
    descriptor = container.parse_descriptor(file, global_buffers[0])
    parsed = []
    for index, extent in enumerate(extents):
        name = f"column metadata {index}"
        if extent.offset < start or extent.end > table:
            place = file.ctx.at(table + index * container.ENTRY_BYTES, container.ENTRY_BYTES)
            found = f"{name} at {extent.offset} with {extent.size} bytes"
            raise OutOfRange(clause, place, found, f"bytes between {start} and {table}")
        cursor, data_end = file.cursor(extent, name, clause), global_buffers[0].offset
        parsed.append(container.parse_column(cursor, index, footer.version, data_end))
    columns, place = tuple(parsed), descriptor.place
    assigned = assign_columns(descriptor.schema, footer.version, columns, file.ctx, place)
    buffers = tuple(global_buffers)
    return DataFile(file, footer, descriptor, columns, tuple(extents), buffers, assigned)

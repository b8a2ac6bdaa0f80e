"""The 0.1 file, written.

Rows are queued until a batch is full; its pages go out field by field. What describes the file
follows at the end.

Clauses: L.legacy.layout.gaps, L.legacy.footer.version-written, L.legacy.metadata.batch-offsets,
L.legacy.page-table.first-id, L.legacy.statistics.covered

Divergences: D.legacy.manifest-before-metadata, D.legacy.second-dictionary
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pyarrow as pa

from lanceref.core.arrow_buffers import STRINGS
from lanceref.core.errors import DataRefused, NotStorable
from lanceref.core.run_sizes import keep_freed_blocks
from lanceref.file.arrow_schema import column_of, field_message
from lanceref.file.schema import Field, LanceSchema, slot_bits
from lanceref.file_0_1.column import PageWriter
from lanceref.file_0_1.data_file import DATA_FORMAT, VERSION, write_footer, write_section
from lanceref.file_0_1.encodings import encode_dictionaries, is_number
from lanceref.file_0_1.statistics import bounds_of, covered_fields, statistics_schema
from lanceref.proto import file_pb2, table_pb2
from lanceref.storage import Sink

GROUP_ROWS = 1024
"""Rows of a batch when the caller does not say."""

WRITER = table_pb2.Manifest.WriterVersion(library="lanceref", version="0.1")
"""What a file says has written it."""


class LegacyWriter:
    """Writes one data file to a sink; `num_rows` counts what was queued so far.

    The file is whole after `finish`; on any error the caller aborts the sink. A manifest of the
    table begins with the values of `dictionaries` once more: `encodings.encode_dictionaries` at
    position 0 gives the bytes, and for each field of the schema what `Field.dictionary` must say.
    Raises NotStorable (an OSError) for a type that 0.1 cannot store.
    """

    def __init__(
        self,
        sink: Sink,
        schema: LanceSchema,
        max_rows_per_group: int = GROUP_ROWS,
        *,
        writer: table_pb2.Manifest.WriterVersion = WRITER,
    ) -> None:
        for field in schema.fields:
            check_storable(field)
        keep_freed_blocks()
        self._sink, self._schema, self._writer = sink, schema, writer
        self._group_rows = max_rows_per_group
        self._pages = PageWriter(sink)
        self._covered = list(covered_fields(schema))
        self._bounds: dict[int, list[pa.Array]] = {field.id: [] for field in self._covered}
        self._queued: list[pa.RecordBatch] = []
        self._batch_offsets = [0]
        self.num_rows = 0

    @property
    def dictionaries(self) -> dict[int, pa.Array]:
        """The values of every dictionary field that has rows, by field id."""
        return self._pages.dictionaries

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Queue the rows of a batch and write the batches of the file that became full.

        Raises DataRefused for a missing column, another type, a null that must not be, another
        dictionary than before, or text that is no json.
        """
        fields = self._schema.fields
        arrays = [column_of(batch, field, null_structs=False) for field in fields]
        queued = pa.RecordBatch.from_arrays(arrays, names=[field.name for field in fields])
        while queued.num_rows:
            waiting = sum(part.num_rows for part in self._queued)
            part = queued.slice(0, self._group_rows - waiting)
            queued = queued.slice(part.num_rows)
            self._queued.append(part)
            self.num_rows += part.num_rows
            if waiting + part.num_rows == self._group_rows:
                self._write_group()

    def _write_group(self) -> None:
        num_rows = sum(part.num_rows for part in self._queued)
        for index, field in enumerate(self._schema.fields):
            parts = [part.column(index) for part in self._queued]
            array = parts[0] if len(parts) == 1 else _joined(field, parts)
            self._pages.write(field, array)
            self._add_bounds(field, array)
        self._batch_offsets.append(self._batch_offsets[-1] + num_rows)
        self._queued = []

    def _add_bounds(self, field: Field, array: pa.Array) -> None:
        """Keep the bounds of a field and of what lies below it in structs."""
        if field.id in self._bounds:
            self._bounds[field.id].append(bounds_of(array))
        elif pa.types.is_struct(array.type):
            for index, child in enumerate(field.children):
                self._add_bounds(child, array.field(index))

    def finish(self) -> int:
        """Write what is queued and the description of the file; return its rows.

        Raises DataRefused without rows, NotStorable when no field has a page: such files do not
        exist.
        """
        if self._queued:
            self._write_group()
        if not self.num_rows:
            raise DataRefused("a 0.1 file has at least one row")
        if not self._pages.pages:
            raise NotStorable("empty page table: no field has a page")
        metadata = file_pb2.Metadata(batch_offsets=self._batch_offsets)
        first = min(field.id for field in self._schema.flat())
        num_batches = len(self._batch_offsets) - 1
        metadata.page_table_position = self._pages.write_table(first, num_batches)
        if self._covered:
            self._write_statistics(metadata.statistics)
        data, located = encode_dictionaries(self.dictionaries, self._sink.position)
        self._sink.write(data)
        message = manifest_message(self._schema, located, self._writer)
        metadata.manifest_position = self._sink.position
        self._sink.write(write_section(message.SerializeToString(deterministic=True)))
        position = self._sink.position
        self._sink.write(write_section(metadata.SerializeToString()))
        self._sink.write(write_footer(position))
        return self.num_rows

    def _write_statistics(self, message: file_pb2.Metadata.StatisticsMetadata) -> None:
        """Write the pages and the page table of the statistics, and describe them."""
        schema = statistics_schema(self._covered)
        pages = PageWriter(self._sink)
        for top, field in zip(schema.fields, self._covered, strict=True):
            pages.write(top, pa.concat_arrays(self._bounds[field.id]))
        message.schema.extend(field_message(field) for field in schema.flat())
        message.fields.extend(field.id for field in schema.flat())
        message.page_table_position = pages.write_table(0, 1)


def _joined(field: Field, parts: list[pa.Array]) -> pa.Array:
    """Return the rows of a batch of the file. Raises DataRefused for items that are null."""
    try:
        return pa.concat_arrays(parts)
    except pa.ArrowInvalid as error:
        raise DataRefused(f"dictionaries of field `{field.name}`: {error}") from error


def manifest_message(
    schema: LanceSchema,
    dictionaries: Mapping[int, tuple[int, int]],
    writer: table_pb2.Manifest.WriterVersion,
) -> table_pb2.Manifest:
    """Return the message to embed; `dictionaries` gives position and number of values by id."""
    located = [(one, dictionaries.get(one.id, one.dictionary)) for one in schema.flat()]
    fields = [field_message(replace(one, dictionary=place)) for one, place in located]
    file_format, version = DATA_FORMAT
    stored = table_pb2.Manifest.DataStorageFormat(file_format=file_format, version=version)
    return table_pb2.Manifest(
        fields=fields,
        version=VERSION,
        schema_metadata={key: value.encode() for key, value in schema.metadata.items()},
        writer_version=writer,
        data_format=stored,
    )


def check_storable(field: Field) -> None:
    """Refuse a field that 0.1 has no encoding for. Raises NotStorable."""
    types, type_ = pa.types, field.arrow.type
    if types.is_dictionary(type_):
        fits = type_.value_type in STRINGS or is_number(type_.value_type)
    else:
        known = (types.is_list, types.is_large_list, types.is_struct, types.is_null)
        fits = any(is_type(type_) for is_type in known) or type_ in STRINGS
        fits = fits or bool(slot_bits(type_))
    if not fits:
        raise NotStorable(f"field `{field.name}`: unsupported data type {type_}")
    for child in field.children:
        check_storable(child)

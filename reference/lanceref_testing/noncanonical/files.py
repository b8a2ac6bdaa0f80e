"""Noncanonical files: a table is written as a legal file that no writer makes."""

from __future__ import annotations

import os

import pyarrow as pa
from lanceref.core.file_versions import V2_0, FileVersion
from lanceref.file.arrow_schema import column_of, schema_of
from lanceref.file.column_io import EncodedColumn
from lanceref.storage import whole
from lanceref.storage.local import LocalSink

from lanceref_testing.noncanonical.columns import encode_columns
from lanceref_testing.noncanonical.container import ContainerWriter
from lanceref_testing.noncanonical.pages import encode_leaves
from lanceref_testing.noncanonical.variations import VariationSampler


def write_noncanonical_file(
    path: str | os.PathLike[str], table: pa.Table, version: FileVersion, rng: VariationSampler
) -> None:
    """Write a table as a file of 2.0 to 2.3, with the variations that `rng` draws."""
    schema = schema_of(table.schema)
    empty = [pa.nulls(0, type_) for type_ in table.schema.types]
    (batch,) = table.combine_chunks().to_batches() or [pa.record_batch(empty, table.schema)]
    with whole(LocalSink(os.fspath(path), durable=False)) as sink:
        container = ContainerWriter(sink, rng, version)
        columns: list[EncodedColumn] = []
        for field in schema.fields:
            array = column_of(batch, field)
            if version == V2_0:
                columns += encode_columns(rng, field, array, len(columns), container)
            else:
                columns += encode_leaves(rng, field, array, version)
        container.finish(schema, columns, table.num_rows)

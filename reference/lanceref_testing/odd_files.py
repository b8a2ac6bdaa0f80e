"""Odd files: a table as a file that is right, and that no writer makes."""

from __future__ import annotations

import os

import pyarrow as pa
from lanceref.core.file_versions import V2_0, FileVersion
from lanceref.file.arrow_schema import column_of, schema_of
from lanceref.file.column_io import EncodedColumn
from lanceref.storage import whole
from lanceref.storage.local import LocalSink

from lanceref_testing.odd_columns import odd_columns
from lanceref_testing.odd_container import OddContainer
from lanceref_testing.odd_pages import odd_leaves
from lanceref_testing.oddities import Chance


def odd_file(
    path: str | os.PathLike[str], table: pa.Table, version: FileVersion, rng: Chance
) -> None:
    """Write a table as a file of 2.0 to 2.3 (dense) that is odd in every way there is.

    How odd it is, the oddities say that `rng` allows.
    """
    schema = schema_of(table.schema)
    nothing = [pa.nulls(0, type_) for type_ in table.schema.types]
    (batch,) = table.combine_chunks().to_batches() or [pa.record_batch(nothing, table.schema)]
    with whole(LocalSink(os.fspath(path), durable=False)) as sink:
        container = OddContainer(sink, rng, version)
        columns: list[EncodedColumn] = []
        for field in schema.fields:
            array = column_of(batch, field)
            if version == V2_0:
                columns += odd_columns(rng, field, array, len(columns), container)
            else:
                columns += odd_leaves(rng, field, array, version)
        container.finish(schema, columns, table.num_rows)

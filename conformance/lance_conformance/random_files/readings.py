"""Readings: the ways in which a campaign reads a file or dataset, with the expected tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pylanceref
from pylanceref.file import LanceFileReader

from lance_conformance.comparison.table_diff import first_difference
from lance_conformance.random_files.unsliced import unsliced

Reading = tuple[str, pa.Table, pa.Table]
"""Name of a reading, expected table, table that was read."""


def file_differences(path: Path, table: pa.Table, rng: Random) -> Iterator[str]:
    """Yield the differences of each reading of a file from the written table."""
    reader = LanceFileReader(path)
    yield from _differences(
        ("scan", table, reader.read_all(batch_size=rng.choice((64, 1024, 100_000))).to_table()),
        _range(reader, table, rng),
        _take(reader, table, rng),
        *_projections(path, table, rng),
    )


def dataset_differences(path: Path, table: pa.Table, rng: Random) -> Iterator[str]:
    """Yield the differences of each reading of a dataset from the written table."""
    dataset = pylanceref.dataset(path)
    rows = rng.choices(range(table.num_rows), k=20)
    name = rng.choice(table.column_names)
    yield from _differences(
        ("dataset scan", table, dataset.to_table()),
        (f"dataset take {rows[:8]}", _rows(table, rows), dataset.take(rows)),
        (f"dataset column {name}", table.select([name]), dataset.to_table(columns=[name])),
    )
    if dataset.count_rows() != table.num_rows:
        yield f"count_rows: expected {table.num_rows}, found {dataset.count_rows()}"


def _differences(*readings: Reading) -> Iterator[str]:
    for name, expected, found in readings:
        difference = first_difference(unsliced(expected), unsliced(found))
        if difference is not None:
            yield f"{name}: {difference}"


def _range(reader: LanceFileReader, table: pa.Table, rng: Random) -> Reading:
    start, end = sorted((rng.randint(0, table.num_rows), rng.randint(0, table.num_rows)))
    found = reader.read_range(start, end - start).to_table()
    return f"range {start} to {end}", table.slice(start, end - start), found


def _take(reader: LanceFileReader, table: pa.Table, rng: Random) -> Reading:
    count = rng.choice((1, 5, 100)) if table.num_rows else 0
    rows = sorted(rng.choices(range(table.num_rows), k=count)) if count else []
    return f"take {rows[:8]}", _rows(table, rows), reader.take_rows(rows).to_table()


def _rows(table: pa.Table, rows: list[int]) -> pa.Table:
    """Return some rows, without `take`, which has a defect for slices (see `unsliced`)."""
    return pa.concat_tables([table.slice(0, 0), *(table.slice(row, 1) for row in rows)])


def _projections(path: Path, table: pa.Table, rng: Random) -> Iterator[Reading]:
    """Read one column, and one field of each struct."""
    name = rng.choice(table.column_names)
    found = LanceFileReader(path, columns=[name]).read_all().to_table()
    yield f"column {name}", table.select([name]), found
    for field in table.schema:
        packed = bool(field.metadata) and b"packed" in field.metadata
        if pa.types.is_struct(field.type) and not packed and field.type.num_fields:
            inner = rng.choice(list(field.type))
            nested = f"{field.name}.{inner.name}"
            found = LanceFileReader(path, columns=[nested]).read_all().to_table()
            yield f"column {nested}", _select_field(table, field, inner), found


def _select_field(table: pa.Table, outer: pa.Field, inner: pa.Field) -> pa.Table:
    """Return one struct column of the table with one of its fields."""
    chunks = []
    type_ = pa.struct([inner])
    at = outer.type.get_field_index(inner.name)
    for chunk in table[outer.name].chunks:
        valid = np.packbits(np.asarray(chunk.is_valid()), bitorder="little")
        child = chunk.field(at)
        chunks.append(
            pa.Array.from_buffers(type_, len(chunk), [pa.py_buffer(valid)], children=[child])
        )
    schema = pa.schema([pa.field(outer.name, type_, outer.nullable, outer.metadata)])
    return pa.Table.from_arrays([pa.chunked_array(chunks, type_)], schema=schema)

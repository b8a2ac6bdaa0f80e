"""Readings: the ways a campaign reads back a file or dataset, each with the table it must give."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pylanceref
from pylanceref.file import LanceFileReader

from lance_conformance.random_files.settled import settled
from lance_conformance.table_diff import first_difference

Reading = tuple[str, pa.Table, pa.Table]
"""What was read, the table it must give, the table it gave."""


def file_differences(path: Path, table: pa.Table, rng: Random) -> Iterator[str]:
    """Yield for each way of reading a file how its result is not what was written."""
    reader = LanceFileReader(path)
    yield from _told(
        ("scan", table, reader.read_all(batch_size=rng.choice((64, 1024, 100_000))).to_table()),
        _range(reader, table, rng),
        _take(reader, table, rng),
        *_projections(path, table, rng),
    )


def dataset_differences(path: Path, table: pa.Table, rng: Random) -> Iterator[str]:
    """Yield for each way of reading a dataset how its result is not what was written."""
    opened = pylanceref.dataset(path)
    rows = rng.choices(range(table.num_rows), k=20)
    name = rng.choice(table.column_names)
    yield from _told(
        ("dataset scan", table, opened.to_table()),
        (f"dataset take {rows[:8]}", _rows(table, rows), opened.take(rows)),
        (f"dataset column {name}", table.select([name]), opened.to_table(columns=[name])),
    )
    if opened.count_rows() != table.num_rows:
        yield f"count_rows: expected {table.num_rows}, found {opened.count_rows()}"


def _told(*readings: Reading) -> Iterator[str]:
    for name, wanted, found in readings:
        told = first_difference(settled(wanted), settled(found))
        if told is not None:
            yield f"{name}: {told}"


def _range(reader: LanceFileReader, table: pa.Table, rng: Random) -> Reading:
    start, end = sorted((rng.randint(0, table.num_rows), rng.randint(0, table.num_rows)))
    found = reader.read_range(start, end - start).to_table()
    return f"range {start} to {end}", table.slice(start, end - start), found


def _take(reader: LanceFileReader, table: pa.Table, rng: Random) -> Reading:
    count = rng.choice((1, 5, 100)) if table.num_rows else 0
    rows = sorted(rng.choices(range(table.num_rows), k=count)) if count else []
    return f"take {rows[:8]}", _rows(table, rows), reader.take_rows(rows).to_table()


def _rows(table: pa.Table, rows: list[int]) -> pa.Table:
    """Return some rows, without `take` (see `settled`)."""
    return pa.concat_tables([table.slice(0, 0), *(table.slice(row, 1) for row in rows)])


def _projections(path: Path, table: pa.Table, rng: Random) -> Iterator[Reading]:
    """Project to one column, and to one field inside a struct where there is one."""
    name = rng.choice(table.column_names)
    found = LanceFileReader(path, columns=[name]).read_all().to_table()
    yield f"column {name}", table.select([name]), found
    for field in table.schema:
        packed = bool(field.metadata) and b"packed" in field.metadata
        if pa.types.is_struct(field.type) and not packed and field.type.num_fields:
            inner = rng.choice(list(field.type))
            nested = f"{field.name}.{inner.name}"
            found = LanceFileReader(path, columns=[nested]).read_all().to_table()
            yield f"column {nested}", _only(table, field, inner), found


def _only(table: pa.Table, outer: pa.Field, inner: pa.Field) -> pa.Table:
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

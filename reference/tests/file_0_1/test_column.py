"""Columns: scans and random access over batches."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lanceref.core.errors import BytesError
from lanceref.core.file_versions import V0_1
from lanceref_testing.tables import tables

from .building import opened, read, written

N = 100
TABLE = pa.table(
    {
        "a": pa.array(range(N), pa.int64()),
        "s": pa.array([f"row {i}" for i in range(N)]),
        "b": pa.array([i % 3 == 0 for i in range(N)]),
        "l": pa.array([list(range(i % 4)) for i in range(N)], pa.list_(pa.int16())),
        "v": pa.FixedSizeListArray.from_arrays(pa.array(range(2 * N), pa.float32()), 2),
    }
)


@pytest.mark.parametrize("name", TABLE.column_names)
@given(st.lists(st.integers(0, N - 1)).map(sorted), st.sampled_from([1, 7, 1024]))
@settings(max_examples=20, deadline=None)
def test_rows_are_taken_from_any_batches(name, rows, batch_rows):
    """Also the same row twice."""
    file = opened(written(TABLE, batch_rows))
    field = next(field for field in file.manifest.schema.fields if field.name == name)

    taken = file.open_field(field).take(np.array(rows, np.int64))
    assert [TABLE[name][row].as_py() for row in rows] == taken.to_pylist()


@given(st.tuples(st.integers(0, N), st.integers(0, N)).map(sorted), st.sampled_from([1, 7, 1024]))
@settings(max_examples=20, deadline=None)
def test_a_scan_starts_and_ends_anywhere(bounds, batch_rows):
    """Every column."""
    file = opened(written(TABLE, batch_rows))
    for field in file.manifest.schema.fields:
        arrays = list(file.open_field(field).scan(*bounds))
        found = [value for array in arrays for value in array.to_pylist()]
        assert TABLE[field.name].to_pylist()[slice(*bounds)] == found


def test_one_column_of_many_batches_is_one_request():
    """Its pages lie one after another."""
    file = opened(written(TABLE.select(["a"]), 1))
    reader = file.open_field(file.manifest.schema.fields[0])
    file.bytes.source.stats.incremental()

    assert N == sum(len(array) for array in reader.scan(0, N))
    assert (1, 8 * N) == (
        file.bytes.source.stats.read_iops,
        file.bytes.source.stats.read_bytes,
    )


def test_a_field_without_pages_is_refused():
    """The table may name a field that the file has not."""
    file, other = opened(written(TABLE.select(["a"]))), opened(written(TABLE))
    with pytest.raises(BytesError) as refusal:
        file.open_field(other.manifest.schema.fields[1])
    assert "L.legacy.column.pages" == refusal.value.clause


def _stored(array: pa.ChunkedArray) -> pa.Array:
    """Return an array without nulls, as far as that is easy: what 0.1 keeps."""
    return array.combine_chunks()


@given(tables(V0_1, max_depth=2), st.sampled_from([5, 300, 1024]))
@settings(max_examples=25, deadline=None)
def test_random_tables_without_nulls_read_equal(sample, batch_rows):
    """Columns without any null and without empty strings come back."""
    table = sample.table.slice(0, 1500)
    kept = [
        name
        for name in table.column_names
        if not _has_null(_stored(table[name])) and table.num_rows
    ]
    if kept:
        wanted = table.select(kept)
        found = read(written(wanted, batch_rows))
        for name in kept:
            assert repr(wanted[name].to_pylist()) == repr(found[name])


def _has_null(array: pa.Array) -> bool:
    """Whether something in the array reads back in another way."""
    types = pa.types
    far = types.is_timestamp(array.type) or types.is_duration(array.type)  # too far for Python
    if array.null_count or types.is_dictionary(array.type) or far:
        return True
    if types.is_struct(array.type):
        return any(_has_null(array.field(i)) for i in range(array.type.num_fields))
    if types.is_list(array.type) or types.is_large_list(array.type):
        return _has_null(array.values)
    if types.is_fixed_size_list(array.type):
        return _has_null(array.values)
    if types.is_string(array.type) or types.is_large_string(array.type):
        return "" in array.to_pylist()
    if types.is_binary(array.type) or types.is_large_binary(array.type):
        return b"" in array.to_pylist()
    return False


def test_runs_of_a_narrow_column_beside_a_wide_one_grow():
    """The first run is guessed from the size of the file: 4 MiB of rows of 8 KiB."""
    items = pa.array(np.zeros(3000 * 2048, np.float32))
    wide = pa.FixedSizeListArray.from_arrays(items, 2048)
    file = opened(written(pa.table({"s": ["x"] * 3000, "v": wide})))
    fields = file.manifest.schema.fields

    narrow = [len(array) for array in file.open_field(fields[0]).scan(0, 3000)]
    assert [448, 2552] == narrow
    assert max(len(array) for array in file.open_field(fields[1]).scan(0, 3000)) <= 512


def test_runs_end_with_batches_where_they_hold_one():
    """No page is read in two parts: as many requests as pages, beside another column."""
    rows = 300_000
    table = pa.table({name: pa.array(range(rows), pa.int64()) for name in ("a", "b")})
    file = opened(written(table, 7000))
    reader = file.open_field(file.manifest.schema.fields[0])
    file.bytes.source.stats.incremental()

    runs = [len(array) for array in reader.scan(0, rows)]
    assert 0 == sum(run % 7000 for run in runs[:-1])
    assert 43 == file.bytes.source.stats.read_iops

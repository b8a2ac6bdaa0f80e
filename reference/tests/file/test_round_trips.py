"""What is written in a version is read in it: whole, in ranges, as rows, plainly and fast."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lanceref_testing.tables import Sample, tables

from .in_memory import assert_clean_and_owned, assert_reads_as, column, scanned, taken, version_of
from .in_memory import written as write
from .stored_columns import CASES, COLUMNS

VERSIONS = ["0.1", "2.0", "2.1", "2.2", "2.3"]


@pytest.mark.parametrize(("name", "version"), CASES)
def test_every_stored_column_comes_back_clean(name, version):
    """Values and type are those written; a check finds nothing, and every byte has one owner."""
    stored = COLUMNS[name]
    cache_bytes = 1024 if stored.batches > 1 else None
    data = write(stored.parts(), version, cache_bytes=cache_bytes)

    assert_reads_as(stored.array, data)
    assert_clean_and_owned(data)


def _has_null(array: pa.Array) -> bool:
    """Whether something in the array reads back from 0.1 in another way."""
    types, type_ = pa.types, array.type
    if array.null_count or types.is_dictionary(type_):
        return True
    if types.is_struct(type_):
        return any(_has_null(array.field(i)) for i in range(type_.num_fields))
    if types.is_list(type_) or types.is_large_list(type_) or types.is_fixed_size_list(type_):
        return _has_null(array.values)
    is_variable = types.is_string(type_) or types.is_large_string(type_)
    is_variable |= types.is_binary(type_) or types.is_large_binary(type_)
    return is_variable and bool(len(array)) and not all(array.to_pylist())


@pytest.mark.parametrize("version", VERSIONS)
@given(data=st.data())
@settings(max_examples=20)
def test_random_tables_come_back(version, data):
    """Whatever the types, caches and batches; 0.1 where nothing is null or empty."""
    sample: Sample = data.draw(tables(version_of(version), max_depth=2))
    table = sample.table.slice(0, 1500)
    if version == "0.1":
        kept = [n for n in table.column_names if not _has_null(table[n].combine_chunks())]
        table = table.select(kept if table.num_rows else [])
    if not table.num_columns:
        return
    batches = [table.slice(at, sample.batch_rows) for at in range(0, len(table), sample.batch_rows)]
    stored = write(batches or [table], version, group_rows=300, cache_bytes=sample.cache_bytes)

    for number, name in enumerate(table.column_names):
        array, reader = table[name].combine_chunks(), column(stored, number)
        rows = sorted(data.draw(st.sets(st.integers(0, max(0, len(array) - 1)), max_size=5)))
        assert _text(array) == _text(scanned(reader))
        if len(array):
            assert _text(array.take(pa.array(rows, pa.int64()))) == _text(taken(reader, rows))


def _text(array: pa.Array | pa.ChunkedArray) -> str:
    """Return values that compare equal though NaN does not; of times their number of nulls."""
    if any(name in str(array.type) for name in ("duration", "timestamp", "time", "date")):
        return f"{len(array)} {array.null_count}"
    return repr(array.to_pylist())


STRUCTS = pa.struct([("x", pa.int8())])


def _pairs(inner: pa.DataType) -> pa.DataType:
    return pa.list_(pa.struct([("x", inner)]), 2)


def _values(of: pa.DataType) -> st.SearchStrategy[object]:
    """Draw values of a type, null at every level."""
    if pa.types.is_fixed_size_list(of):
        present = st.lists(_values(of.value_type), min_size=of.list_size, max_size=of.list_size)
    elif pa.types.is_list(of):
        present = st.lists(_values(of.value_type), max_size=3)
    elif pa.types.is_struct(of):
        present = st.fixed_dictionaries({field.name: _values(field.type) for field in of})
    else:
        present = st.integers(-9, 9)
    return st.none() | present


NESTED = [
    pa.list_(_pairs(pa.int8())),
    pa.list_(pa.list_(_pairs(pa.int8()))),
    pa.list_(_pairs(pa.list_(pa.int8()))),
    _pairs(pa.list_(_pairs(pa.int8()))),
    pa.list_(pa.struct([("x", pa.list_(STRUCTS)), ("y", pa.list_(pa.list_(pa.int8(), 2), 3))])),
]


@pytest.mark.parametrize("of", NESTED, ids=str)
@pytest.mark.parametrize("version", ["2.2", "2.3"])
@given(data=st.data())
@settings(max_examples=30)
def test_nested_rows_come_back(of, version, data):
    """Nulls and empty lists at every level, also around fixed-size lists of structs."""
    rows = data.draw(st.lists(_values(of), min_size=1, max_size=6))

    assert rows == scanned(column(write(pa.table({"c": pa.array(rows, of)}), version))).to_pylist()


def test_the_entries_of_null_and_empty_lists_by_hand():
    """[[(1, 2), (3, 4)], [], null] has four entries, then two and two (chapter 30)."""
    lists = pa.array([[[{"x": 1}, {"x": 2}], [{"x": 3}, {"x": 4}]], [], None], NESTED[0])
    stored = write(pa.table({"c": lists}), "2.2")

    assert bytes.fromhex("0100 0100 0000 0000 0100 0100 0100 0100") == stored[80:96]
    assert bytes.fromhex("0000 0000 0000 0000 0200 0200 0100 0100") == stored[96:112]

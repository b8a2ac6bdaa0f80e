"""Data files of new fragments."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.errors import AppendRefused, DataRefused
from lanceref.core.file_versions import V0_1, V2_0, V2_1, V2_2, V2_3
from lanceref.file.arrow_schema import schema_of
from lanceref.file.column_io import PagePolicy
from lanceref.storage import LocalStore
from lanceref.table.data_files import (
    FileLimits,
    Home,
    file_entry,
    new_name,
    with_dictionaries,
    write_files,
)

NESTED = schema_of(
    pa.schema({"s": pa.struct({"x": pa.int64(), "y": pa.list_(pa.string())}), "z": pa.int8()})
)
INTS = schema_of(pa.schema({"a": pa.int64()}))
POLICY = PagePolicy(8 << 20, 32 << 20)


def _batches(*counts):
    return [pa.record_batch({"a": pa.array(range(count), pa.int64())}) for count in counts]


def _write(root, batches, version, rows=1 << 20, size=1 << 40, group=1024, schema=INTS):
    limits = FileLimits(rows, size, group, POLICY)
    return write_files([Home(LocalStore(root))], schema, version, batches, limits, {})


def _rows(new):
    return [fragment.physical_rows for fragment in new.fragments]


@pytest.mark.parametrize(
    ("version", "fields", "indices", "words"),
    [
        (V0_1, [0, 1, 2, 3, 4], [], (0, 2)),
        (V2_0, [0, 1, 2, 3, 4], [0, 1, 2, 3, 4], (2, 0)),
        (V2_1, [1, 3, 4], [0, 1, 2], (2, 1)),
        (V2_2, [1, 3, 4], [0, 1, 2], (2, 2)),
        (V2_3, [1, 3, 4], [0, 1, 2], (2, 3)),
    ],
    ids=str,
)
def test_an_entry_lists_the_fields_with_columns(version, fields, indices, words):
    """All fields until 2.0, from 2.1 on only leaves; 0.1 has no column indices."""
    entry = file_entry("f", NESTED, version, 99)

    assert (fields, indices) == (list(entry.fields), list(entry.column_indices))
    assert words == (entry.file_major_version, entry.file_minor_version)
    assert 99 == entry.file_size_bytes


def test_a_name_is_random():
    """24 binary digits, 26 hexadecimal ones."""
    name = new_name()

    assert (56, "01") == (len(name), "".join(sorted({*name[:24], "0", "1"})))
    assert set(name[24:50]) <= set("0123456789abcdef")
    assert name != new_name()


@pytest.mark.parametrize(
    ("version", "rows"), [(V0_1, [1600, 1600, 1600, 200]), (V2_2, [1500, 1500, 1500, 500])]
)
def test_a_file_is_full_at_a_cut(tmp_path, version, rows):
    """5,000 rows in files of 1,500 with groups of 400: 0.1 ends a file after a group."""
    assert rows == _rows(_write(tmp_path, _batches(5000), version, rows=1500, group=400))


def test_a_group_is_no_longer_than_a_file(tmp_path):
    """Files of three rows have groups of three."""
    assert [3, 3, 1] == _rows(_write(tmp_path, _batches(7), V0_1, rows=3))


@pytest.mark.parametrize(("version", "rows"), [(V0_1, [10] * 3), (V2_2, [30])])
def test_a_file_is_full_of_bytes(tmp_path, version, rows):
    """Only bytes that are written count: 2.x still queues its rows."""
    assert rows == _rows(_write(tmp_path, _batches(30), version, size=40, group=10))


@given(st.lists(st.integers(0, 50), max_size=6), st.integers(1, 40), st.integers(1, 40))
@pytest.mark.parametrize("version", [V0_1, V2_2])
def test_no_row_is_lost(tmp_path_factory, version, counts, rows, group):
    """The fragments have all rows, and each file is there with the size its entry says."""
    root = tmp_path_factory.mktemp("t")
    new = _write(root, _batches(*counts), version, rows=rows, group=group)

    assert sum(counts) == sum(_rows(new))
    for fragment in new.fragments:
        entry = fragment.files[0]
        assert entry.file_size_bytes == (root / "data" / entry.path).stat().st_size


@pytest.mark.parametrize("version", [V0_1, V2_2])
def test_files_of_a_failed_write_are_removed(tmp_path, version):
    """The second file meets a batch of another type."""
    wrong = pa.record_batch({"a": ["x"] * 4})

    with pytest.raises(DataRefused):
        _write(tmp_path, [*_batches(4), wrong], version, rows=4, group=4)
    assert [] == list((tmp_path / "data").iterdir())


def test_dictionaries_of_a_legacy_table_are_the_same_in_all_files(tmp_path):
    """The manifest has room for one."""
    schema = schema_of(pa.schema({"d": pa.dictionary(pa.int32(), pa.string())}))
    batches = [
        pa.record_batch({"d": pa.array(values).dictionary_encode()}) for values in ("ab", "ab")
    ]
    new = _write(tmp_path, batches, V0_1, rows=2, group=2, schema=schema)

    assert {0: ["a", "b"]} == {key: value.to_pylist() for key, value in new.dictionaries.items()}
    other = pa.record_batch({"d": pa.array(["c", "d"]).dictionary_encode()})
    with pytest.raises(AppendRefused, match="did not match"):
        _write(tmp_path, [*batches, other], V0_1, rows=2, group=2, schema=schema)


def test_a_dictionary_has_a_place_in_the_schema():
    """Empty until a 0.1 manifest locates the values; below other fields too."""
    type_ = pa.dictionary(pa.int8(), pa.string())
    schema = schema_of(pa.schema({"s": pa.struct({"d": type_}), "i": pa.int8()}))

    found = [field.dictionary for field in with_dictionaries(schema).flat()]

    assert [None, (0, 0), None] == found

"""Data files: how rows of new ones are divided, schemas that fit, and what entries must state."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lanceref.core.errors import SchemaRefused
from lanceref.core.file_versions import V0_1, V2_0, V2_1, V2_2, V2_3
from lanceref.file.arrow_schema import schema_of
from lanceref.file.column_io import PagePolicy
from lanceref.storage import LocalStore
from lanceref.table import data_files
from lanceref.table.data_files import FileLimits, Home, appended_schema, file_entry, write_files

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
    """Entries list all fields until 2.0 and leaves from 2.1 on; 0.1 has no indices."""
    entry = file_entry("f", NESTED, version, 99)

    assert (fields, indices) == (list(entry.fields), list(entry.column_indices))
    assert words == (entry.file_major_version, entry.file_minor_version)
    assert 99 == entry.file_size_bytes


def test_values_of_dictionaries_have_a_place_but_in_maps():
    """At any depth."""
    words = pa.dictionary(pa.int8(), pa.string())
    types = {"d": words, "s": pa.struct([("e", words)]), "m": pa.map_(pa.string(), words)}
    fields = data_files.with_dictionaries(schema_of(pa.schema(types))).flat()

    assert {"d", "e"} == {field.name for field in fields if field.dictionary == (0, 0)}


@pytest.mark.parametrize(
    ("version", "rows"), [(V0_1, [1600, 1600, 1600, 200]), (V2_2, [1500, 1500, 1500, 500])]
)
def test_a_file_is_full_at_a_cut(tmp_path, version, rows):
    """Files end at the limit of rows, in 0.1 after a whole group."""
    assert rows == _rows(_write(tmp_path, _batches(5000), version, rows=1500, group=400))


@settings(max_examples=30)
@given(st.lists(st.integers(0, 50), max_size=6), st.integers(1, 40), st.integers(1, 40))
@pytest.mark.parametrize("version", [V0_1, V2_2])
def test_no_row_is_lost(tmp_path_factory, version, counts, rows, group):
    """Fragments have all rows, and files have the size of their entry."""
    root = tmp_path_factory.mktemp("t")
    new = _write(root, _batches(*counts), version, rows=rows, group=group)

    assert sum(counts) == sum(_rows(new))
    for made in new.fragments:
        entry = made.files[0]
        assert entry.file_size_bytes == (root / "data" / entry.path).stat().st_size


def test_dictionaries_of_a_legacy_table_are_the_same_in_all_files(tmp_path):
    """A 0.1 table has one dictionary for all its files."""
    schema = schema_of(pa.schema({"d": pa.dictionary(pa.int32(), pa.string())}))
    batches = [
        pa.record_batch({"d": pa.array(values).dictionary_encode()}) for values in ("ab", "ab")
    ]
    new = _write(tmp_path, batches, V0_1, rows=2, group=2, schema=schema)

    assert {0: ["a", "b"]} == {key: value.to_pylist() for key, value in new.dictionaries.items()}
    other = pa.record_batch({"d": pa.array(["c", "d"]).dictionary_encode()})
    with pytest.raises(SchemaRefused, match="did not match"):
        _write(tmp_path, [*batches, other], V0_1, rows=2, group=2, schema=schema)


STRUCT = pa.struct([pa.field("x", pa.int64()), pa.field("y", pa.list_(pa.string()))])

TABLE_SCHEMA = schema_of(
    pa.schema([pa.field("a", pa.int32(), nullable=False), ("s", STRUCT)], metadata={"k": "v"})
)

A = ("a", pa.int32())


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ([("s", STRUCT)], r"missing=\[a\], unexpected=\[\]"),
        ([A, ("z", pa.int8())], r"missing=\[\], unexpected=\[z\]"),
        ([("a", pa.int64())], "`a` should have type int32 but type was int64"),
        ([A, ("s", pa.int64())], "`s` should have type struct but type was int64"),
        (
            [A, ("s", pa.struct({"y": pa.list_(pa.int64())}))],
            "`s` had mismatched children: `s.y` had mismatched children: "
            "`s.y.item` should have type string",
        ),
        ([A, ("s", pa.struct({"z": pa.int8()}))], r"mismatched children: .*unexpected=\[s\.z\]"),
    ],
)
def test_another_schema_is_refused(fields, text):
    """The refusal names the field and the difference."""
    with pytest.raises(SchemaRefused, match=text):
        appended_schema(TABLE_SCHEMA, schema_of(pa.schema(fields)), V2_2)

"""Columns added, dropped, altered; columns by functions of batches."""

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import SchemaRefused
from pylanceref.errors import CallerFailed
from pylanceref.udf import batch_udf
from tests.operations.tables import column, table


def _files(made):
    return [[list(file.fields) for file in one.data_files()] for one in made.get_fragments()]


@pytest.mark.parametrize(
    "change",
    [
        lambda held: held.drop_columns(["b"]),
        lambda held: held.alter_columns({"path": "a", "name": "c"}),
    ],
    ids=["drop", "alter"],
)
def test_changes_of_columns_keep_schema_metadata_set_meanwhile(tmp_path, change):
    """Metadata that another writer set after the table was opened remains."""
    held = table(tmp_path)
    pylanceref.dataset(held.uri).update_schema_metadata({"k": "v"})
    change(held)

    assert {b"k": b"v"} == pylanceref.dataset(held.uri).schema.metadata


def test_a_value_that_does_not_fit_is_named(tmp_path):
    """And the types of a cast that is none, and keys that are none."""
    made = pylanceref.write_dataset(pa.table({"a": [1, 1024]}), tmp_path)
    with pytest.raises(SchemaRefused, match="Can't cast value 1024 to type Int8"):
        made.alter_columns({"path": "a", "data_type": pa.int8()})
    with pytest.raises(SchemaRefused, match='column "a" from Int64 to Utf8'):
        made.alter_columns({"path": "a", "data_type": pa.string()})
    with pytest.raises(ValueError, match="Unknown key: foo"):
        made.alter_columns({"path": "a", "foo": 1})
    made.alter_columns({"path": "a", "data_type": pa.uint16()})
    assert pa.uint16() == made.schema.field("a").type


@pytest.mark.oracle
def test_the_oracle_reads_columns_of_0_1_that_were_cast(tmp_path):
    """L.table.datafile.legacy-order: the cast column has the greater id and stands first."""
    import lance

    data = pa.table({"a": [1], "b": ["x"]})
    made = pylanceref.write_dataset(data, tmp_path, data_storage_version="0.1")
    made.update_field_metadata({"a": {"k": "v"}})
    made.alter_columns({"path": "a", "data_type": pa.int32()})
    pylanceref.write_dataset(made.to_table(), tmp_path, mode="append")

    assert [[[1, 2]]] == _files(pylanceref.dataset(tmp_path))[1:]
    assert {"a": [1, 1], "b": ["x", "x"]} == lance.dataset(str(tmp_path)).to_table().to_pydict()
    assert {} == dict(made._snapshot.manifest.message.fields[0].metadata)


def test_an_indexed_column_is_not_cast(tmp_path):
    """Its index would find other values; another column may be."""
    made = pylanceref.write_dataset(pa.table({"a": [1, 2], "b": [1, 2]}), tmp_path)
    made.create_scalar_index("a", "BTREE")
    with pytest.raises(SchemaRefused, match="a_idx"):
        made.alter_columns({"path": "a", "data_type": pa.int32()})

    made.alter_columns({"path": "b", "data_type": pa.int32()})
    assert pa.int32() == made.schema.field("b").type


def test_joined_keys_are_of_one_type(tmp_path):
    """Of a column and of row ids: nothing is cast."""
    made = pylanceref.write_dataset(pa.table({"k": [1, 2]}), tmp_path / "t")
    for name in ("k", "_rowid"):
        right = pa.table({name: pa.array([0, 1], pa.int32()), "v": [1, 2]})
        with pytest.raises(SchemaRefused, match=r"type mismatch: expected int32, got u?int64"):
            made.merge(right, name)
        with pytest.raises(SchemaRefused, match="Column zz does not exist in the left side"):
            made.get_fragments()[0].merge(right, "zz")


def test_a_function_that_fails_is_told_as_it_is_called(tmp_path):
    """Where it decides on the schema its own error comes out; a plain one was no function then."""
    made = pylanceref.write_dataset(pa.table({"k": [1, 2]}), tmp_path / "t")
    (fragment,) = made.get_fragments()

    def failing(batch):
        raise ZeroDivisionError("oh")

    for add in (made.add_columns, fragment.merge_columns):
        with pytest.raises(ZeroDivisionError, match="oh"):
            add(pylanceref.batch_udf()(failing))
        with pytest.raises(CallerFailed, match="ZeroDivisionError: oh"):
            add(pylanceref.batch_udf(pa.schema([("v", pa.int64())]))(failing))
        with pytest.raises(TypeError, match="gave an error when called with a batch of data: oh"):
            add(failing)
        with pytest.raises(TypeError, match="Could not coerce to a reader: Unknown data type"):
            add(5)


@pytest.mark.oracle
def test_a_computed_column_has_no_metadata_of_its_source(tmp_path):
    """As by the oracle: neither where it is a column as it is, nor where it is computed."""
    import lance

    found = []
    for maker in (lance, pylanceref):
        uri = str(tmp_path / maker.__name__)
        field = pa.field("k", pa.int64(), metadata={"a": "1"})
        maker.write_dataset(pa.table([[1, 2]], schema=pa.schema([field])), uri)
        maker.dataset(uri).add_columns({"same": "k", "more": "k + 1"})
        found.append([one.metadata for one in maker.dataset(uri).schema])

    assert [{b"a": b"1"}, None, None] == found[0]
    assert found[0] == found[1]


SCHEMA = pa.schema({"t": pa.int64()})


def test_a_function_adds_a_column(tmp_path):
    """It returns a batch, a table or a data frame."""
    pd = pytest.importorskip("pandas")
    made = table(tmp_path)

    @batch_udf()
    def twice(batch):
        return pa.table({"t": [2 * one for one in batch["a"].to_pylist()]})

    @batch_udf(pa.schema({"u": pa.int64()}))
    def thrice(batch):
        return pd.DataFrame({"u": [3 * one for one in batch["a"].to_pylist()]})

    made.add_columns(twice, read_columns=["a"])
    made.add_columns(thrice, read_columns=["a"])
    made.add_columns({"q": "6 / (a - 1)"})  # of the deleted row there is none
    every = made.to_table(["q"], include_deleted_rows=True, with_row_id=True)
    assert [-6, 6, 6, 3] == every["q"].to_pylist()[:4]
    assert [0, 4, 6] == column(made, "t")[:3]
    assert [0, 6, 9] == column(made, "u")[:3]


def test_results_are_kept_until_the_columns_are_there(tmp_path):
    """A second try computes only what the first one did not, and then removes the file."""
    made, file, seen = table(tmp_path / "t"), tmp_path / "kept.sqlite", []

    @batch_udf(SCHEMA, checkpoint_file=file)
    def plus(batch):
        seen.append(batch["a"].to_pylist())
        if 5 in seen[-1] and len(seen) < 4:
            raise ZeroDivisionError
        return pa.record_batch({"t": [one + 1 for one in batch["a"].to_pylist()]})

    with pytest.raises(CallerFailed, match="ZeroDivisionError"):
        made.add_columns(plus, read_columns=["a"], batch_size=3)
    assert file.exists()
    assert [[0, 2, 3], [4], [5, 6, 7]] == seen
    made.add_columns(plus, read_columns=["a"], batch_size=3)
    assert [[5, 6, 7], [8, 9]] == seen[3:]
    assert not file.exists()
    assert [one + 1 for one in column(made, "a")] == column(made, "t")
    with pytest.raises(ValueError, match="checkpoint"):
        made.get_fragments()[0].merge_columns(batch_udf(checkpoint_file=file)(plus))

"""Rows as callers hand them over."""

import pyarrow as pa
import pyarrow.dataset as pads
import pytest
from pylanceref.dataset import write_dataset
from pylanceref.types import reader_of

TABLE = pa.table({"a": pa.array([1, 2, 3], pa.int64()), "b": ["x", "y", None]})
ROWS = [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}, {"a": 3, "b": None}]


@pytest.mark.parametrize(
    "data",
    [
        TABLE,
        TABLE.to_batches()[0],
        TABLE.to_reader(),
        pads.dataset(TABLE),
        pads.dataset(TABLE).scanner(),
        TABLE.to_pydict(),
        ROWS,
    ],
    ids=lambda data: type(data).__name__,
)
def test_every_form_gives_the_same_rows(data):
    """Tables, batches, readers, datasets, scanners, columns and rows."""
    assert TABLE.equals(reader_of(data).read_all())


def test_our_own_tables_and_scans_are_read(tmp_path):
    """A table is copied by writing it elsewhere."""
    ds = write_dataset(TABLE, tmp_path)

    assert TABLE.equals(reader_of(ds).read_all())
    assert TABLE.slice(1, 1).equals(reader_of(ds.scanner(limit=1, offset=1)).read_all())


def test_a_schema_applies_to_rows_and_columns():
    """Where types would be guessed."""
    schema = pa.schema({"a": pa.int16()})

    assert schema == reader_of([{"a": 1}], schema).schema
    assert schema == reader_of({"a": [1]}, schema).schema


def test_batches_are_cast_to_the_schema():
    """An iterator of batches needs one."""
    schema = pa.schema({"a": pa.int8(), "b": pa.large_string()})

    assert TABLE.cast(schema).equals(reader_of(iter(TABLE.to_batches()), schema).read_all())
    with pytest.raises(ValueError, match="Must provide schema"):
        reader_of(TABLE.to_batches())


@pytest.mark.parametrize(
    ("data", "error", "text"),
    [
        (5, TypeError, "Unknown data type"),
        (iter([1]), TypeError, "Expected RecordBatch"),
        (iter([pa.record_batch({"a": ["x"]})]), ValueError, "a batch with schema"),
    ],
)
def test_other_things_are_refused(data, error, text):
    """With what pylance raises."""
    with pytest.raises(error, match=text):
        reader_of(data, pa.schema({"a": pa.int8()})).read_all()


def test_metadata_is_text():
    """The format holds no other."""
    with pytest.raises(ValueError, match="utf8"):
        reader_of(TABLE.replace_schema_metadata({"k": b"\xff"}))


def test_an_iterator_fails_with_its_own_words():
    """While it is read; names that are not those of the schema are reported."""
    schema = pa.schema([("a", pa.int64())])

    def rows(second):
        yield pa.record_batch({"a": [1]})
        if second is None:
            raise RuntimeError("no more")
        yield second

    for given in (
        reader_of(rows(None), schema),
        reader_of(pa.RecordBatchReader.from_batches(schema, rows(None))),
    ):
        with pytest.raises(OSError, match="RuntimeError: no more"):
            given.read_all()
    with pytest.raises(OSError, match=r"field names are not matching.*\['b'\], \['a'\]"):
        reader_of(rows(pa.record_batch({"b": [1]})), schema).read_all()

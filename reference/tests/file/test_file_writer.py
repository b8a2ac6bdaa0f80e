"""Data file, written."""

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import DataRefused
from lanceref.core.file_versions import V2_0
from lanceref.data_file import file_writer
from lanceref.data_file.file_writer import FileWriter
from lanceref.file.arrow_schema import schema_of
from lanceref.file.column_io import EncodedColumn, EncodedPage, PagePolicy
from lanceref.proto.encodings_v2_0_pb2 import ArrayEncoding, ColumnEncoding
from lanceref.storage import LocalSink

from .files import WORKED_FILE

SCHEMA = pa.schema([pa.field("a", pa.int32())])
POLICY = PagePolicy(8 << 20, 32 << 20)


class OnePage:
    """Writes rows of an int32 field with nulls as one page, when asked to flush."""

    num_columns = 1

    def write(self, array, row, data):
        self.array = array
        return []

    def flush(self, data):
        encoding = ArrayEncoding()
        some = encoding.nullable.some_nulls
        some.validity.flat.bits_per_value = 1
        some.validity.flat.buffer.SetInParent()
        some.values.flat.bits_per_value = 32
        some.values.flat.buffer.buffer_index = 1
        valid = np.packbits(self.array.is_valid(), bitorder="little")
        return [EncodedPage(0, (valid, self.array.buffers()[1]), encoding, len(self.array))]

    def finish(self):
        values = ColumnEncoding()
        values.values.SetInParent()
        return [EncodedColumn(values)]


def _written(tmp_path, monkeypatch, write, schema=SCHEMA):
    monkeypatch.setattr(file_writer.arrays, "open_writer", lambda *_: OnePage())
    sink = LocalSink(str(tmp_path / "f.lance"))
    writer = FileWriter(sink, schema_of(schema), V2_0, POLICY)
    write(writer)
    writer.finish()
    sink.close()
    return (tmp_path / "f.lance").read_bytes()


def _batch(values=(1, None, 3), name="a"):
    array = pa.array(values, pa.int32())
    zeroed = pa.array([value or 0 for value in values], pa.int32()).buffers()[1]
    array = pa.Array.from_buffers(pa.int32(), len(values), [array.buffers()[0], zeroed])
    return pa.record_batch([array], names=[name])


def test_the_worked_file_is_written_byte_for_byte(tmp_path, monkeypatch):
    """One column `a` int32 [1, null, 3] gives the 348 bytes of the container chapter."""
    data = _written(tmp_path, monkeypatch, lambda writer: writer.write_batch(_batch()))

    assert data == WORKED_FILE


def test_global_buffers_are_numbered_from_one_and_padded(tmp_path, monkeypatch):
    """A buffer of three bytes takes 64, and entry 1 of the table names it."""
    numbers = []

    def write(writer):
        numbers.extend([writer.add_global_buffer(b"abc"), writer.add_global_buffer(b"")])
        writer.write_batch(_batch())

    data = _written(tmp_path, monkeypatch, write)

    assert numbers == [1, 2]
    assert data[:64] == b"abc" + b"H" * 61
    entries = np.frombuffer(data[-40 - 48 : -40], "<u8").reshape(3, 2)
    assert entries[1:].tolist() == [[0, 3], [64, 0]]


def test_an_empty_batch_is_ignored(tmp_path, monkeypatch):
    """Rows are those of the other batches."""

    def write(writer):
        writer.write_batch(_batch(()))
        writer.write_batch(_batch())
        assert writer.num_rows == 3

    assert _written(tmp_path, monkeypatch, write) == WORKED_FILE


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        (_batch(name="b"), "missing the column `a`"),
        (_batch(), "marked non-null"),
        (pa.record_batch([pa.array([1], pa.int8())], names=["a"]), "does not match"),
    ],
)
def test_rows_that_do_not_fit_are_refused(tmp_path, monkeypatch, batch, message):
    """A missing column, a null in a field without nulls and another type raise DataRefused."""
    schema = pa.schema([pa.field("a", pa.int32(), nullable=False)])

    with pytest.raises(DataRefused, match=message):
        _written(tmp_path, monkeypatch, lambda writer: writer.write_batch(batch), schema)


def test_a_null_inside_a_struct_is_refused(tmp_path, monkeypatch):
    """A child without nulls is held to it like the field itself."""
    schema = pa.schema([("a", pa.struct([pa.field("x", pa.int8(), nullable=False)]))])
    batch = pa.record_batch([pa.array([{"x": None}], pa.struct([("x", pa.int8())]))], names=["a"])

    with pytest.raises(DataRefused, match="the field `x` contained null"):
        _written(tmp_path, monkeypatch, lambda writer: writer.write_batch(batch), schema)


def test_what_lies_below_a_null_struct_is_no_null(tmp_path):
    """As the oracle has it, but for 0.1, which has no null structs."""
    x = pa.field("x", pa.int8(), nullable=False)
    mask = pa.array([False, True])
    values = pa.StructArray.from_arrays([pa.array([1, None], pa.int8())], fields=[x], mask=mask)
    table = pa.table({"a": values})
    dataset = pylanceref.write_dataset(table, tmp_path / "t", data_storage_version="2.1")
    assert dataset.to_table()["a"].to_pylist() == [{"x": 1}, None]
    with pytest.raises(DataRefused, match="the field `x` contained null"):
        pylanceref.write_dataset(table, tmp_path / "old", data_storage_version="legacy")

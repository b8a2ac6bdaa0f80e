"""Owners of the bytes of Arrow files."""

import pyarrow as pa
import pytest
from lanceref.explain import Explanation, explain_source
from lanceref.storage import BytesSource
from lanceref.table.arrow_file import expanded_bytes


def _written(num_rows: int, compression: str | None) -> bytes:
    schema = pa.schema([pa.field("row_id", pa.uint32(), nullable=False)])
    table = pa.table({"row_id": range(num_rows)}, schema=schema)
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_file(sink, schema, options=options) as writer:
        writer.write_table(table, max_chunksize=1500)
    return sink.getvalue().to_pybytes()


def _explain(num_rows: int, compression: str | None) -> Explanation:
    return explain_source(BytesSource(_written(num_rows, compression), "0-1-2.arrow"))


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
@pytest.mark.parametrize("num_rows", [0, 3, 4000])
def test_every_byte_has_an_owner(num_rows, compression):
    """Batches of any number and codec are owned whole, without a finding."""
    explained = _explain(num_rows, compression)

    assert [] == explained.unowned
    assert [] == explained.findings


def test_plain_values_are_owned_as_what_they_are():
    """3 values of 4 bytes are 12 bytes of uint32."""
    assert 12 == _explain(3, None).bytes_per_kind()["uint32[]"]


@pytest.mark.parametrize(("compression", "kind"), [("lz4", "lz4 frame"), ("zstd", "zstd block")])
def test_compressed_values_are_owned_as_their_codec(compression, kind):
    """A compressed buffer is its plain size and one block."""
    kinds = _explain(4000, compression).bytes_per_kind()

    assert kind in kinds
    assert "uint32[]" not in kinds


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
def test_batches_take_their_plain_bytes(compression):
    """4 000 values of 4 bytes in three batches, however they are stored."""
    assert 16_000 == expanded_bytes(pa.py_buffer(_written(4000, compression)))
    assert 0 == expanded_bytes(pa.py_buffer(_written(0, compression)))

"""0.1 files built by the writer, taken apart and damaged."""

import pyarrow as pa
from lanceref.core.context import Context
from lanceref.core.cursor import FileBytes
from lanceref.file.arrow_schema import schema_of
from lanceref.file_0_1.data_file import LegacyFile, open_legacy
from lanceref.file_0_1.writer import LegacyWriter
from lanceref.proto import file_pb2, table_pb2
from lanceref.storage import BytesSource

ORACLE = table_pb2.Manifest.WriterVersion(library="lance", version="14.0.2")


class BytesSink:
    """Bytes in memory, written like a file."""

    def __init__(self) -> None:
        self.data = bytearray()

    @property
    def position(self) -> int:
        """Bytes written so far."""
        return len(self.data)

    def write(self, data: bytes | memoryview) -> None:
        """Append bytes."""
        self.data += data

    def close(self) -> None:
        """Nothing to do."""

    def abort(self) -> None:
        """Nothing to do."""


def written(table: pa.Table, rows: int = 1024) -> bytes:
    """Return the file of a table with batches of `rows` rows, signed by the oracle."""
    sink = BytesSink()
    writer = LegacyWriter(sink, schema_of(table.schema), rows, writer=ORACLE)
    for batch in table.to_batches():
        writer.write_batch(batch)
    writer.finish()
    return bytes(sink.data)


def opened(data: bytes, **options) -> LegacyFile:
    """Open the bytes of a file."""
    return open_legacy(BytesSource(data), Context("f.lance"), **options)


def read(data: bytes) -> dict[str, list[object]]:
    """Return every column of a file as a list."""
    file = opened(data)
    columns = {}
    for field in file.manifest.schema.fields:
        reader = file.open_field(field)
        arrays = list(reader.scan(0, reader.num_rows))
        columns[field.name] = [value for array in arrays for value in array.to_pylist()]
    return columns


def file_bytes(data: bytes) -> FileBytes:
    """Return bytes as a file to cut from."""
    return FileBytes(BytesSource(data), Context("f.lance"))


def patched(data: bytes, offset: int, new: bytes) -> bytes:
    """Return the bytes with some replaced."""
    return data[:offset] + new + data[offset + len(new) :]


def i64(*values: int) -> bytes:
    """Return numbers as stored in page tables."""
    return b"".join(value.to_bytes(8, "little", signed=True) for value in values)


def metadata_of(data: bytes) -> tuple[int, file_pb2.Metadata]:
    """Return where the metadata section of a file begins, and the message."""
    position = int.from_bytes(data[-16:-8], "little")
    size = int.from_bytes(data[position : position + 4], "little")
    return position, file_pb2.Metadata.FromString(data[position + 4 : position + 4 + size])


def with_metadata(data: bytes, change) -> bytes:
    """Return the file with `change` applied to its metadata."""
    position, message = metadata_of(data)
    change(message)
    body = message.SerializeToString()
    return data[:position] + len(body).to_bytes(4, "little") + body + data[-16:]


WORKED = pa.table({"a": pa.array([1, None, 3], pa.int32())})
"""The table of the chapter's worked example."""

"""0.1 files in memory, taken apart and changed."""

import pyarrow as pa
from lanceref.proto import file_pb2

from ..file.in_memory import column, opened, scanned

WORKED = pa.table({"a": pa.array([1, None, 3], pa.int32())})
"""The table of the chapter's worked example."""


def read(data: bytes) -> dict[str, list[object]]:
    """Return the values of all columns of a file with a manifest."""
    file = opened(data)
    names = [field.name for field in file.manifest.schema.fields]
    return {name: scanned(column(file, at)).to_pylist() for at, name in enumerate(names)}


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

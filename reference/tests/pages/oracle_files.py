"""Files written by the oracle, opened by the reference."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
from lanceref.core.context import Context, Finding
from lanceref.core.spans import SpanRecorder
from lanceref.data_file.data_file import DataFile, open_file
from lanceref.file.column_io import ColumnReader
from lanceref.storage import BytesSource

from .shapes import Shape


def write(shape: Shape, version: str, path: Path) -> bytes:
    """Let the oracle write one column `c`; return the bytes of the file."""
    from lance.file import LanceFileWriter

    schema = pa.schema([pa.field("c", shape.array.type, metadata=shape.metadata)])
    small = {"data_cache_bytes": 1024} if shape.batches > 1 else {}
    with LanceFileWriter(str(path), schema, version=version, **small) as writer:
        size = -(-len(shape.array) // shape.batches)
        for at in range(0, len(shape.array), size):
            writer.write_batch(pa.Table.from_arrays([shape.array.slice(at, size)], schema=schema))
    return path.read_bytes()


def open_bytes(
    data: bytes, spans: SpanRecorder | None = None, findings: list[Finding] | None = None
) -> DataFile:
    """Open the bytes of a file."""
    return open_file(BytesSource(data), Context("c.lance", spans=spans, findings=findings))


def column(file: DataFile) -> ColumnReader:
    """Return the reader of the first field."""
    return file.open_field(file.descriptor.schema.fields[0])


def scanned(reader: ColumnReader, start: int, end: int) -> pa.ChunkedArray:
    """Read a range of rows."""
    return pa.chunked_array(list(reader.scan(start, end)), type=reader.type)


def same(expected: pa.Array, found: pa.Array | pa.ChunkedArray) -> bool:
    """Whether types and values are equal; dictionaries are compared by what they stand for."""
    chunked = found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found])
    if expected.type != chunked.type:
        return False
    if pa.types.is_dictionary(expected.type):
        values = expected.type.value_type
        return pa.chunked_array([expected]).cast(values).equals(chunked.cast(values))
    return pa.chunked_array([expected], type=expected.type).equals(chunked)


def some_rows(count: int) -> np.ndarray:
    """Pick rows at the ends, in the middle, next to each other, and one of them twice."""
    rng = np.random.default_rng(count)
    picked = np.append(rng.integers(0, count, 20), [0, 1, count - 1, count // 2, count // 2])
    return np.sort(np.clip(picked, 0, count - 1)).astype(np.int64)

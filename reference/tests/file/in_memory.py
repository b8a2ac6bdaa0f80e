"""Data files in memory: written in any version, opened, read in every way, and checked."""

import subprocess
import sys
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
from google.protobuf.message import Message
from lanceref.core.context import Context, Finding, plain_forms
from lanceref.core.file_versions import FROM_WORDS, V0_1, FileVersion
from lanceref.core.spans import SpanRecorder, uncovered
from lanceref.data_file.check import check_data_file
from lanceref.data_file.data_file import DataFile, open_file
from lanceref.data_file.file_writer import FileWriter
from lanceref.file.arrow_schema import schema_of
from lanceref.file.column_io import ColumnReader, page_policy
from lanceref.file.container import is_legacy
from lanceref.file_0_1.data_file import LegacyFile, open_legacy
from lanceref.file_0_1.writer import LegacyWriter
from lanceref.proto import table_pb2
from lanceref.storage import BytesSource

Opened = DataFile | LegacyFile
ORACLE = table_pb2.Manifest.WriterVersion(library="lance", version="14.0.2")
"""Who signs 0.1 files here, so that they can be those of the oracle."""


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


def version_of(name: str) -> FileVersion:
    """Return the version of a name: `0.1`, `2.0` and later."""
    major, minor = map(int, name.split("."))
    return V0_1 if major == 0 else FROM_WORDS[major, minor]


def written(
    rows: pa.Table | Iterable[pa.Table],
    version: str,
    *,
    group_rows: int = 1024,
    cache_bytes: int | None = None,
    max_page_bytes: int | None = None,
) -> bytes:
    """Return the file of a table, or of several that are written one after another."""
    tables = [rows] if isinstance(rows, pa.Table) else list(rows)
    sink, schema = BytesSink(), schema_of(tables[0].schema)
    writer: LegacyWriter | FileWriter
    if version == "0.1":
        writer = LegacyWriter(sink, schema, group_rows, writer=ORACLE)
    else:
        policy = page_policy(len(schema.fields), cache_bytes, max_page_bytes)
        writer = FileWriter(sink, schema, version_of(version), policy)
    for table in tables:
        for batch in table.combine_chunks().to_batches():
            writer.write_batch(batch)
    writer.finish()
    return bytes(sink.data)


def opened(data: bytes, **context: object) -> Opened:
    """Open the bytes of a file of any version."""
    source, ctx = BytesSource(data, "f.lance"), Context("f.lance", **context)
    return open_legacy(source, ctx) if is_legacy(source) else open_file(source, ctx)


def column(data: bytes | Opened, number: int = 0, **context: object) -> ColumnReader:
    """Return the reader of a top-level field."""
    file = opened(data, **context) if isinstance(data, bytes) else data
    return file.open_field(file.schema.fields[number])


def scanned(reader: ColumnReader, start: int = 0, end: int | None = None) -> pa.ChunkedArray:
    """Read a range of rows."""
    parts = list(reader.scan(start, reader.num_rows if end is None else end))
    for part in parts:
        part.validate(full=not pa.types.is_decimal(part.type))  # precision is not checked
    return pa.chunked_array(parts, reader.type)


def taken(reader: ColumnReader, rows: Sequence[int]) -> pa.Array:
    """Read single rows, which ascend."""
    found = reader.take(np.array(rows, np.int64))
    found.validate(full=not pa.types.is_decimal(found.type))
    return found


def pages_of(data: bytes, number: int = 0) -> list[tuple[Message, list[bytes]]]:
    """Return description and buffers of every page of a physical column of a 2.x file."""
    pages = open_file(BytesSource(data), Context("f")).columns[number].pages
    return [
        (page.encoding, [data[one.offset : one.offset + one.size] for one in page.extents])
        for page in pages
    ]


def assert_written(
    array: pa.Array, version: str, metadata: dict[str, str] | None, arms: str, buffers: list[bytes]
) -> None:
    """Hold the only page of a column against arms of its description and bytes, and read it."""
    schema = pa.schema([pa.field("c", array.type, metadata=metadata)])
    data = written(pa.Table.from_arrays([array], schema=schema), version)
    ((description, found),) = pages_of(data)
    for arm in arms.split("."):
        assert description.HasField(arm)
        description = getattr(description, arm)
    assert buffers == found
    assert array.to_pylist() == scanned(column(data)).to_pylist()


def plain_values(array: pa.Array | pa.ChunkedArray) -> pa.ChunkedArray:
    """Return an array that compares by its values: without dictionaries."""
    chunked = array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
    is_coded = pa.types.is_dictionary(chunked.type)
    return chunked.cast(chunked.type.value_type) if is_coded else chunked


def assert_reads_as(array: pa.Array, data: bytes, number: int = 0) -> None:
    """Hold a column against the values: whole, as ranges, as rows, with fast forms and without."""
    count = len(array)
    rng = np.random.default_rng(count)
    ranges = [(0, count), (0, count // 3), (count // 3, count // 3 + 5), (count // 2, count)]
    ends = [0, 1, count - 1, count // 2, count // 2]
    some = np.sort(np.append(rng.integers(0, max(1, count), 20), ends).clip(0, count - 1))
    for is_plain in (False, True):
        with plain_forms(is_plain):
            reader = column(data, number)
            assert (count, array.type) == (reader.num_rows, reader.type)
            for start, end in ((a, min(b, count)) for a, b in ranges):
                part = plain_values(array.slice(start, end - start))
                assert part.equals(plain_values(scanned(reader, start, end)))
            rows = some if count else []
            wanted = array.take(pa.array(rows, pa.int64()))
            assert plain_values(wanted).equals(plain_values(taken(reader, rows)))
            assert 0 == len(taken(reader, []))


def findings_of(data: bytes) -> list[Finding]:
    """Check a file of any version and return what is found."""
    findings: list[Finding] = []
    check_data_file(BytesSource(data, "f.lance"), Context("f.lance", findings=findings))
    return findings


def assert_clean_and_owned(data: bytes) -> dict[tuple[int, int], str]:
    """Check that a file has no finding and each byte one owner; return the kind of each leaf."""
    findings: list[Finding] = []
    spans = SpanRecorder()
    ctx = Context("f.lance", spans=spans, findings=findings)
    check_data_file(BytesSource(data, "f.lance"), ctx)
    root = spans.finish(len(data))
    leaves = sorted(root.leaves(), key=lambda leaf: (leaf.start, leaf.end))
    assert [] == findings
    assert [] == uncovered(root)
    assert all(one.end <= other.start for one, other in pairwise(leaves))
    return {(leaf.start, leaf.end): leaf.kind for leaf in leaves}


READ_BACK = """
import sys, pyarrow as pa
from lance.file import LanceFileReader
for path in sys.argv[1:]:
    table = LanceFileReader(path).read_all().to_table()
    with pa.OSFile(path + ".arrow", "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)
"""


def read_by_oracle(paths: Sequence[Path]) -> list[pa.ChunkedArray]:
    """Return column `c` of files, read by the oracle in a process that a fault of it may end."""
    command = [sys.executable, "-c", READ_BACK, *map(str, paths)]
    subprocess.run(command, check=True, capture_output=True)
    return [pa.ipc.open_file(f"{path}.arrow").read_all()["c"] for path in paths]

"""Global buffers: the file descriptor and what users add.

Entry 0 of the GBO table is the `FileDescriptor`: the schema and the number of rows. Further buffers
belong to the application (indices keep their models there) and have no meaning for the file format.

Layout (message lance.file.FileDescriptor): 1 schema {1 fields, 5 metadata}, 2 length.

Clauses: L.file.globals.descriptor, L.file.gbo.entry, L.file.descriptor.length,
L.file.alignment.buffers
"""

from __future__ import annotations

from dataclasses import dataclass

from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.errors import OutOfRange, Place
from lanceref.core.file_versions import V2_0, FileVersion
from lanceref.core.wire import parse_message
from lanceref.file.columns import ALIGNMENT
from lanceref.file.schema import LanceSchema
from lanceref.file.schema_messages import parse_schema
from lanceref.proto import file_pb2


@dataclass(frozen=True, slots=True)
class Descriptor:
    """Schema and row count of a file; `place` is where the message lies."""

    schema: LanceSchema
    num_rows: int
    place: Place


def check_global_buffers(
    extents: list[Extent], version: FileVersion, data_end: int, file: FileBytes
) -> None:
    """Hold every entry against the bytes before the column metadata."""
    for i, extent in enumerate(extents):
        place = file.ctx.at(extent.offset, extent.size)
        if extent.end > data_end:
            raise OutOfRange(
                "L.file.gbo.entry",
                place,
                found=f"global buffer {i} at {extent.offset} with {extent.size} bytes",
                wanted=f"a buffer inside the first {data_end} bytes",
            )
        if extent.offset % ALIGNMENT and version > V2_0:
            file.ctx.refuse(
                OutOfRange(
                    "L.file.alignment.buffers",
                    place,
                    found=f"global buffer {i} at {extent.offset}",
                    wanted=f"a multiple of {ALIGNMENT}",
                )
            )


def parse_descriptor(file: FileBytes, extent: Extent) -> Descriptor:
    """Parse global buffer 0."""
    cursor = file.cursor(extent, "global buffer 0", "L.file.gbo.entry")
    place = file.ctx.at(extent.offset, extent.size)
    message = parse_message(
        cursor, file_pb2.FileDescriptor, "file descriptor", "L.file.globals.descriptor"
    )
    if not message.HasField("schema"):
        raise OutOfRange("L.file.globals.descriptor", place, found="no schema", wanted="a schema")
    schema = parse_schema(message.schema.fields, dict(message.schema.metadata), file.ctx, place)
    return Descriptor(schema, message.length, place)

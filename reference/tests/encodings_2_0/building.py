"""2.0 columns and files built by hand: encodings and buffers in, a reader or a whole file out."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from google.protobuf.any_pb2 import Any
from lanceref.core.context import Context, Finding
from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.limits import DEFAULT_LIMITS, Limits
from lanceref.core.spans import SpanRecorder
from lanceref.encodings_2_0.column import open_column
from lanceref.encodings_2_0.page import ArrayColumn
from lanceref.file.arrow_schema import logical_type
from lanceref.file.container import ColumnMetadata, PageMetadata
from lanceref.file.schema import Field
from lanceref.proto import encodings_v2_0_pb2 as pb
from lanceref.proto import file2_pb2, file_pb2
from lanceref.storage import BytesSource

VALUES = pb.ColumnEncoding(values={})
BLOB = pb.ColumnEncoding(blob={"inner": {"values": {}}})


@dataclass
class Page:
    """One page: encoding, rows and the bytes of its buffers."""

    encoding: pb.ArrayEncoding
    num_rows: int
    buffers: list[bytes]


@dataclass
class Column:
    """One physical column."""

    pages: list[Page]
    encoding: pb.ColumnEncoding = field(default_factory=lambda: VALUES)


def words(*values: int) -> bytes:
    """Little-endian u64."""
    return b"".join(value.to_bytes(8, "little") for value in values)


def flat(bits: int, buffer: int = 0, **compression: object) -> pb.ArrayEncoding:
    """Flat values in a page buffer."""
    encoding = pb.Flat(bits_per_value=bits, buffer={"buffer_index": buffer})
    if compression:
        encoding.compression.CopyFrom(pb.Compression(**compression))
    return pb.ArrayEncoding(flat=encoding)


def no_nulls(values: pb.ArrayEncoding) -> pb.ArrayEncoding:
    """The `no_nulls` arm."""
    return pb.ArrayEncoding(nullable={"no_nulls": {"values": values}})


def some_nulls(values: pb.ArrayEncoding, validity: int = 0) -> pb.ArrayEncoding:
    """The `some_nulls` arm with its bitmap in a page buffer."""
    return pb.ArrayEncoding(
        nullable={"some_nulls": {"validity": flat(1, validity), "values": values}}
    )


def all_nulls() -> pb.ArrayEncoding:
    """The `all_nulls` arm."""
    return pb.ArrayEncoding(nullable={"all_nulls": {}})


def binary(adjustment: int, first: int = 0, **compression: object) -> pb.ArrayEncoding:
    """Strings whose ends and bytes lie in the page buffers `first` and `first + 1`."""
    return pb.ArrayEncoding(
        binary={
            "indices": no_nulls(flat(64, first)),
            "bytes": flat(8, first + 1, **compression),
            "null_adjustment": adjustment,
        }
    )


def list_page(num_items: int, adjustment: int | None = None) -> pb.ArrayEncoding:
    """A page of list ends in page buffer 0."""
    return pb.ArrayEncoding(
        list={
            "offsets": no_nulls(flat(64)),
            "null_offset_adjustment": num_items + 1 if adjustment is None else adjustment,
            "num_items": num_items,
        }
    )


STRUCT = pb.ArrayEncoding(struct={})


def lists(dimension: int, items: pb.ArrayEncoding) -> pb.ArrayEncoding:
    """Fixed-size lists of items."""
    return pb.ArrayEncoding(fixed_size_list={"dimension": dimension, "items": items})


def dictionary(bits: int, items: pb.ArrayEncoding, num_items: int) -> pb.ArrayEncoding:
    """Keys of `bits` bits in page buffer 0, and items."""
    keys = no_nulls(flat(bits))
    parts = {"indices": keys, "items": items, "num_dictionary_items": num_items}
    return pb.ArrayEncoding(dictionary=parts)


def packed(*inner: pb.ArrayEncoding) -> pb.ArrayEncoding:
    """Rows of a packed struct in page buffer 0."""
    return pb.ArrayEncoding(packed_struct={"inner": inner, "buffer": {}})


def fsst(adjustment: int, symbol_table: bytes) -> pb.ArrayEncoding:
    """Coded strings in page buffers 0 and 1."""
    return pb.ArrayEncoding(fsst={"binary": binary(adjustment), "symbol_table": symbol_table})


def strings_of(width: int, bits: int = 8) -> pb.ArrayEncoding:
    """Strings of `width` bytes whose bytes are described as values of `bits`."""
    return pb.ArrayEncoding(fixed_size_binary={"bytes": flat(bits), "byte_width": width})


def bitpacked(width: int, full: int, *, signed: bool = False) -> pb.ArrayEncoding:
    """Values packed back to back."""
    widths = {"compressed_bits_per_value": width, "uncompressed_bits_per_value": full}
    return pb.ArrayEncoding(bitpacked={**widths, "buffer": {}, "signed": signed})


def in_blocks(width: int, full: int) -> pb.ArrayEncoding:
    """Values packed in FastLanes blocks."""
    widths = {"compressed_bits_per_value": width, "uncompressed_bits_per_value": full}
    return pb.ArrayEncoding(bitpacked_for_non_neg={**widths, "buffer": {}})


def lance_field(arrow: pa.Field) -> Field:
    """The field of the format for an Arrow field."""
    metadata = {k.decode(): v.decode() for k, v in (arrow.metadata or {}).items()}
    children: tuple[Field, ...] = ()
    if pa.types.is_struct(arrow.type):
        children = tuple(lance_field(child) for child in arrow.type)
    elif pa.types.is_list(arrow.type) or pa.types.is_large_list(arrow.type):
        children = (lance_field(arrow.type.value_field),)
    name = logical_type(arrow.type)
    return Field(arrow.name, 0, -1, name, arrow.nullable, metadata, children, arrow)


def open_built(
    arrow: pa.Field | pa.DataType,
    columns: list[Column],
    *,
    findings: list[Finding] | None = None,
    spans: SpanRecorder | None = None,
    limits: Limits = DEFAULT_LIMITS,
    source: BytesSource | None = None,
) -> ArrayColumn:
    """Open hand-built columns as a field (a nullable one when only its type is given)."""
    one = arrow if isinstance(arrow, pa.Field) else pa.field("c", arrow)
    data, extents = _place(columns)
    ctx = Context("built", "decode", limits, spans, findings)
    file = FileBytes(source or BytesSource(data), ctx)
    place = ctx.at(len(data))
    metadata = [
        ColumnMetadata(
            index,
            tuple(
                PageMetadata(extents[index][number], page.num_rows, 0, page.encoding, place)
                for number, page in enumerate(column.pages)
            ),
            column.encoding,
            (),
            place,
        )
        for index, column in enumerate(columns)
    ]
    return open_column(file, lance_field(one), metadata)


def scanned(column: ArrayColumn) -> pa.Array:
    """Every row of a column."""
    parts = list(column.scan(0, column.num_rows))
    return pa.concat_arrays(parts) if parts else pa.nulls(0, column.type)


def taken(column: ArrayColumn, *rows: int) -> list[object]:
    """Some rows of a column."""
    result: list[object] = column.take(np.array(rows, dtype=np.int64)).to_pylist()
    return result


def _place(columns: list[Column]) -> tuple[bytes, list[list[tuple[Extent, ...]]]]:
    """Lay the buffers out, each at a multiple of 64."""
    data = bytearray()
    extents: list[list[tuple[Extent, ...]]] = []
    for column in columns:
        extents.append([])
        for page in column.pages:
            found = []
            for buffer in page.buffers:
                found.append(Extent(len(data), len(buffer)))
                data += buffer + b"H" * (-len(buffer) % 64)
            extents[-1].append(tuple(found))
    return bytes(data), extents


def built_file(arrow: pa.Field, columns: list[Column], num_rows: int) -> bytes:
    """Build a whole 2.0 file of one field."""
    data, extents = _place(columns)
    schema = file_pb2.Schema()
    _list_field(schema, lance_field(arrow), -1)
    descriptor = file_pb2.FileDescriptor(schema=schema, length=num_rows).SerializeToString()
    out = bytearray(data + descriptor)
    metadata = []
    for column, places in zip(columns, extents, strict=True):
        message = file2_pb2.ColumnMetadata(encoding=_direct(column.encoding, "ColumnEncoding"))
        for page, found in zip(column.pages, places, strict=True):
            message.pages.add(
                buffer_offsets=[e.offset for e in found],
                buffer_sizes=[e.size for e in found],
                length=page.num_rows,
                encoding=_direct(page.encoding, "ArrayEncoding"),
            )
        metadata.append((len(out), message.SerializeToString()))
        out += metadata[-1][1]
    first, cmo = metadata[0][0], len(out)
    out += b"".join(words(at, len(message)) for at, message in metadata)
    gbo = len(out)
    out += words(len(data), len(descriptor)) + words(first, cmo, gbo)
    out += (1).to_bytes(4, "little") + len(columns).to_bytes(4, "little")
    return bytes(out + bytes.fromhex("00000300") + b"LANC")


def _direct(encoding: pb.ArrayEncoding | pb.ColumnEncoding, name: str) -> file2_pb2.Encoding:
    packed = Any(type_url=f"/lance.encodings.{name}", value=encoding.SerializeToString())
    return file2_pb2.Encoding(direct={"encoding": packed.SerializeToString()})


def _list_field(schema: file_pb2.Schema, one: Field, parent: int) -> None:
    own = len(schema.fields)
    schema.fields.add(
        name=one.name,
        id=own,
        parent_id=parent,
        logical_type=one.logical_type,
        nullable=one.nullable,
        metadata={key: value.encode() for key, value in one.metadata.items()},
    )
    for child in one.children:
        _list_field(schema, child, own)

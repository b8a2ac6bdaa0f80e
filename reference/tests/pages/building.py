"""Pages of 2.1 and later built by hand: messages and buffers in, an opened page out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from google.protobuf.message import Message
from lanceref.core.context import Context
from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.file_versions import V2_1, V2_2, V2_3, FileVersion
from lanceref.core.limits import DEFAULT_LIMITS, Limits
from lanceref.core.spans import SpanRecorder
from lanceref.file.arrow_schema import logical_type
from lanceref.file.container import PageMetadata
from lanceref.file.schema import Field
from lanceref.pages.column import Page, assemble, open_page
from lanceref.pages.leafvalues import Path, leaf_paths
from lanceref.proto import encodings_v2_1_pb2 as pb
from lanceref.proto import encodings_v2_3_pb2 as pb3
from lanceref.storage import BytesSource

__all__ = ["V2_1", "V2_2", "V2_3", "pb", "pb3"]

LISTS = pa.list_(pa.int32())


def field_of(type_: pa.DataType, name: str = "c", packed: bool = False) -> Field:
    """The field of the format for an Arrow type; structs may be packed."""
    children: tuple[Field, ...] = ()
    if pa.types.is_struct(type_):
        children = tuple(field_of(child.type, child.name) for child in type_)
    elif pa.types.is_map(type_):
        entries = pa.struct([type_.key_field, type_.item_field])
        children = (field_of(entries, "entries"),)
    elif pa.types.is_nested(type_) and not _is_vector(type_):
        children = (field_of(type_.value_type, "item"),)
    metadata = {"packed": "true"} if packed else {}
    logical = logical_type(type_)
    return Field(name, 0, -1, logical, True, metadata, children, pa.field(name, type_))


def _is_vector(type_: pa.DataType) -> bool:
    """Whether a type is a leaf: a fixed-size list of anything but structs."""
    return pa.types.is_fixed_size_list(type_) and not pa.types.is_struct(type_.value_type)


def path_to(field: Field, leaf: int = 0) -> Path:
    """The path to a leaf."""
    return leaf_paths(field)[leaf]


def stored(
    encoding: Message,
    num_rows: int,
    *buffers: bytes,
    limits: Limits = DEFAULT_LIMITS,
    spans: SpanRecorder | None = None,
) -> tuple[FileBytes, PageMetadata]:
    """Lay the buffers out, each at a multiple of 64, and describe the page they make."""
    data, extents = bytearray(), []
    for buffer in buffers:
        extents.append(Extent(len(data), len(buffer)))
        data += buffer + b"H" * (-len(buffer) % 64)
    ctx = Context("built", "decode", limits, spans)
    file = FileBytes(BytesSource(bytes(data)), ctx)
    return file, PageMetadata(tuple(extents), num_rows, 0, encoding, ctx.at(len(data), 1))


def opened(
    type_: pa.DataType | Field,
    encoding: Message,
    num_rows: int,
    *buffers: bytes,
    version: FileVersion = V2_1,
    limits: Limits = DEFAULT_LIMITS,
    before: Page | None = None,
) -> Page:
    """Open a page as the first leaf of a type; `before` is the page before it in the column."""
    field = type_ if isinstance(type_, Field) else field_of(type_)
    file, page = stored(encoding, num_rows, *buffers, limits=limits)
    return open_page(file, path_to(field), page, version, before)


def scanned(page: Page, type_: pa.DataType | Field) -> list[object]:
    """Read all rows of a page of a field with one leaf."""
    field = type_ if isinstance(type_, Field) else field_of(type_)
    place = Context("built").at(0)
    rows: list[object] = []
    for part in page.scan(0, page.num_rows):
        rows += assemble(field, [part], place).to_pylist()
    return rows


def taken(page: Page, type_: pa.DataType, *rows: int) -> list[object]:
    """Read some rows of a page of a field with one leaf."""
    part = page.take(np.array(rows, np.int64))
    result: list[object] = assemble(field_of(type_), [part], Context("built").at(0)).to_pylist()
    return result


def words(*values: int, width: int = 4) -> bytes:
    """Little-endian integers of `width` bytes."""
    return b"".join(value.to_bytes(width, "little") for value in values)


def chunk(*values: bytes, levels: tuple[list[int], ...] = (), wide: bool = False) -> bytes:
    """A chunk: header, levels as raw u16, value buffers, padded with 0xfe to eight bytes."""
    raw = [words(*part, width=2) for part in levels]
    num_levels = len(levels[0]) if levels else 0
    header = words(num_levels, *(len(part) for part in raw), width=2)
    header += words(*(len(part) for part in values), width=4 if wide else 2)
    return b"".join(part + b"\xfe" * (-len(part) % 8) for part in (header, *raw, *values))


def chunk_table(*chunks: tuple[bytes, int], wide: bool = False) -> bytes:
    """The words of chunks: each with the log2 of its values, 0 in the last one."""
    found = (((len(part) // 8 - 1) << 4) | log for part, log in chunks)
    return words(*found, width=4 if wide else 2)


def flat(bits: int) -> pb.CompressiveEncoding:
    """Flat values."""
    return pb.CompressiveEncoding(flat={"bits_per_value": bits})


def variable(bits: int = 32) -> pb.CompressiveEncoding:
    """Strings with flat offsets."""
    return pb.CompressiveEncoding(variable={"offsets": flat(bits)})


def mini_layout(values: pb.CompressiveEncoding, num_items: int, *layers: int) -> pb.PageLayout:
    """A mini-block page without levels."""
    mini = pb.MiniBlockLayout(
        value_compression=values, num_items=num_items, num_buffers=1, layers=layers
    )
    return pb.PageLayout(mini_block_layout=mini)


def zip_layout(
    values: pb.CompressiveEncoding, num_items: int, *layers: int, **fields: int
) -> pb.PageLayout:
    """A full-zip page whose entries are all visible, unless told otherwise."""
    given = {"num_visible_items": num_items, **fields}
    layout = pb.FullZipLayout(value_compression=values, num_items=num_items, layers=layers, **given)
    return pb.PageLayout(full_zip_layout=layout)


NULLS = pb3.SparseValiditySet.NULL_POSITIONS
VALID = pb3.SparseValiditySet.VALID_POSITIONS


def sequence(values: Sequence[int], buffers: list[bytes]) -> pb.CompressiveEncoding:
    """Describe a sequence; one that is not empty gets a buffer of u64."""
    if not values:
        return pb.CompressiveEncoding(constant={})
    buffers.append(words(*values, width=8))
    return flat(64)


def validity(
    flags: Sequence[bool], buffers: list[bytes], meaning: int = NULLS
) -> pb3.SparseValiditySet:
    """Say which slots are valid, by the positions of one kind."""
    positions = [i for i, valid in enumerate(flags) if valid == (meaning == VALID)]
    return pb3.SparseValiditySet(
        meaning=meaning,  # type: ignore[arg-type]
        positions=sequence(positions, buffers),
        num_positions=len(positions),
    )


def item_layer(
    flags: Sequence[bool], buffers: list[bytes], meaning: int = NULLS
) -> pb3.SparseStructuralLayer:
    """A struct or leaf."""
    return pb3.SparseStructuralLayer(validity=validity(flags, buffers, meaning))


def list_layer(rows: Sequence[object], buffers: list[bytes]) -> pb3.SparseStructuralLayer:
    """A list layer of rows that are None or lists: positions, counts, validity."""
    filled = [i for i, row in enumerate(rows) if row]
    counts = [len(rows[i]) for i in filled]  # type: ignore[arg-type]
    lists = pb3.SparseListLayer(
        num_child_slots=sum(counts),
        non_empty_positions=sequence(filled, buffers),
        num_non_empty_positions=len(filled),
        counts=sequence(counts, buffers),
        validity=validity([row is not None for row in rows], buffers),
    )
    return pb3.SparseStructuralLayer(list=lists)

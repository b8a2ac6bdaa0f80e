"""Packed structs: the fields of a row side by side, in one column.

Layout of a fixed row: the bytes of each field in field order, no padding.
Layout of a variable row (a variable value of the page): fixed fields as raw bytes, variable ones as
a length of `bits_per_length` bits and the bytes, each coded as its field's encoding says.

Clauses: L.codec.packed-struct.bits, L.codec.packed-struct.row
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from lanceref.codecs.values import Bytes, Fixed, Ints, Rows, Values, Variable, flat_encoding
from lanceref.core.context import Context
from lanceref.core.errors import CorruptPage, Place
from lanceref.proto import encodings_v2_1_pb2 as pb
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding

DecodeFixed = Callable[[CompressiveEncoding, Bytes, Place], Values]
DecodeVariable = Callable[[CompressiveEncoding, Variable, Context, Place], Values]

Cells = tuple[CompressiveEncoding, Fixed | Variable, int]
"""One encoded field: its description, its values, the bits of a variable value's length."""


def check_bits(bits: Sequence[int], row_bits: int, place: Place) -> None:
    """Raise CorruptPage for fields that are not whole bytes or do not fill the row."""
    if any(width % 8 or width <= 0 for width in bits) or sum(bits) != row_bits:
        clause, found = "L.codec.packed-struct.bits", f"fields of {list(bits)[:8]} bits"
        raise CorruptPage(clause, place, found, f"bytes that fill {row_bits} bits")


def split(rows: Fixed, bits: Sequence[int]) -> Rows:
    """Cut rows of fixed width into the fields of a packed struct."""
    table, at, fields = rows.data.reshape(rows.count, rows.bits // 8), 0, list[Values]()
    for width in bits:
        part = np.ascontiguousarray(table[:, at : at + width // 8])
        fields.append(Fixed(width, rows.count, part.reshape(-1)))
        at += width // 8
    return Rows(rows.count, tuple(fields))


def split_variable(
    encoding: pb.VariablePackedStruct,
    rows: Variable,
    decode_fixed: DecodeFixed,
    decode_variable: DecodeVariable,
    ctx: Context,
    place: Place,
) -> Rows:
    """Cut variable rows into their fields, and decode each. Raises CorruptPage."""
    at, ends, fields = rows.offsets[:-1].copy(), rows.offsets[1:], list[Values]()

    def corrupt(found: str, wanted: str) -> CorruptPage:
        return CorruptPage("L.codec.packed-struct.row", place, found, wanted)

    def cut(width: int) -> Bytes:
        """Cut `width` bytes from every row: uint8 (rows, width)."""
        if np.any(ends - at < width):
            raise corrupt("a row that ends early", f"{width} bytes of a field")
        cells = rows.data[at[:, None] + np.arange(width)]
        at[:] += width
        return np.ascontiguousarray(cells)

    for field in encoding.fields:
        if field.WhichOneof("layout") == "bits_per_value":
            cells = cut(field.bits_per_value // 8)
            fields.append(decode_fixed(field.value, cells, place))
            continue
        width = field.bits_per_length // 8
        lengths = cut(width).view(f"<u{width}").reshape(-1).astype(np.uint64)
        if np.any(lengths > (ends - at).astype(np.uint64)):
            raise corrupt("a length beyond its row", "the bytes it promises")
        stops = at + lengths.astype(np.int64)
        spans = zip(at.tolist(), stops.tolist())
        joined = b"".join([rows.data.data[start:end] for start, end in spans])
        offsets = np.append(0, np.cumsum(stops - at)).astype(np.int64)
        values = Variable(offsets, np.frombuffer(joined, np.uint8))
        fields.append(decode_variable(field.value, values, ctx, place))
        at[:] = stops
    if np.any(at != ends):
        raise corrupt("bytes after the last field", "rows used up by their fields")
    return Rows(len(at), tuple(fields))


def join(rows: Rows) -> tuple[CompressiveEncoding, Fixed]:
    """Put the fixed-width fields of each row side by side. Raises ValueError for bits."""
    fields = [field for field in rows.fields if isinstance(field, Fixed)]
    if any(field.bits % 8 for field in fields):
        raise ValueError("a packed struct cannot hold fields that are not whole bytes")
    cells = [field.data.reshape(rows.count, field.bits // 8) for field in fields]
    joined = np.concatenate(cells, axis=1)
    bits = 8 * joined.shape[1]
    widths = [field.bits for field in fields]
    packed = pb.PackedStruct(bits_per_value=widths, values=flat_encoding(bits))
    return CompressiveEncoding(packed_struct=packed), Fixed(bits, rows.count, joined.reshape(-1))


def join_variable(count: int, fields: Sequence[Cells]) -> tuple[CompressiveEncoding, Variable]:
    """Put encoded fields of each row one after the other, variable ones after their length."""
    encoding = CompressiveEncoding()
    sizes = np.zeros(count, np.int64)
    for description, values, length_bits in fields:
        field = encoding.variable_packed_struct.fields.add(value=description)
        if isinstance(values, Fixed):
            field.bits_per_value = values.bits
            sizes += values.bits // 8
        else:
            field.bits_per_length = length_bits
            sizes += length_bits // 8 + np.diff(values.offsets)
    ends = np.cumsum(sizes)
    out, at = np.empty(int(ends[-1]) if count else 0, np.uint8), ends - sizes
    for _, values, length_bits in fields:
        if isinstance(values, Fixed):
            at = _put_cells(out, at, values.data.reshape(count, values.bits // 8))
            continue
        lengths, width = np.diff(values.offsets), length_bits // 8
        at = _put_cells(out, at, lengths.astype(f"<u{width}").view(np.uint8).reshape(-1, width))
        target = np.repeat(at - values.offsets[:-1], lengths) + np.arange(int(lengths.sum()))
        out[target] = values.data[: int(values.offsets[-1])]
        at = at + lengths
    return encoding, Variable(np.append(0, ends), out)


def _put_cells(out: Bytes, at: Ints, cells: Bytes) -> Ints:
    """Write one cell into each row; return where the rows go on."""
    out[at[:, None] + np.arange(cells.shape[1])] = cells
    return at + int(cells.shape[1])

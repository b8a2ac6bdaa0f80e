"""Packed structs: the fields of a row side by side, in one column.

Layout of a fixed row: the bytes of each field in field order, no padding.
Layout of a variable row (a variable value of the page): fixed fields as raw bytes, variable ones as
a length of `bits_per_length` bits and the bytes, each coded as its field's encoding says.

Clauses: L.codec.packed-struct.bits, L.codec.packed-struct.row

Packed structs, encoded: the fields of a row side by side.

Layout: see `packed_struct`.

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

DecodeFixed = Callable[[pb.CompressiveEncoding, Bytes, Context, Place], Values]
DecodeVariable = Callable[[pb.CompressiveEncoding, Variable, Context, Place], Values]


def check_bits(bits: Sequence[int], row_bits: int, place: Place) -> None:
    """Refuse fields that are not whole bytes or do not fill the row."""
    if any(width % 8 or width <= 0 for width in bits) or sum(bits) != row_bits:
        raise CorruptPage(
            "L.codec.packed-struct.bits",
            place,
            found=f"fields of {list(bits)[:8]} bits",
            wanted=f"whole bytes that fill {row_bits} bits",
        )


def split(rows: Fixed, bits: Sequence[int]) -> Rows:
    """Cut fixed rows into their fields."""
    table, at, fields = rows.data.reshape(rows.count, rows.bits // 8), 0, list[Values]()
    for width in bits:
        part = np.ascontiguousarray(table[:, at : at + width // 8])
        fields.append(Fixed(width, rows.count, part.reshape(-1)))
        at += width // 8
    return Rows(rows.count, tuple(fields))


class VariableRows:
    """The rows of a page while their fields are cut off one after the other."""

    def __init__(self, rows: Variable, ctx: Context, place: Place) -> None:
        self._data, self._ctx, self._place = rows.data, ctx, place
        self._at, self._ends = rows.offsets[:-1].copy(), rows.offsets[1:]

    def decode(
        self, encoding: pb.VariablePackedStruct, fixed: DecodeFixed, variable: DecodeVariable
    ) -> Rows:
        """Cut and decode every field; the rows must be used up by them."""
        count, fields = len(self._at), list[Values]()
        for field in encoding.fields:
            if field.WhichOneof("layout") == "bits_per_length":
                cut = self._variable_field(field.bits_per_length // 8)
                fields.append(variable(field.value, cut, self._ctx, self._place))
            else:
                cells = self._cut_cells(field.bits_per_value // 8)
                fields.append(fixed(field.value, cells, self._ctx, self._place))
        if np.any(self._at != self._ends):
            raise self._corrupt("bytes behind the last field", "rows used up by their fields")
        return Rows(count, tuple(fields))

    def _cut_cells(self, width: int) -> Bytes:
        """Cut `width` bytes from every row: uint8 (rows, width)."""
        if np.any(self._ends - self._at < width):
            raise self._corrupt("a row that ends early", f"{width} bytes of a field")
        cells = self._data[self._at[:, None] + np.arange(width)]
        self._at += width
        return np.ascontiguousarray(cells)

    def _variable_field(self, width: int) -> Variable:
        cells = np.ascontiguousarray(self._cut_cells(width))
        lengths = cells.view(f"<u{width}").reshape(-1).astype(np.uint64)
        if np.any(lengths > (self._ends - self._at).astype(np.uint64)):
            raise self._corrupt("a length beyond its row", "the bytes it promises")
        sizes = lengths.astype(np.int64)
        view = self._data.data
        spans = zip(self._at.tolist(), (self._at + sizes).tolist())
        joined = b"".join([view[start:end] for start, end in spans])
        self._at = self._at + sizes
        offsets = np.append(0, np.cumsum(sizes)).astype(np.int64)
        return Variable(offsets, np.frombuffer(joined, np.uint8))

    def _corrupt(self, found: str, wanted: str) -> CorruptPage:
        return CorruptPage("L.codec.packed-struct.row", self._place, found=found, wanted=wanted)


Cells = tuple[CompressiveEncoding, Fixed | Variable, int]
"""One encoded field: its description, its values, the bits of a variable value's length."""


def join(rows: Rows) -> tuple[CompressiveEncoding, Fixed]:
    """Put the fixed-width fields of each row side by side. Raises ValueError for bits."""
    fields = [field for field in rows.fields if isinstance(field, Fixed)]
    if any(field.bits % 8 for field in fields):
        raise ValueError("a packed struct cannot hold fields that are not whole bytes")
    cells = [field.data.reshape(rows.count, field.bits // 8) for field in fields]
    joined = np.concatenate(cells, axis=1)
    encoding = CompressiveEncoding()
    encoding.packed_struct.bits_per_value.extend(field.bits for field in fields)
    encoding.packed_struct.values.CopyFrom(flat_encoding(8 * joined.shape[1]))
    return encoding, Fixed(8 * joined.shape[1], rows.count, joined.reshape(-1))


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
        else:
            at = _put_variable(out, at, values, length_bits // 8)
    return encoding, Variable(np.append(0, ends), out)


def _put_cells(out: Bytes, at: Ints, cells: Bytes) -> Ints:
    """Write one cell into each row; return where the rows go on."""
    out[at[:, None] + np.arange(cells.shape[1])] = cells
    return at + int(cells.shape[1])


def _put_variable(out: Bytes, at: Ints, values: Variable, width: int) -> Ints:
    """Write length and bytes into each row; return where the rows go on."""
    lengths = np.diff(values.offsets)
    at = _put_cells(out, at, lengths.astype(f"<u{width}").view(np.uint8).reshape(-1, width))
    target = np.repeat(at - values.offsets[:-1], lengths) + np.arange(int(lengths.sum()))
    out[target] = values.data[: int(values.offsets[-1])]
    return at + lengths

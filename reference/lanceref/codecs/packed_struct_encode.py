"""Packed structs, encoded: the fields of a row side by side.

Layout: see `packed_struct`.

Clauses: L.codec.packed-struct.bits, L.codec.packed-struct.row
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.encoded import flat_encoding
from lanceref.codecs.values import Fixed, Rows, Variable
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding

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


def _put_cells(
    out: NDArray[np.uint8], at: NDArray[np.int64], cells: NDArray[np.uint8]
) -> NDArray[np.int64]:
    """Write one cell into each row; return where the rows go on."""
    out[at[:, None] + np.arange(cells.shape[1])] = cells
    return at + int(cells.shape[1])


def _put_variable(
    out: NDArray[np.uint8], at: NDArray[np.int64], values: Variable, width: int
) -> NDArray[np.int64]:
    """Write length and bytes into each row; return where the rows go on."""
    lengths = np.diff(values.offsets)
    at = _put_cells(out, at, lengths.astype(f"<u{width}").view(np.uint8).reshape(-1, width))
    target = np.repeat(at - values.offsets[:-1], lengths) + np.arange(int(lengths.sum()))
    out[target] = values.data[: int(values.offsets[-1])]
    return at + lengths

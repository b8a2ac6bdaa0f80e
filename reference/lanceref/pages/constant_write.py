"""Constant pages, written: one value, or nothing but nulls.

Layout: see `constant`.

Clauses: L.page.constant.form, L.page.constant.only-null, L.page.constant.raw-levels,
L.page.constant.inline-size, L.page.constant.value-buffer

Divergences: D.page.empty-struct-all-null
"""

from __future__ import annotations

import struct

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.choose import encode_levels
from lanceref.codecs.values import Fixed, Values, Variable
from lanceref.core.file_versions import V2_1, FileVersion
from lanceref.file.column_writer import Buffer
from lanceref.pages.constant import MAX_INLINE_BYTES
from lanceref.pages.layers import NULLABLE_ITEM
from lanceref.pages.leafvalues import Validity
from lanceref.pages.shred import LevelArray, RavelledLevels
from lanceref.proto.encodings_v2_1_pb2 import ConstantLayout

SAMPLE = 64
"""Slots looked at before all of them are."""

LONG = 256
"""Bytes of a value above which values are compared one by one."""


def all_null_page(
    levels: RavelledLevels, version: FileVersion
) -> tuple[list[Buffer], ConstantLayout]:
    """Return the buffers and description of a page without a valid value."""
    if len(levels.codes) == 1:
        return [], ConstantLayout(layers=[NULLABLE_ITEM])  # type: ignore[list-item]
    layout = ConstantLayout(layers=levels.codes)  # type: ignore[arg-type]
    if version == V2_1:
        return [_raw(levels.rep), _raw(levels.definition)], layout
    buffers: list[Buffer] = [b"", b""]
    if levels.rep is not None:
        encoding, buffers[0], _ = encode_levels(levels.rep, _all(levels.rep), version)
        layout.rep_compression.CopyFrom(encoding)
        layout.num_rep_values = len(levels.rep)
    if levels.definition is not None:
        encoding, buffers[1], _ = encode_levels(levels.definition, _all(levels.definition), version)
        layout.def_compression.CopyFrom(encoding)
        layout.num_def_values = len(levels.definition)
    return buffers, layout


def value_page(
    levels: RavelledLevels, value: bytes | Variable, wide: bool
) -> tuple[list[Buffer], ConstantLayout]:
    """Return the buffers and description of a page whose valid values are all `value`.

    `wide` says that offsets of a variable value take 8 bytes, not 4.
    """
    layout = ConstantLayout(layers=levels.codes)  # type: ignore[arg-type]
    buffers: list[Buffer] = []
    if isinstance(value, bytes) and len(value) <= MAX_INLINE_BYTES:
        layout.inline_value = value
    else:
        buffers.append(value_buffer(value, wide))
    if levels.rep is not None or levels.definition is not None:
        buffers += [_raw(levels.rep), _raw(levels.definition)]
    return buffers, layout


def value_buffer(value: bytes | Variable, wide: bool) -> bytes:
    """Return the Arrow buffers of one value, each with its size before."""
    parts = [value] if isinstance(value, bytes) else _variable_parts(value, wide)
    sizes = struct.pack(f"<{1 + len(parts)}I", len(parts), *map(len, parts))
    return sizes + b"".join(parts)


def _variable_parts(value: Variable, wide: bool) -> list[bytes]:
    return [value.offsets.astype("<i8" if wide else "<i4").tobytes(), value.data.tobytes()]


def _all(levels: LevelArray) -> NDArray[np.int64]:
    return np.array([len(levels)], np.int64)


def _raw(levels: LevelArray | None) -> NDArray[np.uint8] | bytes:
    return b"" if levels is None else levels.astype("<u2").view(np.uint8)


def the_value(values: Values, validity: Validity) -> bytes | Variable | None:
    """Return the one value that all valid slots hold; None when they differ.

    Only values of fixed width and variable ones are looked at; there is at least one valid slot.
    """
    if _same(values, _first_slots(validity, values.count)) is None:
        return None
    return _same(values, np.arange(values.count) if validity is None else np.flatnonzero(validity))


def _same(values: Values, slots: NDArray[np.int64]) -> bytes | Variable | None:
    if isinstance(values, Fixed):
        return _same_fixed(values, slots) if values.bits else b""
    return _same_variable(values, slots) if isinstance(values, Variable) else None


def _first_slots(validity: Validity, count: int) -> NDArray[np.int64]:
    """Return the first valid slots, one at least."""
    first = 0 if validity is None else int(np.argmax(validity))
    most = min(count, first + SAMPLE)
    if validity is None:
        return np.arange(most)
    return first + np.flatnonzero(validity[first:most])


def _same_fixed(values: Fixed, slots: NDArray[np.int64]) -> bytes | None:
    rows: NDArray[np.uint8]
    if values.bits == 1:
        shifts = (slots % 8).astype(np.uint8)
        rows = (values.data[slots // 8] >> shifts & np.uint8(1)).reshape(-1, 1)
    else:
        rows = values.data.reshape(values.count, -1)[slots]
    return rows[0].tobytes() if (rows == rows[0]).all() else None


def _same_variable(values: Variable, slots: NDArray[np.int64]) -> Variable | None:
    starts, ends = values.offsets[slots], values.offsets[slots + 1]
    size = int(ends[0] - starts[0])
    if ((ends - starts) != size).any():
        return None
    first = values.data[int(starts[0]) : int(ends[0])]
    if size > LONG:  # one by one: the places of all bytes would take eight times the memory
        if not all(np.array_equal(values.data[at : at + size], first) for at in starts.tolist()):
            return None
    elif size and (values.data[starts[:, None] + np.arange(size)] != first).any():
        return None
    return Variable(np.array([0, size], np.int64), first)

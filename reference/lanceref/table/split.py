"""Split columns: a field whose parts lie in several data files, or in none.

Adding, casting or replacing a nested field writes a file for that part alone. What a file holds of
a field reads as the field with the other parts left out; here the parts are joined again, and what
no file holds is null.

Clauses: L.table.datafile.missing-field, L.table.datafile.lookup, L.table.limits.no-file
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.context import Context
from lanceref.core.errors import FormatError, LimitExceeded, Place
from lanceref.file.batches import Recutter
from lanceref.file.column_reader import RUN_BYTES, ColumnReader


class NullColumn:
    """A field that no file of the fragment holds. Raises LimitExceeded for too wide rows."""

    def __init__(self, type_: pa.DataType, num_rows: int, ctx: Context, place: Place) -> None:
        self.type = type_
        self.num_rows = num_rows
        row_bytes, limit = _row_bytes(type_), ctx.limits.expanded(0)
        if row_bytes > limit:
            raise LimitExceeded(
                "L.table.limits.no-file", place, found=f"rows of {row_bytes} bytes", wanted=limit
            )
        self._run_rows = max(1, RUN_BYTES // row_bytes)

    def scan(self, start: int, end: int) -> Iterator[pa.Array]:
        """Yield nulls, a run at a time."""
        for at in range(start, end, self._run_rows):
            yield pa.nulls(min(self._run_rows, end - at), self.type)

    def take(self, rows: NDArray[np.int64]) -> pa.Array:
        """Return as many nulls as rows are asked for."""
        return pa.nulls(len(rows), self.type)

    def check(self) -> None:
        """There is nothing to check."""


class SplitColumn:
    """A field of which each of `parts` reads some of the nested fields."""

    def __init__(
        self, type_: pa.DataType, parts: Sequence[ColumnReader], num_rows: int, place: Place
    ) -> None:
        self.type = type_
        self.num_rows = num_rows
        self._parts = parts
        self._place = place

    def scan(self, start: int, end: int) -> Iterator[pa.Array]:
        """Yield the joined parts, cut where the first part is."""
        first, *others = self._parts
        rest = [Recutter(part.scan(start, end)) for part in others]
        for array in first.scan(start, end):
            arrays = [array, *(part.next(len(array)) for part in rest)]
            yield _join(self.type, arrays, self._place)

    def take(self, rows: NDArray[np.int64]) -> pa.Array:
        """Return the given rows of every part, joined."""
        return _join(self.type, [part.take(rows) for part in self._parts], self._place)

    def check(self) -> None:
        """Check every part."""
        for part in self._parts:
            part.check()


def _join(type_: pa.DataType, parts: list[pa.Array], place: Place) -> pa.Array:
    """Join arrays that each hold some nested fields of `type_`; the first tells the nulls."""
    first = parts[0]
    if first.type == type_:
        return first
    if pa.types.is_struct(type_):
        children = [_child(field, parts, place) for field in type_]
        return pa.StructArray.from_arrays(children, fields=list(type_), mask=first.is_null())
    if pa.types.is_fixed_size_list(type_):
        size = type_.list_size
        items = [part.values.slice(part.offset * size, len(part) * size) for part in parts]
        joined = _join(type_.value_type, items, place)
        return pa.FixedSizeListArray.from_arrays(joined, type=type_, mask=first.is_null())
    offsets = [_offsets(part) for part in parts]
    if not all(np.array_equal(offsets[0], other) for other in offsets[1:]):
        raise FormatError(
            "L.table.datafile.lookup",
            place,
            found="lists of different lengths in the files of one field",
            wanted="the same lists in each file",
        )
    joined = _join(type_.value_type, [part.flatten() for part in parts], place)
    ends = pa.array(offsets[0], pa.int64() if pa.types.is_large_list(type_) else pa.int32())
    cls = pa.LargeListArray if pa.types.is_large_list(type_) else pa.ListArray
    return cls.from_arrays(ends, joined, type=type_, mask=first.is_null())


def _child(field: pa.Field, parts: list[pa.Array], place: Place) -> pa.Array:
    found = [(part, part.type.get_field_index(field.name)) for part in parts]
    holding = [part.field(index) for part, index in found if index >= 0]
    return _join(field.type, holding, place) if holding else pa.nulls(len(parts[0]), field.type)


def _offsets(lists: pa.Array) -> NDArray[np.int64]:
    """Return where each list starts in `lists.flatten()`, which leaves out the items of nulls."""
    stored = np.asarray(lists.offsets).astype(np.int64)
    lengths = np.where(np.asarray(lists.is_null()), 0, np.diff(stored))
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])


def _row_bytes(type_: pa.DataType) -> int:
    """Return about how many bytes a null of this type takes."""
    if pa.types.is_fixed_size_list(type_):
        return 1 + int(type_.list_size) * _row_bytes(type_.value_type)
    if pa.types.is_fixed_size_binary(type_):
        return 1 + int(type_.byte_width)
    if pa.types.is_struct(type_):
        return 1 + sum(_row_bytes(field.type) for field in type_)
    return 9

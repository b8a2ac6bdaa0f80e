"""Blobs: the byte strings of an array, which are looked at one by one or all at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.context import Context
from lanceref.core.cursor import Cursor


@dataclass(frozen=True, slots=True)
class Blobs(Sequence[Cursor]):
    """Byte strings one behind the other: string i is data[ends[i]:ends[i + 1]]."""

    data: NDArray[np.uint8]
    ends: NDArray[np.int64]
    ctx: Context

    @staticmethod
    def of(values: pa.Array, ctx: Context) -> Blobs:
        """Return the strings of an array (large_binary) without nulls."""
        _, offsets, data = values.buffers()
        ends = np.frombuffer(offsets, np.int64, len(values) + 1, 8 * values.offset)
        return Blobs(np.frombuffer(data or b"", np.uint8), ends, ctx)

    def __len__(self) -> int:
        return len(self.ends) - 1

    @overload
    def __getitem__(self, number: int) -> Cursor: ...

    @overload
    def __getitem__(self, number: slice) -> Blobs: ...

    def __getitem__(self, number: int | slice) -> Cursor | Blobs:
        """Return a string, or neighbours."""
        if isinstance(number, slice):
            start, end, _ = number.indices(len(self))
            return Blobs(self.data, self.ends[start : max(start, end) + 1], self.ctx)
        start, end = int(self.ends[number]), int(self.ends[number + 1])
        return Cursor(self.data.data[start:end], 0, self.ctx)

    def __iter__(self) -> Iterator[Cursor]:
        return map(self.__getitem__, range(len(self)))

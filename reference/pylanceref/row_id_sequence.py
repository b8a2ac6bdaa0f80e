"""Row id sequence: the stable ids of the rows of a fragment, given by hand (face).

Has the names of pylance's `RowIdSequence`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
from lanceref.core.context import Context
from lanceref.core.errors import DataRefused
from lanceref.table.row_ids import decode_row_ids, stored_count
from lanceref.table.row_ids_write import encode_ids
from numpy.typing import NDArray

from pylanceref.metadata import RowIdMeta

_CTX = Context("row id metadata")

SHOWN = 10
"""Ids that a sequence shows of itself."""


class RowIdSequence:
    """Ids in the order of their rows, each once.

    Raises ValueError for an id that comes twice or is null, OverflowError for a negative one,
    TypeError for what is no number.
    """

    def __init__(self, row_ids: Iterable[int] | pa.Array | pa.ChunkedArray) -> None:
        if isinstance(row_ids, pa.Array | pa.ChunkedArray):
            row_ids = _of_array(row_ids)
        elif isinstance(row_ids, range) and len(row_ids) and row_ids[0] < 0:
            raise DataRefused(f"Row ids must be non-negative, but the range starts at {row_ids[0]}")
        elif not isinstance(row_ids, Iterable):
            kind = type(row_ids).__name__
            raise TypeError(
                f"Row ids must be an iterable of integers or an Arrow array, but got {kind}"
            )
        held = list(row_ids)
        for one in held:
            if not isinstance(one, int | np.integer):
                kind = type(one).__name__
                raise TypeError(f"{kind!r} object cannot be interpreted as an integer")
        self._ids: NDArray[np.uint64] = np.array(held, np.uint64)
        values, counts = np.unique(self._ids, return_counts=True)
        if (counts > 1).any():
            raise DataRefused(
                f"Row ids must be unique, but row id {values[counts > 1][0]} appears more than "
                f"once in the sequence of {len(held)} row ids"
            )

    @staticmethod
    def from_inline_metadata(metadata: RowIdMeta) -> RowIdSequence:
        """Return the ids that metadata holds. Raises ValueError when a column holds them."""
        if metadata.inline is None:
            raise DataRefused("the row ids are in a column, not in the metadata")
        count = stored_count(metadata.inline, _CTX, _CTX.at(0))
        found = decode_row_ids(metadata.inline, count, _CTX, _CTX.at(0))
        return RowIdSequence(pa.array(found.at(np.arange(count))))

    def to_inline_metadata(self) -> RowIdMeta:
        """Return the metadata of a fragment whose rows have these ids."""
        return RowIdMeta(encode_ids(self._ids) if len(self._ids) else b"")

    def to_pyarrow(self) -> pa.UInt64Array:
        """Return the ids."""
        return pa.array(self._ids)

    def __len__(self) -> int:
        return len(self._ids)

    def __iter__(self) -> Iterator[int]:
        return iter(self._ids.tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RowIdSequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        first = ", ".join(map(str, self._ids[:SHOWN].tolist()))
        if len(self) <= SHOWN:
            return f"RowIdSequence([{first}])"
        return f"RowIdSequence([{first}, ...], len={len(self)})"


def _of_array(row_ids: pa.Array | pa.ChunkedArray) -> list[int]:
    """Return the ids of an array. Raises TypeError, DataRefused."""
    if not pa.types.is_integer(row_ids.type):
        raise TypeError(
            f"Row ids must be an array of integers, but got an array of type {row_ids.type}"
        )
    if row_ids.null_count:
        raise DataRefused(
            f"Row ids must not be null, but the array has {row_ids.null_count} null values"
        )
    try:
        return row_ids.cast(pa.uint64()).to_pylist()  # type: ignore[no-any-return]
    except pa.ArrowInvalid as error:
        raise DataRefused(f"Row ids must fit in a uint64: {error}") from error

"""Columns of `auxiliary.idx`, as arrays: a number for each row [n], or so many [n, w].

Clauses: L.index.vector.columns.null
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.errors import CorruptPage
from lanceref.index.index_file import IndexFile


def read_column(file: IndexFile, field: pa.Field, start: int, end: int) -> NDArray[np.generic]:
    """Return rows of a column. Raises FormatError when it is missing, of another type or null."""
    column = file.read(field.name, field.type, start, end)
    width = field.type.list_size if pa.types.is_fixed_size_list(field.type) else None
    numbers = column if width is None else column.flatten()
    if column.null_count or numbers.null_count:
        raise CorruptPage(
            "L.index.vector.columns.null",
            file.place,
            found=f"null in {field.name!r}",
            wanted="a value in every row",
        )
    values: NDArray[np.generic] = numbers.to_numpy(zero_copy_only=False)
    return values if width is None else values.reshape(len(column), width)


def arrow_column(values: NDArray[np.generic], type_: pa.DataType) -> pa.Array:
    """Return an array of a type."""
    if not pa.types.is_fixed_size_list(type_):
        return pa.array(values, type_)
    numbers = pa.array(np.ascontiguousarray(values).reshape(-1), type_.value_type)
    return pa.FixedSizeListArray.from_arrays(numbers, type=type_)

"""Vectors in tables (face of `lance.vector`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pylanceref.late_names import late_names

_LEFT_OUT = "get_ivf_partition_info hamming_clustering_for_ivf_partition "
_LEFT_OUT += "hamming_clustering_for_sample"
__getattr__ = late_names(__name__, {}, _LEFT_OUT)


def vec_to_table(
    data: dict[str, object] | list[object] | NDArray[np.float64],
    names: str | Sequence[str] | None = None,
    ndim: int | None = None,
    check_ndim: bool = True,
) -> pa.Table:
    """Return vectors as a table of float32 lists of fixed size.

    A dictionary gives the columns `id` and `vector`, a list or an array [rows, dimension] `vector`
    only. Raises ValueError for vectors of several lengths, NotImplementedError for other data.
    """
    if isinstance(data, dict):
        chosen = ["id", "vector"] if names is None else list(names)
        vectors = _vectors(list(data.values()), ndim, check=check_ndim)
        return pa.Table.from_arrays([pa.array(list(data)), vectors], names=chosen)
    if isinstance(data, list | np.ndarray):
        chosen = [names] if isinstance(names, str) else list(names or ["vector"])
        return pa.Table.from_arrays([_vectors(list(data), ndim, check=check_ndim)], names=chosen)
    raise NotImplementedError(f"data must be dict, list, or ndarray, got {type(data)} instead")


def _vectors(rows: Sequence[object], ndim: int | None, *, check: bool) -> pa.Array:
    """Return vectors as lists of fixed size: `ndim`, or the length of the first."""
    arrays = [np.asarray(row, np.float32) for row in rows]
    size = len(arrays[0]) if ndim is None else ndim
    if check and any(len(one) != size for one in arrays):
        raise ValueError(f"All vectors must have the same length, {size}")
    return pa.FixedSizeListArray.from_arrays(pa.array(np.concatenate(arrays)), size)

"""Size of a table once its dictionaries, run-ends and views are decoded.

A dictionary may repeat one long value for each row, and views may share their bytes: the comparison
decodes both. The size is computed from lengths alone; columns without such types are skipped.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Sizes = npt.NDArray[np.float64]


def decoded_bytes(table: pa.Table) -> int:
    """Return the decoded bytes of the columns whose types can repeat values, without the others."""
    chosen = [one for one in table.columns if _may_repeat_values(one.type)]
    return int(sum(_sizes(chunk).sum() for column in chosen for chunk in column.chunks))


def _may_repeat_values(kind: pa.DataType) -> bool:
    """Whether arrays of a type can have fewer values than rows."""
    if isinstance(kind, pa.BaseExtensionType):
        return _may_repeat_values(kind.storage_type)
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return True
    if _is_view(kind) or pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        return True
    return any(_may_repeat_values(kind.field(at).type) for at in range(kind.num_fields))


def _is_view(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string_view(kind) or pa.types.is_binary_view(kind))


def _is_bytes(kind: pa.DataType) -> bool:
    is_small = pa.types.is_string(kind) or pa.types.is_binary(kind)
    return bool(is_small or pa.types.is_large_string(kind) or pa.types.is_large_binary(kind))


def _sizes(array: pa.Array) -> Sizes:
    """Return the decoded bytes of each row [n]."""
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return _sizes(array.storage)
    if pa.types.is_dictionary(kind):
        return _sizes_by_index(_sizes(array.dictionary), array.indices)
    if pa.types.is_run_end_encoded(kind):
        ends = np.asarray(array.run_ends).astype(np.int64)
        runs = np.searchsorted(ends, array.offset + np.arange(len(array)), side="right")
        return np.asarray(_sizes(array.values)[runs], np.float64)
    if _is_view(kind):
        views = np.frombuffer(array.buffers()[1], np.int32)[4 * array.offset :: 4]
        return np.asarray(views[: len(array)], np.float64)
    if pa.types.is_struct(kind):
        fields = [_sizes(array.field(at)) for at in range(kind.num_fields)]
        return np.asarray(np.sum([np.zeros(len(array)), *fields], axis=0), np.float64)
    if pa.types.is_fixed_size_list(kind):
        items = _sizes(array.values)[array.offset * kind.list_size :][: len(array) * kind.list_size]
        rows = items.reshape(len(array), kind.list_size)
        return np.asarray(rows.sum(axis=1), np.float64)
    if pa.types.is_nested(kind) and hasattr(array, "offsets"):
        return _list_sizes(array)
    if _is_bytes(kind):
        return np.asarray(pc.fill_null(pc.binary_length(array), 0)).astype(np.float64)
    return np.full(len(array), 1.0 if pa.types.is_null(kind) else kind.bit_width / 8)


def _sizes_by_index(sizes: Sizes, indices: pa.Array) -> Sizes:
    """Return the size of the value of each index [n], 0 for a null."""
    chosen = np.asarray(pc.fill_null(indices, 0)).astype(np.int64)
    if not len(sizes):
        return np.zeros(len(chosen))
    taken = sizes[np.clip(chosen, 0, len(sizes) - 1)]
    return np.where(np.asarray(indices.is_valid()), taken, 0.0)


def _list_sizes(array: pa.Array) -> Sizes:
    """Return the decoded bytes of each list, map or list view [n]."""
    kind = array.type
    if pa.types.is_map(kind):
        items = _sizes(array.keys) + _sizes(array.items)
    else:
        items = _sizes(array.values)
    before = np.concatenate([[0.0], np.cumsum(items)])
    starts = np.asarray(array.offsets).astype(np.int64)
    if pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        starts = np.clip(starts[: len(array)], 0, len(items))
        ends = np.clip(starts + np.asarray(array.sizes).astype(np.int64), 0, len(items))
    else:
        starts, ends = starts[:-1], starts[1:]
    return np.asarray(before[ends] - before[starts], np.float64)

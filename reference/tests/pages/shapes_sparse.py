"""Columns whose structure 2.3 stores as positions; registered with the other shapes."""

from __future__ import annotations

import pyarrow as pa

from .shapes import NEW, RNG, SHAPES, V22, V23, _deep_lists, _fsl, _mixed, shape, with_nulls

__all__ = ["SHAPES"]

SPARSE = {"structural_encoding": "sparse"}


@shape("sparse nullable numbers", (V23,), **SPARSE)
def _sparse_numbers() -> pa.Array:
    return with_nulls(pa.array(RNG.integers(0, 2**40, 2000)), 40)


@shape("sparse mostly null numbers", (V23,), **SPARSE)
def _sparse_null_numbers() -> pa.Array:
    return pa.array([i if i % 50 == 7 else None for i in range(4000)], pa.int32())


@shape("sparse null vectors", (V23,), **SPARSE)
def _sparse_vectors() -> pa.Array:
    return with_nulls(_fsl(100, 300), 4)


@shape("sparse lists", (V23,), **SPARSE)
def _sparse_lists() -> pa.Array:
    rows = [[i, None, i * 3] if i % 40 == 3 else [] if i % 3 else None for i in range(3000)]
    return pa.array(rows, pa.list_(pa.int64()))


@shape("sparse repeated long strings in lists", (V23,), **SPARSE)
def _sparse_indexed() -> pa.Array:
    words = [f"{i}" * 400 for i in range(3)]
    rows = [[words[i % 3], None, words[0]] if i % 4 else None for i in range(300)]
    return pa.array(rows, pa.list_(pa.string()))


@shape("sparse long strings", (V23,), compression="none", **SPARSE)
def _sparse_strings() -> pa.Array:
    return with_nulls(pa.array([f"{i}-" * 200 for i in range(300)]))


@shape("sparse structs of lists of structs", (V23,), **SPARSE)
def _sparse_mixed() -> pa.Array:
    return _mixed()


@shape("sparse deep lists", (V23,), **SPARSE)
def _sparse_deep() -> pa.Array:
    return _deep_lists()


@shape("mostly empty lists", (V23,))
def _automatic_sparse() -> pa.Array:
    rows = [[1, 2, 3, 4, 5] if i % 1000 == 0 else None for i in range(200_000)]
    return pa.array(rows, pa.list_(pa.int32()))


def _fsl_of(items: pa.Array, dimension: int) -> pa.Array:
    return pa.FixedSizeListArray.from_arrays(items, dimension)


@shape("fixed-size lists of structs of lists", NEW)
def _fsl_struct_list() -> pa.Array:
    rows = [{"l": None if i % 9 == 1 else list(range(i % 4))} for i in range(600)]
    return _fsl_of(pa.array(rows, pa.struct([("l", pa.list_(pa.int32()))])), 2)


@shape("lists of fixed-size lists of structs", (V23,))
def _list_fsl_struct() -> pa.Array:
    items = pa.array(
        [{"a": i if i % 5 else None} for i in range(600)], pa.struct([("a", pa.int16())])
    )
    pairs = with_nulls(_fsl_of(items, 2), 9)
    return pa.ListArray.from_arrays(pa.array([0, None, 3, 3, 10, 100, 300], pa.int32()), pairs)


@shape("lists of fixed-size lists of structs, never null", (V22,))
def _list_fsl_struct_22() -> pa.Array:
    items = pa.array(
        [{"a": i if i % 5 else None} for i in range(600)], pa.struct([("a", pa.int16())])
    )
    return pa.ListArray.from_arrays(
        pa.array([0, 1, 3, 10, 100, 300], pa.int32()), _fsl_of(items, 2)
    )


@shape("empty structs with nulls", (V23,))
def _null_empty_structs() -> pa.Array:
    return pa.array([{}, None, {}] * 50, pa.struct([]))


@shape("sparse constant", (V23,), **SPARSE)
def _sparse_constant() -> pa.Array:
    return pa.array([[7, 7], None, [], [7]] * 100, pa.list_(pa.int32()))


@shape("sparse dictionary", (V23,), **SPARSE)
def _sparse_dictionary() -> pa.Array:
    return pa.array([None if i % 3 == 0 else f"word {i % 5}" for i in range(1500)])

"""Tensors: tables of numbers within messages.

Every tensor of a vector index has two dimensions; its numbers lie row by row, little-endian.

Clauses: L.index.vector.tensor.shape, L.index.vector.tensor.type, L.index.vector.tensor.size
"""

from __future__ import annotations

import numpy as np

from lanceref.core.errors import FormatError, Place
from lanceref.kernels.distance import AnyVectors
from lanceref.proto import index_pb2

TYPES: dict[int, np.dtype[np.generic]] = {
    index_pb2.Tensor.FLOAT16: np.dtype("<f2"),
    index_pb2.Tensor.FLOAT32: np.dtype("<f4"),
    index_pb2.Tensor.FLOAT64: np.dtype("<f8"),
    index_pb2.Tensor.UINT8: np.dtype("u1"),
}
"""Types of numbers that vectors can have."""


def parse_tensor(message: index_pb2.Tensor, place: Place) -> AnyVectors:
    """Return the numbers of a tensor [rows, columns], read-only. Raises FormatError."""
    shape = [int(one) for one in message.shape]
    if len(shape) != 2:
        raise FormatError(
            "L.index.vector.tensor.shape", place, found=f"shape {shape[:8]}", wanted="two sizes"
        )
    dtype = TYPES.get(message.data_type)
    if dtype is None:
        raise FormatError(
            "L.index.vector.tensor.type",
            place,
            found=f"type {message.data_type}",
            wanted=f"one of {sorted(TYPES)}",
        )
    size = shape[0] * shape[1] * dtype.itemsize
    if size != len(message.data):
        raise FormatError(
            "L.index.vector.tensor.size",
            place,
            found=f"{len(message.data)} bytes",
            wanted=f"{size}, for {shape} of {dtype.itemsize} bytes each",
        )
    return np.frombuffer(message.data, dtype).reshape(shape)


def tensor_of(values: AnyVectors) -> index_pb2.Tensor:
    """Return numbers [rows, columns] as a tensor."""
    types = {dtype: number for number, dtype in TYPES.items()}
    return index_pb2.Tensor(
        data_type=types[values.dtype],  # type: ignore[arg-type]
        shape=values.shape,
        data=np.ascontiguousarray(values).tobytes(),
    )

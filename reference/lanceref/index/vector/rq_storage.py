"""RQ storage: codes of RabitQ, of residuals whatever the metric.

Layout: the columns of `rq_rows`; the signs of a partition are packed where `packed` is true.
Metadata {"rotate_mat_position":null,"fast_rotation_signs":[b, ..],"rotation_type":"fast",
"code_dim":d,"num_bits":n,"packed":b,"query_estimator":"raw_query"}. Older: a rotation of the type
"matrix", also when there is none; its matrix [d, d] is the tensor in global buffer
`rotate_mat_position`; the estimator "residual_query", also when there is none.

Clauses: L.index.vector.rq.dimension, L.index.vector.rq.bits, L.index.vector.rq.metadata,
L.index.vector.rq.rotation, L.index.vector.rq.estimator, L.index.vector.rq.columns
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.errors import FormatError, OperationRefused, Place
from lanceref.index.index_file import IndexFile
from lanceref.index.vector.rq_rows import (
    BLOCKED,
    ERROR,
    FOLLOWING,
    SIGNS,
    Bytes,
    Layout,
    RotatedRows,
)
from lanceref.index.vector.storage import (
    Columns,
    Model,
    Quantizer,
    Sample,
    StorageType,
    compact,
    entry,
    expect,
    parse_tensor,
    tensor_of,
)
from lanceref.kernels.distance import AnyVectors, Floats
from lanceref.kernels.kmeans import distances_to
from lanceref.kernels.rabitq_codes import block_bytes, columns_of, stored_from
from lanceref.kernels.rabitq_estimate import (
    ROUNDS,
    FastRotation,
    MatrixRotation,
    Rotation,
    draw_rotation,
)
from lanceref.proto import index_pb2

METADATA = "L.index.vector.rq.metadata"
ROTATION = "L.index.vector.rq.rotation"

MOST_BITS = 9
USUAL_BITS = 5
RAW, RESIDUAL = "raw_query", "residual_query"


@dataclass(frozen=True)
class Rotated(Quantizer):
    """Keeps codes of rotated residuals; with `packed_signs` the file has packed signs."""

    rotation: Rotation
    layout: Layout
    packed_signs: bool
    turned_centroids: Floats

    @property
    def fields(self) -> list[pa.Field]:
        """The columns of the storage file: signs, extended codes and factors."""
        return self.layout.fields

    def metadata(self) -> Mapping[str, object]:
        signs = self.rotation.signs if isinstance(self.rotation, FastRotation) else None
        return {
            "rotate_mat_position": 2 if signs is None else None,
            "fast_rotation_signs": None if signs is None else signs.ravel().tolist(),
            "rotation_type": "matrix" if signs is None else "fast",
            "code_dim": self.model.dimension,
            "num_bits": self.layout.num_bits,
            "packed": self.packed_signs,
            "query_estimator": RESIDUAL if self.layout.residual else RAW,
        }

    def buffers(self) -> list[bytes]:
        if isinstance(self.rotation, FastRotation):
            return []
        return [tensor_of(self.rotation.matrix).SerializeToString()]

    def encode(self, vectors: AnyVectors, partitions: NDArray[np.int64]) -> Columns:
        centroids, metric = self.model.centroids, self.model.metric
        residuals = (vectors - centroids[partitions]).astype(np.float32, copy=False)
        if metric == "dot":
            squares = np.einsum("ij,ij->i", residuals, residuals)
        else:
            squares = distances_to(vectors, centroids, partitions, "l2")
        centers = self.turned_centroids[partitions]
        return self.layout.encode(self.rotation.rotate(residuals), centers, squares, metric)

    def pack(self, rows: Columns) -> Columns:
        signs: Bytes = rows[SIGNS].view(np.uint8)
        return {**rows, SIGNS: stored_from(signs.T, packed=self.packed_signs)}

    def unpack(self, stored: Columns) -> Columns:
        signs: Bytes = stored[SIGNS].view(np.uint8)
        return {**stored, SIGNS: columns_of(signs, packed=self.packed_signs).T}

    def open_rows(self, rows: Columns, partition: int) -> RotatedRows:
        center, turned = self.model.centroids[partition], self.turned_centroids[partition]
        metric = self.model.metric
        return RotatedRows(self.layout, rows, metric, self.rotation, center, turned)

    def with_model(self, model: Model) -> Rotated:
        return rotated(model, self.rotation, self.layout, packed=self.packed_signs)

    def merge(self, others: Sequence[Quantizer]) -> Quantizer:
        """Return one for the rows of all, if all are rotated alike. Raises OperationRefused."""
        for other in others:
            if not isinstance(other, Rotated) or other._identity != self._identity:
                raise OperationRefused("RabitQ models differ across shards")
        errors = all(cast("Rotated", one).layout.errors for one in (self, *others))
        layout = replace(self.layout, errors=errors, blocked=True)
        return replace(self, layout=layout, packed_signs=True)

    @property
    def _identity(self) -> tuple[int, bool, str, bytes]:
        """What codes depend on besides the centroids: bits, estimator and rotation."""
        rotation = self.rotation
        data = rotation.signs if isinstance(rotation, FastRotation) else rotation.matrix
        shape = f"{type(rotation).__name__} {data.shape}"
        return self.layout.num_bits, self.layout.residual, shape, data.tobytes()

    def convert(self, other: Quantizer, rows: Columns) -> Columns:
        """Return the rows with extended codes in blocks: nothing else may differ."""
        layout = cast("Rotated", other).layout
        codes = None if layout.blocked else layout.extended(rows)
        if codes is None:
            return rows
        kept = {name: column for name, column in rows.items() if name != FOLLOWING}
        return {**kept, BLOCKED: block_bytes(codes, layout.extra_bits)}


def rotated(model: Model, rotation: Rotation, layout: Layout, *, packed: bool) -> Rotated:
    """Return the RabitQ quantizer of a model with a given rotation."""
    centroids = model.centroids.astype(np.float32, copy=False)
    return Rotated(model, rotation, layout, packed, rotation.rotate(centroids))


def parse(given: Mapping[str, object], file: IndexFile, model: Model, place: Place) -> Rotated:
    """Return the quantizer of a file. Raises FormatError."""
    dim, names = model.dimension, file.names
    if dim % 8 or model.centroids.dtype == np.uint8:
        found, wanted = f"{dim} {model.centroids.dtype}", "a multiple of 8 floating-point numbers"
        raise FormatError("L.index.vector.rq.dimension", place, found, wanted)
    num_bits = _parse_bits(given, place)
    type_ = given.get("rotation_type", "matrix")
    rotation: Rotation
    if type_ == "fast":
        rotation = _parse_fast(given, dim, place)
    else:
        expect(ROTATION, place, "rotation type", type_, "matrix")
        position = entry(given, "rotate_mat_position", int, METADATA, place)
        matrix = parse_tensor(file.message(position, index_pb2.Tensor), place)
        if matrix.shape != (dim, dim) or matrix.dtype == np.uint8:
            found, wanted = f"{matrix.shape} {matrix.dtype}", f"{(dim, dim)} floating-point numbers"
            raise FormatError(ROTATION, place, found, wanted)
        rotation = MatrixRotation(matrix.astype(np.float32))
    estimator = given.get("query_estimator", RESIDUAL)
    if estimator not in (RAW, RESIDUAL) or (estimator == RESIDUAL and num_bits > 1):
        found, wanted = (
            f"{str(estimator)[:40]}, {num_bits} bits",
            f"{RAW}, or {RESIDUAL} of one bit",
        )
        raise FormatError("L.index.vector.rq.estimator", place, found, wanted)
    if num_bits == 1:
        extended = [name for name in names if name in (BLOCKED, FOLLOWING)]
        expect("L.index.vector.rq.columns", place, "codes of more than one bit", extended, [])
    residual, errors = estimator == RESIDUAL, ERROR in names or num_bits > 1
    layout = Layout(dim, num_bits, residual, errors, blocked=FOLLOWING not in names)
    return rotated(model, rotation, layout, packed=entry(given, "packed", bool, METADATA, place))


def _parse_bits(given: Mapping[str, object], place: Place) -> int:
    num_bits = entry(given, "num_bits", int, METADATA, place)
    if not 1 <= num_bits <= MOST_BITS:
        found, wanted = f"{num_bits} bits", f"1 to {MOST_BITS}"
        raise FormatError("L.index.vector.rq.bits", place, found, wanted)
    return num_bits


def _parse_fast(given: Mapping[str, object], dim: int, place: Place) -> FastRotation:
    expect(ROTATION, place, "code_dim", entry(given, "code_dim", int, METADATA, place), dim)
    signs, size = given.get("fast_rotation_signs"), ROUNDS * (dim // 8)
    octets = signs if isinstance(signs, list) else []
    if len(octets) != size or not all(type(one) is int and 0 <= one < 256 for one in octets):
        found = f"fast_rotation_signs {str(signs)[:40]}"
        raise FormatError(ROTATION, place, found, f"{size} bytes")
    return FastRotation(np.array(octets, np.uint8).reshape(ROUNDS, -1))


def train(sample: Sample, model: Model, parameters: Mapping[str, object]) -> Rotated:
    """Return a quantizer with the rotation in `rabitq_model`, or one drawn at random.

    Raises ValueError.
    """
    dim = model.dimension
    if dim % 8:
        raise ValueError("vector dimension must be divisible by 8 for IVF_RQ")
    num_bits = parameters.get("num_bits", USUAL_BITS)
    if not (isinstance(num_bits, int) and 1 <= num_bits <= MOST_BITS):
        raise ValueError(f"IVF_RQ num_bits must be in 1..={MOST_BITS}, got {num_bits}")
    text = parameters.get("rabitq_model")
    if text is None:
        packed = not parameters.get("skip_transpose", False)
        rotation = draw_rotation(dim, np.random.default_rng())
        return rotated(model, rotation, Layout(dim, num_bits), packed=packed)
    place, given = Place("rabitq_model", 0, len(str(text))), json.loads(str(text))
    if not isinstance(given, dict):
        raise ValueError(f"rabitq_model is no object: {str(text)[:80]!r}")
    layout = Layout(dim, _parse_bits(given, place))
    return rotated(model, _parse_fast(given, dim, place), layout, packed=False)


def model_text(dimension: int, num_bits: int, random: np.random.Generator) -> str:
    """Draw a rotation for segments to share, as text that `rabitq_model` takes."""
    model = Model("l2", np.zeros((0, dimension), np.float32))
    layout = Layout(dimension, num_bits)
    drawn = rotated(model, draw_rotation(dimension, random), layout, packed=False)
    return compact(drawn.metadata())


RQ = StorageType("RQ", 2, parse, train)

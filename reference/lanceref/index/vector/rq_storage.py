"""RQ storage: codes of RabitQ, of residuals whatever the metric.

Layout: the columns of `rq_rows`; the signs of a partition are packed where the metadata say so.
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
    Layout,
    RotatedRows,
    encode,
    rotated_rows,
    with_blocks,
)
from lanceref.index.vector.storage import (
    Columns,
    Model,
    Quantizer,
    Sample,
    StorageType,
    compact,
    flag,
    number,
    parse_tensor,
    tensor_of,
)
from lanceref.kernels.distance import AnyVectors, Floats
from lanceref.kernels.kmeans import distances_to
from lanceref.kernels.rabitq_codes import columns_of, stored_from
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

Bytes = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Rotated:
    """Keeps codes of rotated residuals; `packed` says how signs lie in the file."""

    model: Model
    rotation: Rotation
    layout: Layout
    packed_signs: bool
    turned_centroids: Floats

    @property
    def fields(self) -> list[pa.Field]:
        """The columns."""
        return self.layout.fields

    def metadata(self) -> Mapping[str, object]:
        """Return what the file says."""
        fast = isinstance(self.rotation, FastRotation)
        return {
            "rotate_mat_position": None if fast else 2,
            "fast_rotation_signs": _signs(self.rotation),
            "rotation_type": "fast" if fast else "matrix",
            "code_dim": self.model.dimension,
            "num_bits": self.layout.num_bits,
            "packed": self.packed_signs,
            "query_estimator": RESIDUAL if self.layout.residual else RAW,
        }

    def statistics(self) -> Mapping[str, object]:
        """Return the same as the file says."""
        return self.metadata()

    def buffers(self) -> list[bytes]:
        """Return the matrix, if there is one."""
        if isinstance(self.rotation, FastRotation):
            return []
        return [tensor_of(self.rotation.matrix).SerializeToString()]

    def describe(self, details: index_pb2.VectorIndexDetails) -> None:
        """Say how many bits codes have, and how vectors are rotated."""
        details.rq.num_bits = self.layout.num_bits
        if isinstance(self.rotation, MatrixRotation):
            details.rq.rotation_type = index_pb2.VectorIndexDetails.RabitQuantization.MATRIX

    def encode(self, vectors: AnyVectors, partitions: NDArray[np.int64]) -> Columns:
        """Return the columns for what vectors are from their centroids."""
        centroids = self.model.centroids
        residuals = (vectors - centroids[partitions]).astype(np.float32, copy=False)
        if self.model.metric == "dot":
            squares = np.einsum("ij,ij->i", residuals, residuals)
        else:
            squares = distances_to(vectors, centroids, partitions, "l2")
        return encode(
            self.layout,
            self.rotation.rotate(residuals),
            self.turned_centroids[partitions],
            squares,
            self.model.metric,
        )

    def packed(self, rows: Columns) -> Columns:
        """Return columns as they lie in the file."""
        signs: Bytes = rows[SIGNS].view(np.uint8)
        return {**rows, SIGNS: stored_from(signs.T, packed=self.packed_signs)}

    def unpacked(self, stored: Columns) -> Columns:
        """Return columns row by row."""
        signs: Bytes = stored[SIGNS].view(np.uint8)
        return {**stored, SIGNS: columns_of(signs, packed=self.packed_signs).T}

    def stored(self, rows: Columns, partition: int) -> RotatedRows:
        """Return the rows of a partition."""
        return rotated_rows(
            self.layout,
            rows,
            self.model.metric,
            self.rotation,
            self.model.centroids[partition],
            self.turned_centroids[partition],
        )

    def around(self, model: Model) -> Rotated:
        """Return the same with other centroids."""
        return rotated(model, self.rotation, self.layout, packed=self.packed_signs)

    def joined(self, others: Sequence[Quantizer]) -> Quantizer:
        """Return one for the rows of all, if all are rotated alike. Raises OperationRefused."""
        errors = self.layout.errors
        for other in others:
            if not isinstance(other, Rotated) or not self._alike(other):
                raise OperationRefused("RabitQ models differ across shards")
            errors = errors and other.layout.errors
        layout = replace(self.layout, errors=errors, blocked=True)
        return replace(self, layout=layout, packed_signs=True)

    def _alike(self, other: Rotated) -> bool:
        mine, theirs = self.layout, other.layout
        if (mine.num_bits, mine.residual) != (theirs.num_bits, theirs.residual):
            return False
        one, two = self.rotation, other.rotation
        if isinstance(one, FastRotation) and isinstance(two, FastRotation):
            return np.array_equal(one.signs, two.signs)
        if isinstance(one, MatrixRotation) and isinstance(two, MatrixRotation):
            return np.array_equal(one.matrix, two.matrix)
        return False

    def adopted(self, other: Quantizer, rows: Columns) -> Columns:
        """Return the rows: only how extended codes lie may differ."""
        return with_blocks(cast("Rotated", other).layout, rows)


def _signs(rotation: Rotation) -> list[int] | None:
    return rotation.signs.ravel().tolist() if isinstance(rotation, FastRotation) else None


def rotated(model: Model, rotation: Rotation, layout: Layout, *, packed: bool) -> Rotated:
    """Return the quantizer with a rotation."""
    centroids = model.centroids.astype(np.float32, copy=False)
    return Rotated(model, rotation, layout, packed, rotation.rotate(centroids))


def parse(given: Mapping[str, object], file: IndexFile, model: Model, place: Place) -> Rotated:
    """Return the quantizer of a file. Raises FormatError."""
    if model.dimension % 8 or model.centroids.dtype == np.uint8:
        raise FormatError(
            "L.index.vector.rq.dimension",
            place,
            found=f"vectors of {model.dimension} {model.centroids.dtype}",
            wanted="a multiple of 8 floating-point numbers",
        )
    num_bits = _num_bits(given, place)
    rotation = _parse_rotation(given, file, model.dimension, place)
    estimator = given.get("query_estimator", RESIDUAL)
    if estimator not in (RAW, RESIDUAL) or (estimator == RESIDUAL and num_bits > 1):
        raise FormatError(
            "L.index.vector.rq.estimator",
            place,
            found=f"{str(estimator)[:40]} of {num_bits} bits",
            wanted=f"{RAW}, or {RESIDUAL} of one bit",
        )
    names = file.names
    if num_bits == 1 and (BLOCKED in names or FOLLOWING in names):
        raise FormatError(
            "L.index.vector.rq.columns", place, found=f"{names}", wanted="no extended codes"
        )
    layout = Layout(
        model.dimension,
        num_bits,
        residual=estimator == RESIDUAL,
        errors=ERROR in names or num_bits > 1,
        blocked=FOLLOWING not in names,
    )
    return rotated(model, rotation, layout, packed=flag(given, "packed", METADATA, place))


def _num_bits(given: Mapping[str, object], place: Place) -> int:
    num_bits = number(given, "num_bits", METADATA, place)
    if not 1 <= num_bits <= MOST_BITS:
        raise FormatError(
            "L.index.vector.rq.bits", place, found=f"{num_bits} bits", wanted=f"1 to {MOST_BITS}"
        )
    return num_bits


def _parse_rotation(
    given: Mapping[str, object], file: IndexFile, dim: int, place: Place
) -> Rotation:
    """Return the rotation of a file. Raises FormatError."""
    type_ = given.get("rotation_type", "matrix")
    if type_ == "fast":
        return _parse_fast(given, dim, place)
    if type_ != "matrix":
        raise FormatError(
            ROTATION, place, found=f"a {str(type_)[:40]} rotation", wanted="fast or matrix"
        )
    position = number(given, "rotate_mat_position", METADATA, place)
    matrix = parse_tensor(file.message(position, index_pb2.Tensor), place)
    if matrix.shape != (dim, dim) or matrix.dtype == np.uint8:
        raise FormatError(
            ROTATION,
            place,
            found=f"a matrix {matrix.shape} of {matrix.dtype}",
            wanted=f"{(dim, dim)} floating-point numbers",
        )
    return MatrixRotation(matrix.astype(np.float32))


def _parse_fast(given: Mapping[str, object], dim: int, place: Place) -> FastRotation:
    """Return the rotation by signs. Raises FormatError."""
    if number(given, "code_dim", METADATA, place) != dim:
        raise FormatError(
            ROTATION, place, found=f"code_dim {given['code_dim']}", wanted=f"the dimension, {dim}"
        )
    signs = given.get("fast_rotation_signs")
    sound = isinstance(signs, list) and all(type(b) is int and 0 <= b < 256 for b in signs)
    if not sound or len(signs) != ROUNDS * (dim // 8):  # type: ignore[arg-type]
        raise FormatError(
            ROTATION,
            place,
            found=f"fast_rotation_signs {str(signs)[:40]}",
            wanted=f"{ROUNDS * (dim // 8)} bytes",
        )
    return FastRotation(np.array(signs, np.uint8).reshape(ROUNDS, -1))


def train(sample: Sample, model: Model, parameters: Mapping[str, object]) -> Rotated:
    """Return a quantizer with a rotation that is given, or drawn at random.

    Raises ValueError.
    """
    if model.dimension % 8:
        raise ValueError("vector dimension must be divisible by 8 for IVF_RQ")
    num_bits = parameters.get("num_bits", USUAL_BITS)
    if not (isinstance(num_bits, int) and 1 <= num_bits <= MOST_BITS):
        raise ValueError(f"IVF_RQ num_bits must be in 1..={MOST_BITS}, got {num_bits}")
    given = parameters.get("rabitq_model")
    if given is not None:
        return _given(str(given), model)
    rotation = draw_rotation(model.dimension, np.random.default_rng())
    packed = not parameters.get("skip_transpose", False)
    return rotated(model, rotation, Layout(model.dimension, num_bits), packed=packed)


def model_text(dimension: int, num_bits: int, random: np.random.Generator) -> str:
    """Draw a rotation for segments to share, and say it as text that `rabitq_model` takes."""
    model = Model("l2", np.zeros((0, dimension), np.float32))
    layout = Layout(dimension, num_bits)
    drawn = rotated(model, draw_rotation(dimension, random), layout, packed=False)
    return compact(drawn.metadata())


def _given(text: str, model: Model) -> Rotated:
    """Return the quantizer that a model as text says. Raises ValueError."""
    place = Place("rabitq_model", 0, len(text))
    said = json.loads(text)
    if not isinstance(said, dict):
        raise ValueError(f"rabitq_model is no object: {text[:80]!r}")
    layout = Layout(model.dimension, _num_bits(said, place))
    return rotated(model, _parse_fast(said, model.dimension, place), layout, packed=False)


RQ = StorageType("RQ", 2, parse, train)

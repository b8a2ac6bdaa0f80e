"""RQ storage: codes of RabitQ, of residuals whatever the metric.

Layout, each row: _rabit_codes, a list of d / 8 bytes of signs, which are packed by partition where
`packed` is true; __add_factors and __scale_factors f32; __error_factors f32, of the newer
estimator. With more than one bit also: __blocked_ex_codes, a list of 8 (bits - 1) bytes for each 64
components, or older __ex_codes, (bits - 1) d / 8 bytes in which codes follow each other;
__add_factors_ex and __scale_factors_ex f32.

Metadata {"rotate_mat_position":null,"fast_rotation_signs":[b, ..],"rotation_type":"fast",
"code_dim":d,"num_bits":n,"packed":b,"query_estimator":"raw_query"}. Older: a rotation of the type
"matrix", also when there is none; its matrix [d, d] is the tensor in global buffer
`rotate_mat_position`; the estimator "residual_query", also when there is none.

Clauses: L.index.vector.rq.dimension, L.index.vector.rq.bits, L.index.vector.rq.metadata,
L.index.vector.rq.rotation, L.index.vector.rq.estimator, L.index.vector.rq.columns,
L.index.vector.rq.signs, L.index.vector.rq.factors, L.index.vector.rq.extended
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.errors import FormatError, OperationRefused, Place
from lanceref.index.index_file import IndexFile
from lanceref.index.vector import storage
from lanceref.kernels import rabitq_codes, rabitq_estimate
from lanceref.kernels.distance import AnyVectors, Floats, distances
from lanceref.kernels.kmeans import distances_to
from lanceref.kernels.rabitq_codes import Bytes
from lanceref.kernels.rabitq_estimate import ROUNDS, Factors, FastRotation, MatrixRotation, Rotation
from lanceref.proto import index_pb2

METADATA = "L.index.vector.rq.metadata"
ROTATION = "L.index.vector.rq.rotation"

SIGNS = "_rabit_codes"
ADD, SCALE, ERROR = "__add_factors", "__scale_factors", "__error_factors"
BLOCKED, FOLLOWING = "__blocked_ex_codes", "__ex_codes"
EXTENDED = "_ex"
"""Suffix of the factors that go with extended codes."""

MOST_BITS = 9
USUAL_BITS = 5
RAW, RESIDUAL = "raw_query", "residual_query"


class RotatedRows:
    """The rows of a partition: signs, extended codes [n, d], and factors."""

    def __init__(self, quantizer: Rotated, rows: storage.Columns, partition: int) -> None:
        self.quantizer = quantizer
        self.center = quantizer.model.centroids[partition]
        self.turned = quantizer.rotated_centroids[partition]
        self.signs: Bytes = np.ascontiguousarray(rows[SIGNS].view(np.uint8).T)
        self.codes = quantizer.extended(rows)
        self.plain, self.more = (
            Factors(rows[ADD + suffix].view(np.float32), rows[SCALE + suffix].view(np.float32))
            for suffix in ("", EXTENDED if quantizer.extra_bits else "")
        )

    def score(self, query: AnyVectors, mode: storage.Mode) -> storage.Score:
        """Return the estimated distances from a query.

        They depend on the places of the rows in the partition, so all are computed.
        """
        own, metric = self.quantizer, self.quantizer.model.metric
        if own.residual:
            y = own.rotation.rotate((query - self.center)[None].astype(np.float32))[0]
            far = distances(query[None], self.center[None], own.model.of_vectors)[0, 0]
            sums, last = rabitq_estimate.sign_sums(y, self.signs), far - np.float32(metric == "dot")
            return rabitq_estimate.by_residual(y, sums, self.plain, last).__getitem__
        y = own.rotation.rotate(query[None].astype(np.float32))[0]
        far = distances(query[None], self.center[None], "l2")[0, 0]
        terms = rabitq_estimate.query_terms(y, self.turned, far, metric)
        steps = rabitq_estimate.FINE_STEPS if mode == "accurate" else rabitq_estimate.STEPS
        sums = rabitq_estimate.sign_sums(y, self.signs, steps)
        if self.codes is None or mode == "fast":
            near = rabitq_estimate.by_signs(terms, sums, self.plain)
        else:
            near = rabitq_estimate.by_codes(terms, sums, self.codes, own.extra_bits, self.more)
        return near.__getitem__

    def points(self) -> AnyVectors:
        """Return the decoded vectors in the rotated space: (rows, dimension)."""
        own, up = self.quantizer, rabitq_codes.signs_in(self.signs)
        w = rabitq_codes.halves(up, 0 if self.codes is None else self.codes, own.extra_bits)
        share = -1 if own.model.metric == "dot" else -0.5
        if own.residual:  # whose scale goes with w of length 1
            share *= 2 / own.model.dimension**0.5
        scale = self.more.scale * np.float32(share)
        return np.asarray(self.turned + w * scale[:, None], np.float32)


@dataclass(frozen=True)
class Rotated(storage.Quantizer):
    """Keeps codes of rotated residuals; the signs of a partition are `packed` in the file.

    `residual` is the older estimator; with `errors` there are error factors, with `blocked` the
    extended codes lie in blocks.
    """

    name, version = "RQ", 2
    rotation: Rotation
    num_bits: int
    packed: bool
    residual: bool = False
    errors: bool = True
    blocked: bool = True

    @classmethod
    def parse(
        cls, metadata: storage.Given, file: IndexFile, model: storage.Model, place: Place
    ) -> Rotated:
        dim, names = model.dimension, file.names
        if dim % 8 or model.centroids.dtype == np.uint8:
            found = f"{dim} {model.centroids.dtype}"
            wanted = "a multiple of 8 floating-point numbers"
            raise FormatError("L.index.vector.rq.dimension", place, found, wanted)
        num_bits = _parse_bits(metadata, place)
        type_ = metadata.get("rotation_type", "matrix")
        rotation: Rotation
        if type_ == "fast":
            rotation = _parse_fast(metadata, dim, place)
        else:
            storage.check_named(ROTATION, place, "rotation type", type_, "matrix")
            position = storage.entry(metadata, "rotate_mat_position", int, METADATA, place)
            matrix = storage.parse_tensor(file.message(position, index_pb2.Tensor), place)
            if matrix.shape != (dim, dim) or matrix.dtype == np.uint8:
                found = f"{matrix.shape} {matrix.dtype}"
                wanted = f"{(dim, dim)} floating-point numbers"
                raise FormatError(ROTATION, place, found, wanted)
            rotation = MatrixRotation(matrix.astype(np.float32))
        estimator = metadata.get("query_estimator", RESIDUAL)
        if estimator not in (RAW, RESIDUAL) or (estimator == RESIDUAL and num_bits > 1):
            found = f"{str(estimator)[:40]}, {num_bits} bits"
            wanted = f"{RAW}, or {RESIDUAL} of one bit"
            raise FormatError("L.index.vector.rq.estimator", place, found, wanted)
        if num_bits == 1:
            extended = [name for name in names if name in (BLOCKED, FOLLOWING)]
            clause, what = "L.index.vector.rq.columns", "codes of more than one bit"
            storage.check_named(clause, place, what, extended, [])
        packed = storage.entry(metadata, "packed", bool, METADATA, place)
        residual, errors = estimator == RESIDUAL, ERROR in names or num_bits > 1
        return Rotated(model, rotation, num_bits, packed, residual, errors, FOLLOWING not in names)

    @classmethod
    def train(
        cls, sample: storage.Sample, model: storage.Model, parameters: storage.Given
    ) -> Rotated:
        """Return one with the rotation in `rabitq_model`, or drawn at random. Raises ValueError."""
        dim = model.dimension
        if dim % 8:
            raise ValueError("vector dimension must be divisible by 8 for IVF_RQ")
        num_bits = parameters.get("num_bits", USUAL_BITS)
        if not (isinstance(num_bits, int) and 1 <= num_bits <= MOST_BITS):
            raise ValueError(f"IVF_RQ num_bits must be in 1..={MOST_BITS}, got {num_bits}")
        text = parameters.get("rabitq_model")
        if text is None:
            packed = not parameters.get("skip_transpose", False)
            rotation = rabitq_estimate.draw_rotation(dim, np.random.default_rng())
            return Rotated(model, rotation, num_bits, packed)
        place, metadata = Place("rabitq_model", 0, len(str(text))), json.loads(str(text))
        if not isinstance(metadata, dict):
            raise ValueError(f"rabitq_model is no object: {str(text)[:80]!r}")
        num_bits = _parse_bits(metadata, place)
        return Rotated(model, _parse_fast(metadata, dim, place), num_bits, packed=False)

    @property
    def extra_bits(self) -> int:
        """Bits of the extended code of one dimension, beyond its sign."""
        return self.num_bits - 1

    @cached_property
    def rotated_centroids(self) -> Floats:
        """The centroids after the rotation, float32: (partitions, dimension)."""
        return self.rotation.rotate(self.model.centroids.astype(np.float32, copy=False))

    @property
    def fields(self) -> list[pa.Field]:
        """The columns of the storage file: signs, extended codes and factors."""
        dim, bits = self.model.dimension, self.extra_bits
        widths = {SIGNS: dim // 8, ADD: 0, SCALE: 0}
        if self.errors:
            widths[ERROR] = 0
        if bits and self.blocked:
            widths[BLOCKED] = rabitq_codes.width_of(dim, bits)
        elif bits:
            widths[FOLLOWING] = dim * bits // 8
        if bits:
            widths |= {ADD + EXTENDED: 0, SCALE + EXTENDED: 0}
        return [
            pa.field(name, pa.list_(pa.uint8(), width) if width else pa.float32())
            for name, width in widths.items()
        ]

    def metadata(self) -> storage.Given:
        signs = self.rotation.signs if isinstance(self.rotation, FastRotation) else None
        return {
            "rotate_mat_position": 2 if signs is None else None,
            "fast_rotation_signs": None if signs is None else signs.ravel().tolist(),
            "rotation_type": "matrix" if signs is None else "fast",
            "code_dim": self.model.dimension,
            "num_bits": self.num_bits,
            "packed": self.packed,
            "query_estimator": RESIDUAL if self.residual else RAW,
        }

    def buffers(self) -> list[bytes]:
        if isinstance(self.rotation, FastRotation):
            return []
        return [storage.tensor_of(self.rotation.matrix).SerializeToString()]

    def encode(self, vectors: AnyVectors, partitions: NDArray[np.int64]) -> storage.Columns:
        centroids, metric = self.model.centroids, self.model.metric
        residuals = (vectors - centroids[partitions]).astype(np.float32, copy=False)
        if metric == "dot":
            squares = np.einsum("ij,ij->i", residuals, residuals)
        else:
            squares = distances_to(vectors, centroids, partitions, "l2")
        z, g = self.rotation.rotate(residuals), self.rotated_centroids[partitions]
        signs = rabitq_codes.sign_columns(z)
        up = rabitq_codes.signs_in(signs)
        w = rabitq_codes.halves(up)
        make = rabitq_estimate.residual_factors if self.residual else rabitq_estimate.factors
        plain = make(z, w, g, squares, metric)
        columns: dict[str, NDArray[np.generic]] = {
            SIGNS: np.ascontiguousarray(signs.T),
            ADD: plain.add,
            SCALE: plain.scale,
        }
        if self.errors:
            columns[ERROR] = rabitq_estimate.error_factors(z, w, squares, metric)
        if self.extra_bits:
            codes = rabitq_codes.extended_codes(z, self.extra_bits)
            w = rabitq_codes.halves(up, codes, self.extra_bits)
            more = rabitq_estimate.factors(z, w, g, squares, metric)
            columns[BLOCKED] = rabitq_codes.block_bytes(codes, self.extra_bits)
            columns[ADD + EXTENDED], columns[SCALE + EXTENDED] = more.add, more.scale
        return columns

    def extended(self, rows: storage.Columns) -> Bytes | None:
        """Return the extended codes [n, d] of rows, None for one bit."""
        dim, num_bits = self.model.dimension, self.extra_bits
        if not num_bits:
            return None
        if self.blocked:
            return rabitq_codes.codes_in(rows[BLOCKED].view(np.uint8), dim, num_bits)
        bits = np.unpackbits(rows[FOLLOWING].view(np.uint8), axis=1, bitorder="little")
        bits = bits.reshape(len(bits), dim, num_bits)
        return np.packbits(bits, axis=2, bitorder="little")[:, :, 0]

    def pack(self, rows: storage.Columns) -> storage.Columns:
        signs: Bytes = rows[SIGNS].view(np.uint8)
        return {**rows, SIGNS: rabitq_codes.stored_from(signs.T, packed=self.packed)}

    def unpack(self, stored: storage.Columns) -> storage.Columns:
        signs: Bytes = stored[SIGNS].view(np.uint8)
        return {**stored, SIGNS: rabitq_codes.columns_of(signs, packed=self.packed).T}

    def open_rows(self, rows: storage.Columns, partition: int) -> RotatedRows:
        return RotatedRows(self, rows, partition)

    def merge(self, others: Sequence[storage.Quantizer]) -> storage.Quantizer:
        """Return one for the rows of all, if all are rotated alike. Raises OperationRefused."""
        same = [one for one in others if isinstance(one, Rotated)]
        metadata = [{**one.metadata(), "packed": self.packed} for one in same]
        is_same = all(one == self.metadata() for one in metadata)
        is_same &= all(one.buffers() == self.buffers() for one in same)
        if len(same) < len(others) or not is_same:
            raise OperationRefused("RabitQ models differ across shards")
        errors = all(one.errors for one in (self, *same))
        return replace(self, errors=errors, blocked=True, packed=True)

    def convert(self, other: storage.Quantizer, rows: storage.Columns) -> storage.Columns:
        """Return the rows with extended codes in blocks: nothing else may differ."""
        assert isinstance(other, Rotated)
        codes = None if other.blocked else other.extended(rows)
        if codes is None:
            return rows
        others = {name: column for name, column in rows.items() if name != FOLLOWING}
        return {**others, BLOCKED: rabitq_codes.block_bytes(codes, other.extra_bits)}


def _parse_bits(metadata: storage.Given, place: Place) -> int:
    num_bits = storage.entry(metadata, "num_bits", int, METADATA, place)
    if not 1 <= num_bits <= MOST_BITS:
        found, wanted = f"{num_bits} bits", f"1 to {MOST_BITS}"
        raise FormatError("L.index.vector.rq.bits", place, found, wanted)
    return num_bits


def _parse_fast(metadata: storage.Given, dim: int, place: Place) -> FastRotation:
    code_dim = storage.entry(metadata, "code_dim", int, METADATA, place)
    storage.check_named(ROTATION, place, "code_dim", code_dim, dim)
    signs, size = metadata.get("fast_rotation_signs"), ROUNDS * (dim // 8)
    octets = signs if isinstance(signs, list) else []
    if len(octets) != size or not all(type(one) is int and 0 <= one < 256 for one in octets):
        found = f"fast_rotation_signs {str(signs)[:40]}"
        raise FormatError(ROTATION, place, found, f"{size} bytes")
    return FastRotation(np.array(octets, np.uint8).reshape(ROUNDS, -1))


def model_text(dimension: int, num_bits: int, random: np.random.Generator) -> str:
    """Draw a rotation for segments to share, as text that `rabitq_model` takes."""
    model = storage.Model("l2", np.zeros((0, dimension), np.float32))
    rotation = rabitq_estimate.draw_rotation(dimension, random)
    return storage.compact(Rotated(model, rotation, num_bits, packed=False).metadata())

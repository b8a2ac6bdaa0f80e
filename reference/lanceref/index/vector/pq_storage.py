"""PQ storage: codes of a product quantizer.

Of l2 and cosine the codes are those of residuals, vectors less the centroid of their partition; of
dot, of the vectors themselves.

Layout: __pq_code, a list of m * nbits / 8 bytes; those of a partition are transposed where the
metadata say so. Metadata {"codebook_position":p,"nbits":4 or 8,"num_sub_vectors":m,"dimension":d,
"codebook_tensor":[],"transposed":b}. Global buffer p: a tensor of the codewords [m, 2 ** nbits,
d / m] in that order, in the column's type; its shape is [2 ** nbits, d].

Clauses: L.index.vector.pq.metadata, L.index.vector.pq.bits, L.index.vector.pq.sub-vectors,
L.index.vector.pq.codebook, L.index.vector.pq.codes, L.index.vector.pq.residual
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.cursor import Cursor
from lanceref.core.errors import FormatError, IndexRefused, OperationRefused, Place
from lanceref.core.wire import parse_message
from lanceref.index.index_file import IndexFile
from lanceref.index.vector.storage import (
    Chosen,
    Columns,
    Mode,
    Model,
    Quantizer,
    Sample,
    Score,
    StorageType,
    flag,
    number,
    parse_tensor,
    tensor_of,
)
from lanceref.kernels import product_quantizer
from lanceref.kernels.distance import AnyVectors, Floats
from lanceref.kernels.kmeans import ROUNDS
from lanceref.kernels.product_quantizer import (
    Pairs,
    ProductQuantizer,
    codes_in,
    columns_from,
    columns_of,
    pair_columns,
    stored_from,
)
from lanceref.proto import index_pb2

COLUMN = "__pq_code"
CLAUSE = "L.index.vector.pq.metadata"
NUM_BITS = (4, 8)

SAMPLE_RATE = 256
"""Vectors for each codeword that a codebook is trained with."""

SAME = 1e-5
"""How far codewords may differ that are taken for the same."""

Bytes = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class ProductRows:
    """The codes of a partition, as columns of bytes [w, n], also ready for look-ups.

    `center` is what residuals lack.
    """

    columns: Bytes
    ready: Bytes | Pairs
    quantizer: ProductQuantizer
    center: AnyVectors | None

    def score(self, query: AnyVectors, mode: Mode) -> Score:
        """Return what computes estimated distances from a query."""
        table = self._table(query)

        def score(rows: Chosen) -> Floats:
            columns = self.ready if isinstance(rows, slice) else self.columns.take(rows, axis=1)
            return self.quantizer.distances(table, columns)

        return score

    def nearest(
        self, query: AnyVectors, mode: Mode, kept: NDArray[np.bool_], k: int
    ) -> tuple[NDArray[np.int64], Floats]:
        """Return the rows that may be nearest by half of their codes, and their distances."""
        return self.quantizer.nearest(self._table(query), self.ready, kept, k)

    def _table(self, query: AnyVectors) -> Floats:
        return self.quantizer.table(query if self.center is None else query - self.center)

    def points(self) -> AnyVectors:
        """Return what the codes stand for: residuals, where codes are of these."""
        return self.quantizer.decode(codes_in(self.columns, self.quantizer.num_bits))

    @property
    def code_bytes(self) -> int:
        """Return the bytes of the codes."""
        return len(self.columns)

    def decoded(self, rows: Chosen) -> AnyVectors:
        """Return what codes stand for, with the centroid."""
        codes = codes_in(self.columns[:, rows], self.quantizer.num_bits)
        words = self.quantizer.decode(codes).astype(np.float64)
        return words if self.center is None else words + self.center


@dataclass(frozen=True, slots=True)
class Product:
    """Keeps codes; `transposed` says how they lie in the file."""

    model: Model
    quantizer: ProductQuantizer
    transposed: bool

    @property
    def fields(self) -> list[pa.Field]:
        """The codes."""
        width = len(self.quantizer.codebook) * self.quantizer.num_bits // 8
        return [pa.field(COLUMN, pa.list_(pa.uint8(), width))]

    @property
    def of_residuals(self) -> bool:
        """Whether codes are of vectors less their centroid."""
        return self.model.metric != "dot"  # L.index.vector.pq.residual

    def metadata(self) -> Mapping[str, object]:
        """Return what the file says."""
        return {
            "codebook_position": 2,
            "nbits": self.quantizer.num_bits,
            "num_sub_vectors": len(self.quantizer.codebook),
            "dimension": self.model.dimension,
            "codebook_tensor": [],
            "transposed": self.transposed,
        }

    def statistics(self) -> Mapping[str, object]:
        """Return how codes are made, and the metric between vectors as they are kept."""
        return {
            "metric_type": self.model.of_vectors,
            "nbits": self.quantizer.num_bits,
            "num_sub_vectors": len(self.quantizer.codebook),
            "dimension": self.model.dimension,
            "transposed": self.transposed,
        }

    def buffers(self) -> list[bytes]:
        """Return the codebook."""
        table = np.reshape(self.quantizer.codebook, (-1, self.model.dimension))
        return [tensor_of(table).SerializeToString()]

    def describe(self, details: index_pb2.VectorIndexDetails) -> None:
        """Say how many codes there are, of how many bits."""
        details.pq.num_bits = self.quantizer.num_bits
        details.pq.num_sub_vectors = len(self.quantizer.codebook)

    def encode(self, vectors: AnyVectors, partitions: NDArray[np.int64]) -> Columns:
        """Return the codes of vectors, or of what they are from their centroids."""
        if self.of_residuals:
            vectors = vectors - self.model.centroids[partitions]
        codes = self.quantizer.encode(vectors)
        columns = columns_from(codes, self.quantizer.num_bits)
        return {COLUMN: np.ascontiguousarray(columns.T)}

    def packed(self, rows: Columns) -> Columns:
        """Return codes as they lie in the file."""
        codes: Bytes = rows[COLUMN].view(np.uint8)
        return {COLUMN: stored_from(codes.T, transposed=self.transposed)}

    def unpacked(self, stored: Columns) -> Columns:
        """Return codes row by row."""
        codes: Bytes = stored[COLUMN].view(np.uint8)
        return {COLUMN: columns_of(codes, transposed=self.transposed).T}

    def stored(self, rows: Columns, partition: int) -> ProductRows:
        """Return the codes of a partition."""
        center = self.model.centroids[partition] if self.of_residuals else None
        codes: Bytes = rows[COLUMN].view(np.uint8)
        columns = np.ascontiguousarray(codes.T)
        return ProductRows(columns, pair_columns(columns), self.quantizer, center)

    def around(self, model: Model) -> Product:
        """Return the same with other centroids."""
        return replace(self, model=model)

    def joined(self, others: Sequence[Quantizer]) -> Quantizer:
        """Return this one, if all have its codewords. Raises OperationRefused."""
        own = self.quantizer.codebook
        for other in others:
            theirs = other.quantizer.codebook if isinstance(other, Product) else own[:0]
            if theirs.shape != own.shape or not np.allclose(theirs, own, rtol=0, atol=SAME):
                raise OperationRefused("PQ codebook content mismatch across shards")
        return Product(self.model, self.quantizer, transposed=True)

    def adopted(self, other: Quantizer, rows: Columns) -> Columns:
        """Return the rows: the codewords are the same."""
        return rows


def parse(given: Mapping[str, object], file: IndexFile, model: Model, place: Place) -> Product:
    """Return the quantizer of a file. Raises FormatError."""
    num_bits = number(given, "nbits", CLAUSE, place)
    count = number(given, "num_sub_vectors", CLAUSE, place)
    values = parse_tensor(_tensor(given, file, place), place)
    transposed = flag(given, "transposed", CLAUSE, place)
    return product(model, values, count, num_bits, place, transposed=transposed)


def _tensor(given: Mapping[str, object], file: IndexFile, place: Place) -> index_pb2.Tensor:
    """Return the tensor of the codewords: early releases keep its bytes in the metadata."""
    octets = given.get("codebook_tensor")
    if not isinstance(octets, list):
        raise FormatError(CLAUSE, place, found="no codebook_tensor", wanted="a list")
    position = number(given, "codebook_position", CLAUSE, place)
    if position or not octets:
        return file.message(position, index_pb2.Tensor)
    if not all(isinstance(one, int) and 0 <= one < 256 for one in octets):
        raise FormatError(CLAUSE, place, found=f"{str(octets)[:40]}", wanted="bytes")
    cursor = Cursor(memoryview(bytes(octets)), 0, file.ctx)
    return parse_message(cursor, index_pb2.Tensor, "codebook", CLAUSE, embedded_in=place)


def product(
    model: Model, values: AnyVectors, count: int, num_bits: int, place: Place, *, transposed: bool
) -> Product:
    """Return the quantizer of `count` sub-vectors with these codewords. Raises FormatError."""
    if num_bits not in NUM_BITS:
        raise FormatError(
            "L.index.vector.pq.bits", place, found=f"codes of {num_bits} bits", wanted="4 or 8"
        )
    dim, even = model.dimension, num_bits == 8 or count % 2 == 0
    if not (0 < count <= dim and dim % count == 0 and even):
        raise FormatError(
            "L.index.vector.pq.sub-vectors",
            place,
            found=f"{count} sub-vectors of {dim} numbers, codes of {num_bits} bits",
            wanted="a divisor of the dimension, even for 4 bits",
        )
    size, dtype = 2**num_bits * dim, model.centroids.dtype
    if values.size != size or values.dtype != dtype:
        raise FormatError(
            "L.index.vector.pq.codebook",
            place,
            found=f"{values.size} numbers of {values.dtype}",
            wanted=f"{size} of {dtype}",
        )
    codebook = values.reshape(count, 2**num_bits, dim // count)
    return Product(model, ProductQuantizer(codebook, model.of_vectors), transposed)


def train(sample: Sample, model: Model, parameters: Mapping[str, object]) -> Product:
    """Return a quantizer with the codebook that is given, or one of sub-vectors.

    Raises IndexRefused.
    """
    count = parameters["num_sub_vectors"]
    num_bits = parameters.get("num_bits", parameters.get("nbits", 8))
    if num_bits not in NUM_BITS:
        raise IndexRefused(f"ProductQuantization: num_bits {num_bits} not supported")
    assert isinstance(count, int) and isinstance(num_bits, int)
    if num_bits == 4 and count % 2:
        raise IndexRefused(
            f"PQ: num_sub_vectors must be divisible by 2 for num_bits=4, but got {count}"
        )
    transposed = not parameters.get("skip_transpose", False)
    given = parameters.get("pq_codebook")
    if isinstance(given, np.ndarray):
        codebook = given.astype(model.centroids.dtype)
        return Product(model, ProductQuantizer(codebook, model.of_vectors), transposed)
    rate, rounds = parameters.get("sample_rate", SAMPLE_RATE), parameters.get("max_iters", ROUNDS)
    assert isinstance(rate, int) and isinstance(rounds, int)
    vectors, partitions = sample(rate * 2**num_bits)
    if model.metric != "dot":
        vectors = vectors - model.centroids[partitions]
    if len(vectors) < 2**num_bits:
        raise OperationRefused(
            f"Not enough rows to train PQ. Requires {2**num_bits} rows but only {len(vectors)} "
            "available"
        )
    random = np.random.default_rng()
    quantizer = product_quantizer.train(vectors, count, num_bits, model.of_vectors, random, rounds)
    return Product(model, quantizer, transposed)


PQ = StorageType("PQ", 1, parse, train)

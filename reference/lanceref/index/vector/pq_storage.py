"""PQ storage: codes of a product quantizer.

Of l2 and cosine the codes are those of residuals, vectors less the centroid of their partition; of
dot, of the vectors themselves.

Layout: __pq_code, a list of m * nbits / 8 bytes; those of a partition are transposed where
`transposed` is true. Metadata {"codebook_position":p,"nbits":4 or 8,"num_sub_vectors":m,
"dimension":d,"codebook_tensor":[],"transposed":b}. Global buffer p: a tensor of the codewords [m,
2 ** nbits, d / m] in that order, in the column's type; its shape is [2 ** nbits, d]. Early releases
have no buffer: `codebook_tensor` lists the bytes of the tensor.

Clauses: L.index.vector.pq.metadata, L.index.vector.pq.bits, L.index.vector.pq.sub-vectors,
L.index.vector.pq.codebook, L.index.vector.pq.codes, L.index.vector.pq.residual
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.cursor import Cursor, parse_message
from lanceref.core.errors import FormatError, IndexRefused, OperationRefused, Place
from lanceref.index.index_file import IndexFile
from lanceref.index.vector.storage import (
    SAMPLE_RATE,
    Columns,
    Given,
    Mode,
    Model,
    Quantizer,
    Sample,
    Score,
    entry,
    integer,
    parse_tensor,
    tensor_of,
)
from lanceref.kernels import product_quantizer
from lanceref.kernels.distance import AnyVectors
from lanceref.kernels.kmeans import ROUNDS
from lanceref.kernels.product_quantizer import (
    ProductQuantizer,
    codes_in,
    columns_from,
    columns_of,
    stored_from,
)
from lanceref.proto import index_pb2

COLUMN = "__pq_code"
CLAUSE = "L.index.vector.pq.metadata"
NUM_BITS = (4, 8)

SAME = 1e-5
"""Greatest difference between codewords that count as the same."""
Bytes = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class ProductRows:
    """The codes of a partition, as columns of bytes [w, n].

    `center` [d] is the centroid that residuals lack.
    """

    columns: Bytes
    quantizer: ProductQuantizer
    center: AnyVectors | None

    def score(self, query: AnyVectors, mode: Mode) -> Score:
        table = self.quantizer.table(query if self.center is None else query - self.center)
        return lambda rows: self.quantizer.distances(table, self.columns[:, rows])

    def points(self) -> AnyVectors:
        """Return decoded vectors: residuals, where codes are of these."""
        return self.quantizer.decode(codes_in(self.columns, self.quantizer.num_bits))


@dataclass(frozen=True)
class Product(Quantizer):
    """Keeps codes; they are `transposed` in the file, or row by row."""

    name = "PQ"
    quantizer: ProductQuantizer
    transposed: bool

    @classmethod
    def parse(cls, metadata: Given, file: IndexFile, model: Model, place: Place) -> Product:
        bits_name = "nbits" if "nbits" in metadata else "num_bits"
        num_bits = entry(metadata, bits_name, int, CLAUSE, place)
        count = entry(metadata, "num_sub_vectors", int, CLAUSE, place)
        octets = metadata.get("codebook_tensor")
        if not isinstance(octets, list):
            raise FormatError(CLAUSE, place, "no codebook_tensor", "a list")
        position = entry(metadata, "codebook_position", int, CLAUSE, place)
        if position or not octets:
            tensor = file.message(position, index_pb2.Tensor)
        elif all(isinstance(one, int) and 0 <= one < 256 for one in octets):
            cursor = Cursor(memoryview(bytes(octets)), 0, file.ctx)
            tensor = parse_message(cursor, index_pb2.Tensor, "codebook", CLAUSE, embedded_in=place)
        else:
            raise FormatError(CLAUSE, place, f"{str(octets)[:40]}", "bytes")
        transposed = entry(metadata, "transposed", bool, CLAUSE, place)
        values = parse_tensor(tensor, place)
        return product(model, values, count, num_bits, place, transposed=transposed)

    @classmethod
    def train(cls, sample: Sample, model: Model, parameters: Given) -> Product:
        """Return a quantizer with the codebook among the parameters, or one of a sample.

        Raises IndexRefused, OperationRefused for a sample that is too small.
        """
        count = integer(parameters, "num_sub_vectors", 0)
        num_bits = integer(parameters, "num_bits", integer(parameters, "nbits", 8))
        if num_bits not in NUM_BITS:
            raise IndexRefused(f"ProductQuantization: num_bits {num_bits} not supported")
        if num_bits == 4 and count % 2:
            raise IndexRefused(f"num_sub_vectors must be even for num_bits=4, not {count}")
        transposed = not parameters.get("skip_transpose", False)
        codewords = parameters.get("pq_codebook")
        if isinstance(codewords, np.ndarray):
            codebook = codewords.astype(model.centroids.dtype)
            return Product(model, ProductQuantizer(codebook, model.of_vectors), transposed)
        rounds = integer(parameters, "max_iters", ROUNDS)
        vectors, partitions = sample(integer(parameters, "sample_rate", SAMPLE_RATE) * 2**num_bits)
        if model.metric != "dot":
            vectors = vectors - model.centroids[partitions]
        if len(vectors) < 2**num_bits:
            needed = f"Requires {2**num_bits} rows but only {len(vectors)} available"
            raise OperationRefused(f"Not enough rows to train PQ. {needed}")
        random, metric = np.random.default_rng(), model.of_vectors
        quantizer = product_quantizer.train(vectors, count, num_bits, metric, random, rounds)
        return Product(model, quantizer, transposed)

    @property
    def fields(self) -> list[pa.Field]:
        """The column of the storage file: the codes of each vector."""
        width = len(self.quantizer.codebook) * self.quantizer.num_bits // 8
        return [pa.field(COLUMN, pa.list_(pa.uint8(), width))]

    @property
    def of_residuals(self) -> bool:
        """Whether codes are of vectors less their centroid."""
        return self.model.metric != "dot"  # L.index.vector.pq.residual

    def metadata(self) -> Given:
        return {
            "codebook_position": 2,
            "nbits": self.quantizer.num_bits,
            "num_sub_vectors": len(self.quantizer.codebook),
            "dimension": self.model.dimension,
            "codebook_tensor": [],
            "transposed": self.transposed,
        }

    def buffers(self) -> list[bytes]:
        table = np.reshape(self.quantizer.codebook, (-1, self.model.dimension))
        return [tensor_of(table).SerializeToString()]

    def encode(self, vectors: AnyVectors, partitions: NDArray[np.int64]) -> Columns:
        if self.of_residuals:
            vectors = vectors - self.model.centroids[partitions]
        codes = self.quantizer.encode(vectors)
        columns = columns_from(codes, self.quantizer.num_bits)
        return {COLUMN: np.ascontiguousarray(columns.T)}

    def pack(self, rows: Columns) -> Columns:
        codes: Bytes = rows[COLUMN].view(np.uint8)
        return {COLUMN: stored_from(codes.T, transposed=self.transposed)}

    def unpack(self, stored: Columns) -> Columns:
        codes: Bytes = stored[COLUMN].view(np.uint8)
        return {COLUMN: columns_of(codes, transposed=self.transposed).T}

    def open_rows(self, rows: Columns, partition: int) -> ProductRows:
        center = self.model.centroids[partition] if self.of_residuals else None
        codes: Bytes = rows[COLUMN].view(np.uint8)
        return ProductRows(np.ascontiguousarray(codes.T), self.quantizer, center)

    def merge(self, others: Sequence[Quantizer]) -> Quantizer:
        """Return this one, if all have its codewords. Raises OperationRefused."""
        own = self.quantizer.codebook
        for other in others:
            theirs = other.quantizer.codebook if isinstance(other, Product) else own[:0]
            if theirs.shape != own.shape or not np.allclose(theirs, own, rtol=0, atol=SAME):
                raise OperationRefused("PQ codebook content mismatch across shards")
        return replace(self, transposed=True)


def product(
    model: Model, values: AnyVectors, count: int, num_bits: int, place: Place, *, transposed: bool
) -> Product:
    """Return the quantizer of `count` sub-vectors with these codewords. Raises FormatError."""
    found = f"{count} codes of {num_bits} bits, {values.size} numbers of {values.dtype}"
    if num_bits not in NUM_BITS:
        raise FormatError("L.index.vector.pq.bits", place, found, "4 or 8 bits")
    dim, dtype = model.dimension, model.centroids.dtype
    if not 0 < count <= dim or dim % count or (num_bits == 4 and count % 2):
        wanted = f"a divisor of the dimension {dim}, even for 4 bits"
        raise FormatError("L.index.vector.pq.sub-vectors", place, found, wanted)
    if values.size != 2**num_bits * dim or values.dtype != dtype:
        wanted = f"{2**num_bits * dim} numbers of {dtype}"
        raise FormatError("L.index.vector.pq.codebook", place, found, wanted)
    codebook = values.reshape(count, 2**num_bits, dim // count)
    return Product(model, ProductQuantizer(codebook, model.of_vectors), transposed)

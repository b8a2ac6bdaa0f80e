"""Single file: an IVF_PQ index as early releases wrote it.

All of it is `index.idx`: the partitions, a message, and a footer.

Layout: of each partition of n rows, from its offset on, n * w bytes of codes, row by row, then n
row ids u64; a u32 and an Index message of that size; u64 offset of the u32, u16 0, u16 1, "LANC".
The message has the stages ivf, whose offsets are bytes, and pq.

Clauses: L.index.vector.single.footer, L.index.vector.single.message, L.index.vector.single.stages,
L.index.vector.single.partitions
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lanceref.core.context import Context
from lanceref.core.cursor import Extent, FileBytes, parse_message
from lanceref.core.errors import BadSchema, Place, Truncated
from lanceref.data_file.check import check_data_file
from lanceref.index.row_set import Keys
from lanceref.index.segment import Segment
from lanceref.index.vector.pq_storage import COLUMN, Product, product
from lanceref.index.vector.storage import METRIC_NUMBERS, Columns, Model, parse_tensor
from lanceref.index.vector.vector_index import (
    HEAD,
    TYPES,
    Auxiliary,
    Head,
    Partitions,
    VectorIndex,
    ivf_message,
    parse_centroids,
    partitions_of,
)
from lanceref.kernels.distance import Metric
from lanceref.proto import index_pb2
from lanceref.storage import Source

FOOTER_BYTES = 16
END = b"\0\0\1\0LANC"
"""Version words and magic: the last eight bytes."""

METRICS_BY_NUMBER: dict[int, Metric] = {METRIC_NUMBERS[one]: one for one in ("l2", "cosine", "dot")}
"""Metrics that these files can have, by their numbers in the message."""

ROW_ID_BYTES = 8
SPEC_VERSION = 1


@dataclass(frozen=True, slots=True)
class SingleFile:
    """An opened file; `message` has the first byte and the number of rows of each partition."""

    bytes: FileBytes
    place: Place
    message: index_pb2.IVF
    model: Model
    quantizer: Product

    def partition(self, number: int) -> tuple[Keys, Columns]:
        """Return the row ids (rows,) and codes (rows, bytes) of a partition. Raises OutOfRange."""
        rows, own = self.message.lengths[number], self.quantizer.fields[0].type.list_size
        count, every = len(self.quantizer.quantizer.codebook), sum(self.message.lengths)
        is_apart = self.place.offset == every * (count + ROW_ID_BYTES) + 4  # a byte for each
        width, clause = count if is_apart else own, "L.index.vector.single.partitions"
        extent = Extent(self.message.offsets[number], rows * (width + ROW_ID_BYTES))
        cursor = self.bytes.cursor(extent, f"partition {number}", clause)
        codes = cursor.array("u1", rows * width, "codes", clause).reshape(rows, width)
        if width > own:
            codes = np.bitwise_or(codes[:, ::2], np.left_shift(codes[:, 1::2], 4))
        keys = cursor.array("<u8", rows, "row ids", clause)
        return keys.astype(np.uint64), {COLUMN: codes}


def is_single_file(source: Source) -> bool:
    """Return whether a file ends as these do."""
    return source.size >= len(END) and bytes(source.read(source.size - len(END), len(END))) == END


def open_single_file(source: Source, ctx: Context) -> SingleFile:
    """Open the file of an index written before two files were. Raises FormatError."""
    file = FileBytes(source, ctx)
    message, place = _parse_index(file)
    index = message.vector_index
    stages, metric = [one.WhichOneof("stage") for one in index.stages], index.metric_type
    if stages != ["ivf", "pq"] or metric not in METRICS_BY_NUMBER:
        found, wanted = f"stages {stages[:8]}, metric {metric}", f"ivf, pq; {METRICS_BY_NUMBER}"
        raise BadSchema("L.index.vector.single.stages", place, found, wanted)
    ivf, pq = index.stages[0].ivf, index.stages[1].pq
    model = Model(METRICS_BY_NUMBER[metric], parse_centroids(ivf, place))
    count = len(model.centroids)
    if len(ivf.offsets) != count or len(ivf.lengths) != count:
        found = f"{len(ivf.offsets)} offsets, {len(ivf.lengths)} lengths"
        raise BadSchema("L.index.vector.single.partitions", place, found, f"{count} of each")
    if pq.HasField("codebook_tensor"):
        codebook = parse_tensor(pq.codebook_tensor, place)
    else:
        codebook = np.array(pq.codebook, np.float32)  # from before there were tensors
    quantizer = product(model, codebook, pq.num_sub_vectors, pq.num_bits, place, transposed=True)
    return SingleFile(file, place, ivf, model, quantizer)


def _parse_index(file: FileBytes) -> tuple[index_pb2.Index, Place]:
    """Return the message after the partitions, and its place."""
    clause, start = "L.index.vector.single.footer", file.size - FOOTER_BYTES
    if start < 0:
        raise Truncated(clause, file.ctx.at(0, file.size), f"{file.size} bytes", "a footer of 16")
    cursor = file.cursor(Extent(start, FOOTER_BYTES), "footer", clause)
    position = cursor.u64("message position", clause)
    cursor.take(len(END), "version and magic", clause, "magic")
    clause = "L.index.vector.single.message"
    cursor = file.cursor(Extent(position, start - position), "message", clause)
    size = cursor.u32("message size", clause)
    place = file.ctx.at(cursor.offset, size)
    cursor.require(size, "the message", clause)
    inside = file.cursor(Extent(cursor.offset, size), "message", clause)
    return parse_message(inside, index_pb2.Index, "index", clause), place


def single_file(
    quantizer: Product, partitions: Partitions, keys: Keys, rows: Columns, loss: float, column: str
) -> bytes:
    """Return the bytes of a file: the `keys` [n] and codes [n, w] of rows, by partition."""
    model, codes, parts = quantizer.model, rows[COLUMN], []
    for number in range(len(partitions.lengths)):
        own = slice(*partitions.rows(number))
        parts += [codes[own].tobytes(), keys[own].astype("<u8").tobytes()]
    row_bytes = codes.shape[1] + ROW_ID_BYTES
    ivf = ivf_message(partitions, model.centroids, loss)
    ivf.offsets[:] = (partitions.starts * row_bytes).tolist()
    pq = index_pb2.PQ(
        num_bits=quantizer.quantizer.num_bits,
        num_sub_vectors=len(quantizer.quantizer.codebook),
        dimension=model.dimension,
        codebook_tensor=index_pb2.Tensor.FromString(quantizer.buffers()[0]),
    )
    index = index_pb2.VectorIndex(
        spec_version=SPEC_VERSION,
        dimension=model.dimension,
        stages=[index_pb2.VectorIndexStage(ivf=ivf), index_pb2.VectorIndexStage(pq=pq)],
        metric_type=METRIC_NUMBERS[model.metric],
    )
    envelope = index_pb2.Index(name=f"{column}_idx", columns=[column], vector_index=index)
    message, position = envelope.SerializeToString(), len(keys) * row_bytes
    size = len(message).to_bytes(4, "little")
    return b"".join([*parts, size, message, position.to_bytes(8, "little"), END])


class SingleFileIndex(VectorIndex):
    """An opened segment of the early layout, which is one file."""

    def __init__(self, segment: Segment) -> None:
        file = open_single_file(segment.source(HEAD), segment.within(HEAD))
        texts = [""] * len(file.model.centroids)
        head = Head(file.place, TYPES["IVF_PQ"], file.model, file.message, texts)
        super().__init__(segment, head)
        self.file = file

    @cached_property
    def auxiliary(self) -> Auxiliary:
        return Auxiliary(partitions_of(list(self.file.message.lengths)), self.file.quantizer)

    def keys(self, number: int) -> Keys:
        return self.file.partition(number)[0]

    def rows(self, number: int) -> Columns:
        return self.file.partition(number)[1]


def open_index(segment: Segment) -> VectorIndex:
    """Open a segment of either form. Raises FormatError, UnknownIndex."""
    single = is_single_file(segment.source(HEAD))
    return SingleFileIndex(segment) if single else VectorIndex(segment)


def check_vector_file(source: Source, ctx: Context) -> None:
    """Parse and check a single file with all its partitions, or else a data file.

    Raises FormatError.
    """
    if not is_single_file(source):
        check_data_file(source, ctx)
        return
    file = open_single_file(source, ctx)
    for number in range(len(file.model.centroids)):
        with ctx.group(f"partition {number}", "L.index.vector.single.partitions"):
            file.partition(number)

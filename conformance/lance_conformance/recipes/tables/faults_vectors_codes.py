"""Negative cases of vector indices: codes of SQ, PQ and RQ, and what is said of them.

The last ones are of the single file of early releases.
"""

from __future__ import annotations

import json

from lanceref.proto.index_pb2 import Index, Tensor, VectorMetricType

from lance_conformance.recipes.messages import single_file, tensor
from lance_conformance.recipes.model import MessageEdit, Negative, Resize, SpanPatch
from lance_conformance.recipes.tables.faults_indices import fault, lint, renamed
from lance_conformance.recipes.tables.faults_vectors import AUXILIARY, HEAD, head, text

SQ, PQ, RQ, RQ5 = "ivf-sq/plain", "ivf-pq/plain", "ivf-rq/plain", "ivf-rq/plain-5"
EARLY = "ivf-pq/early-plain"

_THERE = f"_indices/*/{AUXILIARY}"


def stored(**changed: object) -> MessageEdit:
    """Change what the file says of how vectors are stored."""

    def change(old: str) -> str:
        said = {**json.loads(json.loads(old)[0]), **changed}
        return json.dumps([json.dumps(said)])

    return text(AUXILIARY, "storage_metadata", change)


def unsaid(key: str) -> MessageEdit:
    """Take a word from what the file says of how vectors are stored."""

    def change(old: str) -> str:
        said = json.loads(json.loads(old)[0])
        del said[key]
        return json.dumps([json.dumps(said)])

    return text(AUXILIARY, "storage_metadata", change)


def _short(message: Tensor) -> None:
    message.shape[0] -= 1
    message.data = message.data[: -4 * message.shape[1]]


def _wider(message: Tensor) -> None:
    message.data_type = Tensor.FLOAT64
    message.data = message.data * 2


_SQ = (
    fault(SQ, "bits", "codes of four bits", "L.index.vector.sq.bits", stored(num_bits=4)),
    fault(SQ, "dimension", "codes of shorter vectors", "L.index.vector.sq.dimension",
          stored(dim=4)),
    fault(SQ, "bounds", "bounds the wrong way round", "L.index.vector.sq.bounds",
          stored(bounds={"start": 1.0, "end": -1.0})),
    fault(SQ, "bounds-unsaid", "no bounds", "L.index.vector.sq.bounds", unsaid("bounds")),
    lint(SQ, "code", "a byte that is not that of its number", "L.index.vector.sq.code",
         SpanPatch(("field __sq_code", "values"), lambda old: bytes([old[0] ^ 64]) + old[1:],
                   target=_THERE)),
)  # fmt: skip

_PQ = (
    fault(PQ, "unsaid", "nothing says how codes lie", "L.index.vector.pq.metadata",
          unsaid("transposed")),
    fault(PQ, "codebook-unsaid", "no list in place of a codebook", "L.index.vector.pq.metadata",
          unsaid("codebook_tensor")),
    fault(PQ, "bits", "codes of six bits", "L.index.vector.pq.bits", stored(nbits=6)),
    fault(PQ, "sub-vectors", "sub-vectors that do not divide", "L.index.vector.pq.sub-vectors",
          stored(num_sub_vectors=3)),
    fault(PQ, "odd", "one sub-vector, of four bits", "L.index.vector.pq.sub-vectors",
          stored(num_sub_vectors=1)),
    fault(PQ, "codebook", "a codeword less", "L.index.vector.pq.codebook",
          tensor(_short, _THERE)),
    fault(PQ, "codebook-type", "codewords of another type", "L.index.vector.pq.codebook",
          tensor(_wider, _THERE)),
    fault(PQ, "position", "a codebook that is nowhere", "L.index.files.buffer",
          stored(codebook_position=9)),
    fault(PQ, "of-flat", "codes in place of vectors", "L.index.vector.flat.dimension",
          head(type="IVF_FLAT")),
    lint(PQ, "codes", "codes of other vectors", "L.index.vector.pq.codes",
         SpanPatch(("field __pq_code", "values"), lambda old: bytes(255 - one for one in old),
                   target=_THERE)),
)  # fmt: skip

_RQ = (
    fault(RQ, "bits", "codes of no bits", "L.index.vector.rq.bits", stored(num_bits=0)),
    fault(RQ, "most-bits", "codes of ten bits", "L.index.vector.rq.bits", stored(num_bits=10)),
    fault(RQ, "metadata", "nothing says how signs lie", "L.index.vector.rq.metadata",
          unsaid("packed")),
    fault(RQ, "signs", "a rotation of too few signs", "L.index.vector.rq.rotation",
          stored(fast_rotation_signs=[1, 2, 3])),
    fault(RQ, "signs-unsaid", "a rotation without signs", "L.index.vector.rq.rotation",
          unsaid("fast_rotation_signs")),
    fault(RQ, "code-dim", "a rotation of longer vectors", "L.index.vector.rq.rotation",
          stored(code_dim=16)),
    fault(RQ, "rotation", "a rotation that none knows", "L.index.vector.rq.rotation",
          stored(rotation_type="slow")),
    fault(RQ, "estimator", "an estimator that none knows", "L.index.vector.rq.estimator",
          stored(query_estimator="cooked_query")),
    fault(RQ5, "estimator-unsaid", "the older estimator, of five bits",
          "L.index.vector.rq.estimator", unsaid("query_estimator")),
    fault(RQ5, "one-bit", "extended codes of one bit", "L.index.vector.rq.columns",
          stored(num_bits=1)),
    fault(RQ, "factors", "no factors", "L.index.files.column",
          renamed(AUXILIARY, "__scale_factors")),
    fault("ivf-flat/plain-12", "dimension", "vectors of twelve numbers",
          "L.index.vector.rq.dimension", head(type="IVF_RQ")),
    lint(RQ, "sign", "signs that are those of no row", "L.index.vector.rq.signs",
         SpanPatch(("field _rabit_codes", "values"), lambda old: bytes(255 - one for one in old),
                   target=_THERE)),
)  # fmt: skip


def _one_stage(message: Index) -> None:
    del message.vector_index.stages[1:]


def _hamming(message: Index) -> None:
    message.vector_index.metric_type = VectorMetricType.HAMMING


def _too_many(message: Index) -> None:
    message.vector_index.stages[0].ivf.lengths[0] *= 1000


def _place(by: int) -> SpanPatch:
    return SpanPatch(
        ("message position",),
        lambda old: (int.from_bytes(old, "little") + by).to_bytes(8, "little"),
        target=f"_indices/*/{HEAD}",
    )


_EARLY = (
    fault(EARLY, "footer", "nothing but the end of a footer", "L.index.vector.single.footer",
          Resize(0, b"\0\0\1\0LANC", f"_indices/*/{HEAD}")),
    fault(EARLY, "message", "a message after the file", "L.index.vector.single.message",
          _place(1 << 40)),
    fault(EARLY, "stages", "partitions and no codes", "L.index.vector.single.stages",
          single_file(_one_stage, f"_indices/*/{HEAD}")),
    fault(EARLY, "metric", "a metric of bits", "L.index.vector.single.stages",
          single_file(_hamming, f"_indices/*/{HEAD}")),
    fault(EARLY, "rows", "a partition that ends after the file",
          "L.index.vector.single.partitions", single_file(_too_many, f"_indices/*/{HEAD}")),
)  # fmt: skip

NEGATIVES: tuple[Negative, ...] = (*_SQ, *_PQ, *_RQ, *_EARLY)

"""Cases of product quantization."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from lanceref.proto import index_pb2
from lanceref.proto.index_pb2 import Tensor, VectorMetricType

from lance_conformance.recipes.cases.index.damaged_files import damaged
from lance_conformance.recipes.cases.index.index_files import (
    HEAD,
    THERE,
    head,
    metadata_text,
    stored_codes,
    values,
)
from lance_conformance.recipes.constructors import case, fault, lint
from lance_conformance.recipes.edits import (
    THIRD,
    index,
    partitions,
    put,
    single_file,
    tensor,
)
from lance_conformance.recipes.handmade_files import reworked, words
from lance_conformance.recipes.model import Recipe, Resize, SpanPatch
from lance_conformance.recipes.vectors import (
    EARLY,
    ENOUGH,
    NEAREST,
    PLAIN,
    TYPES,
    nearest,
    plain,
)


def _floats(tensor: index_pb2.Tensor) -> list[float]:
    return [float(one) for one in np.frombuffer(tensor.data, "<f4")]


def _old_numbers(message: index_pb2.Index) -> None:
    """State centroids and codewords as early releases did, without a tensor around them."""
    ivf, pq = (getattr(stage, stage.WhichOneof("stage")) for stage in message.vector_index.stages)
    ivf.centroids.extend(_floats(ivf.centroids_tensor))
    ivf.ClearField("centroids_tensor")
    pq.codebook.extend(_floats(pq.codebook_tensor))
    pq.ClearField("codebook_tensor")


CASES: tuple[Recipe, ...] = (
    case("index/any/ivf-pq/by-columns", "codes of residuals, column by column",
        ("L.index.vector.pq.residual", "L.index.vector.pq.layout", "L.index.vector.column"),
        plain("pq"), reachable=False),
    case("index/any/ivf-pq/sized", "partitions of a size", NEAREST, nearest(replace(TYPES["pq"],
        seed=6, parameters={**TYPES["pq"].parameters, "target_partition_size": 40}), nprobes=2)),
    case("index/any/ivf-pq/early-numbers", "centroids and codewords as bare numbers", (*PLAIN,
        "L.index.vector.single.message"), reworked(plain("pq", parameters=EARLY, rows=260),
        single_file(_old_numbers, "_indices/*/index.idx")), reachable=False),
    case("index/any/ivf-pq/early-l2-untold",
        "a single file of early releases, in an entry that does not tell its type",
        ("L.index.vector.search.order", "L.index.vector.single.message"),
        reworked(nearest(replace(TYPES["pq"], metric="l2", parameters=EARLY, rows=ENOUGH, seed=5),
                nprobes=2), index({"index_details": None}, THIRD)), reachable=False),
    case("index/any/ivf-pq/one-sub-vector", "codes of whole vectors", NEAREST,
        nearest(replace(TYPES["pq"], parameters={"num_sub_vectors": 1}, rows=260, seed=5),
            nprobes=2)),
    case("index/any/ivf-pq/plain", "files of 2.0, whose sizes nobody says",
        (*PLAIN, "L.index.vector.pq.codes"), plain("pq"), reachable=False),
    fault("bits-nine", "codes of nine bits", "L.index.vector.pq.bits", stored_codes(nbits=9)),
    fault("sub-vectors-more", "more sub-vectors than numbers", "L.index.vector.pq.sub-vectors",
        stored_codes(num_sub_vectors=9)),
    fault("bits-true", "codes of true bits", "L.index.vector.pq.metadata",
        stored_codes(nbits=True)),
    fault("bits-negative", "codes of -4 bits", "L.index.vector.pq.metadata",
        stored_codes(nbits=-4)),
    fault("sub-vectors-none", "no sub-vectors", "L.index.vector.pq.sub-vectors",
        stored_codes(num_sub_vectors=0)),
    lint("layout", "codes by columns that are said to lie row by row", "L.index.vector.pq.codes",
        metadata_text("auxiliary.idx", "storage_metadata",
            lambda old: old.replace('transposed\\":true', 'transposed\\":false')),
        also="L.index.vector.pq.layout"),
    lint("residual", "codes that are not of the vectors less their centroid",
        "L.index.vector.pq.codes",
        partitions({"centroids_tensor.data": lambda old: old[4:8] + old[4:]},
            "_indices/*/index.idx"), also="L.index.vector.pq.residual"),
    fault("unsaid", "nothing says how codes lie", "L.index.vector.pq.metadata",
        stored_codes("transposed")),
    fault("codebook-unsaid", "no list in place of a codebook", "L.index.vector.pq.metadata",
        stored_codes("codebook_tensor")),
    fault("bits", "codes of six bits", "L.index.vector.pq.bits", stored_codes(nbits=6)),
    fault("sub-vectors", "sub-vectors that do not divide", "L.index.vector.pq.sub-vectors",
        stored_codes(num_sub_vectors=3)),
    fault("odd", "one sub-vector, of four bits", "L.index.vector.pq.sub-vectors",
        stored_codes(num_sub_vectors=1)),
    fault("codebook", "a codeword less", "L.index.vector.pq.codebook", tensor(lambda m: put(m,
        {"shape.0": m.shape[0] - 1, "data": m.data[:-4 * m.shape[1]]}), THERE)),
    fault("codebook-type", "codewords of another type", "L.index.vector.pq.codebook",
        tensor({"data_type": Tensor.FLOAT64, "data": lambda old: old * 2}, THERE)),
    fault("position", "a codebook that is nowhere", "L.index.files.buffer",
        stored_codes(codebook_position=9)),
    fault("of-flat", "codes in place of vectors", "L.index.vector.flat.dimension",
        head(type="IVF_FLAT")),
    lint("codes", "codes of other vectors", "L.index.vector.pq.codes", SpanPatch(("field __pq_code",
        "values"), lambda old: bytes(255 - one for one in old), target=THERE)),
    lint("assignment", "codes of a vector that is nearer to the other centroid",
        "L.index.vector.assignment", SpanPatch(("field _rowid", "values"),
        lambda old: old[-8:] + old[8:-8] + old[:8], target="_indices/*/auxiliary.idx")),
    fault("octet", "a codebook with a number that is no byte", "L.index.vector.pq.metadata",
        stored_codes(codebook_position=0, codebook_tensor=[256, 0])),
    lint("codes-first", "a code further off, which has as great a product",
        "L.index.vector.pq.codes", values("auxiliary.idx", "__pq_code", b"\x00")),
    case("index/any/ivf-pq/early-plain", "files of 2.0, whose sizes nobody says", (*PLAIN,
        "L.index.vector.single.message"), plain("pq", parameters=EARLY, rows=260), reachable=False),
    fault("centroids-cut", "a centroid that ends early", "L.index.vector.ivf.centroids",
        single_file({"vector_index.stages.0.ivf.centroids_tensor": None,
                "vector_index.stages.0.ivf.centroids": [0.0] * 7}, f"_indices/*/{HEAD}")),
    fault("offsets-less", "a partition without a place", "L.index.vector.single.partitions",
        single_file({"vector_index.stages.0.ivf.offsets": lambda old: old[:-1]},
            f"_indices/*/{HEAD}")),
    fault("no-sub-vectors", "no sub-vectors", "L.index.vector.pq.sub-vectors",
        single_file({"vector_index.stages.1.pq.num_sub_vectors": 0}, f"_indices/*/{HEAD}")),
    fault("footer", "nothing but the end of a footer", "L.index.vector.single.footer",
        Resize(0, b"\x00\x00\x01\x00LANC", f"_indices/*/{HEAD}")),
    fault("message", "a message after the file", "L.index.vector.single.message",
        SpanPatch(("message position",), lambda old: words(int.from_bytes(old, "little") + 2**40),
            target=f"_indices/*/{HEAD}")),
    fault("stages", "partitions and no codes", "L.index.vector.single.stages",
        single_file({"vector_index.stages": lambda old: old[:1]}, f"_indices/*/{HEAD}")),
    fault("metric", "a metric of bits", "L.index.vector.single.stages",
        single_file({"vector_index.metric_type": VectorMetricType.HAMMING}, f"_indices/*/{HEAD}")),
    fault("rows", "a partition that ends after the file", "L.index.vector.single.partitions",
        single_file({"vector_index.stages.0.ivf.lengths.0": lambda old: old * 1000},
            f"_indices/*/{HEAD}")),
    fault("message-longer", "a message that ends inside of the footer",
        "L.index.vector.single.message", SpanPatch(("message size",),
        lambda old: bytes([old[0] + 2]) + old[1:], target="_indices/*/index.idx")),
    *damaged("ivf-pq"),
)  # fmt: skip

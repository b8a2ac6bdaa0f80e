"""Cases of IVF indices of codes: product and scalar quantization, RabitQ."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from lanceref.index.vector.storage import tensor_of
from lanceref.kernels.rabitq_codes import codes_in
from lanceref.kernels.rabitq_estimate import ROUNDS, FastRotation
from lanceref.proto import index_pb2
from lanceref.proto.index_pb2 import Tensor, VectorMetricType

from lance_conformance.recipes import edits
from lance_conformance.recipes import vectors as vector_tables
from lance_conformance.recipes.apply_change import apply
from lance_conformance.recipes.cases.index import index_files
from lance_conformance.recipes.cases.index.index_files import HEAD, THERE, Held, stored_codes
from lance_conformance.recipes.constructors import case, fault, lint
from lance_conformance.recipes.edits import THIRD, single_file
from lance_conformance.recipes.handmade_files import edited, words
from lance_conformance.recipes.model import Files, Recipe, Request, Resize, SpanPatch
from lance_conformance.recipes.vectors import DIMENSION, EARLY, TYPES, exact, nearest


def _floats(tensor: index_pb2.Tensor) -> list[float]:
    return [float(one) for one in np.frombuffer(tensor.data, "<f4")]


def _old_numbers(message: index_pb2.Index) -> None:
    """State centroids and codewords as early releases did, without a tensor around them."""
    ivf, pq = (getattr(stage, stage.WhichOneof("stage")) for stage in message.vector_index.stages)
    ivf.centroids.extend(_floats(ivf.centroids_tensor))
    ivf.ClearField("centroids_tensor")
    pq.codebook.extend(_floats(pq.codebook_tensor))
    pq.ClearField("codebook_tensor")


def _codes(by: int) -> SpanPatch:
    return index_files.values(
        "auxiliary.idx",
        "__sq_code",
        lambda old: bytes([old[0] + (by if old[0] < 128 else -by)]) + old[1:],
    )


_RANGED = replace(TYPES["rq-5"], seed=4)
_FEW = _RANGED.request(k=5, nprobes=2, range=["30.5", "400"])


def _codebook() -> vector_tables.Numbers:
    """Return codewords [4, 16, 2], of which the last of each is next to the first."""
    found = np.random.default_rng(5).normal(size=(4, 16, DIMENSION // 4)) * 3
    found[:, 15] = found[:, 0] + 0.001
    return found.astype("f4")


def _last_for_first(codes: bytes) -> bytes:
    """Put the last codeword in the place of the first, in codes of four bits."""
    halves = ((one & 15, one >> 4) for one in codes)
    low_high = ((low or 15, high or 15) for low, high in halves)
    return bytes(low | high << 4 for low, high in low_high)


def _inline(files: Files) -> Files:
    """Put the codebook into the metadata, as bytes of its message."""
    _, codebook = index_files.opened(files[index_files.path_of("auxiliary.idx", files)]).buffers
    settings = stored_codes(codebook_position=0, codebook_tensor=[*codebook])
    return apply(settings, files)[0]


@dataclass(frozen=True, slots=True)
class _Codes:
    """The file of codes: its rows, what it says of them, and its buffers after the first."""

    rows: pa.Table
    said: dict[str, Any]
    buffers: tuple[bytes, ...]


def _coded(change: Callable[[_Codes], _Codes]) -> Callable[[Files], Files]:
    """Return what writes the file of codes anew."""

    def write(held: Held) -> Held:
        settings = json.loads(json.loads(held.texts["storage_metadata"])[0])
        codes = change(_Codes(held.rows, settings, held.buffers))
        texts = {**held.texts, "storage_metadata": json.dumps([json.dumps(codes.said)])}
        return Held(codes.rows, texts, codes.buffers)

    return index_files.rewritten("auxiliary.idx", write, THIRD)


def _by_matrix(codes: _Codes) -> _Codes:
    """Say the rotation as a matrix, and how far off distances may be nowhere."""
    signs = np.array(codes.said["fast_rotation_signs"], np.uint8).reshape(ROUNDS, -1)
    matrix = FastRotation(signs).rotate(np.eye(DIMENSION, dtype=np.float32)).T
    settings = {**codes.said, "rotation_type": "matrix", "rotate_mat_position": 2}
    del settings["fast_rotation_signs"]
    tensor = tensor_of(np.ascontiguousarray(matrix)).SerializeToString()
    return _Codes(codes.rows.drop_columns(["__error_factors"]), settings, (*codes.buffers, tensor))


def _not_in_blocks(codes: _Codes) -> _Codes:
    """Put the codes of a row one after the other."""
    column = codes.rows["__blocked_ex_codes"].combine_chunks()
    bits = codes.said["num_bits"] - 1
    stored = np.asarray(column.flatten(), np.uint8).reshape(len(column), -1)
    each = codes_in(stored, DIMENSION, bits)
    flags = np.unpackbits(each[..., np.newaxis], axis=2, bitorder="little")[..., :bits]
    packed = np.packbits(flags.reshape(len(each), -1), axis=1, bitorder="little")
    lists = pa.FixedSizeListArray.from_arrays(pa.array(packed.reshape(-1)), packed.shape[1])
    at = codes.rows.schema.get_field_index("__blocked_ex_codes")
    field = codes.rows.schema.field(at).with_name("__ex_codes").with_type(lists.type)
    return replace(codes, rows=codes.rows.set_column(at, field, lists))


def _unsaid(codes: _Codes) -> _Codes:
    """Do not say by what distances are reckoned: by residuals, as once all were."""
    settings = {key: value for key, value in codes.said.items() if key != "query_estimator"}
    return replace(codes, said=settings)


def _again(name: str, change: Callable[[_Codes], _Codes], metric: str = "l2") -> Request:
    """Return the question of all rows of an index whose file of codes is written anew."""
    query = nearest(replace(TYPES[name], version="2.0", seed=16, metric=metric), nprobes=2)
    return edited(query, _coded(change))


def _answered(query: Request) -> Request:
    """Return a question that the oracle answers by the index as it was changed."""
    return replace(query, make=lambda: vector_tables.answered(query.make(), query.args))


def _sign(bits: int) -> SpanPatch:
    return index_files.values(
        "auxiliary.idx", "_rabit_codes", lambda old: bytes([old[0] ^ bits]) + old[1:]
    )


CASES: tuple[Recipe, ...] = (
    case("index/any/ivf-pq/by-columns", "codes of residuals, column by column",
        ("L.index.vector.pq.residual", "L.index.vector.pq.layout", "L.index.vector.column"),
        exact("pq", clauses=())),
    case("index/any/ivf-pq/sized", "partitions of a size", nearest(replace(TYPES["pq"], seed=6,
                parameters={**TYPES["pq"].parameters, "target_partition_size": 40}), nprobes=2)),
    case("index/any/ivf-pq/early-numbers", "centroids and codewords as bare numbers",
        "L.index.vector.single.message", edited(exact("pq", parameters=EARLY, rows=260),
            single_file(_old_numbers, "_indices/*/index.idx"))),
    case("index/any/ivf-pq/early-l2-untold",
        "a single file of early releases, in an entry that does not tell its type",
        ("L.index.vector.search.order", "L.index.vector.single.message"), edited(
            nearest(replace(TYPES["pq"], metric="l2", parameters=EARLY, rows=vector_tables.MIN_ROWS,
                    seed=5), nprobes=2, clauses=()), edits.index({"index_details": None}, THIRD))),
    case("index/any/ivf-pq/one-sub-vector", "codes of whole vectors", nearest(
            replace(TYPES["pq"], parameters={"num_sub_vectors": 1}, rows=260, seed=5), nprobes=2)),
    case("index/any/ivf-pq/inline", "a codebook that stands in the metadata",
        "L.index.vector.pq.codebook", edited(exact("pq"), _inline)),
    case("index/any/ivf-pq/next-codeword", "codewords that are next to the nearest ones",
        "L.index.vector.pq.codes",
        edited(exact("pq", parameters={**vector_tables.PQ4, "pq_codebook": _codebook()}),
            index_files.values("auxiliary.idx", "__pq_code", _last_for_first))),
    case("index/any/ivf-pq/plain", "files of 2.0, whose sizes nobody says",
        "L.index.vector.pq.codes", exact("pq")),
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
        index_files.metadata_text("auxiliary.idx", "storage_metadata",
            lambda old: old.replace('transposed\\":true', 'transposed\\":false')),
        also="L.index.vector.pq.layout"),
    lint("residual", "codes that are not of the vectors less their centroid",
        "L.index.vector.pq.codes", edits.partitions(
            {"centroids_tensor.data": lambda old: old[4:8] + old[4:]}, "_indices/*/index.idx"),
        also="L.index.vector.pq.residual"),
    fault("unsaid", "nothing says how codes lie", "L.index.vector.pq.metadata",
        stored_codes("transposed")),
    fault("codebook-unsaid", "no list in place of a codebook", "L.index.vector.pq.metadata",
        stored_codes("codebook_tensor")),
    fault("bits", "codes of six bits", "L.index.vector.pq.bits", stored_codes(nbits=6)),
    fault("sub-vectors", "sub-vectors that do not divide", "L.index.vector.pq.sub-vectors",
        stored_codes(num_sub_vectors=3)),
    fault("odd", "one sub-vector, of four bits", "L.index.vector.pq.sub-vectors",
        stored_codes(num_sub_vectors=1)),
    fault("codebook", "a codeword less", "L.index.vector.pq.codebook", edits.tensor(
            lambda m: edits.update(m, {"shape.0": m.shape[0] - 1,
                "data": m.data[:-4 * m.shape[1]]}), THERE)),
    fault("codebook-type", "codewords of another type", "L.index.vector.pq.codebook",
        edits.tensor({"data_type": Tensor.FLOAT64, "data": lambda old: old * 2}, THERE)),
    fault("position", "a codebook that is nowhere", "L.index.files.buffer",
        stored_codes(codebook_position=9)),
    fault("of-flat", "codes in place of vectors", "L.index.vector.flat.dimension",
        index_files.head(type="IVF_FLAT")),
    lint("codes", "codes of other vectors", "L.index.vector.pq.codes",
        index_files.values("auxiliary.idx", "__pq_code",
            lambda old: bytes(255 - one for one in old))),
    lint("assignment", "codes of a vector that is nearer to the other centroid",
        "L.index.vector.assignment",
        index_files.values("auxiliary.idx", "_rowid", lambda old: old[-8:] + old[8:-8] + old[:8])),
    fault("octet", "a codebook with a number that is no byte", "L.index.vector.pq.metadata",
        stored_codes(codebook_position=0, codebook_tensor=[256, 0])),
    lint("codes-first", "a code further off, which has as great a product",
        "L.index.vector.pq.codes", index_files.values("auxiliary.idx", "__pq_code", b"\x00")),
    case("index/any/ivf-pq/early-plain", "files of 2.0, whose sizes nobody says",
        "L.index.vector.single.message", exact("pq", parameters=EARLY, rows=260)),
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
    *index_files.damaged("ivf-pq"),
    case("index/any/ivf-sq/dot-one", "the one row that is nearest by the dot product of bytes",
        nearest(replace(TYPES["sq"], metric="dot", seed=4), true=1, nprobes=2)),
    case("index/any/ivf-sq/code-one", "a code that is one from that of its number",
        "L.index.vector.sq.code", edited(exact("sq"), _codes(1))),
    case("index/any/ivf-sq/plain", "files of 2.0, whose sizes nobody says",
        "L.index.vector.sq.code", exact("sq")),
    fault("bits-nine", "codes of nine bits", "L.index.vector.sq.bits", stored_codes(num_bits=9)),
    fault("bounds-text", "a bound that is a word", "L.index.vector.sq.bounds",
        stored_codes(bounds={"start": "low", "end": 1.0})),
    fault("element", "centroids of another type", "L.index.vector.column-type",
        index_files.centroids({"data_type": Tensor.FLOAT64, "data": lambda old: old * 2})),
    fault("bits", "codes of four bits", "L.index.vector.sq.bits", stored_codes(num_bits=4)),
    fault("dimension", "codes of shorter vectors", "L.index.vector.sq.dimension",
        stored_codes(dim=4)),
    fault("bounds", "bounds the wrong way round", "L.index.vector.sq.bounds",
        stored_codes(bounds={"start": 1.0, "end": -1.0})),
    fault("bounds-unsaid", "no bounds", "L.index.vector.sq.bounds", stored_codes("bounds")),
    lint("code", "a byte that is not that of its number", "L.index.vector.sq.code",
        index_files.values("auxiliary.idx", "__sq_code",
            lambda old: bytes([old[0] ^ 64]) + old[1:])),
    lint("row-id", "a row that the fragment does not have", "L.index.vector.row-id",
        index_files.values("auxiliary.idx", "_rowid", b"\xff")),
    lint("code-two", "a code that is two from that of its number", "L.index.vector.sq.code",
        _codes(2)),
    *index_files.damaged("ivf-sq"),
    case("index/any/ivf-rq/matrix",
        "an entry that tells of a matrix; the files say how vectors are turned",
        edited(nearest(replace(TYPES["rq"], seed=6), nprobes=2),
            edits.index({"index_details.value": edits.inside(index_pb2.VectorIndexDetails,
                        {"rq.rotation_type": index_pb2.VectorIndexDetails.RabitQuantization.MATRIX,
                            "target_num_partitions": 2})}, THIRD))),
    case("index/any/ivf-rq/5-range", "the nearest rows after a distance",
        "L.index.vector.search.range",
        vector_tables.oracle_search(_RANGED, _FEW, nprobes=2, range=["30.5", "400"])),
    case("index/any/ivf-rq/by-matrix",
        "vectors turned by a matrix; how far off distances are is not told",
        ("L.index.vector.rq.rotation", "L.index.vector.rq.columns"), _again("rq", _by_matrix)),
    fault("matrix-shape", "a matrix of twice as many columns as rows", "L.index.vector.rq.rotation",
        edits.tensor({"shape": [DIMENSION // 2, DIMENSION * 2]}, THERE)),
    case("index/any/ivf-rq/unsaid-dot",
        "one bit, by residuals, of vectors that are compared by their products",
        ("L.index.vector.rq.rotation", "L.index.vector.rq.columns"),
        _answered(_again("rq", _unsaid, "dot"))),
    case("index/any/ivf-rq/unsaid", "one bit, by residuals, since nothing else is stated",
        ("L.index.vector.rq.rotation", "L.index.vector.rq.columns"),
        _answered(_again("rq", _unsaid))),
    case("index/any/ivf-rq/5-in-rows", "codes of a row one after the other",
        ("L.index.vector.rq.rotation", "L.index.vector.rq.columns"),
        _again("rq-5", _not_in_blocks)),
    case("index/any/ivf-rq/plain", "files of 2.0, whose sizes nobody says",
        "L.index.vector.rq.signs", exact("rq")),
    fault("signs-text", "signs that are words", "L.index.vector.rq.rotation",
        stored_codes(fast_rotation_signs=["a", "b", "c", "d"])),
    fault("signs-large", "a sign of 256", "L.index.vector.rq.rotation",
        stored_codes(fast_rotation_signs=[256, 0, 0, 0])),
    fault("packed-text", "signs that lie somehow", "L.index.vector.rq.metadata",
        stored_codes(packed="yes")),
    fault("bits", "codes of no bits", "L.index.vector.rq.bits", stored_codes(num_bits=0)),
    fault("most-bits", "codes of ten bits", "L.index.vector.rq.bits", stored_codes(num_bits=10)),
    fault("metadata", "nothing says how signs lie", "L.index.vector.rq.metadata",
        stored_codes("packed")),
    fault("signs", "a rotation of too few signs", "L.index.vector.rq.rotation",
        stored_codes(fast_rotation_signs=[1, 2, 3])),
    fault("signs-unsaid", "a rotation without signs", "L.index.vector.rq.rotation",
        stored_codes("fast_rotation_signs")),
    fault("code-dim", "a rotation of longer vectors", "L.index.vector.rq.rotation",
        stored_codes(code_dim=16)),
    fault("rotation", "a rotation that none knows", "L.index.vector.rq.rotation",
        stored_codes(rotation_type="slow")),
    fault("estimator", "an estimator that none knows", "L.index.vector.rq.estimator",
        stored_codes(query_estimator="cooked_query")),
    fault("factors", "no factors", "L.index.files.column",
        index_files.renamed("auxiliary.idx", "__scale_factors")),
    lint("sign", "signs that are those of no row", "L.index.vector.rq.signs",
        index_files.values("auxiliary.idx", "_rabit_codes",
            lambda old: bytes(255 - one for one in old))),
    lint("signs-two", "two signs of a row that are not those of their numbers",
        "L.index.vector.rq.signs", _sign(3)),
    case("index/any/ivf-rq/plain-5", "files of 2.0, whose sizes nobody says",
        "L.index.vector.rq.columns", exact("rq-5")),
    fault("estimator-unsaid", "the older estimator, of five bits", "L.index.vector.rq.estimator",
        stored_codes("query_estimator")),
    fault("one-bit", "extended codes of one bit", "L.index.vector.rq.columns",
        stored_codes(num_bits=1)),
    case("index/any/ivf-rq/sign-one", "a sign that is not that of its number: it may be near 0",
        "L.index.vector.rq.signs", edited(exact("rq"), _sign(1))),
    *index_files.damaged("ivf-rq"),
)  # fmt: skip

"""Cases of scalar quantization."""

from __future__ import annotations

from dataclasses import replace

from lanceref.proto.index_pb2 import Tensor

from lance_conformance.recipes.cases.index.damaged_files import damaged
from lance_conformance.recipes.cases.index.index_files import (
    THERE,
    centroids,
    stored_codes,
    values,
)
from lance_conformance.recipes.constructors import case, fault, lint
from lance_conformance.recipes.handmade_files import reworked
from lance_conformance.recipes.model import Recipe, SpanPatch
from lance_conformance.recipes.vectors import NEAREST, PLAIN, TYPES, nearest, plain


def _codes(by: int) -> SpanPatch:
    return SpanPatch(
        ("field __sq_code", "values"),
        lambda old: bytes([old[0] + (by if old[0] < 128 else -by)]) + old[1:],
        target="_indices/*/auxiliary.idx",
    )


CASES: tuple[Recipe, ...] = (
    case("index/any/ivf-sq/dot-one", "the one row that is nearest by the dot product of bytes",
        NEAREST, nearest(replace(TYPES["sq"], metric="dot", seed=4), true=1, nprobes=2)),
    case("index/any/ivf-sq/code-one", "a code that is one from that of its number",
        (*PLAIN, "L.index.vector.sq.code"), reworked(plain("sq"), _codes(1)), reachable=False),
    case("index/any/ivf-sq/plain", "files of 2.0, whose sizes nobody says",
        (*PLAIN, "L.index.vector.sq.code"), plain("sq"), reachable=False),
    fault("bits-nine", "codes of nine bits", "L.index.vector.sq.bits", stored_codes(num_bits=9)),
    fault("bounds-text", "a bound that is a word", "L.index.vector.sq.bounds",
        stored_codes(bounds={"start": "low", "end": 1.0})),
    fault("element", "centroids of another type", "L.index.vector.column-type",
        centroids({"data_type": Tensor.FLOAT64, "data": lambda old: old * 2})),
    fault("bits", "codes of four bits", "L.index.vector.sq.bits", stored_codes(num_bits=4)),
    fault("dimension", "codes of shorter vectors", "L.index.vector.sq.dimension",
        stored_codes(dim=4)),
    fault("bounds", "bounds the wrong way round", "L.index.vector.sq.bounds",
        stored_codes(bounds={"start": 1.0, "end": -1.0})),
    fault("bounds-unsaid", "no bounds", "L.index.vector.sq.bounds", stored_codes("bounds")),
    lint("code", "a byte that is not that of its number", "L.index.vector.sq.code",
        SpanPatch(("field __sq_code", "values"), lambda old: bytes([old[0] ^ 64]) + old[1:],
            target=THERE)),
    lint("row-id", "a row that the fragment does not have", "L.index.vector.row-id",
        values("auxiliary.idx", "_rowid", b"\xff")),
    lint("code-two", "a code that is two from that of its number", "L.index.vector.sq.code",
        _codes(2)),
    *damaged("ivf-sq"),
)  # fmt: skip

"""Cases of RabitQ codes."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from lanceref.index.vector.storage import tensor_of
from lanceref.kernels.rabitq_codes import codes_in
from lanceref.kernels.rabitq_estimate import ROUNDS, FastRotation
from lanceref.proto import index_pb2

from lance_conformance.recipes.cases.index.damaged_files import damaged
from lance_conformance.recipes.cases.index.index_files import (
    THERE,
    opened_rows,
    renamed,
    stored_codes,
)
from lance_conformance.recipes.change import apply
from lance_conformance.recipes.constructors import case, fault, lint
from lance_conformance.recipes.edits import THIRD, index, inside
from lance_conformance.recipes.handmade_files import remade, reworked
from lance_conformance.recipes.model import DATA, Asked, Made, Recipe, SpanPatch
from lance_conformance.recipes.oracle_made import file
from lance_conformance.recipes.vectors import (
    DIMENSION,
    NEAREST,
    PLAIN,
    TYPES,
    answered,
    answered_as,
    nearest,
    plain,
)

_RANGED = replace(TYPES["rq-5"], seed=4)
_FEW = _RANGED.asked(k=5, nprobes=2, range=["30.5", "400"])


@dataclass(frozen=True, slots=True)
class _Codes:
    """The file of codes: its rows, what it says of them, and its buffers after the first."""

    rows: pa.Table
    said: dict[str, Any]
    buffers: tuple[bytes, ...]


def _rewritten(make: Callable[[], Made], change: Callable[[_Codes], _Codes]) -> Callable[[], Made]:
    """Return a maker of the same index with another file of codes."""

    def made() -> Made:
        base = make()
        files, _ = apply(index({"files": None}, THIRD), base.files)
        (name,) = (name for name in files if name.endswith("auxiliary.idx"))
        rows, texts, buffers = opened_rows(files[name])
        codes = change(_Codes(rows, json.loads(json.loads(texts["storage_metadata"])[0]), buffers))
        texts["storage_metadata"] = json.dumps([json.dumps(codes.said)])
        written = file(codes.rows, "2.0", global_buffers=codes.buffers, schema_metadata=texts)
        return Made({**files, name: written().files[DATA]}, base.table, made_by="hand")

    return made


def _answered(base: Made, args: Mapping[str, object]) -> Made:
    """Return files with what the oracle answers by the index as it was changed."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "table.lance")
        for name, data in base.files.items():
            root.joinpath(name).parent.mkdir(parents=True, exist_ok=True)
            root.joinpath(name).write_bytes(data)
        return replace(base, table=answered(root, args, folder))


def _by_matrix(codes: _Codes) -> _Codes:
    """Say the rotation as a matrix, and how far off distances may be nowhere."""
    signs = np.array(codes.said["fast_rotation_signs"], np.uint8).reshape(ROUNDS, -1)
    matrix = FastRotation(signs).rotate(np.eye(DIMENSION, dtype=np.float32)).T
    said = {**codes.said, "rotation_type": "matrix", "rotate_mat_position": 2}
    del said["fast_rotation_signs"]
    tensor = tensor_of(np.ascontiguousarray(matrix)).SerializeToString()
    return _Codes(codes.rows.drop_columns(["__error_factors"]), said, (*codes.buffers, tensor))


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
    said = {key: value for key, value in codes.said.items() if key != "query_estimator"}
    return replace(codes, said=said)


def _again(name: str, change: Callable[[_Codes], _Codes]) -> Asked:
    """Return the question of all rows of an index whose file of codes is written anew."""
    asked = nearest(replace(TYPES[name], version="2.0", seed=16), nprobes=2)
    return remade(asked, _rewritten, change)


_UNSAID = _again("rq", _unsaid)


def _sign(bits: int) -> SpanPatch:
    return SpanPatch(
        ("field _rabit_codes", "values"),
        lambda old: bytes([old[0] ^ bits]) + old[1:],
        target="_indices/*/auxiliary.idx",
    )


CASES: tuple[Recipe, ...] = (
    case("index/any/ivf-rq/matrix",
        "an entry that tells of a matrix; the files say how vectors are turned", NEAREST,
        reworked(nearest(replace(TYPES["rq"], seed=6), nprobes=2),
            index({"index_details.value": inside(index_pb2.VectorIndexDetails,
                        {"rq.rotation_type": index_pb2.VectorIndexDetails.RabitQuantization.MATRIX,
                            "target_num_partitions": 2})}, THIRD)), reachable=False),
    case("index/any/ivf-rq/5-range", "the nearest rows after a distance",
        (*NEAREST, "L.index.vector.search.range"),
        answered_as(_RANGED, _FEW, nprobes=2, range=["30.5", "400"])),
    case("index/any/ivf-rq/by-matrix",
        "vectors turned by a matrix; how far off distances are is not told",
        (*NEAREST, "L.index.vector.rq.rotation", "L.index.vector.rq.columns"),
        _again("rq", _by_matrix), reachable=False),
    case("index/any/ivf-rq/unsaid", "one bit, by residuals, since nothing else is stated",
        (*NEAREST, "L.index.vector.rq.rotation", "L.index.vector.rq.columns"),
        replace(_UNSAID, make=lambda: _answered(_UNSAID.make(), _UNSAID.args)), reachable=False),
    case("index/any/ivf-rq/5-in-rows", "codes of a row one after the other",
        (*NEAREST, "L.index.vector.rq.rotation", "L.index.vector.rq.columns"),
        _again("rq-5", _not_in_blocks), reachable=False),
    case("index/any/ivf-rq/plain", "files of 2.0, whose sizes nobody says",
        (*PLAIN, "L.index.vector.rq.signs"), plain("rq"), reachable=False),
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
        renamed("auxiliary.idx", "__scale_factors")),
    lint("sign", "signs that are those of no row", "L.index.vector.rq.signs",
        SpanPatch(("field _rabit_codes", "values"), lambda old: bytes(255 - one for one in old),
            target=THERE)),
    lint("signs-two", "two signs of a row that are not those of their numbers",
        "L.index.vector.rq.signs", _sign(3)),
    case("index/any/ivf-rq/plain-5", "files of 2.0, whose sizes nobody says",
        (*PLAIN, "L.index.vector.rq.columns"), plain("rq-5"), reachable=False),
    fault("estimator-unsaid", "the older estimator, of five bits", "L.index.vector.rq.estimator",
        stored_codes("query_estimator")),
    fault("one-bit", "extended codes of one bit", "L.index.vector.rq.columns",
        stored_codes(num_bits=1)),
    case("index/any/ivf-rq/sign-one", "a sign that is not that of its number: it may be near 0",
        (*PLAIN, "L.index.vector.rq.signs"), reworked(plain("rq"), _sign(1)), reachable=False),
    *damaged("ivf-rq"),
)  # fmt: skip

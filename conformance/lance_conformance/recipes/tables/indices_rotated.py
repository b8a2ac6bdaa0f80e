"""Cases of rotated codes as early releases have them: a matrix, no errors, codes not in blocks.

The oracle makes the index; the file of its codes is written anew. The matrix is the one that does
what the signs of the rotation do, so that the codes stay what they are.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from lanceref.core.context import Context
from lanceref.data_file.data_file import open_file
from lanceref.index.vector.storage import tensor_of
from lanceref.kernels.rabitq_codes import codes_in
from lanceref.kernels.rabitq_estimate import ROUNDS, FastRotation
from lanceref.storage import BytesSource
from pylanceref.file import LanceFileReader

from lance_conformance.recipes.change import apply
from lance_conformance.recipes.messages import index
from lance_conformance.recipes.model import DATA, Made, Positive
from lance_conformance.recipes.oracle_made import file
from lance_conformance.recipes.tables.indices_plain import without_sizes
from lance_conformance.recipes.tables.indices_vectors import CLAUSES, TYPES, case
from lance_conformance.recipes.tables.indices_vectors_plain import LAST
from lance_conformance.recipes.vectors import DIMENSION, answered

_STORED = "storage_metadata"


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
        files, _ = apply(index(without_sizes, LAST), base.files)
        (name,) = (name for name in files if name.endswith("auxiliary.idx"))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, DATA)
            path.write_bytes(files[name])
            rows = LanceFileReader(path).read_all().to_table()
        opened = open_file(BytesSource(files[name]), Context(name))
        kept = [files[name][one.offset : one.end] for one in opened.global_buffers[1:]]
        texts = {key.decode(): text.decode() for key, text in rows.schema.metadata.items()}
        said = json.loads(json.loads(texts[_STORED])[0])
        codes = change(_Codes(rows.replace_schema_metadata(None), said, tuple(kept)))
        texts[_STORED] = json.dumps([json.dumps(codes.said)])
        written = file(codes.rows, "2.0", global_buffers=codes.buffers, schema_metadata=texts)
        return Made({**files, name: written().files[DATA]}, base.table, made_by="hand")

    return made


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


def _early(slug: str, title: str, name: str, change: Callable[[_Codes], _Codes]) -> Positive:
    vectors = replace(TYPES[name], version="2.0", seed=16)
    clauses = (*CLAUSES, "L.index.vector.rq.rotation", "L.index.vector.rq.columns")
    made = case(slug, title, vectors, clauses, nprobes=2)
    return replace(made, make=_rewritten(made.make, change), reachable=False)


def _asked_anew(case: Positive) -> Positive:
    """Return a case that expects what the oracle answers by the index as it was changed."""

    def make() -> Made:
        base = case.make()
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder, "table.lance")
            for name, data in base.files.items():
                root.joinpath(name).parent.mkdir(parents=True, exist_ok=True)
                root.joinpath(name).write_bytes(data)
            return replace(base, table=answered(root, case.args, folder))

    return replace(case, make=make)


POSITIVES: tuple[Positive, ...] = (
    _early("by-matrix", "vectors turned by a matrix; how far off distances are is not told", "rq",
           _by_matrix),
    _asked_anew(_early("unsaid", "one bit, by residuals, since nothing else is stated", "rq",
                       _unsaid)),
    _early("5-in-rows", "codes of a row one after the other", "rq-5", _not_in_blocks),
)  # fmt: skip
"""Every case of rotated codes of early releases."""

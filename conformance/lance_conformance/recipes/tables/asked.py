"""Cases of what is asked of files: fields of structs by their names; and blobs at one place."""

from __future__ import annotations

import pyarrow as pa

from lance_conformance.recipes.model import Made, Negative, Positive
from lance_conformance.recipes.oracle_made import file
from lance_conformance.recipes.tables.edits import byte, fault

_STRUCTS = [{"a": 1, "b": "x", "c": True}, None, {"a": 3, "b": None, "c": False}]

_TABLE = pa.table({"s": pa.array(_STRUCTS), "t": pa.array([7, 8, 9], pa.int16())})

_BELOW = pa.array(
    [None if one is None else {"a": one["a"], "c": one["c"]} for one in _STRUCTS],
    pa.struct([("a", pa.int64()), ("c", pa.bool_())]),
)


def _below(version: str) -> Positive:
    def make() -> Made:
        expected = pa.table({"s": _BELOW, "t": _TABLE["t"]})
        return Made(file(_TABLE, version)().files, expected)

    return Positive(
        id=f"file/{version}/asked/below",
        title="two fields of a struct and a number are asked for by their names",
        clauses=("L.file.schema.children",),
        make=make,
        version=version,
        args={"columns": ["s.a", "s.c", "t"]},
    )


POSITIVES: tuple[Positive, ...] = (_below("2.1"),)
"""Every case of what is asked."""

NEGATIVES: tuple[Negative, ...] = (
    fault("file/2.0/blob/bytes", "same-place", "a second blob where the first is",
          "L.array.blob.order", byte("field c", "rows", at=48, new=0)),
)  # fmt: skip
"""Every fault of what is asked."""

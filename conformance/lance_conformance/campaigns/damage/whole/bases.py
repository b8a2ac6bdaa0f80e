"""Bases: the undamaged tables, one for each file version and for each part a table may have.

Every table has the columns of `lanceref_testing.table_operations`, some have one more; a victim has
their schema, and ids that no base has. Bases are written once, by the reference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pylanceref
from lanceref_testing.table_operations import build, new_rows
from pylanceref.blob import blob_array, blob_field
from pylanceref.file import LanceFileWriter
from pylanceref.metadata import DataFile
from pylanceref.operation import LanceOperation as Op

from lance_conformance.recipes.indexed import create_index

MARK = 9 * 10**9
"""Where the ids of a victim begin: no base has one of them."""

_BLOB = blob_field("b", inline_size_threshold=20, dedicated_size_threshold=340)
"""Blobs of the second kind: inline, in a shared file, and in files of their own."""


@dataclass(frozen=True, slots=True)
class Base:
    """How a table is made; `search` is put to its index, as arguments of a scan."""

    version: str
    search: Mapping[str, Any]
    index: tuple[str, str, Mapping[str, Any]] | None = None
    extra: Callable[[int], pa.Array] | None = None
    stable_row_ids: bool = False
    afterwards: Callable[[pylanceref.LanceDataset], object] | None = field(default=None)

    def new_rows(self, ids: Sequence[int]) -> pa.Table:
        """Return rows without the column that is added later."""
        table = new_rows(ids)
        if self.extra is None:
            return table
        column = self.extra(len(ids))
        field = _BLOB if column.type == _BLOB.type else pa.field("c", column.type)
        return table.append_column(field, column)

    def rows(self, first: int, count: int) -> pa.Table:
        """Return rows for the table whose ids count from `first`."""
        twice = pa.array([0] * count, pa.int64())
        return self.new_rows(range(first, first + count)).append_column("twice", twice)


def _blobs(rows: int) -> pa.Array:
    return blob_array([None if n % 9 == 8 else bytes([n % 256]) * (60 * n) for n in range(rows)])


def _nested(rows: int) -> pa.Array:
    """Return lists of structs that have lists, some of them null."""
    item = pa.struct([("x", pa.int64()), ("y", pa.list_(pa.int8()))])
    held = [[{"x": n, "y": [n % 100] * (n % 3)}] * (n % 4) if n % 13 else None for n in range(rows)]
    return pa.array(held, pa.list_(item))


def _cover(made: pylanceref.LanceDataset) -> None:
    path = Path(made.uri, "data", "overlay.lance")
    texts = pa.table({"text": ["over", "laid"]})
    with LanceFileWriter(str(path), texts.schema, version="2.1") as writer:
        writer.write_batch(texts)
    file = DataFile(path.name, [2], [0], 2, 1, path.stat().st_size)
    group = Op.DataOverlayGroup(0, [Op.DataOverlayFile(file, [0, 2])])
    pylanceref.LanceDataset.commit(made.uri, Op.DataOverlay([group]), read_version=made.version)


_VECTOR = {"num_partitions": 2, "ivf_centroids": np.array([[-1] * 4, [1] * 4], np.float32)}

_NEAR = {"nearest": {"column": "v", "q": [0.5] * 4, "k": 5, "nprobes": 2}}

_RANGE = {"filter": "id >= 5 AND id < 90"}

BASES: dict[str, Base] = {
    "early": Base("legacy", _RANGE),
    "btree-2.0": Base("2.0", _RANGE, ("id", "BTREE", {"zone_size": 32})),
    "names-2.1": Base("2.1", _RANGE, ("id", "BITMAP", {})),
    "row-ids-2.1": Base("2.1", _RANGE, ("id", "ZONEMAP", {"rows_per_zone": 16}), None, True),
    "overlay-2.1": Base("2.1", {"filter": "text = 'over'"}, afterwards=_cover),
    "words-2.1": Base(
        "2.1", {"full_text_query": "word3 row8"}, ("text", "INVERTED", {}), None, True
    ),
    "vectors-2.1": Base(
        "2.1", _NEAR, ("v", "IVF_PQ", {**_VECTOR, "num_sub_vectors": 4, "num_bits": 4})
    ),
    "graph-2.1": Base("2.1", _NEAR, ("v", "IVF_HNSW_SQ", _VECTOR)),
    "blobs-2.2": Base("2.2", _RANGE, ("id", "BTREE", {}), _blobs),
    "ngrams-2.2": Base("2.2", {"filter": "contains(text, 'word3')"}, ("text", "NGRAM", {})),
    "json-2.2": Base(
        "2.2",
        {"filter": "json_get_int(c, 'a') < 3"},
        ("c", "JSON", {"path": "a", "target_index_type": "btree"}),
        lambda rows: pa.array([f'{{"a":{n}}}' for n in range(rows)], pa.json_()),
    ),
    "nested-2.3": Base("2.3", _RANGE, ("id", "BLOOMFILTER", {}), _nested, True),
}
"""Tables by name."""


def make_bases(folder: Path) -> None:
    """Write every base and its victim below `folder`, each in a folder of its name."""
    for name, base in BASES.items():
        path, outside = str(folder / name / "table"), folder / name / "outside"
        stable, version = base.stable_row_ids, base.version
        build(pylanceref, path, stable=stable, version=version, make=base.new_rows)
        if base.index is not None:
            create_index(pylanceref, pylanceref.dataset(path), *base.index)
        if base.afterwards is not None:
            base.afterwards(pylanceref.dataset(path))
        victim = str(outside / "victim")
        pylanceref.write_dataset(base.rows(MARK, 10), victim, data_storage_version=version)
        (outside / "sentinel").write_text("nobody may touch this", encoding="utf-8")

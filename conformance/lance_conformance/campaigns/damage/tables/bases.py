"""Bases: the undamaged tables, with each file version and each kind of file.

Every table has the columns of `lanceref_testing.table_operations`, some have one more. Beside each
is an outside table of the same schema, with ids that no base has. The reference writes all once.
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

OUTSIDE_ID = 9 * 10**9
"""First id of an outside table; the ids of bases are smaller."""

_BLOB = blob_field("b", inline_size_threshold=20, dedicated_size_threshold=340)
"""Blobs of version 2: inline, in a shared file, and in files of their own."""


@dataclass(frozen=True, slots=True)
class Base:
    """Parameters of a table; `search` are the arguments of a scan that uses its index."""

    version: str
    search: Mapping[str, Any]
    index: tuple[str, str, Mapping[str, Any]] | None = None
    extra: Callable[[int], pa.Array] | None = None
    stable_row_ids: bool = False
    finish: Callable[[pylanceref.LanceDataset], object] | None = field(default=None)

    def new_rows(self, ids: Sequence[int]) -> pa.Table:
        """Return rows without the column `twice`, which is added later."""
        table = new_rows(ids)
        if self.extra is None:
            return table
        column = self.extra(len(ids))
        field = _BLOB if column.type == _BLOB.type else pa.field("c", column.type)
        return table.append_column(field, column)

    def rows(self, first: int, count: int) -> pa.Table:
        """Return `count` rows for the table, with ids from `first`."""
        twice = pa.array([0] * count, pa.int64())
        return self.new_rows(range(first, first + count)).append_column("twice", twice)


def _blobs(rows: int) -> pa.Array:
    return blob_array([None if n % 9 == 8 else bytes([n % 256]) * (60 * n) for n in range(rows)])


def _nested(rows: int) -> pa.Array:
    """Return lists of structs with lists, some of them null."""
    item = pa.struct([("x", pa.int64()), ("y", pa.list_(pa.int8()))])
    lists = [
        [{"x": n, "y": [n % 100] * (n % 3)}] * (n % 4) if n % 13 else None for n in range(rows)
    ]
    return pa.array(lists, pa.list_(item))


def _add_overlay(table: pylanceref.LanceDataset) -> None:
    path = Path(table.uri, "data", "overlay.lance")
    texts = pa.table({"text": ["over", "laid"]})
    with LanceFileWriter(str(path), texts.schema, version="2.1") as writer:
        writer.write_batch(texts)
    file = DataFile(path.name, [2], [0], 2, 1, path.stat().st_size)
    group = Op.DataOverlayGroup(0, [Op.DataOverlayFile(file, [0, 2])])
    pylanceref.LanceDataset.commit(table.uri, Op.DataOverlay([group]), read_version=table.version)


_VECTOR = {"num_partitions": 2, "ivf_centroids": np.array([[-1] * 4, [1] * 4], np.float32)}

_NEAR = {"nearest": {"column": "v", "q": [0.5] * 4, "k": 5, "nprobes": 2}}

_RANGE = {"filter": "id >= 5 AND id < 90"}

BASES: dict[str, Base] = {
    "early": Base("legacy", _RANGE),
    "btree-2.0": Base("2.0", _RANGE, ("id", "BTREE", {"zone_size": 32})),
    "names-2.1": Base("2.1", _RANGE, ("id", "BITMAP", {})),
    "row-ids-2.1": Base("2.1", _RANGE, ("id", "ZONEMAP", {"rows_per_zone": 16}), None, True),
    "overlay-2.1": Base("2.1", {"filter": "text = 'over'"}, finish=_add_overlay),
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
    """Write every base and its outside table below `folder`, in a folder of its name."""
    for name, base in BASES.items():
        path, outside = str(folder / name / "table"), folder / name / "outside"
        stable, version = base.stable_row_ids, base.version
        build(pylanceref, path, stable=stable, version=version, make=base.new_rows)
        if base.index is not None:
            create_index(pylanceref, pylanceref.dataset(path), *base.index)
        if base.finish is not None:
            base.finish(pylanceref.dataset(path))
        rows, uri = base.rows(OUTSIDE_ID, 10), str(outside / "table")
        pylanceref.write_dataset(rows, uri, data_storage_version=version)
        (outside / "sentinel").write_text("must not be accessed", encoding="utf-8")

"""Bases: the undamaged tables, one for each file version and for each part a table may have.

Every table has the columns `id` and `text`; a victim has their schema, and every row of it has a
value that no base has. Bases are written once, by the reference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pylanceref
from pylanceref.blob import blob_array, blob_field
from pylanceref.file import LanceFileWriter
from pylanceref.metadata import DataFile
from pylanceref.operation import LanceOperation as Op

from lance_conformance.recipes.indexed import create_index

ROWS = 120
"""Rows of a base when it is first written."""

IN_FILE = 40
"""Rows of a data file."""

MARK = 9 * 10**9
"""Where the ids of a victim begin: no base has one of them."""

MARK_TEXT = "mark of the victim"
"""Text of every row of a victim."""

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

    def rows(self, first: int, count: int, text: str = "") -> pa.Table:
        """Return rows whose ids count from `first`."""
        texts = [text or f"w{n % 5} seven w{n % 11}" for n in range(count)]
        table = pa.table({"id": pa.array(range(first, first + count), pa.int64()), "text": texts})
        if self.extra is None:
            return table
        column = self.extra(count)
        field = _BLOB if column.type == _BLOB.type else pa.field("c", column.type)
        return table.append_column(field, column)


def _blobs(rows: int) -> pa.Array:
    return blob_array([None if n % 9 == 8 else bytes([n % 256]) * (3 * n) for n in range(rows)])


def _vectors(rows: int) -> pa.Array:
    values = np.random.default_rng(1).random(8 * rows, np.float32)
    return pa.FixedSizeListArray.from_arrays(pa.array(values), 8)


def _nested(rows: int) -> pa.Array:
    """Return lists of structs that have lists, some of them null."""
    item = pa.struct([("x", pa.int64()), ("y", pa.list_(pa.int8()))])
    held = [[{"x": n, "y": [n % 100] * (n % 3)}] * (n % 4) if n % 13 else None for n in range(rows)]
    return pa.array(held, pa.list_(item))


def _documents(rows: int) -> pa.Array:
    return pa.array([f'{{"a":{n}}}' for n in range(rows)], pa.json_())


def _delete(made: pylanceref.LanceDataset) -> None:
    made.delete("id % 7 = 3")


def _name(made: pylanceref.LanceDataset) -> None:
    made.delete("id < 5")
    made.tags.create("first", 1)
    made.create_branch("side", 1).delete("id < 9")
    made.tags.create("beside", ("side", None))


def _update(made: pylanceref.LanceDataset) -> None:
    made.update({"text": "'new'"}, where="id % 10 = 1")
    made.delete("id % 10 = 2")


def _cover(made: pylanceref.LanceDataset) -> None:
    path = Path(made.uri, "data", "overlay.lance")
    rows = pa.table({"text": ["over", "laid"]})
    with LanceFileWriter(str(path), rows.schema, version="2.1") as writer:
        writer.write_batch(rows)
    file = DataFile(path.name, [1], [0], 2, 1, path.stat().st_size)
    group = Op.DataOverlayGroup(0, [Op.DataOverlayFile(file, [0, 2])])
    pylanceref.LanceDataset.commit(made.uri, Op.DataOverlay([group]), read_version=made.version)


_VECTOR = {"num_partitions": 2, "ivf_centroids": np.array([[0.2] * 8, [0.8] * 8], np.float32)}

_NEAR = {"nearest": {"column": "c", "q": [0.5] * 8, "k": 5, "nprobes": 2}}

_RANGE = {"filter": "id >= 5 AND id < 90"}

BASES: dict[str, Base] = {
    "early": Base("legacy", _RANGE, afterwards=_delete),
    "btree-2.0": Base("2.0", _RANGE, ("id", "BTREE", {"zone_size": 32}), afterwards=_delete),
    "names-2.1": Base("2.1", _RANGE, ("id", "BITMAP", {}), afterwards=_name),
    "row-ids-2.1": Base(
        "2.1", _RANGE, ("id", "ZONEMAP", {"rows_per_zone": 16}), None, True, _update
    ),
    "overlay-2.1": Base("2.1", {"filter": "text = 'over'"}, afterwards=_cover),
    "words-2.1": Base("2.1", {"full_text_query": "seven w3"}, ("text", "INVERTED", {}), None, True),
    "vectors-2.1": Base(
        "2.1", _NEAR, ("c", "IVF_PQ", {**_VECTOR, "num_sub_vectors": 4, "num_bits": 4}), _vectors
    ),
    "graph-2.1": Base("2.1", _NEAR, ("c", "IVF_HNSW_SQ", _VECTOR), _vectors, afterwards=_delete),
    "blobs-2.2": Base("2.2", _RANGE, ("id", "BTREE", {}), _blobs, afterwards=_name),
    "ngrams-2.2": Base("2.2", {"filter": "contains(text, 'seven')"}, ("text", "NGRAM", {})),
    "json-2.2": Base(
        "2.2",
        {"filter": "json_get_int(c, 'a') < 3"},
        ("c", "JSON", {"path": "a", "target_index_type": "btree"}),
        _documents,
    ),
    "nested-2.3": Base("2.3", _RANGE, ("id", "BLOOMFILTER", {}), _nested, True, _name),
}
"""Tables by name."""


def make_bases(folder: Path) -> None:
    """Write every base and its victim below `folder`, each in a folder of its name."""
    for name, base in BASES.items():
        made = _written(base, folder / name / "table", base.rows(0, ROWS))
        if base.index is not None:
            create_index(pylanceref, made, *base.index)
        if base.afterwards is not None:
            base.afterwards(made)
        outside = folder / name / "outside"
        _written(base, outside / "victim", base.rows(MARK, 10, MARK_TEXT))
        (outside / "sentinel").write_text("nobody may touch this", encoding="utf-8")


def _written(base: Base, path: Path, rows: pa.Table) -> pylanceref.LanceDataset:
    return pylanceref.write_dataset(
        rows,
        str(path),
        data_storage_version=base.version,
        max_rows_per_file=IN_FILE,
        enable_stable_row_ids=base.stable_row_ids,
    )

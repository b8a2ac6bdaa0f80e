"""Columns of index files, damaged in every way that a container allows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import lanceref
import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import LanceError
from lanceref.core.file_versions import V2_1
from lanceref.index.index_file import IndexFile, write_index_file
from lanceref.storage import LocalStore
from pylanceref.file import LanceFileReader
from pylanceref.indices import IndexConfig
from pylanceref.query import MinHashQuery

from .vector.indexed import DIMENSION, fixed

ROWS = 24
CORNER = pa.struct([pa.field(axis, pa.float64(), nullable=False) for axis in "xy"])


def _rows() -> pa.Table:
    """Return rows with a column for every type of index."""
    corners = pa.array([{"x": float(n), "y": 0.0} for n in range(ROWS)], CORNER)
    documents = [json.dumps({"a": n}) for n in range(ROWS)]
    vectors = np.random.default_rng(3).normal(size=(ROWS, DIMENSION)).astype("f4")
    table = pa.table(
        {
            "n": range(ROWS),
            "t": [f"word{n} other words" for n in range(ROWS)],
            "l": [["a", "b"]] * ROWS,
            "j": pa.array(documents, pa.json_()),
            "g": corners,
            "v": fixed(vectors),
        }
    )
    place = table.schema.get_field_index("g")
    named = {"ARROW:extension:name": "geoarrow.point"}
    return table.set_column(place, pa.field("g", CORNER, metadata=named), corners)


def _filtered(condition: str) -> Callable[[pylanceref.LanceDataset], object]:
    return lambda dataset: dataset.to_table(filter=condition)


def _words(dataset: pylanceref.LanceDataset) -> object:
    return dataset.to_table(full_text_query="word5 other")


def _alike(dataset: pylanceref.LanceDataset) -> object:
    return dataset.to_table(nearest=MinHashQuery("word5 other words", "t"))


def _near(dataset: pylanceref.LanceDataset) -> object:
    return dataset.to_table(nearest={"column": "v", "q": [0.0] * DIMENSION, "k": 5, "nprobes": 2})


Made = tuple[str, Callable[[pylanceref.LanceDataset], object]]
"""A column, and what makes an index over it."""


def _scalar(column: str, kind: str, parameters: dict[str, object] | None = None) -> Made:
    """Return a column, and what makes an index of a type over it."""
    given = IndexConfig(kind.lower(), parameters or {})
    return column, lambda dataset: dataset.create_scalar_index(column, given)


def _vector(kind: str) -> Made:
    """Return the column of vectors, and what makes an index of a type over it."""
    pq = {"num_sub_vectors": 2, "num_bits": 4} if kind.endswith("PQ") else {}
    return "v", lambda dataset: dataset.create_index("v", kind, num_partitions=2, **pq)


VECTORS = (
    "IVF_FLAT",
    "IVF_PQ",
    "IVF_SQ",
    "IVF_RQ",
    "IVF_HNSW_FLAT",
    "IVF_HNSW_PQ",
    "IVF_HNSW_SQ",
)
TARGET = {"target_index_type": "btree", "path": "a"}
INDICES = {
    "BTREE": (_scalar("n", "BTREE"), _filtered("n = 5")),
    "BITMAP": (_scalar("n", "BITMAP"), _filtered("n = 5")),
    "ZONEMAP": (_scalar("n", "ZONEMAP"), _filtered("n = 5")),
    "BLOOMFILTER": (_scalar("n", "BLOOMFILTER"), _filtered("n = 5")),
    "LABEL_LIST": (_scalar("l", "LABEL_LIST"), _filtered("array_has_any(l, ['b'])")),
    "NGRAM": (_scalar("t", "NGRAM"), _filtered("contains(t, 'word')")),
    "FM": (_scalar("t", "FM"), _filtered("contains(t, 'word5')")),
    "JSON": (_scalar("j", "JSON", TARGET), _filtered("json_get_int(j, 'a') = 5")),
    "RTREE": (_scalar("g", "RTREE"), _filtered("st_intersects(g, 'POINT (5 0)')")),
    "INVERTED": (_scalar("t", "INVERTED", {"with_position": True}), _words),
    "MINHASHLSH": (_scalar("t", "MINHASHLSH"), _alike),
    **{kind: (_vector(kind), _near) for kind in VECTORS},
}
"""Of each type its column, what makes one, and what asks it."""


def _damages(rows: pa.Table) -> Iterator[pa.Table]:
    """Yield the rows with nulls, another type or no values in one column, and without rows."""
    count = rows.num_rows
    for place, field in enumerate(rows.schema):
        held = rows.column(place)
        numbers = pa.array([2**64 - 1] * count, pa.uint64())
        texts = pa.array([b"\xff"] * count, pa.binary())
        for values in (
            pa.nulls(count, field.type),
            pa.concat_arrays([pa.nulls(min(1, count), field.type), *held.slice(1).chunks]),
            numbers if pa.types.is_large_binary(field.type) else texts,
            pa.array([[None]] * count, pa.list_(pa.int32())),
        ):
            changed = pa.field(field.name, values.type)
            yield rows.set_column(place, changed, values)
        if rows.num_columns > 1:
            yield rows.remove_column(place)
    yield rows.slice(0, 0)


def _write(path: Path, rows: pa.Table, metadata: dict[str, str], buffers: list[bytes]) -> None:
    """Write an index file anew."""
    batches = rows.combine_chunks().to_batches()
    write_index_file(
        LocalStore(path.parent), path.name, rows.schema, V2_1, batches, metadata, buffers
    )


@pytest.mark.parametrize("kind", INDICES)
def test_damaged_columns_raise_nothing_but_lance_errors(tmp_path, monkeypatch, kind):
    """Deep validation, search, statistics and explain refuse a damaged column, or go on."""
    uri = str(tmp_path / "t")
    (column, make), ask = INDICES[kind]
    make(pylanceref.write_dataset(_rows().select([column]), uri))
    (name,) = (one.name for one in pylanceref.dataset(uri).describe_indices())
    whole = IndexFile.__init__
    monkeypatch.setattr(
        IndexFile, "__init__", lambda self, source, ctx, _=None: whole(self, source, ctx)
    )
    damaged = 0
    for path in (tmp_path / "t" / "_indices").rglob("*.*"):
        if path.suffix not in (".lance", ".idx"):
            continue
        before, reader = path.read_bytes(), LanceFileReader(path)
        numbers = range(1, len(reader.metadata().global_buffers))
        buffers = [reader.read_global_buffer(number) for number in numbers]
        rows = reader.read_all().to_table()
        given = {key.decode(): text.decode() for key, text in (rows.schema.metadata or {}).items()}
        for changed in _damages(rows.replace_schema_metadata(None)):
            _write(path, changed, given, buffers)
            damaged += 1
            lanceref.validate(uri, deep=True)
            for call in (ask, lambda dataset: dataset.stats.index_stats(name)):
                with suppress(LanceError):
                    call(pylanceref.dataset(uri))
            with suppress(LanceError):
                lanceref.explain(path)
        path.write_bytes(before)
    assert damaged
    ask(pylanceref.dataset(uri))

"""Index files of every type, damaged: an error of ours or an answer, and nothing else."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import lanceref
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import LanceError
from lanceref.core.file_versions import V2_1
from lanceref.index.index_file import IndexFile, write_index_file
from lanceref.storage import LocalStore
from pylanceref.file import LanceFileReader
from pylanceref.query import MinHashQuery

from .subjects import SUBJECTS
from .vector.indexed import DIMENSION, points, table

TEXTS = pa.table({"t": [f"word{n} other words" for n in range(24)]})
VECTORS: dict[str, dict[str, object]] = {
    "IVF_FLAT": {},
    "IVF_PQ": {"num_sub_vectors": 2, "num_bits": 4},
    "IVF_SQ": {},
    "IVF_RQ": {"num_bits": 3},
    "IVF_HNSW_FLAT": {"m": 4, "ef_construction": 8},
    "IVF_HNSW_PQ": {"num_sub_vectors": 2, "num_bits": 4},
    "IVF_HNSW_SQ": {"m": 4, "ef_construction": 8},
}
TYPES = [*(name for name in SUBJECTS if name != "BTREE in pages"), "WORDS", "MINHASHLSH", *VECTORS]
Ask = Callable[[pylanceref.LanceDataset], pa.Table]
"""Asks an index."""


def made(kind: str, uri: str) -> Ask:
    """Write a table with an index of a type, and return what asks it."""
    if kind in VECTORS:
        dataset = pylanceref.write_dataset(table(points(24)), uri)
        dataset.create_index("v", kind, name="x", num_partitions=2, **VECTORS[kind])
        near = {"column": "v", "q": [0.0] * DIMENSION, "k": 5, "nprobes": 2}
        return lambda opened: opened.to_table(nearest=near)
    if kind == "WORDS":
        dataset = pylanceref.write_dataset(TEXTS, uri)
        dataset.create_scalar_index("t", "INVERTED", name="x", with_position=True)
        return lambda opened: opened.to_table(full_text_query="word5 other")
    if kind == "MINHASHLSH":
        pylanceref.write_dataset(TEXTS, uri).create_scalar_index("t", kind, name="x")
        return lambda opened: opened.to_table(nearest=MinHashQuery("word5 other words", "t"))
    subject = SUBJECTS[kind]
    column, conditions = next(iter(subject.conditions.items()))
    dataset = pylanceref.write_dataset(subject.table.select([column]).slice(0, 24), uri)
    dataset.create_scalar_index(column, subject.config(), name="x")
    return lambda opened: opened.to_table(filter=" or ".join(conditions[1:4]))


def files(uri: str) -> list[Path]:
    """Return the files of the index."""
    found = sorted((Path(uri) / "_indices").rglob("*.*"))
    return [path for path in found if path.suffix in (".lance", ".idx")]


def damages(rows: pa.Table) -> Iterator[pa.Table]:
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
            yield rows.set_column(place, pa.field(field.name, values.type), values)
        if rows.num_columns > 1:
            yield rows.remove_column(place)
    yield rows.slice(0, 0)


def write(path: Path, rows: pa.Table, metadata: dict[str, str], buffers: list[bytes]) -> None:
    """Write an index file anew."""
    store, batches = LocalStore(path.parent), rows.combine_chunks().to_batches()
    write_index_file(store, path.name, rows.schema, V2_1, batches, metadata, buffers)


@pytest.mark.parametrize("kind", TYPES)
def test_damaged_columns_raise_nothing_but_lance_errors(tmp_path, monkeypatch, kind):
    """Deep validation, search, statistics and explain refuse a damaged column, or go on."""
    uri = str(tmp_path / "t")
    ask, whole = made(kind, uri), IndexFile.__init__
    unchecked = lambda self, source, ctx, _=None: whole(self, source, ctx)  # noqa: E731
    monkeypatch.setattr(IndexFile, "__init__", unchecked)
    for path in files(uri):
        before, reader = path.read_bytes(), LanceFileReader(path)
        numbers = range(1, len(reader.metadata().global_buffers))
        buffers = [reader.read_global_buffer(number) for number in numbers]
        rows = reader.read_all().to_table()
        given = {key.decode(): text.decode() for key, text in (rows.schema.metadata or {}).items()}
        for changed in damages(rows.replace_schema_metadata(None)):
            write(path, changed, given, buffers)
            lanceref.validate(uri, deep=True)
            for call in (ask, lambda dataset: dataset.stats.index_stats("x")):
                with suppress(LanceError):
                    call(pylanceref.dataset(uri))
            with suppress(LanceError):
                lanceref.explain(path)
        path.write_bytes(before)
    ask(pylanceref.dataset(uri))

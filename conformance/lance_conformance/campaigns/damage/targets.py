"""Targets: the undamaged files, standalone or inside a dataset, written afresh from a seed.

The oracle writes them where it is installed, the reference otherwise. Each table is small and
chosen so that the file it becomes holds one kind of page: runs, bit-packed numbers, compressed
strings, lists with nulls and so on. Files of an index are damaged in a table that is then asked for
the rows of a filter, for words, for texts like another, or for the vectors next to one.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pylanceref
from numpy.random import Generator, default_rng
from pylanceref import file as pylanceref_file

from lance_conformance.campaigns.damage.readers import Target
from lance_conformance.oracle import lance, lance_file
from lance_conformance.recipes.indexed import create_index

ROWS = 2000
"""Rows of a table, where the kind does not ask for fewer."""

Column = Callable[[Generator], pa.Array]
"""Makes the one column of a table."""


def _nulls(rng: Generator) -> np.ndarray:
    return rng.random(ROWS) < 0.1


def _sparse(values: Sequence[object], every: int, type_: pa.DataType | None = None) -> pa.Array:
    """Return values with a null in place of the first and every so many-th after it."""
    return pa.array([None if n % every == 0 else one for n, one in enumerate(values)], type_)


def _words(rng: Generator, kinds: int) -> pa.Array:
    return pa.array([f"value-{number:05}" for number in rng.integers(0, kinds, ROWS)])


def _text(rng: Generator, rows: int, length: int) -> list[str]:
    letters = rng.integers(97, 123, (rows, length), dtype=np.uint8)
    return [row.tobytes().decode() for row in letters]


def _lists(rng: Generator) -> pa.Array:
    rows = [rng.integers(0, 1000, length).tolist() for length in rng.integers(0, 5, ROWS)]
    return _sparse(rows, 11, pa.list_(pa.int32()))


def _structs(rng: Generator) -> pa.Array:
    fields = [pa.array(rng.integers(0, 1000, ROWS), pa.int32(), mask=_nulls(rng)), _words(rng, 9)]
    return pa.StructArray.from_arrays(fields, ["a", "b"], mask=pa.array(_nulls(rng)))


def _packed(rng: Generator) -> pa.Array:
    fields = [pa.array(rng.integers(0, 99, ROWS), pa.int32()), pa.array(rng.random(ROWS))]
    return pa.StructArray.from_arrays(fields, ["a", "b"])


def _maps(rng: Generator) -> pa.Array:
    lengths = rng.integers(0, 4, ROWS // 4)
    rows = [[(f"k{key}", int(key)) for key in range(length)] for length in lengths]
    return pa.array(rows, pa.map_(pa.utf8(), pa.int32()))


def vectors(rng: Generator, rows: int = 500, width: int = 16) -> pa.Array:
    """Return vectors of so many random values."""
    values = pa.array(rng.random(rows * width, dtype=np.float32))
    return pa.FixedSizeListArray.from_arrays(values, width)


def nested(rows: int) -> pa.Array:
    """Return lists of structs that have lists, some of them null."""
    item = pa.struct([("x", pa.int64()), ("y", pa.list_(pa.int8()))])
    held = [[{"x": n, "y": [n % 100] * (n % 3)}] * (n % 4) for n in range(rows)]
    return _sparse(held, 13, pa.list_(item))


def _dictionary(rng: Generator) -> pa.Array:
    indices = pa.array(rng.integers(0, 20, ROWS), pa.int8(), mask=_nulls(rng))
    return pa.DictionaryArray.from_arrays(indices, pa.array([f"entry {n}" for n in range(20)]))


def _documents(rng: Generator) -> pa.Array:
    rows = [f'{{"n": {n}, "s": "{"x" * (n % 7)}", "l": [1, null, true]}}' for n in range(200)]
    return pa.ExtensionArray.from_storage(pa.json_(), pa.array(rows))


def _long_binary(rng: Generator) -> pa.Array:
    return pa.array([rng.bytes(6000) for _ in range(12)], pa.large_binary())


COLUMNS: dict[str, Column] = {
    "int32": lambda rng: pa.array(np.arange(ROWS), pa.int32()),
    "int32-nullable": lambda rng: pa.array(
        rng.integers(0, 10**6, ROWS), pa.int32(), mask=_nulls(rng)
    ),
    "int64-random": lambda rng: pa.array(rng.integers(-(2**63), 2**63 - 1, ROWS)),
    "vectors": vectors,
    "strings-few": lambda rng: _words(rng, 12),
    "strings-many": lambda rng: _sparse(_text(rng, 600, 24), 10),
    "strings-zstd": lambda rng: pa.array([f"a rather long value {n % 301}" for n in range(ROWS)]),
    "strings-fsst": lambda rng: pa.array(
        [f"http://example.org/{n * 7919 % 100003}/page?n={n}" for n in range(3000)]
    ),
    "strings-long": lambda rng: pa.array([text * 20 for text in _text(rng, 40, 26)]),
    "lists": _lists,
    "bool": lambda rng: pa.array(rng.random(ROWS) < 0.5, mask=_nulls(rng)),
    "binary-long": _long_binary,
    "struct": _structs,
    "struct-valid": lambda rng: pa.StructArray.from_arrays(_structs(rng).flatten(), ["a", "b"]),
    "runs": lambda rng: pa.array(np.repeat(rng.integers(0, 9, ROWS // 50), 50), pa.int64()),
    "dictionary": _dictionary,
    "map": _maps,
    "packed": _packed,
    "floats-split": lambda rng: pa.array(rng.random(ROWS, dtype=np.float32)),
    "fixed-binary": lambda rng: pa.array([rng.bytes(5) for _ in range(400)], pa.binary(5)),
    "decimal": lambda rng: pa.array(
        [int(n) for n in rng.integers(0, 10**9, 500)], pa.decimal128(20, 2)
    ),
    "nested": lambda rng: nested(300),
    "vectors-nullable": lambda rng: _sparse(
        [[n, None, n + 2] for n in range(500)], 7, pa.list_(pa.int16(), 3)
    ),
    "nulls": lambda rng: pa.nulls(500, pa.int32()),
    "constant": lambda rng: pa.array([77] * ROWS, pa.int64()),
    "json": _documents,
    "blob": _long_binary,
}
"""How the column of each standalone file is made."""

METADATA: dict[str, dict[str, str]] = {
    "strings-zstd": {"lance-encoding:compression": "zstd"},
    "strings-fsst": {"lance-encoding:compression": "fsst"},
    "strings-long": {"lance-encoding:structural-encoding": "fullzip"},
    "floats-split": {"lance-encoding:bss": "on", "lance-encoding:compression": "lz4"},
    "packed": {"packed": "true"},
    "blob": {"lance-encoding:blob": "true"},
}
"""Metadata of the column: what the writer is asked for."""

_BASE = ("int32", "int32-nullable", "vectors", "strings-few", "strings-many", "lists")

FILES: dict[str, tuple[str, ...]] = {
    "2.0": (
        *_BASE,
        *("bool", "struct-valid", "dictionary", "packed", "strings-fsst", "fixed-binary", "nested"),
        "blob",
    ),
    "2.1": (
        *_BASE,
        *("int64-random", "bool", "binary-long", "struct", "runs", "dictionary", "strings-zstd"),
        *("packed", "strings-fsst", "strings-long", "floats-split", "nested", "json", "blob"),
    ),
    "2.2": (
        *("int32-nullable", "strings-few", "strings-many", "lists", "runs"),
        *("map", "decimal", "vectors-nullable", "nulls", "constant", "floats-split", "packed"),
    ),
    "2.3": ("int32-nullable", "strings-many", "struct", "lists", "map", "runs"),
}
"""Standalone files, by version."""

STANDALONE = [(name, version) for version, names in FILES.items() for name in names]


def make_table(name: str, seed: int) -> pa.Table:
    """Return the table of a standalone file; the same for the same seed."""
    digest = hashlib.blake2b(f"{seed} {name}".encode(), digest_size=8).digest()
    column = COLUMNS[name](default_rng(int.from_bytes(digest, "little")))
    field = pa.field("c", column.type, metadata=METADATA.get(name))
    return pa.Table.from_arrays([column], schema=pa.schema([field]))


def _rows(rng: Generator, rows: int = ROWS) -> pa.Table:
    """Return numbers that count the rows, strings, and lists of numbers."""
    return pa.table(
        {
            "id": pa.array(np.arange(rows), pa.int64()),
            "text": pa.array([f"text {n}" for n in rng.integers(0, 99, rows)]),
            "numbers": pa.array([[n, n + 1] if n % 3 else [] for n in range(rows)]),
        }
    )


def _blobs_in_the_file(rng: Generator) -> pa.Table:
    field = pa.field("b", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
    rows = _sparse([rng.bytes(90 * n) for n in range(20)], 5, field.type)
    return pa.table([rows], schema=pa.schema([field]))


def blob_field(inline: int, dedicated: int) -> pa.Field:
    """Return a field of blobs of the second kind, with the sizes from which they lie elsewhere."""
    storage = [
        *[("data", pa.large_binary()), ("uri", pa.utf8())],
        *[("position", pa.uint64()), ("size", pa.uint64())],
    ]
    metadata = {
        "ARROW:extension:name": "lance.blob.v2",
        "lance-encoding:blob-inline-size-threshold": str(inline),
        "lance-encoding:blob-dedicated-size-threshold": str(dedicated),
    }
    return pa.field("b", pa.struct(storage), metadata=metadata)


def _blobs_beside(rng: Generator) -> pa.Table:
    """Return blobs of the second kind: inline, in a shared file, in files of their own, null."""
    field = blob_field(100, 1500)
    rows = _sparse([{"data": rng.bytes(90 * n)} for n in range(18)], 5, field.type)
    return pa.table([rows], schema=pa.schema([field]))


INDEXED_ROWS = 400

_POINT = pa.struct([pa.field(axis, pa.float64(), nullable=False) for axis in "xy"])
_TOKENS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "eleven")

_INDEXED: dict[str, tuple[pa.DataType, Callable[[Generator], object]]] = {
    "numbers": (pa.int64(), lambda rng: int(rng.integers(0, 11))),
    "labels": (
        pa.list_(pa.utf8()),
        lambda rng: [f"label {n}" for n in rng.integers(0, 9, rng.integers(0, 4))],
    ),
    "texts": (pa.utf8(), lambda rng: " ".join(rng.choice(_TOKENS, 5).tolist())),
    "points": (_POINT, lambda rng: dict(zip("xy", rng.integers(0, 19, 2).astype(float).tolist()))),
    "documents": (pa.json_(), lambda rng: f'{{"a":{rng.integers(0, 11)}}}'),
}
"""The types of columns with a scalar index, and a value of each."""


def _indexed_rows(rng: Generator, kind: str) -> pa.Table:
    """Return ids and values in the column `c`, one in thirteen null but for texts."""
    type_, value = _INDEXED[kind]
    values = [value(rng) for _ in range(INDEXED_ROWS)]
    column = pa.array(values, type_) if kind == "texts" else _sparse(values, 13, type_)
    named = {"ARROW:extension:name": "geoarrow.point"} if kind == "points" else None
    fields = [pa.field("id", pa.int64()), pa.field("c", type_, metadata=named)]
    return pa.table([pa.array(range(INDEXED_ROWS), pa.int64()), column], schema=pa.schema(fields))


def _vector_rows(rng: Generator) -> pa.Table:
    return pa.table({"id": range(INDEXED_ROWS), "c": vectors(rng, INDEXED_ROWS)})


@dataclass(frozen=True, slots=True)
class DatasetRecipe:
    """A dataset, the file of it that is damaged, and what it is `asked`.

    `delete` says which rows to delete, which only the oracle is asked to do; `index` the type and
    the parameters of an index on the column `c`.
    """

    group: str
    victim: str
    version: str
    make: Callable[[Generator], pa.Table] = _rows
    index: tuple[str, Mapping[str, object]] | None = None
    asked: Mapping[str, Any] = field(default_factory=dict)
    stable_row_ids: bool = False
    delete: str = ""


def _scalar(file: str, type_: str, rows: str, asked: str, **given: object) -> DatasetRecipe:
    """Return a recipe whose victim is a file of an index; of texts words or texts are asked."""
    name = {"INVERTED": "full_text_query", "MINHASHLSH": "alike"}.get(type_, "filter")
    make = partial(_indexed_rows, kind=rows)
    victim, group = f"_indices/*/{file}", "scalar index file"
    return DatasetRecipe(group, victim, "2.1", make, (type_, given), {name: asked})


def _vector(type_: str, file: str, **given: object) -> DatasetRecipe:
    """Return a recipe whose victim is a file of an index over vectors."""
    index = (type_, {"num_partitions": 4, "ivf_centroids": CENTROIDS, **given})
    asked = {"nearest": {"column": "c", "q": NEAR, "k": 10, "nprobes": 3}}
    victim, group = f"_indices/*/{file}", "vector index file"
    return DatasetRecipe(group, victim, "2.1", _vector_rows, index, asked)


NEAR = [0.5] * 16
"""The vector that is asked for, of as many values as those of the tables."""

CENTROIDS = np.array(
    [[0.2, 0.8] * 8, [0.8, 0.2] * 8, [0.2] * 8 + [0.8] * 8, [0.8] * 8 + [0.2] * 8], np.float32
)
"""What vectors are shared out by: few rows would get one centroid."""

_DATA, _MANIFEST, _RANGE = "data/*.lance", "_versions/*.manifest", "c >= 5 AND c < 9"
_BOX = "st_intersects(c, 'POLYGON((2 2,9 2,9 9,2 9,2 2))') OR c IS NULL"
_NEITHER, _ALIKE = "NOT array_has_any(c, ['label 3', 'label 5'])", "one two three four five"
_HASHES: dict[str, object] = {"shingle_size": 1, "num_hashes": 32, "num_bands": 16}
_MEMBER: dict[str, object] = {"path": "a", "target_index_type": "btree"}

DATASETS = {
    "data-0.1": DatasetRecipe("data file 0.1", _DATA, "legacy"),
    "data-2.2": DatasetRecipe("data file 2.2", _DATA, "2.2"),
    "manifest-0.1": DatasetRecipe("manifest", _MANIFEST, "legacy"),
    "manifest-2.0": DatasetRecipe("manifest", _MANIFEST, "2.0"),
    "manifest-2.1": DatasetRecipe("manifest", _MANIFEST, "2.1"),
    "manifest-row-ids": DatasetRecipe("manifest", _MANIFEST, "2.1", stable_row_ids=True),
    "deletion-arrow": DatasetRecipe(
        "deletion file .arrow", "_deletions/*.arrow", "2.1", delete="id % 17 = 0"
    ),
    "deletion-bin": DatasetRecipe(
        *("deletion file .bin", "_deletions/*.bin", "2.1", partial(_rows, rows=9000)),
        delete="id % 3 != 0",
    ),
    "blob-file": DatasetRecipe("blobs", _DATA, "2.1", _blobs_in_the_file),
    "blob-beside": DatasetRecipe("blobs", _DATA, "2.2", _blobs_beside),
    "blob-sidecar": DatasetRecipe("blobs", "data/*/*.blob", "2.2", _blobs_beside),
    "btree-data": _scalar("page_data.lance", "BTREE", "numbers", _RANGE, zone_size=64),
    "btree-lookup": _scalar("page_lookup.lance", "BTREE", "numbers", _RANGE, zone_size=64),
    "bitmap": _scalar("bitmap_*.lance", "BITMAP", "numbers", _RANGE),
    "label-list": _scalar("bitmap_*.lance", "LABEL_LIST", "labels", _NEITHER),
    "ngram": _scalar("ngram_*.lance", "NGRAM", "texts", "contains(c, 'even')"),
    "zonemap": _scalar(
        "zonemap.lance", "ZONEMAP", "numbers", f"{_RANGE} OR c IS NULL", rows_per_zone=16
    ),
    "bloomfilter": _scalar(
        "bloomfilter.lance", "BLOOMFILTER", "numbers", "c = 7 OR c IS NULL", number_of_items=16
    ),
    "fm": _scalar("part_*_fm.lance", "FM", "texts", "contains(c, 'even n')"),
    "json": _scalar("page_data.lance", "JSON", "documents", "json_get_int(c, 'a') < 3", **_MEMBER),
    **{
        f"rtree-{name}": _scalar(file, "RTREE", "points", _BOX, page_size=16)
        for name, file in {"data": "page_data.lance", "nulls": "nulls.lance"}.items()
    },
    **{
        f"minhash-{name}": _scalar(f"{name}.lance", "MINHASHLSH", "texts", _ALIKE, **_HASHES)
        for name in ("signatures", "bands")
    },
    **{
        f"inverted-{name}": _scalar(file, "INVERTED", "texts", "seven nine")
        for name, file in {
            "metadata": "metadata.lance",
            "tokens": "part_*_tokens.lance",
            "docs": "part_*_docs.lance",
            "postings": "part_*_invert.lance",
        }.items()
    },
    "ivf-flat-index": _vector("IVF_FLAT", "index.idx"),
    "ivf-flat-vectors": _vector("IVF_FLAT", "auxiliary.idx"),
    "ivf-pq-index": _vector("IVF_PQ", "index.idx", num_sub_vectors=4),
    "ivf-pq-codes": _vector("IVF_PQ", "auxiliary.idx", num_sub_vectors=4),
    "ivf-sq-index": _vector("IVF_SQ", "index.idx"),
    "ivf-sq-codes": _vector("IVF_SQ", "auxiliary.idx"),
    "ivf-rq-index": _vector("IVF_RQ", "index.idx"),
    "ivf-rq-codes": _vector("IVF_RQ", "auxiliary.idx"),
    "ivf-hnsw-sq-graph": _vector("IVF_HNSW_SQ", "index.idx"),
    "ivf-hnsw-sq-codes": _vector("IVF_HNSW_SQ", "auxiliary.idx"),
}
"""Datasets by name."""


def make_targets(folder: Path, seed: int, *, by_oracle: bool) -> None:
    """Write every target below `folder`; run it in a child where the oracle writes."""
    writer: ModuleType = lance_file() if by_oracle else pylanceref_file
    module: ModuleType = lance() if by_oracle else pylanceref
    for name, version in STANDALONE:
        path = folder / "file" / version / f"{name}.lance"
        path.parent.mkdir(parents=True, exist_ok=True)
        table = make_table(name, seed)
        with writer.LanceFileWriter(str(path), table.schema, version=version) as out:
            out.write_batch(table)
    for name, recipe in DATASETS.items():
        if by_oracle or not recipe.delete:
            _make_dataset(module, folder / "dataset" / name, recipe, seed)


def _make_dataset(module: ModuleType, path: Path, recipe: DatasetRecipe, seed: int) -> None:
    table = recipe.make(default_rng(seed))
    options = {"enable_stable_row_ids": True} if recipe.stable_row_ids else {}
    made = module.write_dataset(table, str(path), data_storage_version=recipe.version, **options)
    if recipe.index is not None:
        create_index(module, made, "c", *recipe.index)
    if recipe.delete:
        made.delete(recipe.delete)


def find_targets(folder: Path) -> list[Target]:
    """Return the targets that were written below `folder`, in the order of the tables."""
    found = []
    for name, version in STANDALONE:
        path = folder / "file" / version / f"{name}.lance"
        found.append(Target(f"file/{version}/{name}", f"file {version}", path))
    for name, recipe in DATASETS.items():
        root = folder / "dataset" / name
        if root.exists():
            victim = max(sorted(root.glob(recipe.victim)), key=os.path.getmtime)
            relative = victim.relative_to(root).as_posix()
            found.append(Target(f"dataset/{name}", recipe.group, root, relative, recipe.asked))
    return found

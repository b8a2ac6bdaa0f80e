"""Targets: the undamaged files, standalone or inside a dataset, written afresh from a seed.

The oracle writes them where it is installed, the reference otherwise. Files of an index are damaged
in a table that is then asked for the rows of a filter, for words, for texts like another, or for
the vectors next to one.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pylanceref
from pylanceref import file as pylanceref_file

from lance_conformance.campaigns.damage import tables
from lance_conformance.campaigns.damage.tables import FILES, make_rows, make_table
from lance_conformance.oracle import lance, lance_file
from lance_conformance.recipes.indexed import create_index


@dataclass(frozen=True, slots=True)
class Target:
    """One victim file; `relative` is its path below `root`, a dataset or the file itself.

    A dataset is `asked` with arguments of a scan: a filter, words, or vectors near to one; or, by
    the name `alike`, for texts like another.
    """

    id: str
    group: str
    root: Path
    relative: str = ""
    asked: Mapping[str, Any] = field(default_factory=dict)

    def question(self, module: ModuleType) -> dict[str, Any]:
        """Return what is asked, as arguments of a scan by a module with the names of pylance."""
        if "alike" not in self.asked:
            return dict(self.asked)
        return {"nearest": module.query.MinHashQuery(self.asked["alike"], "c")}

    @property
    def victim(self) -> Path:
        """The file that is damaged."""
        return self.root / self.relative if self.relative else self.root

    @property
    def is_dataset(self) -> bool:
        """Whether a dataset around the file is read."""
        return bool(self.relative)

    def copied(self, folder: Path) -> Target:
        """Return a copy of the target below a folder, whose victim may be written over."""
        copy = folder / self.root.name
        if self.is_dataset:
            shutil.copytree(self.root, copy)
        return replace(self, root=copy)


Make = Callable[[np.random.Generator], pa.Table]


@dataclass(frozen=True, slots=True)
class DatasetRecipe:
    """A dataset, the file of it that is damaged, and what it is `asked`.

    `delete` says which rows to delete, `oracle_only` what the reference cannot write, `index` the
    type and the parameters of an index on the column `c`.
    """

    group: str
    victim: str
    version: str
    stable_row_ids: bool = False
    delete: str = ""
    oracle_only: bool = False
    make: Make = make_rows
    index: tuple[str, Mapping[str, object]] | None = None
    asked: Mapping[str, Any] = field(default_factory=dict)


def _indexed(file: str, type_: str, make: Make, asked: str, **given: object) -> DatasetRecipe:
    """Return a recipe whose victim is a file of an index; of texts words or texts are asked."""
    name = {"INVERTED": "full_text_query", "MINHASHLSH": "alike"}.get(type_, "filter")
    index, victim = (type_, given), f"_indices/*/{file}"
    return DatasetRecipe(
        "scalar index file", victim, "2.1", make=make, index=index, asked={name: asked}
    )


def _vectors(type_: str, file: str, **given: object) -> DatasetRecipe:
    """Return a recipe whose victim is a file of an index over vectors."""
    index = (type_, {"num_partitions": 4, "ivf_centroids": CENTROIDS, **given})
    asked = {"nearest": {"column": "c", "q": NEAR, "k": 10, "nprobes": 3}}
    make, victim = tables.make_vectors, f"_indices/*/{file}"
    return DatasetRecipe("vector index file", victim, "2.1", make=make, index=index, asked=asked)


_minhash = partial(
    _indexed,
    type_="MINHASHLSH",
    make=tables.make_texts,
    asked="one two three four five",
    shingle_size=1,
    num_hashes=32,
    num_bands=16,
)
_rtree = partial(
    _indexed,
    type_="RTREE",
    make=tables.make_points,
    asked="st_intersects(c, 'POLYGON((2 2,9 2,9 9,2 9,2 2))') OR c IS NULL",
    page_size=16,
)

_inverted = partial(_indexed, type_="INVERTED", make=tables.make_texts, asked="seven nine")

_RANGE = "c >= 5 AND c < 9"

_oracle_made = partial(DatasetRecipe, oracle_only=True)

NEAR = [0.5] * 16
"""The vector that is asked for, of as many values as those of the tables."""

CENTROIDS = np.array(
    [[0.2, 0.8] * 8, [0.8, 0.2] * 8, [0.2] * 8 + [0.8] * 8, [0.8] * 8 + [0.2] * 8], np.float32
)
"""What vectors are shared out by: few rows would get one centroid."""

_DATA, _MANIFEST = "data/*.lance", "_versions/*.manifest"

DATASETS = {
    "data-0.1": DatasetRecipe("data file 0.1", _DATA, "legacy"),
    "data-2.2": DatasetRecipe("data file 2.2", _DATA, "2.2"),
    "manifest-0.1": DatasetRecipe("manifest", _MANIFEST, "legacy"),
    "manifest-2.0": DatasetRecipe("manifest", _MANIFEST, "2.0"),
    "manifest-2.1": DatasetRecipe("manifest", _MANIFEST, "2.1"),
    "manifest-row-ids": DatasetRecipe("manifest", _MANIFEST, "2.1", stable_row_ids=True),
    "deletion-arrow": _oracle_made(
        "deletion file .arrow", "_deletions/*.arrow", "2.1", delete="id % 17 = 0"
    ),
    "deletion-bin": _oracle_made(
        "deletion file .bin",
        "_deletions/*.bin",
        "2.1",
        delete="id % 3 != 0",
        make=partial(make_rows, rows=9000),
    ),
    "blob-file": DatasetRecipe("blobs", _DATA, "2.1", make=tables.make_blobs_in_the_file),
    "blob-beside": DatasetRecipe("blobs", _DATA, "2.2", make=tables.make_blobs_beside),
    "blob-sidecar": DatasetRecipe("blobs", "data/*/*.blob", "2.2", make=tables.make_blobs_beside),
    "btree-data": _indexed("page_data.lance", "BTREE", tables.make_numbers, _RANGE, zone_size=64),
    "btree-lookup": _indexed(
        "page_lookup.lance", "BTREE", tables.make_numbers, _RANGE, zone_size=64
    ),
    "bitmap": _indexed("bitmap_*.lance", "BITMAP", tables.make_numbers, _RANGE),
    "label-list": _indexed(
        "bitmap_*.lance",
        "LABEL_LIST",
        tables.make_labels,
        "NOT array_has_any(c, ['label 3', 'label 5'])",
    ),
    "ngram": _indexed("ngram_*.lance", "NGRAM", tables.make_texts, "contains(c, 'even')"),
    "zonemap": _indexed(
        "zonemap.lance", "ZONEMAP", tables.make_numbers, f"{_RANGE} OR c IS NULL", rows_per_zone=16
    ),
    "bloomfilter": _indexed(
        "bloomfilter.lance",
        "BLOOMFILTER",
        tables.make_numbers,
        "c = 7 OR c IS NULL",
        number_of_items=16,
    ),
    "fm": _indexed("part_*_fm.lance", "FM", tables.make_texts, "contains(c, 'even n')"),
    "json": _indexed(
        "page_data.lance",
        "JSON",
        tables.make_documents,
        "json_get_int(c, 'a') < 3",
        path="a",
        target_index_type="btree",
    ),
    "rtree-data": _rtree("page_data.lance"),
    "rtree-nulls": _rtree("nulls.lance"),
    "minhash-signatures": _minhash("signatures.lance"),
    "minhash-bands": _minhash("bands.lance"),
    "inverted-metadata": _inverted("metadata.lance"),
    "inverted-tokens": _inverted("part_*_tokens.lance"),
    "inverted-docs": _inverted("part_*_docs.lance"),
    "inverted-postings": _inverted("part_*_invert.lance"),
    "ivf-flat-index": _vectors("IVF_FLAT", "index.idx"),
    "ivf-flat-vectors": _vectors("IVF_FLAT", "auxiliary.idx"),
    "ivf-pq-index": _vectors("IVF_PQ", "index.idx", num_sub_vectors=4),
    "ivf-pq-codes": _vectors("IVF_PQ", "auxiliary.idx", num_sub_vectors=4),
    "ivf-sq-index": _vectors("IVF_SQ", "index.idx"),
    "ivf-sq-codes": _vectors("IVF_SQ", "auxiliary.idx"),
    "ivf-rq-index": _vectors("IVF_RQ", "index.idx"),
    "ivf-rq-codes": _vectors("IVF_RQ", "auxiliary.idx"),
    "ivf-hnsw-sq-graph": _vectors("IVF_HNSW_SQ", "index.idx"),
    "ivf-hnsw-sq-codes": _vectors("IVF_HNSW_SQ", "auxiliary.idx"),
}
"""Datasets by name."""


def make_targets(folder: Path, seed: int, *, by_oracle: bool) -> None:
    """Write every target below `folder`; run it in a child where the oracle writes."""
    writer: ModuleType = lance_file() if by_oracle else pylanceref_file
    module: ModuleType = lance() if by_oracle else pylanceref
    for name, version in _files():
        path = folder / "file" / version / f"{name}.lance"
        path.parent.mkdir(parents=True, exist_ok=True)
        table = make_table(name, seed)
        with writer.LanceFileWriter(str(path), table.schema, version=version) as out:
            out.write_batch(table)
    for name, recipe in DATASETS.items():
        if by_oracle or not recipe.oracle_only:
            _make_dataset(module, folder / "dataset" / name, recipe, seed)


def _make_dataset(module: ModuleType, path: Path, recipe: DatasetRecipe, seed: int) -> None:
    table = recipe.make(np.random.default_rng(seed))
    options = {"enable_stable_row_ids": True} if recipe.stable_row_ids else {}
    made = module.write_dataset(table, str(path), data_storage_version=recipe.version, **options)
    if recipe.index is not None:
        create_index(module, made, "c", *recipe.index)
    if recipe.delete:
        made.delete(recipe.delete)


def find_targets(folder: Path) -> list[Target]:
    """Return the targets that were written below `folder`, in the order of the tables."""
    found = []
    for name, version in _files():
        path = folder / "file" / version / f"{name}.lance"
        found.append(Target(f"file/{version}/{name}", f"file {version}", path))
    for name, recipe in DATASETS.items():
        root = folder / "dataset" / name
        if root.exists():
            victim = max(sorted(root.glob(recipe.victim)), key=os.path.getmtime)
            relative = victim.relative_to(root).as_posix()
            found.append(Target(f"dataset/{name}", recipe.group, root, relative, recipe.asked))
    return found


def _files() -> Iterator[tuple[str, str]]:
    for version, names in FILES.items():
        for name in names:
            yield name, version

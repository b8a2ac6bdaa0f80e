"""Targets: the undamaged files, standalone or inside a dataset, written afresh from a seed.

The oracle writes them where it is installed, the reference otherwise. Index files join the table
when the reference reads them.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType

import lanceref
import numpy as np
import pyarrow as pa
from lanceref import file as lanceref_file

from lance_conformance.campaigns.damage.tables import (
    FILES,
    make_blobs_beside,
    make_blobs_in_the_file,
    make_many_rows,
    make_rows,
    make_table,
)
from lance_conformance.oracle import lance, lance_file


@dataclass(frozen=True, slots=True)
class Target:
    """One victim file; `relative` is its path below `root`, a dataset or the file itself."""

    id: str
    group: str
    root: Path
    relative: str = ""

    @property
    def victim(self) -> Path:
        """The file that is damaged."""
        return self.root / self.relative if self.relative else self.root

    @property
    def is_dataset(self) -> bool:
        """Whether a dataset around the file is read."""
        return bool(self.relative)


@dataclass(frozen=True, slots=True)
class DatasetRecipe:
    """A dataset and the file of it that is damaged.

    `delete` says which rows to delete, `oracle_only` what the reference cannot write.
    """

    group: str
    victim: str
    version: str
    stable_row_ids: bool = False
    delete: str = ""
    oracle_only: bool = False
    make: Callable[[np.random.Generator], pa.Table] = make_rows


_oracle_made = partial(DatasetRecipe, oracle_only=True)

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
        "deletion file .bin", "_deletions/*.bin", "2.1", delete="id % 3 != 0", make=make_many_rows
    ),
    "blob-file": DatasetRecipe("blobs", _DATA, "2.1", make=make_blobs_in_the_file),
    "blob-beside": DatasetRecipe("blobs", _DATA, "2.2", make=make_blobs_beside),
    "blob-sidecar": DatasetRecipe("blobs", "data/*/*.blob", "2.2", make=make_blobs_beside),
}
"""Datasets by name; index files are added here when they are read."""


def has_oracle() -> bool:
    """Whether the oracle is installed."""
    try:
        lance()
    except ImportError:
        return False
    return True


def make_targets(folder: Path, seed: int, *, by_oracle: bool) -> None:
    """Write every target below `folder`; run it in a child where the oracle writes."""
    writer: ModuleType = lance_file() if by_oracle else lanceref_file
    tables: ModuleType = lance() if by_oracle else lanceref
    for name, version in _files():
        path = folder / "file" / version / f"{name}.lance"
        path.parent.mkdir(parents=True, exist_ok=True)
        table = make_table(name, seed)
        with writer.LanceFileWriter(str(path), table.schema, version=version) as out:
            out.write_batch(table)
    for name, recipe in DATASETS.items():
        if by_oracle or not recipe.oracle_only:
            _make_dataset(tables, folder / "dataset" / name, recipe, seed)


def _make_dataset(tables: ModuleType, path: Path, recipe: DatasetRecipe, seed: int) -> None:
    table = recipe.make(np.random.default_rng(seed))
    options = {"enable_stable_row_ids": True} if recipe.stable_row_ids else {}
    made = tables.write_dataset(table, str(path), data_storage_version=recipe.version, **options)
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
            found.append(Target(f"dataset/{name}", recipe.group, root, relative))
    return found


def _files() -> Iterator[tuple[str, str]]:
    for version, names in FILES.items():
        for name in names:
            yield name, version


Damage = Callable[[bytes], Target]
"""Puts damaged bytes in place and returns the target that holds them."""


def damaged_copy(target: Target, scratch: Path) -> Damage:
    """Copy a target into `scratch` once; what is returned writes damaged bytes over the victim."""
    copy = scratch / (target.root.name if target.is_dataset else target.victim.name)
    if target.is_dataset:
        shutil.copytree(target.root, copy)
    placed = Target(target.id, target.group, copy, target.relative)

    def damage(data: bytes) -> Target:
        placed.victim.write_bytes(data)
        return placed

    return damage

"""Targets: files of the cases of the suite to be damaged, and the scans that read them.

Every case of a read that a writer can make has targets: its data file, or of its table the latest
manifest and every data, deletion and blob file. A case of an index has the files of that index,
which the search of the case reads.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import chain, zip_longest
from pathlib import Path, PurePath
from random import Random
from types import ModuleType
from typing import Any

from lance_conformance.adapters.index_search import scan_arguments
from lance_conformance.campaigns.damage.tables.messages import latest
from lance_conformance.suite.cases import Case, load

MINHASH_REQUEST: Mapping[str, Any] = {"alike": "one two three four five"}
"""Search for similar texts, for the cases of MinHash indices, which have no request."""

TABLE_GROUPS = {
    "data/*.lance": "data file {version}",
    "data/*.blob": "blobs",
    "_deletions/*": "deletion file {suffix}",
}
"""Groups of the files of a table, except manifests, by patterns of paths."""

INDEX_GROUPS = {"_indices/*.idx": "vector index file", "_indices/*.lance": "scalar index file"}
"""Groups of the files of indices, by patterns of paths."""


@dataclass(frozen=True, slots=True)
class Target:
    """A file to damage; `relative` is its path below `root`, a dataset or the file itself.

    A dataset is scanned by the `request` of a case, or for texts similar to that of `alike`.
    """

    id: str
    group: str
    root: Path
    relative: str = ""
    request: Mapping[str, Any] = field(default_factory=dict)

    def scan_arguments(self, module: ModuleType, dataset: Any) -> dict[str, Any]:
        """Return the arguments of the scan, by a module with the names of pylance."""
        if "alike" in self.request:
            return {"nearest": module.query.MinHashQuery(self.request["alike"], "c")}
        return scan_arguments(dataset, self.request, module.query)

    @property
    def path(self) -> Path:
        """The file to damage."""
        return self.root / self.relative if self.relative else self.root

    @property
    def is_dataset(self) -> bool:
        """Whether the file is part of a dataset, which is read."""
        return bool(self.relative)

    def copy_to(self, folder: Path) -> Target:
        """Return a copy of the target below a folder, to be damaged."""
        copy = folder / self.root.name
        if self.is_dataset:
            shutil.copytree(self.root, copy)
        return replace(self, root=copy)


def targets_of(case: Case) -> Iterator[Target]:
    """Yield the targets of a case."""
    inputs, version = case.manifest["input"], case.requires["file_version"]
    if "path" in inputs:
        yield Target(case.id, f"file {version}", case.input_root)
        return
    is_minhash = case.id.startswith("index/any/minhash/")
    request = MINHASH_REQUEST if is_minhash else inputs.get("args", {})
    if not case.id.startswith("index/"):
        manifest = latest(case.input_root).relative_to(case.input_root).as_posix()
        yield Target(f"{case.id}/manifest", "manifest", case.input_root, manifest, request)
    groups = INDEX_GROUPS if case.id.startswith("index/") else TABLE_GROUPS
    for number, path in enumerate(sorted(inputs["files"])):
        for pattern, template in groups.items():
            if fnmatchcase(path, pattern):
                group = template.format(version=version, suffix=PurePath(path).suffix)
                name = PurePath(path).name if "_indices" in path else group
                yield Target(f"{case.id}/{name} {number}", group, case.input_root, path, request)


def draw_targets(seed: int) -> Iterator[Target]:
    """Yield all targets in random order: those of one case of each topic, then of another."""
    random, topics = Random(seed), dict[str, list[Case]]()
    for case in load():
        is_read = case.kind in ("read-file", "read-dataset", "index-search")
        if is_read and case.manifest["provenance"]["reachable"]:
            topics.setdefault(case.id.rpartition("/")[0], []).append(case)
    orders = [random.sample(cases, len(cases)) for cases in topics.values()]
    random.shuffle(orders)
    for case in filter(None, chain.from_iterable(zip_longest(*orders))):
        yield from targets_of(case)

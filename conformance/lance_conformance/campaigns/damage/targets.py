"""Targets: files of the cases of the suite, alone or inside a table, and what is asked of these.

Every case that is read and that a writer can make has targets: its data file, or of its table the
latest manifest and every data, deletion and blob file; of a case that asks an index the files of
that index, in a table that is then put the same question.
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
from lance_conformance.campaigns.damage.whole.messages import latest
from lance_conformance.cases import Case, load

ALIKE: Mapping[str, Any] = {"alike": "one two three four five"}
"""What MinHash indices are asked, whose cases ask nothing: texts like this one."""

OF_TABLES = {
    "data/*.lance": "data file {version}",
    "data/*.blob": "blobs",
    "_deletions/*": "deletion file {suffix}",
}
"""Groups of the files of a table, but for its manifest, by their paths."""

OF_INDICES = {"_indices/*.idx": "vector index file", "_indices/*.lance": "scalar index file"}
"""Groups of the files of indices."""


@dataclass(frozen=True, slots=True)
class Target:
    """One victim file; `relative` is its path below `root`, a dataset or the file itself.

    A dataset is `asked` what the request of a case asks; by `alike` for texts like another.
    """

    id: str
    group: str
    root: Path
    relative: str = ""
    asked: Mapping[str, Any] = field(default_factory=dict)

    def question(self, module: ModuleType, dataset: Any) -> dict[str, Any]:
        """Return what is asked, as arguments of a scan by a module with the names of pylance."""
        if "alike" in self.asked:
            return {"nearest": module.query.MinHashQuery(self.asked["alike"], "c")}
        return scan_arguments(dataset, self.asked, module.query)

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


def targets_of(case: Case) -> Iterator[Target]:
    """Yield the targets of a case."""
    given, version = case.manifest["input"], case.requires["file_version"]
    if "path" in given:
        yield Target(case.id, f"file {version}", case.input_root)
        return
    asked = ALIKE if case.id.startswith("index/any/minhash/") else given.get("args", {})
    if not case.id.startswith("index/"):
        manifest = latest(case.input_root).relative_to(case.input_root).as_posix()
        yield Target(f"{case.id}/manifest", "manifest", case.input_root, manifest, asked)
    groups = OF_INDICES if case.id.startswith("index/") else OF_TABLES
    for number, path in enumerate(sorted(given["files"])):
        for pattern, group in groups.items():
            if fnmatchcase(path, pattern):
                named = group.format(version=version, suffix=PurePath(path).suffix)
                name = PurePath(path).name if "_indices" in path else named
                yield Target(f"{case.id}/{name} {number}", named, case.input_root, path, asked)


def drawn(seed: int) -> Iterator[Target]:
    """Yield all targets in an order drawn by a seed: of one case of each topic, then of another."""
    random, topics = Random(seed), dict[str, list[Case]]()
    for case in load():
        is_read = case.kind in ("read-file", "read-dataset", "index-search")
        if is_read and case.manifest["provenance"]["reachable"]:
            topics.setdefault(case.id.rpartition("/")[0], []).append(case)
    orders = [random.sample(cases, len(cases)) for cases in topics.values()]
    random.shuffle(orders)
    for case in filter(None, chain.from_iterable(zip_longest(*orders))):
        yield from targets_of(case)

"""Cases: the manifests below a folder of fixtures, and the selection of a run."""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

from lance_conformance import resources, schemas
from lance_conformance.command_error import CommandError
from lance_conformance.protocol.session import Limits
from lance_conformance.suite import case_storage, levels, profiles, subset

MANIFEST = case_storage.MANIFEST

_SECONDS = {"robust": 2.0, "write-roundtrip": 10.0, "commit-race": 10.0, "index-search": 30.0}
"""Limit by kind; reading has `READ_SECONDS`."""

READ_SECONDS = 5.0

_MEMORY_MB = {"robust": 512, "negative-file": 2048, "negative-dataset": 2048}
"""Address space in MiB by kind, above that of the idle adapter."""

VALID_MEMORY_MB = 4096
"""Address space for valid bytes: threads of an engine reserve more than they use."""


class CaseError(CommandError):
    """A manifest is not valid."""


@dataclass(frozen=True)
class Case:
    """One manifest, without the member `stored`, and the folder that contains it."""

    source_folder: Path
    manifest: dict[str, Any]

    @cached_property
    def folder(self) -> Path:
        """The folder with the files of the case, materialised on first use."""
        return case_storage.case_folder(self.source_folder, manifest=False)

    @property
    def id(self) -> str:
        """Path of the case below the fixtures."""
        return str(self.manifest["id"])

    @property
    def title(self) -> str:
        """The property of the bytes that is tested."""
        return str(self.manifest["title"])

    @property
    def kind(self) -> str:
        """The kind of the test: `read-file`, `negative-file`, ..."""
        return str(self.manifest["kind"])

    @property
    def is_negative(self) -> bool:
        """Whether the bytes must be refused."""
        return self.kind in profiles.NEGATIVE_KINDS

    @property
    def has_steps(self) -> bool:
        """Whether writers change the input before it is read."""
        return "steps" in self.manifest["input"]

    @property
    def is_active(self) -> bool:
        """Whether the case counts: neither a draft nor withdrawn."""
        return profiles.is_active(self.manifest)

    @property
    def requires(self) -> dict[str, Any]:
        """What an implementation must claim for the case to be sent."""
        return dict(self.manifest["requires"])

    @cached_property
    def clauses(self) -> tuple[str, ...]:
        """The clauses that the case tests, without those of role `context`."""
        return tuple(c["id"] for c in self.manifest["clauses"] if c["role"] != "context")

    @property
    def profile(self) -> str:
        """The profile that owns the case: `robust`, `unstable` or `format`."""
        return profiles.profile(self.manifest)

    @property
    def is_core(self) -> bool:
        """Whether the case belongs to the profile `core`, a part of `format`."""
        return profiles.is_core(self.manifest)

    @cached_property
    def level(self) -> str:
        """The level that the case belongs to, a name of `levels.LADDER`."""
        return levels.level_of(self.manifest)

    @property
    def limits(self) -> Limits:
        """Limits of one request, from the manifest or by kind."""
        own = self.manifest.get("limits", {})
        memory = _MEMORY_MB.get(self.kind, VALID_MEMORY_MB)
        return Limits(
            own.get("seconds", _SECONDS.get(self.kind, READ_SECONDS)), own.get("memory_mb", memory)
        )

    @property
    def input_root(self) -> Path:
        """The input in the case folder: a file, or the folder of a dataset."""
        case_input = self.manifest["input"]
        return self.folder / str(case_input.get("path", case_input.get("uri")))


@dataclass(frozen=True, slots=True)
class Selection:
    """Which cases to run; empty patterns choose all. `ids` are those of an earlier report."""

    profile: str = "format"
    only: tuple[str, ...] = ()
    clauses: tuple[str, ...] = ()
    shuffle: int | None = None
    levels: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    ids: frozenset[str] | None = None


def load(folder: Path | None = None) -> list[Case]:
    """Return the cases below `folder` in the order of ids; without one, those of this suite.

    Manifests of this suite whose hash is in its `SUITE.json` were validated when that was written,
    and are not validated again. Raises CaseError for the first invalid one.
    """
    root = folder or resources.fixtures()
    texts = {path: path.read_bytes() for path in sorted(root.rglob(MANIFEST))}
    checked = folder is None and _stated_hash(root) == manifests_hash(root, texts)
    return [_case(path, root, text, checked=checked) for path, text in texts.items()]


def manifests_hash(root: Path, texts: Mapping[Path, bytes]) -> str:
    """Return a hash over the paths and stored manifests of a suite."""
    digest = hashlib.sha256()
    for path in sorted(texts):
        name = path.relative_to(root).as_posix()
        digest.update(f"{name}\0{len(texts[path])}\0".encode() + texts[path])
    return digest.hexdigest()


def _stated_hash(root: Path) -> str | None:
    """Return the hash of manifests in `SUITE.json`, None without one."""
    path = root / subset.SUITE_FILE
    stated: str | None = json.loads(path.read_text("utf-8")).get("manifests_sha256")
    return stated


def load_case(path: Path, root: Path) -> Case:
    """Return the case of one manifest, validated against the schema and its path."""
    return _case(path, root, path.read_bytes())


def _case(path: Path, root: Path, text: bytes, *, checked: bool = False) -> Case:
    """Return the case of a manifest, which is validated unless it was `checked` before."""
    name = path.parent.relative_to(root).as_posix()
    try:
        manifest = json.loads(text)
    except ValueError as error:
        raise CaseError(f"{name}: not JSON: {error}") from error
    wrong = [] if checked else schemas.problems("case", manifest)
    if wrong:
        raise CaseError(f"{name}: {'; '.join(wrong[:5])}")
    if manifest["id"] != name:
        raise CaseError(f"{name}: the id in the manifest is {manifest['id']}")
    if not {"path", "uri"} & manifest["input"].keys():
        raise CaseError(f"{name}: the input has neither path nor uri")
    manifest.pop(case_storage.STORED_KEY, None)
    return Case(path.parent, manifest)


def parent_case(case: Case) -> Case | None:
    """Return the case that a case was derived from; None where a subset lacks it."""
    root = case.source_folder.parents[case.id.count("/")]
    derived_from = case.manifest["provenance"].get("derived_from")
    path = root / str(derived_from) / MANIFEST
    return load_case(path, root) if derived_from and path.is_file() else None


def select(cases: Iterable[Case], selection: Selection) -> list[Case]:
    """Return the active cases of a selection, sorted by id or shuffled by its seed."""
    chosen = [case for case in cases if case.is_active and _is_selected(case, selection)]
    chosen.sort(key=lambda case: case.id)
    if selection.shuffle is not None:
        random.Random(selection.shuffle).shuffle(chosen)
    return chosen


def _is_selected(case: Case, selection: Selection) -> bool:
    profile = selection.profile
    if not (profile in ("all", case.profile) or (profile == "core" and case.is_core)):
        return False
    if selection.only and not any(matches_pattern(pattern, case.id) for pattern in selection.only):
        return False
    if any(matches_pattern(pattern, case.id) for pattern in selection.exclude):
        return False
    if selection.kinds and case.kind not in selection.kinds:
        return False
    if selection.levels and case.level not in selection.levels:
        return False
    if selection.ids is not None and case.id not in selection.ids:
        return False
    clauses = selection.clauses
    return not clauses or any(fnmatchcase(c, pattern) for pattern in clauses for c in case.clauses)


def is_id(text: str) -> bool:
    """Whether a text has the form of a case id: at least four parts in lower case."""
    return re.fullmatch(r"[a-z0-9.-]+(/[a-z0-9.-]+){3,}", text) is not None


def matches_pattern(pattern: str, case_id: str) -> bool:
    """Whether a wildcard fits an id: `*` within one component, `**` over any number of them."""
    wild = {"**": ".*", "*": "[^/]*"}
    parts = (wild.get(part, re.escape(part)) for part in re.split(r"(\*\*|\*)", pattern))
    return re.fullmatch("".join(parts), case_id) is not None

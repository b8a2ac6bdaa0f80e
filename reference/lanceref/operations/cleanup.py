"""Cleanup: old versions go, and with them the files that no other version needs.

A version stays when it is new
enough, the latest, tagged, or where a branch began. A file below the folders of a table goes when
no version that stays needs it, if a version that goes did, or if it is old: a young file that no
version names may belong to a commit that is still on its way. So may the orphans of a write that
did not come to its end.

Clauses: L.table.cleanup.referenced, L.table.cleanup.young, L.table.cleanup.stray

Cleanup plans: what a cleanup of old versions takes away, before and after it does (face).

Has the names of pylance's statistics and explanations of `LanceDataset.cleanup_old_versions`.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import timedelta

from lanceref.core.context import Context
from lanceref.core.errors import CleanupRefused, NotFound, VersionNotFound
from lanceref.search.snapshot import Snapshot
from lanceref.storage import Entry, Store, name_of_uri
from lanceref.storage.manifests.manifest_names import FOLDER as VERSIONS
from lanceref.storage.manifests.manifest_names import VersionName, list_versions, parse_name
from lanceref.table.bases import (
    DATA_FOLDER,
    INDICES,
    TRANSACTIONS,
    Bases,
    Needed,
    branch_of,
    needed_by,
    orphans,
)
from lanceref.table.deletions import FOLDER as DELETIONS
from lanceref.table.manifest import Manifest, open_named
from lanceref.table.refs import MAIN, TREE, branch_store, list_branches, list_tags

KINDS = {
    DATA_FOLDER: "data",
    TRANSACTIONS: "transaction",
    INDICES: "index",
    DELETIONS: "deletion",
}
"""Kinds of files by the folder they lie in."""


@dataclass(frozen=True, slots=True)
class CleanupStats:
    """What a cleanup takes away."""

    bytes_removed: int
    old_versions: int
    data_files_removed: int
    transaction_files_removed: int
    index_files_removed: int
    deletion_files_removed: int
    failed_deletes: int = 0

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}: {value}" for name, value in asdict(self).items())
        return f"CleanupStats {{ {shown} }}"


@dataclass(frozen=True, slots=True)
class CleanupCandidateFile:
    """A file that goes; `unverified` says that no version ever needed it."""

    path: str
    kind: str
    unverified: bool
    size_bytes: int


@dataclass(frozen=True, slots=True)
class CleanupReferencedBranch:
    """A branch whose first version may need files of the table."""

    name: str
    referenced_version: int
    cleanup_candidate: bool


@dataclass(frozen=True, slots=True)
class CleanupExplanation:
    """What a cleanup would take away from a version, and the first of the files."""

    read_version: int
    stats: CleanupStats
    candidate_files: Sequence[CleanupCandidateFile]
    candidate_files_truncated: bool
    candidate_file_limit: int
    referenced_branches: Sequence[CleanupReferencedBranch]
    warnings: Sequence[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class CleanupPlan:
    """Manifests that go, with their sizes, other files, and those that no version ever needed."""

    manifests: Mapping[str, int]
    files: Sequence[Entry]
    unverified: frozenset[str]

    @property
    def stats(self) -> CleanupStats:
        """What goes, counted."""
        counts = Counter(entry.path.split("/")[0] for entry in self.files)
        return CleanupStats(
            bytes_removed=sum(entry.size for entry in self.files) + sum(self.manifests.values()),
            old_versions=len(self.manifests),
            data_files_removed=counts[DATA_FOLDER],
            transaction_files_removed=counts[TRANSACTIONS],
            index_files_removed=counts[INDICES],
            deletion_files_removed=counts[DELETIONS],
        )

    @property
    def candidates(self) -> list[CleanupCandidateFile]:
        """Each file that goes, paths below the root of the table, manifests last."""
        others = [
            CleanupCandidateFile(
                entry.path,
                KINDS.get(entry.path.split("/")[0], "other"),
                entry.path in self.unverified,
                entry.size,
            )
            for entry in self.files
        ]
        manifests = self.manifests.items()
        return others + [CleanupCandidateFile(path, "manifest", False, n) for path, n in manifests]


UNVERIFIED_SECONDS = 7 * 24 * 3600.0
"""Age from which on a file goes that no version ever needed."""

FOLDERS = (DATA_FOLDER, DELETIONS, TRANSACTIONS, INDICES)
"""Folders whose files a version names."""


@dataclass(frozen=True, slots=True)
class Cleanup:
    """The housekeeping of a table: one version of it, and the store of its main branch."""

    snapshot: Snapshot
    root: Store

    @property
    def version(self) -> int:
        """The version that is open."""
        return self.snapshot.manifest.version

    @property
    def branches(self) -> list[CleanupReferencedBranch]:
        """The branches that began at a version of the branch that is open."""
        return [
            CleanupReferencedBranch(name, one["parent_version"], False)
            for name, one in list_branches(self.root, self._ctx).items()
            if one["parent_branch"] == self._branch
        ]

    @property
    def _branch(self) -> str | None:
        return self.snapshot.manifest.message.branch or None

    @property
    def _ctx(self) -> Context:
        ctx = self.snapshot.ctx
        return Context(name_of_uri(self.root.root), limits=ctx.limits, keeps=ctx.keeps)

    def plan(
        self,
        older_than: timedelta | None = None,
        retain_versions: int | None = None,
        versions: Sequence[int] | None = None,
        *,
        before: int | None = None,
        delete_unverified: bool = False,
        error_if_tagged_old_versions: bool = True,
    ) -> CleanupPlan:
        """Return what a cleanup takes away.

        A version goes when it is older than `before` (the version that is open), than `older_than`
        and not among the latest `retain_versions`, or listed in `versions`. Raises CleanupRefused
        for a version with a tag.
        """
        names = list_versions(self.snapshot.store, self._ctx)
        candidates = self._old(names, older_than, retain_versions, versions)
        before = self.version if before is None else before
        return self._planned(
            names,
            {number for number in candidates if number < before},
            delete_unverified=delete_unverified,
            error_if_tagged_old_versions=error_if_tagged_old_versions,
        )

    def _planned(
        self,
        names: list[VersionName],
        candidates: set[int],
        *,
        delete_unverified: bool,
        error_if_tagged_old_versions: bool,
    ) -> CleanupPlan:
        if self._branch and self._branch not in list_branches(self.root, self._ctx):
            raise VersionNotFound(f"Ref not found error: branch {self._branch} does not exist")
        tagged = candidates & self._tagged()
        if tagged and error_if_tagged_old_versions:
            raise CleanupRefused(
                f"Cleanup error: {len(tagged)} tagged version(s) have been marked for cleanup: "
                f"{sorted(tagged)}. Either set `error_if_tagged_old_versions=False` or delete "
                "the tags"
            )
        owned = self.snapshot.store.owns(VERSIONS)  # a version elsewhere stays, with its files
        going = candidates - tagged - self._branched() if owned else set()
        return self._plan(names, going, delete_unverified=delete_unverified)

    def _old(
        self,
        names: list[VersionName],
        older_than: timedelta | None,
        retain: int | None,
        versions: Sequence[int] | None,
    ) -> set[int]:
        """Return the versions that may go: never the latest."""
        every = names[:-1]
        if versions is not None:
            return {name.version for name in every} & set(versions)
        if retain is not None:
            every = every[: max(len(names) - retain, 0)]
        if older_than is not None:
            limit = time.time() - older_than.total_seconds()
            every = [name for name in every if _seconds(self._named(name)) < limit]
        return {name.version for name in every}

    def _tagged(self) -> set[int]:
        tags = list_tags(self.root, self._ctx).values()
        own = self._branch or MAIN
        return {tag["version"] for tag in tags if (tag["branch"] or MAIN) == own}

    def _branched(self) -> set[int]:
        """Return the versions where branches began that still need files of this table."""
        return {
            one["parent_version"]
            for name, one in list_branches(self.root, self._ctx).items()
            if one["parent_branch"] == self._branch and any(self._needed(self._versions_of(name)))
        }

    def _named(self, name: VersionName) -> Manifest:
        return open_named(self.snapshot.store, name, self._ctx)

    def _plan(
        self, names: list[VersionName], going: set[int], *, delete_unverified: bool
    ) -> CleanupPlan:
        store = self.snapshot.store
        kept_paths, kept_folders = self._needed(self._staying(names, going))
        old_paths, old_folders = self._needed(
            self._named(name) for name in names if name.version in going
        )
        young = time.time() - UNVERIFIED_SECONDS
        files = []
        owned = filter(store.owns, FOLDERS)
        for entry in (entry for folder in owned for entry in store.walk(folder)):
            if entry.path in kept_paths or entry.path.startswith(kept_folders):
                continue
            was_needed = entry.path in old_paths or entry.path.startswith(old_folders)
            if was_needed or delete_unverified or entry.modified < young:
                files.append(entry)
        for entry in orphans(store, list_branches(self.root, self._ctx)):
            if delete_unverified or entry.modified < young:
                files.append(entry)
        leaving = [name.path for name in names if name.version in going]
        manifests = {path: store.open(path).size for path in leaving}
        unverified = {
            entry.path
            for entry in files
            if entry.path not in old_paths and not entry.path.startswith(old_folders)
        }
        return CleanupPlan(manifests, files, frozenset(unverified))

    def _staying(self, names: list[VersionName], going: set[int]) -> Iterable[Manifest]:
        """Yield every version that stays and may need files of this table: branches' too."""
        for name in names:
            if name.version not in going:
                yield self._named(name)
        for entry in self.snapshot.store.list(VERSIONS):
            parsed = parse_name(entry)
            if parsed is not None and parsed.scheme == "detached":
                yield self._named(parsed)
        for branch in list_branches(self.root, self._ctx):
            yield from self._versions_of(branch)

    def _versions_of(self, branch: str) -> Iterable[Manifest]:
        """Yield every version of another branch; none of this one."""
        other = branch_store(self.root, branch)
        if other.root == self.snapshot.store.root:
            return
        with suppress(NotFound):
            for name in list_versions(other, self._ctx):
                yield open_named(other, name, self._ctx)

    def _needed(self, manifests: Iterable[Manifest]) -> tuple[set[str], tuple[str, ...]]:
        """Return paths, and folders with a slash, below the root that the manifests need."""
        store = self.snapshot.store
        paths: set[str] = set()
        folders: set[str] = set()
        for manifest in manifests:
            bases = Bases(store, manifest)
            for one in needed_by(manifest, bases):
                if self._is_here(one, manifest, bases):
                    (folders if one.path.endswith("/") else paths).add(one.path)
        return paths, tuple(folders)

    def _is_here(self, one: Needed, manifest: Manifest, bases: Bases) -> bool:
        """Whether an object lies below this root: its own, or named as a base by a branch."""
        if one.base_id is None:
            return (manifest.message.branch or None) == self._branch
        return bases.store_of(one.base_id).root == self.snapshot.store.root

    def carry_out(self, plan: CleanupPlan, rate_limit: int | None = None) -> CleanupStats:
        """Remove manifests first: a version that is there always has its files."""
        store = self.snapshot.store
        pause = 0.0 if rate_limit is None else 1 / rate_limit
        below_tree = [entry.path for entry in plan.files if entry.path.startswith(f"{TREE}/")]
        branches = {f"{TREE}/{branch_of(path)}" for path in below_tree}
        for branch in branches:
            if all(entry.path in below_tree for entry in store.walk(f"{branch}/{VERSIONS}")):
                store.prune(branch)  # its records first: alone they would keep the name
        for number, path in enumerate([*plan.manifests, *(entry.path for entry in plan.files)]):
            if number and pause:
                time.sleep(pause)
            store.delete(path)
        if below_tree:
            store.prune(TREE)
        return plan.stats


def _seconds(manifest: Manifest) -> float:
    stamp = manifest.message.timestamp
    return float(stamp.seconds + stamp.nanos / 1e9)

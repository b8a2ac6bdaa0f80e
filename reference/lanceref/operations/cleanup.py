"""Cleanup: old versions go, and with them the files that no other version needs (face).

Has the names of pylance's `LanceDataset.cleanup_old_versions`. A version stays when it is new
enough, the latest, tagged, or where a branch began. A file below the folders of a table goes when
no version that stays needs it, if a version that goes did, or if it is old: a young file that no
version names may belong to a commit that is still on its way. So may the strays of a write that
did not come to its end.

Clauses: L.table.cleanup.referenced, L.table.cleanup.young, L.table.cleanup.stray
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import timedelta

from pylanceref.table_handle import OpenTable

from lanceref.core.arguments import unsigned
from lanceref.core.errors import CleanupRefused, NotFound, VersionNotFound
from lanceref.operations.cleanup_plan import (
    CleanupExplanation,
    CleanupPlan,
    CleanupReferencedBranch,
    CleanupStats,
)
from lanceref.storage.manifests.manifest_names import FOLDER as VERSIONS
from lanceref.storage.manifests.manifest_names import VersionName, list_versions, parse_name
from lanceref.table.bases import DATA_FOLDER, Bases
from lanceref.table.deletions import FOLDER as DELETIONS
from lanceref.table.manifest import Manifest
from lanceref.table.orphan_files import branch_of, strays
from lanceref.table.ref_names import MAIN, TREE, branch_store
from lanceref.table.referenced_files import INDICES, TRANSACTIONS, Needed, needed_by
from lanceref.table.refs import list_branches, list_tags
from lanceref.table.versions import open_named

DEFAULT_AGE = timedelta(days=14)
"""Versions older than this go, unless the caller says otherwise."""

UNVERIFIED_SECONDS = 7 * 24 * 3600.0
"""Age from which on a file goes that no version ever needed."""

FOLDERS = (DATA_FOLDER, DELETIONS, TRANSACTIONS, INDICES)
"""Folders whose files a version names."""


class Cleanup(OpenTable):
    """The housekeeping of a dataset."""

    def cleanup_old_versions(
        self,
        older_than: timedelta | None = None,
        retain_versions: int | None = None,
        *,
        delete_unverified: bool = False,
        error_if_tagged_old_versions: bool = True,
        delete_rate_limit: int | None = None,
        versions: Sequence[int] | None = None,
        delete_concurrency: int | None = None,
    ) -> CleanupStats:
        """Remove old versions and the files only they need.

        A version goes when it is older than the open one and than `older_than` and not among the
        latest `retain_versions`, or listed in `versions`. At most `delete_rate_limit` files go in a
        second, one after the other whatever `delete_concurrency` says. Raises CleanupRefused for a
        version with a tag and for a number below 1.
        """
        if delete_rate_limit is not None and unsigned(delete_rate_limit) == 0:
            raise CleanupRefused("delete_rate_limit must be greater than 0, got 0")
        if delete_concurrency is not None and not 0 < unsigned(delete_concurrency) < 2**61:
            raise CleanupRefused(
                f"delete_concurrency must be between 1 and {2**61 - 1}, got {delete_concurrency}"
            )
        plan = self._asked(
            older_than,
            retain_versions,
            versions,
            delete_unverified=delete_unverified,
            error_if_tagged_old_versions=error_if_tagged_old_versions,
        )
        return self._carry_out(plan, delete_rate_limit)

    def explain_cleanup_old_versions(
        self,
        older_than: timedelta | None = None,
        retain_versions: int | None = None,
        *,
        delete_unverified: bool = False,
        error_if_tagged_old_versions: bool = True,
        delete_rate_limit: int | None = None,
        versions: Sequence[int] | None = None,
        include_files: bool = False,
        max_files: int = 1000,
    ) -> CleanupExplanation:
        """Return what a cleanup with the same arguments would remove; up to `max_files` are named.

        Raises as `cleanup_old_versions`, and ValueError for no files at most.
        """
        if max_files <= 0:
            raise ValueError("max_files must be positive")
        plan = self._asked(
            older_than,
            retain_versions,
            versions,
            delete_unverified=delete_unverified,
            error_if_tagged_old_versions=error_if_tagged_old_versions,
        )
        files = plan.candidates if include_files else []
        branches = [
            CleanupReferencedBranch(name, one["parent_version"], False)
            for name, one in list_branches(self._root, self._ctx).items()
            if one["parent_branch"] == self._branch
        ]
        cut = len(files) > max_files
        return CleanupExplanation(
            self.version, plan.stats, files[:max_files], cut, max_files, branches
        )

    def _asked(
        self,
        older_than: timedelta | None,
        retain_versions: int | None,
        versions: Sequence[int] | None,
        *,
        delete_unverified: bool,
        error_if_tagged_old_versions: bool,
    ) -> CleanupPlan:
        """Return what a cleanup takes away. Raises CleanupRefused."""
        if older_than is None and retain_versions is None and versions is None:
            older_than = DEFAULT_AGE
        if retain_versions is not None and unsigned(retain_versions) == 0:
            raise CleanupRefused(
                "Invalid user input: retain_versions must be greater than 0, got 0"
            )
        names = list_versions(self._snapshot.store, self._ctx)
        candidates = self._old(names, older_than, retain_versions, versions)
        return self._planned(
            names,
            {number for number in candidates if number < self.version},
            delete_unverified=delete_unverified,
            error_if_tagged_old_versions=error_if_tagged_old_versions,
        )

    def clean_before(
        self, version: int, older_than: timedelta | None, retain_versions: int | None
    ) -> CleanupStats:
        """Remove old versions before another one; arguments and errors as above."""
        names = list_versions(self._snapshot.store, self._ctx)
        candidates = self._old(names, older_than, retain_versions, None)
        going = {number for number in candidates if number < version}
        return self._carry_out(self._planned(names, going))

    def _planned(
        self,
        names: list[VersionName],
        candidates: set[int],
        *,
        delete_unverified: bool = False,
        error_if_tagged_old_versions: bool = True,
    ) -> CleanupPlan:
        if self._branch and self._branch not in list_branches(self._root, self._ctx):
            raise VersionNotFound(f"Ref not found error: branch {self._branch} does not exist")
        tagged = candidates & self._tagged()
        if tagged and error_if_tagged_old_versions:
            raise CleanupRefused(
                f"Cleanup error: {len(tagged)} tagged version(s) have been marked for cleanup: "
                f"{sorted(tagged)}. Either set `error_if_tagged_old_versions=False` or delete "
                "the tags"
            )
        owned = self._snapshot.store.owns(VERSIONS)  # a version elsewhere stays, with its files
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
        tags = list_tags(self._root, self._ctx).values()
        own = self._branch or MAIN
        return {tag["version"] for tag in tags if (tag["branch"] or MAIN) == own}

    def _branched(self) -> set[int]:
        """Return the versions where branches began that still need files of this table."""
        return {
            one["parent_version"]
            for name, one in list_branches(self._root, self._ctx).items()
            if one["parent_branch"] == self._branch and any(self._needed(self._versions_of(name)))
        }

    def _named(self, name: VersionName) -> Manifest:
        return open_named(self._snapshot.store, name, self._ctx)

    def _plan(
        self, names: list[VersionName], going: set[int], *, delete_unverified: bool
    ) -> CleanupPlan:
        store = self._snapshot.store
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
        for entry in strays(store, list_branches(self._root, self._ctx)):
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
        for entry in self._snapshot.store.list(VERSIONS):
            parsed = parse_name(entry)
            if parsed is not None and parsed.scheme == "detached":
                yield self._named(parsed)
        for branch in list_branches(self._root, self._ctx):
            yield from self._versions_of(branch)

    def _versions_of(self, branch: str) -> Iterable[Manifest]:
        """Yield every version of another branch; none of this one."""
        other = branch_store(self._root, branch)
        if other.root == self._snapshot.store.root:
            return
        with suppress(NotFound):
            for name in list_versions(other, self._ctx):
                yield open_named(other, name, self._ctx)

    def _needed(self, manifests: Iterable[Manifest]) -> tuple[set[str], tuple[str, ...]]:
        """Return paths, and folders with a slash, below the root that the manifests need."""
        store = self._snapshot.store
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
        return bases.store_of(one.base_id).root == self._snapshot.store.root

    def _carry_out(self, plan: CleanupPlan, rate_limit: int | None = None) -> CleanupStats:
        """Remove manifests first: a version that is there always has its files."""
        store = self._snapshot.store
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

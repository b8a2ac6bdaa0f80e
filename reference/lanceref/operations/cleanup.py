"""Cleanup: old versions are removed, and with them the files that no other version needs.

A version stays when it is new enough, the latest, tagged, or where a branch began. A file below the
folders of a table goes when no version that stays needs it, if a version that goes did, or if it is
old: a young file that no version names may belong to a commit in progress, and so may the orphans
of an unfinished write.

Automatic cleanup: a table whose configuration has an interval is cleaned by every commit whose
version the interval divides: of the versions before the one that was read, those older than an age
and not among the latest ones go. A commit remains valid when its cleanup fails.

Layout: `lance.auto_cleanup.interval` is a decimal number, `lance.auto_cleanup.older_than` a
duration such as `1day 2h 3m 4s`, `lance.auto_cleanup.retain_versions` a decimal number.

Clauses: L.table.cleanup.referenced, L.table.cleanup.young, L.table.cleanup.stray
"""

from __future__ import annotations

import logging
import math
import re
import time
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import TypedDict

from lanceref.core import errors
from lanceref.core.context import Context
from lanceref.search.snapshot import Snapshot
from lanceref.storage import Entry, Store, name_of_uri
from lanceref.storage.manifests.manifest_names import FOLDER as VERSIONS
from lanceref.storage.manifests.manifest_names import HINT, VersionName, list_versions, parse_name
from lanceref.table import bases
from lanceref.table.deletions import FOLDER as DELETIONS
from lanceref.table.manifest import Manifest, open_named
from lanceref.table.refs import MAIN, TREE, Branch, branch_store, list_branches, list_tags

FOLDERS = (bases.DATA_FOLDER, bases.TRANSACTIONS, bases.INDICES, DELETIONS)
"""Folders whose files a version names."""

UNVERIFIED_SECONDS = 7 * 24 * 3600.0
"""Age from which on a file goes that no version ever needed."""


@dataclass(frozen=True, slots=True)
class CleanupStats:
    """Counts of the files and bytes that a cleanup removes."""

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
class CleanupPlan:
    """Manifests that go, with their sizes, and other files."""

    manifests: Mapping[str, int]
    files: Sequence[Entry]

    @property
    def stats(self) -> CleanupStats:
        """Counts of the files and bytes that the plan removes."""
        counts = Counter(entry.path.split("/")[0] for entry in self.files)
        size_bytes = sum(entry.size for entry in self.files) + sum(self.manifests.values())
        return CleanupStats(size_bytes, len(self.manifests), *(counts[one] for one in FOLDERS))


@dataclass(frozen=True, slots=True)
class Cleanup:
    """The cleanup of a table: one version of it, and the store of its main branch."""

    snapshot: Snapshot
    root: Store

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
        """Return what a cleanup removes.

        A version goes when it is older than `before` (the version that is open), than `older_than`
        and not among the latest `retain_versions`, or listed in `versions`; the latest stays.
        Raises OperationRefused for a version with a tag, VersionNotFound for a deleted branch.
        """
        store = self.snapshot.store
        names, branches = list_versions(store, self._ctx), list_branches(self.root, self._ctx)
        if self._branch and self._branch not in branches:
            found = f"branch {self._branch} does not exist"
            raise errors.VersionNotFound(f"Ref not found error: {found}")
        end = self.snapshot.manifest.version if before is None else before
        chosen = _chosen(names, retain_versions, versions, end)
        limit = math.inf  # L.table.cleanup.young
        if older_than is not None and versions is None:
            limit = time.time() - older_than.total_seconds()
        tagged, staying = self._tagged(), self._branched(branches)
        if not store.owns(VERSIONS):  # a version elsewhere stays, with its files
            staying |= chosen
        marked, leaving = list[int](), list[VersionName]()
        kept, old = self._needed(self._other_manifests(branches)), set[str]()
        for name in names:
            manifest = open_named(store, name, self._ctx)
            goes = name.version in chosen and _seconds(manifest) < limit
            if goes and name.version in tagged:
                marked += [name.version]
            elif goes and name.version not in staying:
                leaving.append(name)
                old |= self._needed([manifest])
                continue
            kept |= self._needed([manifest])
        if marked and error_if_tagged_old_versions:
            raise errors.OperationRefused(
                f"Cleanup error: {len(marked)} tagged version(s) have been marked for cleanup: "
                f"{marked}. Either set `error_if_tagged_old_versions=False` or delete the tags"
            )
        files, latest = self._unreferenced(kept, branches), time.time() - UNVERIFIED_SECONDS
        if not delete_unverified:
            files = [one for one in files if _is_within(one.path, old) or one.modified < latest]
        return CleanupPlan({name.path: store.open(name.path).size for name in leaving}, files)

    def _tagged(self) -> set[int]:
        own, tags = self._branch or MAIN, list_tags(self.root, self._ctx).values()
        return {tag["version"] for tag in tags if (tag["branch"] or MAIN) == own}

    def _branched(self, branches: Mapping[str, Branch]) -> set[int]:
        """Return the versions where branches began that still need files of this table."""
        return {
            one["parent_version"]
            for name, one in branches.items()
            if one["parent_branch"] == self._branch and self._needed(self._versions_of(name))
        }

    def _unreferenced(self, kept: set[str], branches: Container[str]) -> list[Entry]:
        """Return the files of a table that are none of those kept, and its orphans."""
        store = self.snapshot.store
        owned = [entry for folder in filter(store.owns, FOLDERS) for entry in store.walk(folder)]
        files = [entry for entry in owned if not _is_within(entry.path, kept)]
        return [*files, *bases.orphans(store, branches)]

    def _other_manifests(self, branches: Iterable[str]) -> Iterable[Manifest]:
        """Yield what may need files of this table beside its versions: detached ones, branches."""
        for entry in self.snapshot.store.list(VERSIONS):
            parsed = parse_name(entry)
            if parsed is not None and parsed.scheme == "detached":
                yield open_named(self.snapshot.store, parsed, self._ctx)
        for branch in branches:
            yield from self._versions_of(branch)

    def _versions_of(self, branch: str) -> Iterable[Manifest]:
        """Yield every version of another branch; none of this one."""
        other = branch_store(self.root, branch)
        if other.root != self.snapshot.store.root:
            with suppress(errors.NotFound):
                for name in list_versions(other, self._ctx):
                    yield open_named(other, name, self._ctx)

    def _needed(self, manifests: Iterable[Manifest]) -> set[str]:
        """Return files, and folders with a slash, below this root that manifests need."""
        # L.table.cleanup.referenced
        store, paths = self.snapshot.store, set()
        for manifest in manifests:
            places = bases.Bases(store, manifest)
            own = (manifest.message.branch or None) == self._branch
            for one in bases.needed_by(manifest, places):
                base = one.base_id
                if own if base is None else places.store_of(base).root == store.root:
                    paths.add(one.path)
        return paths

    def carry_out(self, plan: CleanupPlan) -> CleanupStats:
        """Remove manifests first: the files of a version that exists always do."""
        store = self.snapshot.store
        below_tree = [entry.path for entry in plan.files if entry.path.startswith(f"{TREE}/")]
        for branch in {f"{TREE}/{bases.branch_of(path)}" for path in below_tree}:
            if all(entry.path in below_tree for entry in store.walk(f"{branch}/{VERSIONS}")):
                store.prune(branch)  # its records first: alone they would keep the name
        for path in [*plan.manifests, *(entry.path for entry in plan.files)]:
            store.delete(path)
        if below_tree:
            store.prune(TREE)
        return plan.stats


def _chosen(
    names: Sequence[VersionName], retain: int | None, versions: Sequence[int] | None, before: int
) -> set[int]:
    """Return the versions, but for the latest, that may go by their number."""
    old = [name.version for name in names[:-1]]
    if versions is not None:
        old = [one for one in old if one in {*versions}]
    elif retain is not None:
        old = old[: max(len(names) - retain, 0)]
    return {one for one in old if one < before}


def _seconds(manifest: Manifest) -> float:
    stamp = manifest.message.timestamp
    return float(stamp.seconds + stamp.nanos / 1e9)


def _is_within(path: str, needed: set[str]) -> bool:
    folders = (path[: slash.end()] for slash in re.finditer("/", path))
    return path in needed or any(folder in needed for folder in folders)


INTERVAL_KEY = "lance.auto_cleanup.interval"
AGE_KEY = "lance.auto_cleanup.older_than"
RETAIN_KEY = "lance.auto_cleanup.retain_versions"

INTERVAL, AGE_SECONDS = 20, 14 * 86400
"""What a new table has when its options leave it open."""

DIGITS = 20
"""Digits of a number at most: those of the largest of 64 bits."""

WRITTEN = {"year": 31_557_600, "month": 2_630_016, "day": 86_400, "h": 3600, "m": 60, "s": 1}
"""Units that durations are written in, in seconds; long ones have a plural."""

_UNITS = {
    "nsec ns": 1e-9,
    "usec us": 1e-6,
    "msec ms": 1e-3,
    "seconds second sec s": 1,
    "minutes minute min m": 60,
    "hours hour hr h": 3600,
    "days day d": 86_400,
    "weeks week w": 604_800,
    "months month M": WRITTEN["month"],
    "years year y": WRITTEN["year"],
}
SECONDS = {name: size for names, size in _UNITS.items() for name in names.split()}
"""Units that durations are read in."""


class AutoCleanupConfig(TypedDict, total=False):
    """How often old versions go, in versions, and from which age on."""

    interval: int
    older_than_seconds: int


def cleanup_config(options: AutoCleanupConfig | None) -> dict[str, str]:
    """Return the configuration of a new table. Raises DataRefused for a negative age."""
    if options is None:
        return {}
    age = options.get("older_than_seconds", AGE_SECONDS)
    if age < 0:
        raise errors.DataRefused("Source duration value is out of range for the target type")
    return {INTERVAL_KEY: str(options.get("interval", INTERVAL)), AGE_KEY: duration(age)}


def duration(seconds: int) -> str:
    """Return a number of seconds as text, largest unit first."""
    parts, rest = [], seconds
    for unit, size in WRITTEN.items():
        number, rest = divmod(rest, size)
        if number:
            parts.append(f"{number}{unit}" + "s" * (number > 1 and len(unit) > 1))
    return " ".join(parts) or "0s"


def seconds_of(text: str) -> float:
    """Return the seconds of a duration. Raises OperationRefused for something else."""
    parts = re.findall(r"(\d+)\s*([A-Za-z]+)", text)
    rest = re.sub(r"(\d+)\s*([A-Za-z]+)", "", text)
    known = all(unit in SECONDS and len(number) <= DIGITS for number, unit in parts)
    seconds = sum(int(number) * SECONDS[unit] for number, unit in parts) if known else 0.0
    if not parts or rest.strip() or not known or seconds > timedelta.max.total_seconds():
        raise errors.OperationRefused(f"{AGE_KEY} is no duration: {errors.short(text)!r}")
    return seconds


def clean_after_commit(snapshot: Snapshot, root: Store, read_version: int) -> None:
    """Remove old versions if the configuration of a version that was just committed asks for it.

    `root` is the store of the main branch.
    """
    config, table = snapshot.manifest.message.config, Cleanup(snapshot, root)
    if INTERVAL_KEY not in config:
        return
    try:
        interval = _number(config, INTERVAL_KEY)
        if interval and snapshot.manifest.version % interval:
            return
        retain = _number(config, RETAIN_KEY) if RETAIN_KEY in config else None
        age = timedelta(seconds=seconds_of(config[AGE_KEY])) if AGE_KEY in config else None
        if age is None and retain is None:
            age = timedelta(0)
        table.carry_out(table.plan(age, retain, before=read_version))
    except (errors.LanceError, OSError) as error:
        logging.getLogger(__name__).warning("Auto cleanup failed after a commit: %s", error)


def _number(config: Mapping[str, str], key: str) -> int:
    if not config[key].isdecimal() or len(config[key]) > DIGITS:
        raise errors.OperationRefused(f"{key} is no number: {errors.short(config[key])!r}")
    return int(config[key])


MARK = f"{VERSIONS}/{HINT}"
"""What says that a folder is a table's while its files are removed."""


def drop_table(store: Store) -> bool:
    """Remove a table with all its files; return whether there was one.

    What another table left that was not dropped to the end is removed too; it is refused where no
    file beside the manifests tells that it was one. Raises OperationRefused.
    """
    if next(store.list(VERSIONS), None) is None:
        if next(store.walk(""), None) is not None:
            raise errors.OperationRefused(f"Refusing to drop {store.root!r}: it has no manifest")
        store.prune("")
        return False
    if not store.exists(MARK):
        store.put(MARK, b'{"version":0}')  # the last to go
    entries = sorted(store.walk(""), key=_removal_order)
    below_tree = [entry.path for entry in entries if entry.path.startswith(f"{TREE}/")]
    for branch in {bases.branch_of(path) for path in below_tree}:
        store.prune(f"{TREE}/{branch}")
    for entry in entries:
        store.delete(entry.path)
    store.prune("")
    return True


def _removal_order(entry: Entry) -> tuple[int, int]:
    """Order the files of a table for their removal, which may be interrupted.

    Versions go first, the latest last of them: what opens is whole. What else lies beside the
    manifests goes at the end: as long as it is there, the folder is known as a table's.
    """
    name = parse_name(entry.path.removeprefix(f"{VERSIONS}/"))
    if name is not None:
        return 0, name.version
    return (2 if entry.path.startswith(f"{VERSIONS}/") else 1), 0

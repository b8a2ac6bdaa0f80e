"""Names of manifest files, which one is the latest, and records of where they are.

Every version is a file below `_versions`. Its name carries the version: V1 names count up, V2 names
count down from 2**64 - 1 in twenty digits, so that a listing starts with the newest. A detached
version starts with `d` and is never the latest. `latest_version_hint.json` is only a hint: a reader
that lists the folder need not look at it.

A manifest store keeps one record for each version of a table, under the table's key. The path of a
record is that of the manifest, or of a staged copy of it that is still to be put in its place.

Layout of the path of a record: `{key}/_versions/{name of the manifest}`, or the same with
`-{uuid}` at its end for a staged copy.

Clauses: L.table.naming.v1, L.table.naming.v2, L.table.naming.detached, L.table.naming.one-scheme,
L.table.naming.latest, L.table.hint.advisory, L.txn.store.path
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal, Protocol
from uuid import uuid4

from lanceref.core.context import Context
from lanceref.core.errors import FormatError, NotFound, VersionNotFound
from lanceref.storage import Store

FOLDER = "_versions"
"""Where manifests are below the table's root."""

SUFFIX = ".manifest"
"""How the name of every manifest ends; other files in the folder are left over from staging."""

HINT = "latest_version_hint.json"
"""A JSON object with the latest version, written after each commit."""

TOP = 2**64 - 1
"""What V2 names count down from."""

DETACHED = 2**63
"""Bit of a version number that marks it as detached."""

Scheme = Literal["V1", "V2", "detached"]


@dataclass(frozen=True, slots=True)
class VersionName:
    """The name of one manifest, and what it says."""

    name: str
    scheme: Scheme
    version: int

    @property
    def path(self) -> str:
        """Path of the manifest below the root of the table."""
        return f"{FOLDER}/{self.name}"


def parse_name(name: str) -> VersionName | None:
    """Return what a file name says; None when it does not name a manifest."""
    digits = name.removesuffix(SUFFIX)
    if digits == name:
        return None
    detached = digits.startswith("d")
    digits = digits.removeprefix("d")
    if not (digits.isascii() and digits.isdigit()) or int(digits) > TOP:
        return None
    if detached:  # L.table.naming.detached
        return VersionName(name, "detached", int(digits))
    if len(digits) == 20:  # L.table.naming.v2
        return VersionName(name, "V2", TOP - int(digits))
    return VersionName(name, "V1", int(digits))  # L.table.naming.v1


def name_of(version: int, scheme: Scheme) -> VersionName:
    """Return the name of a version's manifest. Raises ValueError for a number it cannot carry."""
    if not 0 <= version <= TOP or (version >= DETACHED) != (scheme == "detached"):
        raise ValueError(f"version {version} has no {scheme} name")
    forms = {"V1": f"{version}", "V2": f"{TOP - version:020d}", "detached": f"d{version}"}
    return VersionName(forms[scheme] + SUFFIX, scheme, version)


def write_hint(store: Store, version: int) -> None:
    """Note the latest version, unless a listing is as fast.

    A hint that cannot be written is left as it was.
    """
    if store.lists_in_order:
        return
    with suppress(OSError):
        store.put(f"{FOLDER}/{HINT}", b'{"version":%d}' % version)


def list_versions(store: Store, ctx: Context) -> list[VersionName]:
    """Return the attached versions, oldest first. Raises NotFound when there is none."""
    parsed = (parse_name(name) for name in store.list(FOLDER))
    named = [entry for entry in parsed if entry is not None and entry.scheme != "detached"]
    if not named:
        raise NotFound(f"Dataset at path {store.root} was not found: no manifest in {FOLDER}")
    schemes = {entry.scheme for entry in named}
    if len(schemes) > 1:
        place, found = ctx.at(0), f"{len(named)} manifests named in both schemes"
        raise FormatError("L.table.naming.one-scheme", place, found, "one naming scheme in a table")
    return sorted(named, key=lambda entry: entry.version)


def find_version(store: Store, ctx: Context, version: int | None) -> VersionName:
    """Return the name of `version`, or of the latest. Raises NotFound."""
    if version is not None and version >= DETACHED:
        detached = name_of(version, "detached")
        if not store.exists(detached.path):
            raise VersionNotFound(
                f"Dataset at path {store.root}/{detached.path} was not found: no such version"
            )
        return detached
    named = list_versions(store, ctx)  # L.table.hint.advisory: the folder is asked, not the hint
    if version is None:
        return named[-1]  # L.table.naming.latest
    for entry in named:
        if entry.version == version:
            return entry
    raise VersionNotFound(
        f"Dataset at path {store.root}/{FOLDER}/{version}.manifest was not found: "
        f"the latest version is {named[-1].version}"
    )


COMMITTER = "lanceref"
"""Name of the writer in the records that it puts."""


@dataclass(frozen=True, slots=True)
class Record:
    """Path of the manifest of a version, from the table's root; its size where known."""

    version: int
    path: str
    size: int | None

    @property
    def name(self) -> str:
        """The name of the manifest: the last part of its path."""
        return self.path.rpartition("/")[2]

    @property
    def staged(self) -> bool:
        """Whether the path is that of a staged copy."""
        return parse_name(self.name) is None

    def placed(self) -> Record:
        """Return the record of the manifest in its place."""
        head, _, _ = self.name.partition(f"{SUFFIX}-")
        return replace(self, path=f"{FOLDER}/{head}{SUFFIX}") if self.staged else self


class ManifestStore(Protocol):
    """Records by table and version. Raises StoreFailed for what it cannot do.

    Paths are kept as `{key}/{path}`; a record is put in one step, and who asks next sees it.
    """

    def get(self, key: str, version: int) -> Record | None:
        """Return the record of a version of a table, None without one."""

    def latest(self, key: str) -> Record | None:
        """Return the record of the greatest version that is attached."""

    def put_if_absent(self, key: str, record: Record) -> bool:
        """Put a record only if its version has none; atomic. Return False when it has one."""

    def put_if_present(self, key: str, record: Record) -> bool:
        """Put a record in place of the one its version has. Return False when it has none."""

    def forget(self, key: str) -> None:
        """Remove the records of all versions of a table."""


def staged_record(name: VersionName, size: int) -> Record:
    """Return the record of a copy that nobody else stages."""
    return Record(name.version, f"{name.path}-{uuid4()}", size)


def parse_record(key: str, version: int, path: str, size: int | None) -> Record:
    """Return a record as it is kept. Raises FormatError for a path that cannot be its manifest."""
    below = path.removeprefix(f"{key}/")
    record = Record(version, below, size)
    name = parse_name(record.placed().name)
    if path == below or below.count("/") != 1 or not below.startswith(f"{FOLDER}/"):
        name = None
    if name is None or name.version != version:
        raise FormatError(
            "L.txn.store.path",
            Context(key).at(0),
            found=f"path {path!r:.200} of version {version}",
            wanted=f"a manifest of that version below {key}/{FOLDER}",
        )
    return record

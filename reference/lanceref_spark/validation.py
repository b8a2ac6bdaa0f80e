"""Distributed validation: many processes check a table.

A table is divided into units: the manifest with its transaction and references, groups of fragments
of about `GROUP_BYTES`, shares of about as many bytes of the pages of larger fragments, the row ids
of all fragments, each segment of an index, the write-ahead log. The findings and their order do not
depend on the processes. Segments are compared with their rows in a second phase, if the first one
has found no violation in indices.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from lanceref.checks import tables
from lanceref.checks.indices import check_entries, check_rows, check_segment, named_indices, parts
from lanceref.core.context import Context, Finding, plain_forms
from lanceref.core.errors import BytesError
from lanceref.core.limits import DEFAULT_LIMITS, Limits
from lanceref.index.mem_wal.shard_log import check_log
from lanceref.inspection import is_table, validate
from lanceref.storage import Store, StoreOptions, name_of_uri, store_options
from lanceref.storage.manifests.manifest_names import find_version
from lanceref.storage.manifests.opening import open_table
from lanceref.table.bases import Bases
from lanceref.table.fragments import Fragment
from lanceref.table.manifest import Manifest

from lanceref_spark.jobs import Executor

GROUP_BYTES = 32 << 20
"""Bytes of data files of a unit of several fragments."""

GROUP_FRAGMENTS = 64
"""Most fragments of a unit."""

MAX_SHARES = 1024
"""Most shares of a file, for any size in the manifest."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What is validated: path or URI, version of the table (0: none was found), and depth."""

    path: str
    version: int
    deep: bool
    limits: Limits
    options: StoreOptions


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of validation: its kind, and its fragments or segment.

    A unit of kind `pages` is one of `shares` shares of a file of its only fragment.
    """

    kind: str
    fragments: tuple[int, ...] = ()
    segment: int = 0
    file: int = 0
    share: int = 0
    shares: int = 1


@dataclass(frozen=True, slots=True)
class Checked:
    """A unit that was validated, and its findings."""

    unit: Unit
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """The validated units, in order, and the version of the table (None: a file)."""

    version: int | None
    checked: tuple[Checked, ...]

    @property
    def findings(self) -> list[Finding]:
        """All distinct findings, in the order of the units."""
        return list(dict.fromkeys(finding for one in self.checked for finding in one.findings))


def validate_with(
    executor: Executor,
    path: str | os.PathLike[str],
    *,
    deep: bool = False,
    version: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
    storage_options: dict[str, str] | None = None,
    allow_external: bool = True,
) -> Report:
    """Validate a file or table as `lanceref.validate` does, by an executor.

    Raises NotFound, Unreadable.
    """
    options = store_options(storage_options, allow_external=allow_external)
    if not is_table(path, options):
        findings = validate(path, deep=deep, limits=limits, storage_options=storage_options)
        return Report(None, (Checked(Unit("file"), tuple(findings)),))
    subject, units = plan(os.fspath(path), deep, version, limits, options)
    checked = list(executor.map(run, units, subject))
    are_valid = not any(
        finding.severity == "must"
        for one in checked
        if one.unit.kind in ("indices", "segment")
        for finding in one.findings
    )
    if deep and are_valid:
        later = [replace(one, kind="rows") for one in units if one.kind == "segment"]
        checked += executor.map(run, later, subject)
    return Report(subject.version or None, tuple(checked))


def plan(
    path: str, deep: bool, version: int | None, limits: Limits, options: StoreOptions
) -> tuple[Subject, list[Unit]]:
    """Divide a table into units; a table with an unreadable manifest is a single unit."""
    subject = Subject(path, version or 0, deep, limits, options)
    units = [Unit("table")]
    try:
        store, manifest, ctx = _open(subject, [])
        bases = Bases(store, manifest)
    except BytesError:
        return subject, units
    subject = replace(subject, version=find_version(store, ctx, version).version)
    for group in _groups(manifest.fragments):
        units += _cut(group, manifest.fragments) if deep else [Unit("fragments", group)]
    if deep:
        units.append(Unit("identities"))
    units.append(Unit("indices"))
    with ctx.piece():
        count = len(named_indices(manifest, bases, ctx).segments)
        units += [Unit("segment", segment=number) for number in range(count)]
    units.append(Unit("log"))
    return subject, units


def _groups(fragments: Sequence[Fragment]) -> Iterator[tuple[int, ...]]:
    """Yield groups of consecutive fragments of about equal bytes, by index in the manifest."""
    start = total = 0
    for number, fragment in enumerate(fragments):
        size = _size(fragment)
        if number > start and (total + size > GROUP_BYTES or number - start == GROUP_FRAGMENTS):
            yield tuple(range(start, number))
            start, total = number, 0
        total += size
    if fragments:
        yield tuple(range(start, len(fragments)))


def _size(fragment: Fragment) -> int:
    return sum(file.size_bytes for file in fragment.files)


def _cut(group: tuple[int, ...], fragments: Sequence[Fragment]) -> Iterator[Unit]:
    """Yield the unit of a group, or of its only fragment without values, and shares of values."""
    files = fragments[group[0]].files
    if len(group) > 1 or _size(fragments[group[0]]) <= GROUP_BYTES:
        yield Unit("fragments", group)
        return
    yield Unit("frame", group)
    for number, file in enumerate(files):
        if tables.shareable(file):
            shares = min(-(-max(1, file.size_bytes) // GROUP_BYTES), MAX_SHARES)
            for share in range(shares):
                yield Unit("pages", group, file=number, share=share, shares=shares)


def run(unit: Unit, subject: Subject) -> Checked:
    """Validate one unit in any process, without the fast forms (`core.context`)."""
    with plain_forms():
        return _run(unit, subject)


def _run(unit: Unit, subject: Subject) -> Checked:
    findings: list[Finding] = []
    if unit.kind == "table":
        _check_table(subject, findings)
        return Checked(unit, tuple(dict.fromkeys(findings)))
    store, manifest, ctx = _open(subject, [])
    ctx = replace(ctx, findings=findings)
    bases = Bases(store, manifest)
    with ctx.piece():
        if unit.kind in ("fragments", "frame"):
            values = unit.kind == "fragments"
            for number in unit.fragments:
                fragment = manifest.fragments[number]
                schema = manifest.schema
                tables.check_fragment(
                    fragment, schema, bases, ctx, deep=subject.deep, values=values
                )
        elif unit.kind == "pages":
            file = manifest.fragments[unit.fragments[0]].files[unit.file]
            tables.check_values(file, bases, ctx, unit.share, unit.shares)
        elif unit.kind == "identities":
            tables.check_identities(manifest, bases, ctx)
        elif unit.kind == "log":
            if named_indices(manifest, bases, ctx).mem_wal is not None:
                check_log(store, ctx)
        else:
            _check_index(unit, subject, manifest, bases, ctx)
    return Checked(unit, tuple(dict.fromkeys(findings)))


def _check_table(subject: Subject, findings: list[Finding]) -> None:
    ctx = Context(name_of_uri(subject.path), limits=subject.limits, findings=findings)
    store = open_table(subject.path, subject.options)
    with ctx.piece():
        manifest, inner = tables.open_checked(store, ctx, subject.version or None)
        Bases(store, manifest)
        tables.check_transition(store, manifest, inner, deep=subject.deep)
    tables.check_refs(store, ctx)


def _check_index(
    unit: Unit, subject: Subject, manifest: Manifest, bases: Bases, ctx: Context
) -> None:
    indices = named_indices(manifest, bases, ctx)
    if unit.kind == "indices":
        check_entries(indices, manifest, ctx)
        return
    segment = indices.segments[unit.segment]
    if unit.kind == "segment":
        check_segment(segment, ctx, deep=subject.deep)
        return
    for index, known in parts(indices):
        if known.entry.uuid == segment.entry.uuid:
            check_rows(index, segment, manifest, bases, ctx)


def _open(subject: Subject, findings: list[Finding]) -> tuple[Store, Manifest, Context]:
    """Open the manifest; the unit `table` has its findings."""
    store = open_table(subject.path, subject.options)
    ctx = Context(name_of_uri(subject.path), limits=subject.limits, findings=findings)
    manifest, ctx = tables.open_checked(store, ctx, subject.version or None)
    return store, manifest, ctx

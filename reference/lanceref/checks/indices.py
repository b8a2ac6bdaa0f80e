"""Indices, checked: the segments of a version, the files of each, and its values.

Only a scan of all rows shows whether an index has the values of the table. Rows that it holds
besides, deleted ones or of fragments that it does not cover any more, do no harm.

Clauses: L.index.segment.disjoint, L.index.segment.dataset-version, L.index.segment.files,
L.index.segment.complete
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from lanceref.checks.tables import open_checked
from lanceref.core.compute import bitmaps
from lanceref.core.context import Context
from lanceref.core.errors import NotYet, OperationRefused, UnknownVersion
from lanceref.core.file_versions import FROM_WORDS, V0_1
from lanceref.data_file.check import check_file, check_legacy
from lanceref.file.container import is_legacy
from lanceref.index.fragment_reuse import check_reuse
from lanceref.index.indices import Index, Indices, declared_kind, indexed_field, kind_of
from lanceref.index.mem_wal.shard_log import check_log
from lanceref.index.segment import Segment
from lanceref.index.training import Training
from lanceref.storage import Store
from lanceref.table.bases import Bases
from lanceref.table.manifest import UUID_BYTES, Manifest
from lanceref.table.rows import FragmentRows
from lanceref.transactions.manifest_builder import copy_of


def check_indices(store: Store, ctx: Context, *, version: int | None, deep: bool) -> None:
    """Check the indices of a version (None: the latest); `deep` decodes their files.

    Faults of the manifest itself are not reported again.
    """
    quiet = replace(ctx, findings=[])
    with quiet.piece():
        manifest, quiet = open_checked(store, quiet, version)
        bases = Bases(store, manifest)
        ctx = replace(ctx, file=quiet.file)
        with ctx.piece():
            indices = named_indices(manifest, bases, ctx)
            known = _broken(ctx)
            check_entries(indices, manifest, ctx)
            once = {_unnamed(one): one for one in reversed(indices.segments)}
            whole = [check_segment(one, ctx, deep=deep) for one in reversed(once.values())]
            if deep and all(whole) and _broken(ctx) == known:
                for index, segment in parts(indices):
                    if once.pop(_unnamed(segment), None) is not None:
                        check_rows(index, segment, manifest, bases, ctx)
            if indices.mem_wal is not None:
                check_log(store, ctx)


def _unnamed(segment: Segment) -> bytes:
    """Return the entry of a segment without its name: entries with the same files are alike."""
    entry = copy_of(segment.entry)
    entry.ClearField("name")
    return entry.SerializeToString(deterministic=True)


def _broken(ctx: Context) -> int:
    """Count what breaks a MUST; advice does not keep rows from being looked at."""
    return sum(finding.severity == "must" for finding in ctx.findings or ())


def named_indices(manifest: Manifest, bases: Bases, ctx: Context) -> Indices:
    """Return the indices of a version whose files can be found: those with a whole uuid."""
    named = [one for one in manifest.indices if len(one.uuid.uuid) == UUID_BYTES]
    return Indices(manifest, bases, ctx, named)


def parts(indices: Indices) -> list[tuple[Index, Segment]]:
    """Return each segment of an index that is known, with its index."""
    return [(index, segment) for index in indices.known for segment in index.segments]


def check_rows(
    index: Index, segment: Segment, manifest: Manifest, bases: Bases, ctx: Context
) -> None:
    """Report a live row that a segment covers and does not hold, or holds with another value."""
    kind, stable = index.kind, segment.stable_row_ids
    if index.path(manifest.schema) is None or not segment.built:
        return
    with ctx.piece(), _legacy_skipped():
        fragments = [one for one in manifest.fragments if one.id in segment.covers]
        reading = replace(ctx, findings=None)  # what is broken has no values to compare
        rows = [FragmentRows(one, bases, reading, stable) for one in fragments]
        by_address = kind.has_addresses(segment.entry.index_version, stable)
        indexed = indexed_field(manifest.schema, index.field_id)
        if not kind.accepts(indexed.field):
            found, wanted = f"a field of {indexed.field.arrow.type}", f"one for {kind.name}"
            ctx.lint("L.index.segment.entry", segment.place, found, wanted)
            return
        try:
            kind.check_rows(segment, Training(indexed, rows, stable, by_address))
        except (NotYet, OperationRefused) as error:  # its texts can only be cut elsewhere
            clause, wanted = "L.index.segment.complete", "rows that can be compared here"
            ctx.lint(clause, segment.place, f"{error}", wanted, severity="note")


LEGACY_WORDS = [words for words, version in FROM_WORDS.items() if version == V0_1]


@contextmanager
def _legacy_skipped() -> Iterator[None]:
    """Go on where files are of 0.1, as early releases wrote them: their rows are scanned."""
    try:
        yield
    except UnknownVersion as error:
        if error.found not in LEGACY_WORDS:
            raise


def check_entries(indices: Indices, manifest: Manifest, ctx: Context) -> None:
    """Compare the segments of an index with each other, the version, and the reuse index."""
    check_reuse(indices.segments, ctx)
    version = manifest.version
    covered: dict[str, bitmaps.BitMap] = {}
    for segment in indices.segments:
        name, stated = segment.entry.name, segment.entry.dataset_version
        twice = covered.setdefault(name, bitmaps.BitMap()) & segment.holds
        if twice:
            found = f"fragments {list(twice)[:8]} in two segments of {name!r}"
            ctx.lint("L.index.segment.disjoint", segment.place, found, "each in one")
        covered[name] |= segment.holds
        if stated > version:
            found, wanted = f"version {stated} of {name!r}", f"at most {version}"
            ctx.lint("L.index.segment.dataset-version", segment.place, found, wanted)


def check_segment(segment: Segment, ctx: Context, *, deep: bool) -> bool:
    """Open every file of a segment; with `deep` decode it and what its type makes of it.

    Return whether no MUST was found broken.
    """
    known = _broken(ctx)
    declared = declared_kind(segment.entry)
    if declared is not None:
        declared.check_entry(segment)
    for file in segment.entry.files:
        if not file.path.endswith(".lance"):
            continue
        with ctx.piece():
            source = segment.source(file.path)
            if not is_legacy(source):
                opened = segment.file(file.path)
                if deep:
                    check_file(opened.source, opened.ctx)
            elif deep:
                check_legacy(source, segment.within(file.path))
    kind = kind_of(segment.entry)
    if kind is not None and segment.built and _broken(ctx) == known:
        with ctx.piece(), _legacy_skipped():
            kind.open(segment)
        if deep:
            with ctx.piece(), _legacy_skipped():
                kind.check(segment)
    return _broken(ctx) == known

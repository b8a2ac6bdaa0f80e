"""A whole table, checked: the manifest and every file it names.

Each live row has an id that no other has, and versions in their order. An update moves a row to a
new fragment and keeps its id, so an id may be in several fragments, but only once among live rows.

Clauses: L.table.naming.version, L.table.files.exist, L.table.deletions.count,
L.table.datafile.type, L.txn.file.name, L.txn.inline.same, L.table.refs.exists,
L.table.refs.tag-name, L.table.refs.branch-name, L.table.row-ids.unique, L.table.row-ids.next,
L.table.row-versions.order
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.budget import Budget
from lanceref.core.compute import pc
from lanceref.core.context import Context
from lanceref.core.errors import NotFound, Place, RefRefused
from lanceref.core.file_versions import V0_1
from lanceref.data_file.check import check_file, check_share, values_below
from lanceref.data_file.data_file import DataFile
from lanceref.data_file.descriptors import EXTERNAL
from lanceref.file.schema import Field, LanceSchema
from lanceref.file_0_1.check import check_legacy
from lanceref.proto import table_pb2
from lanceref.storage import Store
from lanceref.storage.manifests.manifest_names import find_version
from lanceref.table.bases import Bases
from lanceref.table.columns import FragmentReader, OpenFile
from lanceref.table.file_entries import FileOfFragment
from lanceref.table.fragments import Fragment
from lanceref.table.lineage import CREATED_AT, LAST_UPDATED_AT, ROW_ID, STORED, Values, open_lineage
from lanceref.table.logical import BlobHandling, logical_schema
from lanceref.table.manifest import Manifest, open_manifest
from lanceref.table.refs import (
    check_branch_name,
    check_stored_branch,
    check_tag_name,
    list_branches,
    list_tags,
)
from lanceref.table.rows import FragmentRows
from lanceref.transactions.transaction import FOLDER as TRANSACTIONS
from lanceref.transactions.transaction import check_name, open_transaction
from lanceref.transactions.version_transition import check_succession

if TYPE_CHECKING:
    from pyroaring import BitMap64


RUN_ROWS = 2**16
"""Rows looked at together."""

Numbers = NDArray[np.uint64]

Fault = tuple[str, str, str]
"""Clause, what was found, what was wanted."""


class Identities:
    """The ids of the live rows of a table, fragment after fragment."""

    def __init__(self, manifest: Manifest, ctx: Context) -> None:
        from pyroaring import BitMap64  # only a deep check needs it

        self._ids: BitMap64 = BitMap64()
        self._next = manifest.message.next_row_id
        self._version = manifest.version
        self._ctx = ctx

    def check(self, rows: FragmentRows, lineage: Mapping[str, Values | None]) -> None:
        """Hold the ids and versions of a fragment against those before; report each clause once."""
        if all(values is None for values in lineage.values()):
            return
        ids, place = lineage.get(ROW_ID), rows.fragment.place
        reported: set[str] = set()
        for offsets in _live_runs(rows):
            if ids is not None:
                faults = self._ids_faults(ids.at(offsets))
                self._report(faults, reported, rows.fragment.id, place)
            versions = [
                np.ones(len(offsets), np.uint64) if values is None else values.at(offsets)
                for values in (lineage.get(CREATED_AT), lineage.get(LAST_UPDATED_AT))
            ]
            if any(lineage.get(name) is not None for name in (CREATED_AT, LAST_UPDATED_AT)):
                faults = self._version_faults(*versions)
                self._report(faults, reported, rows.fragment.id, place)

    def _ids_faults(self, ids: Numbers) -> Iterator[Fault]:
        """Yield (clause, found, wanted) for the ids of some more live rows."""
        found = type(self._ids)(ids)
        if len(found) < len(ids):
            values, counts = np.unique(ids, return_counts=True)
            again = int(values[counts > 1][0])
            yield "L.table.row-ids.unique", f"row id {again} twice", "an id for each row"
        elif not found.isdisjoint(self._ids):
            again = (found & self._ids).min()
            yield "L.table.row-ids.unique", f"row id {again} twice", "an id for each row"
        self._ids |= found
        highest = int(ids.max())
        if highest >= self._next:
            yield "L.table.row-ids.next", f"row id {highest}", f"below next_row_id {self._next}"

    def _version_faults(self, created: Numbers, updated: Numbers) -> Iterator[Fault]:
        """Yield (clause, found, wanted) for the versions of some rows."""
        wrong = (created < 1) | (created > updated) | (updated > self._version)
        if wrong.any():
            first = int(np.argmax(wrong))
            yield (
                "L.table.row-versions.order",
                f"created in {int(created[first])}, updated in {int(updated[first])}",
                f"1 <= created <= updated <= {self._version}",
            )

    def _report(
        self, faults: Iterator[Fault], reported: set[str], fragment_id: int, place: Place
    ) -> None:
        for clause, found, wanted in faults:
            if clause not in reported:
                reported.add(clause)
                where = f"{found}, in fragment {fragment_id}"
                self._ctx.lint(clause, place, found=where, wanted=wanted)


def _live_runs(rows: FragmentRows) -> Iterator[NDArray[np.int64]]:
    """Yield the offsets of the live rows of a fragment, a run at a time."""
    live = rows.columns.bounded_rows - len(rows.deleted)
    for first in range(0, live, RUN_ROWS):
        yield rows.offsets(np.arange(first, min(first + RUN_ROWS, live)))


def check_dataset(store: Store, ctx: Context, *, version: int | None, deep: bool) -> None:
    """Check a version (None: the latest) of the table in `store`; `deep` decodes the data files."""
    with ctx.piece():
        manifest, ctx = open_checked(store, ctx, version)
        bases = Bases(store, manifest)
        for fragment in _different(manifest.fragments):
            check_fragment(fragment, manifest.schema, bases, ctx, deep=deep)
        if deep:
            check_identities(manifest, bases, ctx)
        check_making(store, manifest, ctx, deep=deep)
    check_refs(store, ctx)


def _different(fragments: Iterable[Fragment]) -> Iterator[Fragment]:
    """Yield fragments, of those that differ in their ids alone the first.

    The id names the deletion file: a fragment that has one is like no other.
    """
    seen = set[bytes]()
    for fragment in fragments:
        plain = table_pb2.DataFragment()
        plain.CopyFrom(fragment.message)
        if fragment.deletion_file is None:
            plain.id = 0
        key = plain.SerializeToString(deterministic=True)
        if key not in seen:
            seen.add(key)
            yield fragment


def open_checked(store: Store, ctx: Context, version: int | None) -> tuple[Manifest, Context]:
    """Open the manifest of a version, and return it with the context that names it."""
    name = find_version(store, ctx, version)
    ctx = replace(ctx, file=PurePosixPath(name.path).name, budget=Budget(ctx.limits))
    manifest = open_manifest(store.open(name.path), ctx)
    if manifest.version != name.version:
        ctx.lint(
            "L.table.naming.version",
            manifest.place,
            found=f"version {manifest.version}",
            wanted=f"{name.version}, as the file name says",
        )
    return manifest, ctx


def check_making(store: Store, manifest: Manifest, ctx: Context, *, deep: bool) -> None:
    """Check the transaction of a version; `deep` also what it made of the version before."""
    _check_transaction(store, manifest, ctx)
    if deep:
        check_succession(store, manifest, ctx)


def check_refs(store: Store, ctx: Context) -> None:
    """Check the branches and tags of a table."""
    with ctx.piece():
        for name, branch in list_branches(store, ctx).items():
            _check_ref_name(name, check_branch_name, "L.table.refs.branch-name", ctx)
            with ctx.piece():
                check_stored_branch(branch["parent_branch"], Place(f"{name}.json", 0))
    with ctx.piece():
        _check_tags(store, ctx)


def _check_ref_name(name: str, check: Callable[[str], None], clause: str, ctx: Context) -> None:
    try:
        check(name)
    except RefRefused as refusal:
        place = Place(f"{name}.json", 0)
        ctx.lint(clause, place, found=repr(name[:80]), wanted=f"another name: {refusal}")


def check_fragment(
    fragment: Fragment,
    schema: LanceSchema,
    bases: Bases,
    ctx: Context,
    *,
    deep: bool,
    values: bool = True,
) -> None:
    """Open what a fragment names: its files, its deletions, its sequences; `deep` decodes them.

    Without `values` those of `shareable` files are left to `check_values`.
    """
    rows = FragmentRows(fragment, bases, ctx, stable_ids=True)
    overlaid = [overlay.file for overlay in fragment.overlays]
    for file in (*fragment.files, *overlaid):
        with ctx.piece():
            opened = rows.columns.open(file, whole=file not in overlaid)
            if deep:
                _check_types(opened, file, schema)
                source = bases.open_data_file(file.path, file.base_id)
                file_ctx = replace(ctx, file=PurePosixPath(file.path).name)
                if file.version == V0_1:
                    check_legacy(source, file_ctx, file.columns, bases.dictionaries)
                else:
                    check_file(source, file_ctx, values=values)
    if deep:
        for field in schema.fields:
            with ctx.piece():
                rows.columns.column(field)
            with ctx.piece():
                _check_blobs(rows.columns, field)
    with ctx.piece():
        _ = rows.deleted
    for name in STORED:
        with ctx.piece():
            open_lineage(name, rows.columns, ctx)


def shareable(file: FileOfFragment) -> bool:
    """Whether the values of a data file can be checked in shares: those of 0.1 cannot."""
    return file.version != V0_1


def check_values(file: FileOfFragment, bases: Bases, ctx: Context, share: int, shares: int) -> None:
    """Check one of several shares of the values of a data file."""
    with ctx.piece():
        source = bases.open_data_file(file.path, file.base_id)
        file_ctx = replace(ctx, file=PurePosixPath(file.path).name)
        check_share(source, file_ctx, share, shares)


def check_identities(manifest: Manifest, bases: Bases, ctx: Context) -> None:
    """Hold the ids and versions of all rows against each other.

    What is wrong with the files and sequences themselves is not said again.
    """
    live = Identities(manifest, ctx)
    quiet = replace(ctx, findings=[])
    for fragment in manifest.fragments:
        rows = FragmentRows(fragment, bases, quiet, stable_ids=True)
        with quiet.piece():
            live.check(rows, {name: open_lineage(name, rows.columns, quiet) for name in STORED})


def _check_blobs(columns: FragmentReader, field: Field) -> None:
    """Look for the bytes of every blob that the table itself holds; external ones are not ours."""
    if not any(one.is_blob_v2 for one in field.flat()):
        return
    (described,) = logical_schema(LanceSchema((field,)), BlobHandling.DESCRIPTIONS).fields
    start = 0
    for array in columns.column(described).scan(0, columns.physical_rows):
        rows = np.arange(start, start + len(array))
        start += len(array)
        files = columns.blob_files(described, rows)
        for own in dict.fromkeys(files):
            mask = pa.array([file is own for file in files])
            for descriptors in values_below(
                array.filter(mask), described, lambda one: one.is_blob_v2
            ):
                inside = pc.not_equal(descriptors.field("kind"), EXTERNAL)
                for _ in own.locate(descriptors.filter(inside)):
                    pass


def _check_types(opened: OpenFile, file: FileOfFragment, schema: LanceSchema) -> None:
    """Hold the types that the file gives its fields against those of the table."""
    own = opened.descriptor if isinstance(opened, DataFile) else opened.manifest
    if own is None:
        return
    stored = {field.id: field for field in own.schema.flat()}
    for field in schema.flat():
        inside = stored.get(field.id)
        if field.id not in file.columns or inside is None:
            continue
        if inside.logical_type != field.logical_type:
            opened.bytes.ctx.lint(
                "L.table.datafile.type",
                own.place,
                found=f"{inside.logical_type} for field {field.id} ({field.name!r})",
                wanted=f"{field.logical_type}, as the manifest says",
            )


def _check_transaction(store: Store, manifest: Manifest, ctx: Context) -> None:
    """Hold the transaction file against the inline transaction; either may be missing."""
    name = manifest.message.transaction_file
    path = f"{TRANSACTIONS}/{name}"
    if "/" in name or "\0" in name:
        found = f"transaction file {name!r:.80}"
        ctx.lint("L.txn.file.name", manifest.place, found=found, wanted="the name of a file")
        return
    if not name or manifest.transaction is None or not store.exists(path):
        return
    with ctx.piece():
        source = store.open(path)
        file_ctx = replace(ctx, file=name)
        stored = open_transaction(source, file_ctx)
        check_name(stored, source, file_ctx)
        if stored != manifest.transaction:  # L.txn.inline.wins: the file is only looked at
            file_ctx.lint(
                "L.txn.inline.same",
                file_ctx.at(0, source.size),
                found="another transaction than the inline one",
                wanted="the same transaction",
            )


def _check_tags(store: Store, ctx: Context) -> None:
    """Look for the version of every tag of the main branch."""
    for name, tag in list_tags(store, ctx).items():
        _check_ref_name(name, check_tag_name, "L.table.refs.tag-name", ctx)
        with ctx.piece():
            check_stored_branch(tag["branch"], Place(f"{name}.json", 0))
        if tag["branch"] is not None:
            continue
        try:
            find_version(store, ctx, tag["version"])
        except NotFound as error:
            ctx.lint(
                "L.table.refs.exists",
                Place(f"{name}.json", 0),
                found=str(error),
                wanted=f"version {tag['version']}",
            )

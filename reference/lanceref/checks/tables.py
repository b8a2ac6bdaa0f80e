"""A whole table, checked: the manifest and every file it names.

Each live row has an id that no other has, and versions in their order. An update moves a row to a
new fragment and keeps its id, so an id may be in several fragments, but only once among live rows.

Clauses: L.table.naming.version, L.table.files.exist, L.table.deletions.count,
L.table.datafile.type, L.txn.file.name, L.txn.inline.same, L.table.refs.exists,
L.table.refs.tag-name, L.table.refs.branch-name, L.table.row-ids.unique, L.table.row-ids.next,
L.table.row-versions.order
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import PurePosixPath

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.blobs.descriptors import EXTERNAL
from lanceref.core.compute import bitmaps, pc
from lanceref.core.context import Context
from lanceref.core.errors import NotFound, OperationRefused, Place
from lanceref.core.file_versions import V0_1
from lanceref.core.limits import Budget
from lanceref.data_file.check import check_file, check_legacy, check_share, values_below
from lanceref.data_file.data_file import DataFile
from lanceref.file.schema import Field, LanceSchema
from lanceref.storage import Source, Store
from lanceref.storage.manifests.manifest_names import find_version
from lanceref.table import refs
from lanceref.table.bases import OF_ROWS, Bases, Needed, needed_by
from lanceref.table.columns import FragmentReader, OpenFile
from lanceref.table.file_entries import FileOfFragment
from lanceref.table.fragments import Fragment
from lanceref.table.lineage import ROW_ID, STORED, is_stored, open_lineage
from lanceref.table.logical import BlobHandling, logical_schema
from lanceref.table.manifest import Manifest, open_manifest
from lanceref.table.rows import FragmentRows
from lanceref.transactions.apply import check_succession
from lanceref.transactions.manifest_builder import copy_of
from lanceref.transactions.transaction import FOLDER as TRANSACTIONS
from lanceref.transactions.transaction import check_name, open_transaction

RUN_ROWS = 2**16
"""Rows looked at together."""

Numbers = NDArray[np.uint64]


class Identities:
    """The ids of the live rows of a table, fragment after fragment."""

    def __init__(self, manifest: Manifest, ctx: Context) -> None:
        self._ids: bitmaps.BitMap64 | None = None
        self._next = manifest.message.next_row_id
        self._version = manifest.version
        self._ctx = ctx

    def check(self, rows: FragmentRows) -> None:
        """Compare the ids and versions of a fragment with those before; report each clause once."""
        faults: dict[str, tuple[str, str]] = {}
        live = rows.columns.bounded_rows - len(rows.deleted)
        for first in range(0, live, RUN_ROWS):
            positions = np.arange(first, min(first + RUN_ROWS, live))
            taken = rows.take(positions, (), tuple(STORED))
            ids, created, updated = (one.to_numpy() for one in taken)
            if is_stored(ROW_ID, rows.fragment.message):
                for clause, found, wanted in self._ids_faults(ids):
                    faults.setdefault(clause, (found, wanted))
            wrong = (created < 1) | (created > updated) | (updated > self._version)
            if wrong.any():
                at = int(np.argmax(wrong))
                found = f"created in {int(created[at])}, updated in {int(updated[at])}"
                wanted = f"1 <= created <= updated <= {self._version}"
                faults.setdefault("L.table.row-versions.order", (found, wanted))
        for clause, (found, wanted) in faults.items():
            where = f"{found}, in fragment {rows.fragment.id}"
            self._ctx.lint(clause, rows.fragment.place, where, wanted)

    def _ids_faults(self, ids: Numbers) -> Iterator[tuple[str, str, str]]:
        """Yield (clause, found, wanted) for the ids of some more live rows."""
        found, again = bitmaps.BitMap64(ids), None
        if self._ids is None:  # a table without stable ids needs no bitmaps
            self._ids = bitmaps.BitMap64()
        if len(found) < len(ids):
            values, counts = np.unique(ids, return_counts=True)
            again = int(values[counts > 1][0])
        elif not found.isdisjoint(self._ids):
            again = (found & self._ids).min()
        if again is not None:
            yield "L.table.row-ids.unique", f"row id {again} twice", "an id for each row"
        self._ids |= found
        highest = int(ids.max())
        if highest >= self._next:
            yield "L.table.row-ids.next", f"row id {highest}", f"below next_row_id {self._next}"


def check_dataset(store: Store, ctx: Context, *, version: int | None, deep: bool) -> None:
    """Check a version (None: the latest) of the table in `store`; `deep` decodes the data files."""
    with ctx.piece():
        manifest, ctx = open_checked(store, ctx, version)
        bases = Bases(store, manifest)
        for fragment in _different(manifest.fragments):
            check_fragment(fragment, manifest.schema, bases, ctx, deep=deep)
        if deep:
            check_identities(manifest, bases, ctx)
        check_transition(store, manifest, ctx, deep=deep)
    check_refs(store, ctx)


def _different(fragments: Iterable[Fragment]) -> Iterator[Fragment]:
    """Yield fragments without deletions that differ in more than their ids, and all others."""
    seen = set[bytes]()
    for fragment in fragments:
        plain = copy_of(fragment.message)
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
        wanted = f"{name.version}, as in the file name"
        ctx.lint("L.table.naming.version", manifest.place, f"version {manifest.version}", wanted)
    return manifest, ctx


def check_transition(store: Store, manifest: Manifest, ctx: Context, *, deep: bool) -> None:
    """Check the transaction of a version; `deep` also what it made of the version before."""
    _check_transaction(store, manifest, ctx)
    if deep:
        check_succession(store, manifest, ctx)


def check_refs(store: Store, ctx: Context) -> None:
    """Check the branches and tags of a table, and that the tagged main versions exist."""
    with ctx.piece():
        for name, branch in refs.list_branches(store, ctx).items():
            place, clause = Place(f"{name}.json", 0), "L.table.refs.branch-name"
            _check_ref(name, refs.check_branch_name, branch["parent_branch"], clause, ctx, place)
    with ctx.piece():
        found = set[Needed]()
        for name, tag in refs.list_tags(store, ctx).items():
            place, clause = Place(f"{name}.json", 0), "L.table.refs.tag-name"
            _check_ref(name, refs.check_tag_name, tag["branch"], clause, ctx, place)
            try:
                if tag["branch"] is None:
                    _check_files(store, ctx, tag["version"], found)
            except NotFound as error:
                ctx.lint("L.table.refs.exists", place, error, f"version {tag['version']}")


def _check_files(store: Store, ctx: Context, version: int, found: set[Needed]) -> None:
    """Look for the files of a version's rows, but own ones already `found`, and add to these.

    Raises NotFound where there is no such version.
    """
    with ctx.piece():
        manifest, _ = open_checked(store, ctx, version)
        bases = Bases(store, manifest)
        for needed in needed_by(manifest, bases):
            if needed.kind in OF_ROWS and not needed.path.endswith("/") and needed not in found:
                bases.open_listed_file(needed.path, needed.base_id)
                if needed.base_id is None:  # another version may give a base another place
                    found.add(needed)


def _check_ref(
    name: str,
    check: Callable[[str], None],
    branch: str | None,
    clause: str,
    ctx: Context,
    place: Place,
) -> None:
    try:
        check(name)
    except OperationRefused as refusal:
        ctx.lint(clause, place, repr(name[:80]), f"another name: {refusal}")
    with ctx.piece():
        refs.check_stored_branch(branch, place)


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
                source, file_ctx = _file(file, bases, ctx)
                if file.version == V0_1:
                    check_legacy(source, file_ctx, file.columns, bases.dictionaries)
                else:
                    check_file(source, file_ctx, values=values)
    if deep:
        for field in schema.fields:
            with ctx.piece():
                _check_join(rows.columns, field)
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
        check_share(*_file(file, bases, ctx), share, shares)


def _file(file: FileOfFragment, bases: Bases, ctx: Context) -> tuple[Source, Context]:
    source = bases.open_data_file(file.path, file.base_id)
    return source, replace(ctx, file=PurePosixPath(file.path).name)


def check_identities(manifest: Manifest, bases: Bases, ctx: Context) -> None:
    """Compare the ids and versions of all rows with each other.

    Faults of the files and sequences themselves are not reported again.
    """
    live = Identities(manifest, ctx)
    quiet = replace(ctx, findings=[])
    for fragment in manifest.fragments:
        rows = FragmentRows(fragment, bases, quiet, stable_ids=True)
        with quiet.piece():
            if any(is_stored(name, fragment.message) for name in STORED):
                live.check(rows)


def _check_join(columns: FragmentReader, field: Field) -> None:
    """Open a field, and join its values where parts of it lie in several files."""
    own = {one.id for one in field.flat()}
    holders = [file for file in columns.fragment.files if not own.isdisjoint(file.columns)]
    column = columns.column(field)
    if len(holders) > 1:
        for _ in column.scan(0, columns.physical_rows):
            pass


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
            values = array.filter(pa.array([file is own for file in files]))
            for descriptors in values_below(values, described, lambda one: one.is_blob_v2):
                inside = pc.not_equal(descriptors.field("kind"), EXTERNAL)
                for _ in own.locate(descriptors.filter(inside)):
                    pass


def _check_types(opened: OpenFile, file: FileOfFragment, schema: LanceSchema) -> None:
    own = opened.descriptor if isinstance(opened, DataFile) else opened.manifest
    if own is None:
        return
    stored = {field.id: field for field in own.schema.flat()}
    for field in schema.flat():
        inside = stored.get(field.id) if field.id in file.columns else None
        if inside is not None and inside.logical_type != field.logical_type:
            found = f"{inside.logical_type} for field {field.id} ({field.name!r})"
            wanted = f"{field.logical_type}, as in the manifest"
            opened.bytes.ctx.lint("L.table.datafile.type", own.place, found, wanted)


def _check_transaction(store: Store, manifest: Manifest, ctx: Context) -> None:
    """Compare the transaction file with the inline transaction; either may be missing."""
    name = manifest.message.transaction_file
    path = f"{TRANSACTIONS}/{name}"
    if "/" in name or "\0" in name:
        ctx.lint("L.txn.file.name", manifest.place, f"{name!r:.80}", "the name of a file")
        return
    if not name or manifest.transaction is None or not store.exists(path):
        return
    with ctx.piece():
        source = store.open(path)
        file_ctx = replace(ctx, file=name)
        stored = open_transaction(source, file_ctx)
        check_name(stored, source, file_ctx)
        if stored != manifest.transaction:  # L.txn.inline.wins: the file is only looked at
            place = file_ctx.at(0, source.size)
            file_ctx.lint("L.txn.inline.same", place, "another transaction", "the inline one")

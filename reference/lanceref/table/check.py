"""A whole table, checked: the manifest and every file it names.

Clauses: L.table.naming.version, L.table.files.exist, L.table.deletions.count, L.txn.file.name,
L.txn.inline.same, L.table.refs.tag, L.table.row-ids.length
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import PurePosixPath

from lanceref.context import Context
from lanceref.errors import FormatError, NotFound
from lanceref.file.check import check_file
from lanceref.file.schema import LanceSchema
from lanceref.storage import Store
from lanceref.table.bases import Bases
from lanceref.table.fragments import Fragment
from lanceref.table.manifest import Manifest, open_manifest
from lanceref.table.naming import find_version
from lanceref.table.refs import list_branches, list_tags
from lanceref.table.row_ids import decode_row_ids, decode_versions
from lanceref.table.rows import FragmentRows
from lanceref.txn.transaction import FOLDER as TRANSACTIONS
from lanceref.txn.transaction import open_transaction


def check_dataset(store: Store, ctx: Context, *, version: int | None, deep: bool) -> None:
    """Check a version (None: the latest) of the table in `store`; `deep` decodes the data files."""
    with ctx.piece():
        name = find_version(store, ctx, version)
        ctx = replace(ctx, file=PurePosixPath(name.path).name)
        manifest = open_manifest(store.open(name.path), ctx)
        if manifest.version != name.version:
            ctx.lint(
                "L.table.naming.version",
                manifest.place,
                found=f"version {manifest.version}",
                wanted=f"{name.version}, as the file name says",
            )
        bases = Bases(store, manifest.message)
        for fragment in manifest.fragments:
            _check_fragment(fragment, manifest.schema, bases, ctx, deep)
        _check_transaction(store, manifest, ctx)
    for check in (list_tags, list_branches):
        with ctx.piece():
            check(store, ctx)


def _check_fragment(
    fragment: Fragment, schema: LanceSchema, bases: Bases, ctx: Context, deep: bool
) -> None:
    """Open what the fragment names: its files, its deletions, its sequences."""
    rows = FragmentRows(fragment, bases, ctx, stable_ids=True)
    for file in fragment.files:
        with ctx.piece(), _present(ctx, file.path):
            rows.columns.open(file)
            if deep:
                source = bases.open_data_file(file.path, file.base_id)
                check_file(source, replace(ctx, file=PurePosixPath(file.path).name))
    if deep:
        for field in schema.fields:
            with ctx.piece(), _present(ctx, field.name):
                rows.columns.column(field)
    with ctx.piece(), _present(ctx, f"deletion file of fragment {fragment.id}"):
        _ = rows.deleted
    message, place = fragment.message, ctx.at(0)
    with ctx.piece():
        if message.HasField("inline_row_ids"):
            decode_row_ids(message.inline_row_ids, fragment.physical_rows, ctx, place)
        for data in (
            message.inline_created_at_versions,
            message.inline_last_updated_at_versions,
        ):
            if data:
                decode_versions(data, fragment.physical_rows, ctx, place)


@contextmanager
def _present(ctx: Context, what: str) -> Iterator[None]:
    """Turn a missing file into an error about the manifest that names it."""
    try:
        yield
    except NotFound as error:
        raise FormatError(
            "L.table.files.exist", ctx.at(0), found="no such file", wanted=what
        ) from error


def _check_transaction(store: Store, manifest: Manifest, ctx: Context) -> None:
    """Hold the transaction file against the inline transaction; either may be missing."""
    name = manifest.message.transaction_file
    path = f"{TRANSACTIONS}/{name}"
    if not name or manifest.transaction is None or not store.exists(path):
        return
    with ctx.piece():
        source = store.open(path)
        file_ctx = replace(ctx, file=name)
        if open_transaction(source, file_ctx) != manifest.transaction:
            file_ctx.lint(
                "L.txn.inline.same",
                file_ctx.at(0, source.size),
                found="another transaction than the inline one",
                wanted="the same transaction",
            )

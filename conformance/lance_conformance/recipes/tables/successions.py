"""Versions that are not what their transaction makes of the version before.

Each reads well: what it lists is there and fits together. A validation makes the version once more
and tells the difference. The files of transactions are left out of these tables, so that the inline
one can be changed by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pyarrow as pa
import pylanceref
from lanceref.proto.table_pb2 import IndexSection, Manifest
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.table.row_ids import encode_versions
from lanceref.transactions.index_entries import set_covered

from lance_conformance.recipes.messages import setting
from lance_conformance.recipes.model import MessageEdit, Negative, Positive
from lance_conformance.recipes.oracle_made import dataset
from lance_conformance.recipes.staging import Staged
from lance_conformance.recipes.tables import commits_columns, commits_rows

_BUILDS: Mapping[str, Callable[[str], Staged]] = {
    "append": commits_rows.append,
    "append-stable": commits_rows.append_stable,
    "overwrite": commits_rows.overwrite,
    "delete": commits_rows.delete,
    "update": commits_rows.update,
    "update-stable": commits_rows.update_stable,
    "update-columns": commits_rows.update_columns,
    "rewrite": commits_rows.rewrite,
    "reserve": commits_rows.reserve,
    "restore": commits_rows.restore,
    "sticky": commits_rows.sticky,
    "project": commits_columns.project,
    "replace-last": commits_columns.replace_last,
    "create-index": commits_columns.create_index,
    "dead": commits_columns.dead_segment,
    "uncovered": commits_columns.uncovered,
}
"""Commits by the name of the table they leave."""


def _after(build: Callable[[str], Staged]) -> Callable[[str], pa.Table]:
    """Return the steps that build a table and commit what was staged for it."""

    def steps(uri: str) -> pa.Table:
        for operation, read_version in build(uri).operations:
            pylanceref.LanceDataset.commit(uri, operation, read_version=read_version)
        return pylanceref.dataset(uri).to_table()

    return steps


def _without_files(name: str) -> bool:
    return not name.startswith("_transactions/")


def _parent(name: str, clauses: tuple[str, ...] = ("L.txn.inline.message",)) -> Positive:
    made = dataset(_after(_BUILDS[name]), _without_files)
    return Positive(
        id=f"txn/any/after/{name}",
        title=f"a table after a commit: {name}",
        clauses=clauses,
        make=lambda: replace(made(), made_by="reference"),
        version="2.1",
        kind="read-dataset",
    )


def _lint(parent: str, slug: str, title: str, clause: str, where: str,
          edit: Callable[..., None], version: int = 3) -> Negative:  # fmt: skip
    target = f"_versions/{2**64 - 1 - version}.manifest"
    return Negative(
        id=f"txn/any/after/lint-{parent}-{slug}",
        title=title,
        clause=clause,
        parent=f"txn/any/after/{parent}",
        change=MessageEdit(where, edit, target),
        meaning=title,
        kind="lint",
    )


def _config_lost(manifest: Manifest) -> None:
    manifest.ClearField("config")
    manifest.writer_feature_flags &= ~8


def _unflagged(manifest: Manifest) -> None:
    for word in ("reader_feature_flags", "writer_feature_flags"):
        setattr(manifest, word, getattr(manifest, word) & ~256)


def _created(fragment: int, rows: int, version: int) -> Callable[[Manifest], None]:
    def edit(manifest: Manifest) -> None:
        held = manifest.fragments[fragment]
        held.inline_created_at_versions = encode_versions(rows, version)

    return edit


def _not_updated(manifest: Manifest) -> None:
    held = manifest.fragments[0]
    held.inline_last_updated_at_versions = encode_versions(3, 1)


def _entry(name: str, number: int, fragments: set[int]) -> Callable[[IndexSection], None]:
    """Add an index entry like the one there is: of another name or for other fragments."""

    def edit(section: IndexSection) -> None:
        added = section.indices.add()
        added.CopyFrom(section.indices[0])
        added.name, added.uuid.uuid = name, number.to_bytes(16, "big")
        set_covered(added, fragments)

    return edit


def _covering(section: IndexSection) -> None:
    set_covered(section.indices[0], {0, 1})


def _tombstones(manifest: Manifest) -> None:
    """List a file once more, all of whose columns are replaced."""
    files = manifest.fragments[0].files
    files.add().CopyFrom(files[0])
    files[2].fields[0] = -2


def _other_deletion(transaction: Transaction) -> None:
    transaction.delete.updated_fragments[0].deletion_file.id += 1


def _nothing_deleted(transaction: Transaction) -> None:
    transaction.update.ClearField("updated_fragments")


def _more_appended(transaction: Transaction) -> None:
    transaction.append.fragments[0].physical_rows = 3


def _more_rewritten(transaction: Transaction) -> None:
    transaction.rewrite.groups[0].new_fragments[0].physical_rows = 6


def _other_name(transaction: Transaction) -> None:
    transaction.project.schema[0].name = "x"


POSITIVES: tuple[Positive, ...] = tuple(_parent(name) for name in _BUILDS)
"""A table after each commit."""

NEGATIVES: tuple[Negative, ...] = (
    _lint("append", "rows", "a fragment of other rows than appended", "L.txn.op.append",
          "transaction", _more_appended),
    _lint("append-stable", "created", "appended rows that say they were made before",
          "L.table.row-versions.new", "manifest", _created(2, 2, 1)),
    _lint("overwrite", "config", "an Overwrite that lost the config", "L.txn.op.overwrite",
          "manifest", _config_lost),
    _lint("delete", "other", "another deletion file than that of the Delete", "L.txn.op.delete",
          "transaction", _other_deletion),
    _lint("delete", "read-version", "a Delete of a version before the last one",
          "L.txn.rebase.read-version", "transaction", setting(read_version=1)),
    _lint("update", "not-deleted", "a deletion that is none of the Update's", "L.txn.op.update",
          "transaction", _nothing_deleted),
    _lint("update-stable", "created", "a moved row that says the Update made it",
          "L.table.row-versions.moved", "manifest", _created(2, 2, 3)),
    _lint("update-columns", "not-updated", "changed rows that say nothing changed them",
          "L.table.row-versions.updated", "manifest", _not_updated),
    _lint("rewrite", "rows", "a fragment of other rows than rewritten", "L.txn.op.rewrite",
          "transaction", _more_rewritten, 4),
    _lint("reserve", "fewer", "fewer fragment ids than reserved", "L.txn.op.reserve",
          "manifest", setting(max_fragment_id=4)),
    _lint("restore", "lower", "a Restore that lowers the highest fragment id",
          "L.txn.op.restore", "manifest", setting(max_fragment_id=1), 5),
    _lint("sticky", "gone", "the flag of mixed versions is gone", "L.table.flags.sticky",
          "manifest", _unflagged, 5),
    _lint("project", "name", "a field of another name than projected", "L.txn.op.project",
          "transaction", _other_name, 4),
    _lint("replace-last", "tombstones", "a file all of whose columns are replaced",
          "L.table.datafile.all-replaced", "manifest", _tombstones, 4),
    _lint("create-index", "kept", "an index entry that nobody created", "L.txn.op.create-index",
          "index section", _entry("j", 9, {0}), 4),
    _lint("dead", "kept", "an index entry without a live fragment", "L.txn.op.index-dead",
          "index section", _entry("i", 1, {0}), 4),
    _lint("uncovered", "covered", "an index that covers a changed fragment",
          "L.txn.op.update-index", "index section", _covering, 4),
)  # fmt: skip
"""Every version that is not what its transaction makes."""

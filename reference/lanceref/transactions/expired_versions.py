"""Gone versions: what a cleanup took away between the version a transaction read and the latest.

Nobody can say any more what they did, but of some transactions that makes no difference, and of
others the latest version tells enough: a fragment with the same data files and no deletion file is
as it was, and rows that were taken out since are in its deletion file now.

Clauses: L.txn.conflict.gone, L.txn.conflict.unknown

Divergences: D.txn.gone-versions
"""

from __future__ import annotations

from collections.abc import Sequence

from lanceref.proto import table_pb2
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.table.manifest import Manifest
from lanceref.transactions.manifest_builder import Staged
from lanceref.transactions.write_set import moves_fields

ALOOF = ("overwrite", "restore", "update_config", "update_bases", "reserve_fragments")
"""Operations that are made from nothing a version before holds."""

Fragments = dict[int, table_pb2.DataFragment]


def assumed(staged: Staged, latest: Manifest) -> Transaction | None:
    """Return one transaction that stands for all that are gone; None when nobody can tell.

    It touches what they may have touched of that which ours was made from.
    """
    ours = staged.transaction
    nothing = Transaction()
    nothing.reserve_fragments.num_fragments = 0
    operation = ours.WhichOneof("operation")
    live = {one.id: one for one in latest.message.fragments}
    if operation in ALOOF:
        return nothing
    if operation == "append":
        return nothing if _fits(ours.append.fragments, latest) else None
    if operation == "rewrite":
        old = [one for group in ours.rewrite.groups for one in group.old_fragments]
        return nothing if all(live.get(one.id) == one for one in old) else None
    if operation == "create_index":
        return nothing if staged.read is not None and _same_files(staged.read, live) else None
    if operation == "delete":
        removed = ours.delete.deleted_fragment_ids
        known = live.keys() >= {*removed, *(one.id for one in ours.delete.updated_fragments)}
        return _deletions(ours.delete.updated_fragments, live) if known else None
    if operation == "update" and _is_told(ours, latest, live):
        return _deletions(ours.update.updated_fragments, live)
    return None


def _is_told(ours: Transaction, latest: Manifest, live: Fragments) -> bool:
    """Whether the latest version tells of all rows that an Update moves what became of them."""
    given = ours.update
    if moves_fields(ours) or given.HasField("inserted_rows") or given.removed_fragment_ids:
        return False
    same = all(
        one.id in live and list(live[one.id].files) == list(one.files)
        for one in given.updated_fragments
    )
    return same and _fits(given.new_fragments, latest)


def _same_files(read: Manifest, live: Fragments) -> bool:
    """Whether the fragments that are left have the data files that they had."""
    return all(
        list(live[one.id].files) == list(one.files)
        for one in read.message.fragments
        if one.id in live
    )


def _fits(fragments: Sequence[table_pb2.DataFragment], latest: Manifest) -> bool:
    """Whether all columns of new fragments are columns of the table."""
    known = {one.id for one in latest.message.fields}
    held = {field for one in fragments for file in one.files for field in file.fields}
    return all(field in known for field in held if field >= 0)


def _deletions(touched: Sequence[table_pb2.DataFragment], live: Fragments) -> Transaction:
    """Return a Delete of the rows that are out of fragments now."""
    found = Transaction()
    now = [live[one.id] for one in touched]
    found.delete.updated_fragments.extend(one for one in now if one.HasField("deletion_file"))
    return found

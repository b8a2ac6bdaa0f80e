"""Index entries of a commit: which indices the next version lists, and which fragments they cover.

CreateIndex adds and removes entries; other operations leave the files of an index as they are and
only edit its entry: a fragment whose indexed values changed is no longer covered, one that a
rewrite put in place of covered ones is.

Clauses: L.txn.op.create-index, L.txn.op.update-index, L.txn.op.index-fields, L.txn.op.index-dead,
L.txn.op.rewrite-index, L.index.reuse.applied, L.table.limits.bitmap

Divergences: D.txn.items-under-list-index
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from lanceref.core.compute import bitmaps
from lanceref.core.context import Context
from lanceref.core.cursor import Cursor, M, parse_message
from lanceref.core.errors import LimitExceeded, OperationRefused, Place
from lanceref.proto import table_pb2
from lanceref.proto.index_details_pb2 import FragmentReuseIndexDetails
from lanceref.proto.index_pb2 import JsonIndexDetails
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.table.file_entries import overlaid_since
from lanceref.table.fragments import check_moved
from lanceref.table.manifest import COVERED_BYTES
from lanceref.table.roaring import parse_embedded
from lanceref.transactions.manifest_builder import REUSE_INDEX, Builder, assign

MEM_WAL_INDEX = "__lance_mem_wal"
SYSTEM_INDICES = (REUSE_INDEX, MEM_WAL_INDEX)
"""Indices over no field."""

BY_ADDRESS = ("zonemapindexdetails", "bloomfilterindexdetails", "fmindexdetails")
"""Types of indices that keep addresses even where rows have stable ids."""

Entries = Sequence[table_pb2.IndexMetadata]
Groups = Sequence[tuple[list[int], list[int]]]
"""Old fragments, and the new ones that have their rows."""


def covered(index: table_pb2.IndexMetadata) -> bitmaps.BitMap | None:
    """Return the fragments an entry covers; None when that is unknown.

    Raises FormatError; LimitExceeded for more fragments than may be listed.
    """
    data = index.fragment_bitmap
    if not data:
        return None
    ctx, place = Context("index"), Place("index", 0, len(data))
    fragments = parse_embedded(data, ctx, place)
    most = ctx.limits.expanded(len(data)) // COVERED_BYTES
    if len(fragments) > most:  # a run of 4 bytes holds up to 65 536 fragments
        names = f"{len(fragments)} fragments"
        raise LimitExceeded("L.table.limits.bitmap", place, names, f"at most {most}")
    return fragments


def set_covered(
    index: table_pb2.IndexMetadata, fragments: Iterable[int], *, runs: bool = False
) -> None:
    """Say which fragments an entry covers, with `runs` of neighbours where that is shorter."""
    index.fragment_bitmap = bitmaps.BitMap(list(fragments), optimize=runs).serialize()


def _known(indices: Entries) -> Iterator[tuple[table_pb2.IndexMetadata, bitmaps.BitMap]]:
    """Yield the entries with known fragments, and these."""
    for index in indices:
        bitmap = covered(index)
        if bitmap is not None:
            yield index, bitmap


def create_index(builder: Builder) -> None:
    """Remove entries by uuid, and put new ones after the others, once each.

    Raises OperationRefused for an entry on a field that the table does not have.
    """
    operation = builder.transaction.create_index
    replaced = {one.uuid.uuid for one in (*operation.removed_indices, *operation.new_indices)}
    others = [one for one in builder.indices if one.uuid.uuid not in replaced]
    for index in operation.new_indices:
        missing = sorted(set(index.fields) - builder.field_ids)
        if missing:
            raise OperationRefused(f"index {index.name!r} is on fields {missing} of no column")
    builder.indices[:] = [*others, *operation.new_indices]


def bring_forward(indices: Entries) -> None:
    """Put in every entry the fragments that now hold the rows of those it covers.

    A compaction that left indices as they are has an entry of its own for that, which names the
    new fragments itself; others do where they cover all of a group. Where its message is in a file
    of its own the entries stay as they are.
    """
    # L.index.reuse.applied
    for reuse in indices:
        if reuse.name != REUSE_INDEX:
            continue
        groups = _moves(reuse)
        for index, before in _known(indices):
            now = before
            for old, new in groups:
                own = index is reuse and now.intersect(bitmaps.BitMap(old))
                if own or (old and now.issuperset(bitmaps.BitMap(old))):
                    now = (now - bitmaps.BitMap(old)) | bitmaps.BitMap(new)
            set_covered(index, now)


def moved_fragments(indices: Entries) -> bitmaps.BitMap:
    """Return the fragments whose rows an entry among them follows."""
    moves = [_moves(reuse) for reuse in indices if reuse.name == REUSE_INDEX]
    return bitmaps.BitMap([number for groups in moves for old, _ in groups for number in old])


def _moves(reuse: table_pb2.IndexMetadata) -> Groups:
    """Return the groups of all versions, oldest first, in the entry. Raises FormatError."""
    name, clause = "fragment reuse", "L.index.reuse.external"
    versions = _details(reuse, FragmentReuseIndexDetails, name, clause).inline.versions
    for version in versions:
        check_moved(version, Place("index", 0))
    return [
        ([one.id for one in group.old_fragments], [one.id for one in group.new_fragments])
        for version in sorted(versions, key=lambda one: one.dataset_version)
        for group in version.groups
    ]


def _details(index: table_pb2.IndexMetadata, kind: type[M], name: str, clause: str) -> M:
    """Return the details of an entry as a message. Raises BadProto."""
    data = index.index_details.value
    cursor, place = Cursor(memoryview(data), 0, Context("index")), Place("index", 0, len(data))
    return parse_message(cursor, kind, name, clause, place)


def drop_unused_entries(builder: Builder) -> None:
    """Drop entries whose field was removed, and of several of one name those of no live fragment.

    If none of them has any the oldest stays.
    """
    ids = builder.field_ids
    entries = builder.indices
    used = [one for one in entries if one.name in SYSTEM_INDICES or ids.issuperset(one.fields)]
    live = bitmaps.BitMap([one.id for one in builder.message.fragments])
    by_name: dict[str, list[table_pb2.IndexMetadata]] = {}
    for index in used:
        by_name.setdefault(index.name, []).append(index)
    dead: set[bytes] = set()
    for name, entries in by_name.items():
        if name == REUSE_INDEX or len(entries) == 1:
            continue
        empty = [one for one in entries if not (covered(one) or bitmaps.BitMap()) & live]
        if len(empty) == len(entries):
            empty.remove(min(empty, key=lambda one: one.dataset_version))
        dead.update(one.uuid.uuid for one in empty)
    builder.indices[:] = [one for one in used if one.uuid.uuid not in dead]


def uncover_fragments(builder: Builder, fields: Collection[int], fragments: Sequence[int]) -> None:
    """Note that indices on the fields no longer cover the fragments: their values changed.

    So did those of the ancestors of the fields: an index on a list is one on its items.
    """
    parents = {field.id: field.parent_id for field in builder.message.fields}
    changed = set(fields)
    for field in fields:
        while (field := parents.get(field, -1)) >= 0:
            changed.add(field)
    for index, bitmap in _known(builder.indices):
        if not changed.isdisjoint(index.fields):
            set_covered(index, bitmap - bitmaps.BitMap(fragments))


def uncover_overlaid(builder: Builder) -> None:
    """Note that indices no longer cover groups of a Rewrite with newer values in an overlay.

    The values become those of the new fragments, and the files of an index have the old ones.
    """
    live = {one.id: one for one in builder.message.fragments}
    for index, bitmap in _known(builder.indices):
        stale = bitmaps.BitMap()
        for group in builder.transaction.rewrite.groups:
            old = [live[one.id] for one in group.old_fragments if one.id in live]
            if overlaid_since(old, index):
                stale |= bitmaps.BitMap([one.id for one in old])
        if stale:
            set_covered(index, bitmap - stale)


def _by_address(index: table_pb2.IndexMetadata) -> bool:
    """Return whether the keys of an entry are addresses; over JSON the type of the values decides.

    Raises BadProto.
    """
    details = index.index_details
    if details.type_url.endswith(".JsonIndexDetails"):
        message = _details(index, JsonIndexDetails, "JSON index", "L.index.json.details")
        details = message.target_details
    type_name = details.type_url.rpartition(".")[2].lower()
    return type_name in BY_ADDRESS or (type_name == "btreeindexdetails" and index.index_version > 0)


def widen_bitmaps(
    builder: Builder, added: Sequence[int], sources: Sequence[int], changed: Collection[int]
) -> None:
    """Note that indices by row id cover fragments of moved rows too, if none of theirs changed."""
    for index, bitmap in _known(builder.indices):
        unchanged = set(index.fields).isdisjoint(changed) and not _by_address(index)
        if added and unchanged and bitmaps.BitMap(sources) <= bitmap:
            set_covered(index, bitmap | bitmaps.BitMap(added))


def move_bitmaps(builder: Builder, groups: Groups, rewritten: Collection[bytes]) -> None:
    """Put new fragments in place of old ones where rows keep their ids. Raises OperationRefused.

    An index by address that is not among those `rewritten` (uuids) loses the old ones only.
    """
    replaced = bitmaps.BitMap([number for old, _ in groups for number in old])
    for index, bitmap in _known(builder.indices):
        if index.uuid.uuid not in rewritten:
            set_covered(index, bitmap - replaced if _by_address(index) else moved(bitmap, groups))


def moved(bitmap: bitmaps.BitMap, groups: Groups) -> bitmaps.BitMap:
    """Return a bitmap with the new fragments of each group in place of the old ones.

    Raises OperationRefused.
    """
    after = bitmaps.BitMap(bitmap)
    for old, new in groups:
        present = bitmaps.BitMap(old) & bitmap
        if present and len(present) < len(set(old)):
            raise OperationRefused(
                "The compaction plan included a rewrite group that was a split of indexed and "
                "non-indexed data"
            )
        if present:
            after = (after - present) | bitmaps.BitMap(new)
    return after


def swap_rewritten(
    builder: Builder, rewritten: Sequence[Transaction.Rewrite.RewrittenIndex], groups: Groups
) -> None:
    """Put the files of rewritten indices in place of the old ones. Raises OperationRefused.

    One that was dropped since they were written stays away.
    """
    by_uuid = {one.uuid.uuid: one for one in builder.indices}
    counts = Counter(one.old_id.uuid for one in rewritten)
    for one in rewritten:
        index = by_uuid.get(one.old_id.uuid)
        bitmap = None if index is None else covered(index)
        if counts[one.old_id.uuid] > 1 or (index is not None and bitmap is None):
            raise OperationRefused(
                f"Invalid compaction plan refers to index {one.old_id.uuid.hex()} "
                "which it lists twice, or whose fragments are unknown"
            )
        if index is None or bitmap is None:
            continue
        set_covered(index, moved(bitmap, groups))
        index.uuid.CopyFrom(one.new_id)
        if one.HasField("new_index_details"):
            index.index_details.CopyFrom(one.new_index_details)
        index.index_version = one.new_index_version
        assign(index.files, one.new_index_files)
        index.ClearField("base_id")

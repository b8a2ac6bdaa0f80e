"""Merge: rows of a source matched with those of a table by keys, and what is written for them.

A key with a null matches nothing. Matched rows are written anew, or get values of the source
without being moved: then each fragment with a matched row gets a file of the columns that the
source has. Only an update of matched rows can be written so, from a source that leaves columns out.

The values of the primary key that an Update has inserted are listed as a Bloom filter. Two merge
inserts may both find that a key is not there yet. Each lists the keys it inserts, so that the
second to commit sees that it may have inserted one again.

Layout of the filter: 32 KiB, as in `index.bloom`, of the hashes of keys. A key is eight bytes of an
integer, or the bytes of a text or binary value; those of several columns each end in a zero byte.
Keys of other types, and nulls, are not in the filter.

Clauses: L.txn.op.update, L.table.datafile.tombstone, L.txn.keys.listed,
L.txn.keys.filter

Divergences: D.table.merged-vector-null-0-1
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from xxhash import xxh64_intdigest

from lanceref.core.errors import EditFailed
from lanceref.core.integers import difference, intersection, union
from lanceref.index.bloom import Hashes, fill
from lanceref.index.predicate import scalar_text
from lanceref.index.training import BINARY, TEXT, is_any
from lanceref.operations.new_data import live_rows
from lanceref.operations.update import plain, replace_values, write_values
from lanceref.proto.transaction_pb2 import KeyExistenceFilter, Transaction
from lanceref.search.rows import Condition
from lanceref.search.snapshot import Snapshot, scan_projection
from lanceref.storage.protocol import Draft
from lanceref.table.lineage import ROW_ID
from lanceref.table.logical import BlobHandling

TARGET, SOURCE = "__target", "__source"

KEY_INDICES = ("BTreeIndexDetails", "BitmapIndexDetails")
"""Indices that find the rows of a key."""
Numbers = NDArray[np.int64]

Pairs = tuple[Numbers, Numbers]
"""Live row positions of the table, ascending, and of each a row of the source with its key."""


def match(snapshot: Snapshot, source: pa.Table, keys: Sequence[str]) -> Pairs:
    """Return the pairs of rows with equal keys."""
    projection = scan_projection(snapshot.schema(BlobHandling.DESCRIPTIONS), list(keys))
    end = snapshot.fragments.num_rows
    batches = snapshot.scan(snapshot.fragments, projection, 1 << 16, 0, end)
    own = _comparable(pa.Table.from_batches(batches, schema=projection.schema), keys)
    theirs = _comparable(source.select(list(keys)), keys)
    own = own.append_column(TARGET, pa.array(np.arange(len(own))))
    theirs = theirs.append_column(SOURCE, pa.array(np.arange(len(source))))
    pairs = own.join(theirs, list(keys), join_type="inner").sort_by(TARGET)
    return pairs[TARGET].to_numpy(), pairs[SOURCE].to_numpy()


def _comparable(table: pa.Table, keys: Sequence[str]) -> pa.Table:
    """Return the table with its keys in types that can be joined."""
    for name in keys:
        column = table[name]
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if pa.types.is_floating(column.type):
            column = column.cast(pa.float64())
        table = table.set_column(table.schema.get_field_index(name), name, column)
    return table


@dataclass(slots=True)
class Actions:
    """The actions of a merge.

    `update_if` is a condition on pairs, structs `source` and `target`; `delete_if` gives one on the
    rows of the table. None is always.
    """

    update: bool = False
    update_if: Callable[[pa.RecordBatch], NDArray[np.bool_]] | None = None
    delete: bool = False
    fail: bool = False
    insert: bool = False
    delete_unmatched: bool = False
    delete_if: Callable[[Snapshot], Condition] | None = None

    @property
    def only_deletes_matches(self) -> bool:
        """Whether matched rows go and nothing else happens."""
        return self.delete and not (self.update or self.insert or self.delete_unmatched)

    @property
    def only_deletes(self) -> bool:
        """Whether rows go, matched or not, and of the source only the keys count."""
        others = self.update or self.insert or self.fail
        return (self.delete or self.delete_unmatched) and not others

    def __bool__(self) -> bool:
        return self.update or self.delete or self.fail or self.insert or self.delete_unmatched


@dataclass(slots=True)
class MergePlan:
    """Live row positions to take out; the pairs to write anew; source rows to insert."""

    removed: Numbers
    updated: Numbers
    update_sources: Numbers
    inserted: Numbers
    num_deleted: int


def plan_merge(
    snapshot: Snapshot, source: pa.Table, keys: list[str], actions: Actions
) -> MergePlan:
    """Decide what becomes of every row. Raises EditFailed where a match must not be."""
    target, sources = pairs = match(snapshot, source, keys)
    if actions.fail and len(target):
        values = _shown(source, keys, int(sources[0]))
        raise EditFailed(f"Merge insert failed: found matching row with key values: {values}")
    none = np.empty(0, np.int64)
    updated, update_sources = (target, sources) if actions.update else (none, none)
    if actions.update and actions.update_if is not None:
        passed = _passing_pairs(snapshot, source, pairs, actions.update_if)
        updated, update_sources = updated[passed], update_sources[passed]
    deleted = target if actions.delete else none
    for changed, own in ((updated, update_sources), (deleted, sources)):  # both ascending
        twice = np.flatnonzero(changed[1:] == changed[:-1])
        if len(twice):
            values = _shown(source, keys, int(own[twice[0]]))
            raise EditFailed(
                "Invalid user input: Ambiguous merge inserts are prohibited: multiple source rows "
                f"match the same target row on ({values}). Please ensure each target row is "
                "matched by at most one source row."
            )
    if actions.delete_unmatched:
        unmatched = difference(np.arange(snapshot.fragments.num_rows), target)
        if actions.delete_if is not None:
            passing = actions.delete_if(snapshot)
            unmatched = intersection(unmatched, passing.of_table(snapshot.fragments))
        deleted = union(deleted, unmatched)
    inserted = difference(np.arange(len(source)), sources) if actions.insert else none
    return MergePlan(union(updated, deleted), updated, update_sources, inserted, len(deleted))


def _shown(source: pa.Table, keys: list[str], row: int) -> str:
    """Return the keys of a row as an error shows them."""
    return ", ".join(f"{name} = {scalar_text(source[name][row])}" for name in keys)


def _passing_pairs(
    snapshot: Snapshot,
    source: pa.Table,
    pairs: Pairs,
    holds: Callable[[pa.RecordBatch], NDArray[np.bool_]],
) -> NDArray[np.bool_]:
    """Return for each pair whether a condition on `source` and `target` columns holds."""
    projection = scan_projection(snapshot.schema(BlobHandling.BYTES), None)
    own = snapshot.take(pairs[0], projection)
    sides = (("source", source.take(pa.array(pairs[1]))), ("target", own))
    structs = {}
    for side, table in sides:  # no rows of a struct of extension types cannot be combined
        columns = [plain(column.combine_chunks()) for column in table.columns]
        structs[side] = pa.StructArray.from_arrays(columns, table.column_names)
    return holds(pa.RecordBatch.from_pydict(structs))


def merged_rows(
    snapshot: Snapshot, source: pa.Table, plan: MergePlan
) -> tuple[Iterator[pa.RecordBatch], NDArray[np.uint64]]:
    """Return the rows to be written, updated ones first, and the ids of those.

    The ids are (updated rows,).
    """
    projection = scan_projection(snapshot.schema(BlobHandling.KEPT), None, [ROW_ID])
    updated = snapshot.take(plan.updated, projection)
    ids = updated[ROW_ID].to_numpy() if len(updated) else np.empty(0, np.uint64)
    updated = updated.drop_columns([ROW_ID])
    theirs = source.take(pa.array(plan.update_sources))
    for number, name in enumerate(updated.column_names):
        if name in theirs.column_names:
            updated = updated.set_column(number, name, theirs[name])
    new, names = source.take(pa.array(plan.inserted)), source.column_names
    inserted = {
        one.name: new[one.name] if one.name in names else pa.nulls(len(new), one.type)
        for one in projection.schema
        if one.name != ROW_ID
    }
    return iter([*updated.to_batches(), *pa.table(inserted).to_batches()]), ids


def is_patched(snapshot: Snapshot, source: pa.Schema, keys: list[str], actions: Actions) -> bool:
    """Whether a merge is written as columns: its key has an index, the source some of the columns.

    Rows that match are updated, in columns of no blobs, and none is removed.
    """
    names, fields = set(source.names), snapshot.manifest.schema.fields
    updated = [one for field in fields if field.name in names for one in field.flat()]
    partial = not names <= set(keys) and not names >= {field.name for field in fields}
    removes = actions.fail or actions.delete or actions.delete_unmatched
    has_blobs = any(one.is_blob or one.is_blob_v2 for one in updated)
    if not actions.update or removes or not partial or has_blobs:
        return False
    return has_key_index(snapshot, keys)


def has_key_index(snapshot: Snapshot, keys: list[str]) -> bool:
    """Whether an index finds the rows of a key of one column."""
    if len(keys) != 1:
        return False
    (key,) = (field.id for field in snapshot.manifest.schema.fields if field.name == keys[0])
    own = (index for index in snapshot.manifest.indices if list(index.fields) == [key])
    types = {index.index_details.type_url.rpartition(".")[2] for index in own}
    return not types.isdisjoint(KEY_INDICES)


def write_merged_columns(
    snapshot: Snapshot,
    source: pa.Table,
    keys: list[str],
    plan: MergePlan,
    update: Transaction.Update,
    draft: Draft,
) -> None:
    """Write the columns of matched rows, and list what became of the fragments."""
    update.update_mode = Transaction.Update.REWRITE_COLUMNS
    wanted = set(source.schema.names) - set(keys)
    fields = [field for field in snapshot.manifest.schema.fields if field.name in wanted]
    names = [field.name for field in fields]
    projection = scan_projection(snapshot.schema(BlobHandling.BYTES), names)
    order = np.argsort(plan.updated)
    sources = plan.update_sources[order]
    for rows, positions in snapshot.fragments.split(plan.updated[order]):
        current = pa.Table.from_batches(live_rows(snapshot, rows, projection), projection.schema)
        chosen = np.full(len(current), -1, np.int64)
        chosen[positions] = sources[: len(positions)]
        sources = sources[len(positions) :]
        new = pa.array(chosen, mask=chosen < 0)
        values = replace_values(current, source.select(names), new)
        written = write_values(snapshot, rows, values, new, draft)
        update.updated_fragments.append(written.fragment)
        if snapshot.stable_row_ids:
            update.updated_fragment_offset_bitmaps[rows.fragment.id] = written.offsets
    if len(order):
        update.fields_modified.extend(one.id for field in fields for one in field.flat())


SIZE_BYTES = 1 << 15
"""Size of the filter, for any number of keys."""

NUM_ITEMS = 8192
PROBABILITY = 0.00057
"""For how many keys the filter is made, and how often it is then wrong."""
INTEGERS = ("int32", "int64", "uint32", "uint64")


def list_keys(keys: pa.Table, field_ids: Iterable[int]) -> KeyExistenceFilter:
    """Return the filter of keys, whose columns are in the order of the primary key."""
    # L.txn.keys.listed, L.txn.keys.filter
    words = fill(_hashes(keys), SIZE_BYTES)
    bloom = KeyExistenceFilter.BloomFilter(number_of_items=NUM_ITEMS, probability=PROBABILITY)
    bloom.bitmap, bloom.num_bits = words.astype("<u4").tobytes(), 32 * words.size
    return KeyExistenceFilter(field_ids=field_ids, bloom=bloom)


def _hashes(keys: pa.Table) -> Hashes:
    """Return the hashes of the keys, uint64; none for a column of a type that no filter holds."""
    columns: list[list[bytes | None]] = []
    for column in keys.columns:
        if is_any(column.type, *INTEGERS):
            numbers = (one if one is None else one % 2**64 for one in column.to_pylist())
            columns.append([one if one is None else one.to_bytes(8, "little") for one in numbers])
        elif is_any(column.type, *TEXT, *BINARY):
            texts = column.to_pylist()
            columns.append([one.encode() if isinstance(one, str) else one for one in texts])
        else:
            return np.empty(0, np.uint64)
    end = b"\0" if len(columns) > 1 else b""
    rows = (row for row in zip(*columns, strict=True) if None not in row)
    whole = (b"".join((part or b"") + end for part in row) for row in rows)
    return np.fromiter(map(xxh64_intdigest, whole), np.uint64)

"""Manifest builder: a manifest while a transaction turns it into the next one.

It starts as a copy of the version before, or empty. The operation changes its fragments, schema,
indices or settings; what every version has in common is settled at the end: the order of the
fragments, the flags, the writer and the time.

A clone is the first version of a table whose rows lie in another one. A shallow one names the root
of its source as a base path and every file of it below that base; a branch is a shallow clone below
the root of its table. A deep clone copies the files. Either keeps the version number of its source.

Clauses: L.table.fragments.order, L.table.fragments.max-id, L.table.fragments.max-id-present,
L.table.flags.content, L.table.flags.sticky, L.table.naming.version, L.table.datafile.version,
L.table.datafile.all-replaced, L.table.datafile.size, L.table.row-ids.length, L.txn.op.clone,
L.table.base.unique, L.table.base.resolves

Divergences: D.table.clone-base-zero, D.table.base-id-elsewhere
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableSequence, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import pyarrow as pa
from google.protobuf.message import Message
from numpy.typing import NDArray

from lanceref.core.context import Context
from lanceref.core.errors import AlreadyExists, OperationRefused, SchemaRefused
from lanceref.core.file_versions import FROM_WORDS, V0_1, V2_0, FileVersion, version_named
from lanceref.file.arrow_schema import schema_message
from lanceref.file.schema import LanceSchema
from lanceref.proto import file_pb2, table_pb2
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.storage import Store
from lanceref.storage.manifests.manifest_names import FOLDER, name_of, write_hint
from lanceref.storage.protocol import Draft
from lanceref.table import flags
from lanceref.table.bases import Bases, free_id
from lanceref.table.file_entries import TOMBSTONE, Based, base_of, data_files_of, version_of
from lanceref.table.fragments import ADDRESS_LIMIT, Fragment
from lanceref.table.lineage import open_lineage
from lanceref.table.manifest import STORAGE_VERSIONS, Manifest, encode_manifest, open_version, stamp
from lanceref.table.rows import FragmentRows
from lanceref.transactions.transaction import new_transaction, transaction_name, write_transaction

WRITER = table_pb2.Manifest.WriterVersion(library="lanceref", version="14.0.2")
"""The writer that a manifest names, with the release it is like: D.table.writer-library."""

REUSE_INDEX = "__lance_frag_reuse"
"""Name of the index that follows rows which a compaction moved."""

Offsets = NDArray[np.int64]
M = TypeVar("M", bound=Message)


@dataclass(frozen=True, slots=True)
class Staged:
    """A transaction that waits for its commit, and what its message lacks.

    `schema` (with its metadata) is that of an Overwrite or Project, `storage_version` what an
    Overwrite gives the table, `dictionaries` are the values by field id of a table of 0.1,
    `affected` the rows by fragment that a Delete or Update removes: with them it can be committed
    over others that removed other rows. `reuse_index` goes with a Rewrite, `read` is the version
    that it, or new indices, were built from. The files of `draft` go when no such version is made.
    """

    transaction: Transaction
    schema: LanceSchema | None = None
    storage_version: FileVersion | None = None
    stable_row_ids: bool = False
    dictionaries: Mapping[int, pa.Array] = field(default_factory=dict)
    affected: Mapping[int, Offsets] | None = None
    reuse_index: table_pb2.IndexMetadata | None = None
    read: Manifest | None = None
    draft: Draft = field(default_factory=Draft)


@dataclass(frozen=True, slots=True)
class StoredVersions:
    """What an operation may look up in the store of a table besides the version before."""

    store: Store
    ctx: Context

    def manifest(self, version: int) -> Manifest:
        """Return the manifest of an older version. Raises VersionNotFound."""
        return open_version(self.store, version, self.ctx)

    def rows(self, before: Manifest, fragment: Fragment) -> FragmentRows:
        """Return the rows of a fragment. Reading them raises FormatError."""
        return FragmentRows(fragment, Bases(self.store, before), self.ctx, stable_ids=False)

    def file_size(self, before: Manifest, file: table_pb2.DataFile) -> int:
        """Return the bytes of a data file. Raises FormatError where there is none."""
        return Bases(self.store, before).open_data_file(file.path, base_of(file)).size

    def lineage(self, before: Manifest, fragment: Fragment, name: str) -> NDArray[np.uint64]:
        """Return the row ids or versions of all physical rows of a fragment, uint64.

        The result is (physical rows,).
        """
        columns = self.rows(before, fragment).columns
        return open_lineage(name, columns, self.ctx).at(np.arange(columns.physical_rows))


def copy_of(message: M) -> M:
    """Return a copy of a message, which may be changed freely."""
    copy = type(message)()
    copy.CopyFrom(message)
    return copy


def assign(target: MutableSequence[M], messages: Iterable[M]) -> None:
    """Put messages in place of those a repeated field has, some of which they may be."""
    items = list(messages)
    del target[:]
    target.extend(items)


@dataclass(slots=True)
class Builder:
    """The next version: `before` is the one it is made of, None for a new table."""

    staged: Staged
    before: Manifest | None
    stored: StoredVersions
    message: table_pb2.Manifest
    indices: list[table_pb2.IndexMetadata]
    dictionaries: dict[int, pa.Array]

    @property
    def transaction(self) -> Transaction:
        """The transaction that the new manifest applies."""
        return self.staged.transaction

    @property
    def stable(self) -> bool:
        """Whether rows of the table keep their ids when they move."""
        return bool(self.message.reader_feature_flags & flags.STABLE_ROW_IDS)

    @property
    def field_ids(self) -> set[int]:
        """Ids of all fields of the schema."""
        return {one.id for one in self.message.fields}

    def fragment(self, number: int) -> table_pb2.DataFragment | None:
        """Return the fragment with an id, None without one."""
        return next((one for one in self.message.fragments if one.id == number), None)

    def old_fragments(self) -> dict[int, Fragment]:
        """Return the fragments of the version before by their ids."""
        return {} if self.before is None else {one.id: one for one in self.before.fragments}

    def new_ids(self, fragments: Iterable[table_pb2.DataFragment]) -> list[table_pb2.DataFragment]:
        """Return copies of fragments, under new ids where they have none (0)."""
        copies, message = list(map(copy_of, fragments)), self.message
        next_id = message.max_fragment_id + 1 if message.HasField("max_fragment_id") else 0
        for copy in copies:
            if copy.id == 0:
                copy.id, next_id = next_id, next_id + 1
            self.note_id(copy.id)
        return copies

    def note_id(self, number: int) -> None:
        """Raise the highest fragment id of the table to a number. Raises OperationRefused."""
        if number >= ADDRESS_LIMIT:
            raise OperationRefused(f"fragment id {number} has no row addresses")
        if not self.message.HasField("max_fragment_id") or number > self.message.max_fragment_id:
            self.message.max_fragment_id = number

    def set_schema(self, fields: Iterable[file_pb2.Field] = ()) -> None:
        """Set the staged schema with its metadata, or without one the fields of the operation."""
        if self.staged.schema is None:
            assign(self.message.fields, fields)
            return
        written = schema_message(self.staged.schema)
        assign(self.message.fields, written.fields)
        self.message.schema_metadata.clear()
        self.message.schema_metadata.update(written.metadata)


def storage_version_of(message: table_pb2.Manifest) -> FileVersion:
    """Return the version that new files of a table have.

    Very old manifests do not name it, and release 0.16 named 0.1 above files of 2.0: it is that of
    their files, the oldest, or without a file the default one where a flag excludes 0.1.
    """
    named = STORAGE_VERSIONS.get(message.data_format.version)
    if named not in (None, V0_1):
        return named
    files = (file for fragment in message.fragments for file in fragment.files)
    versions = {FROM_WORDS[file.file_major_version, file.file_minor_version] for file in files}
    if named is not None and versions != {V2_0}:
        return named
    if versions:
        return min(versions)
    return version_named(None) if message.writer_feature_flags & flags.USE_V2_FORMAT else V0_1


def begin(before: Manifest | None, staged: Staged, stored: StoredVersions) -> Builder:
    """Return the copy that an operation works on."""
    if before is None:
        message = table_pb2.Manifest(version=1)
        message.reader_feature_flags = flags.STABLE_ROW_IDS if staged.stable_row_ids else 0
        return Builder(staged, None, stored, message, [], dict(staged.dictionaries))
    message, indices = copy_of(before.message), list(map(copy_of, before.indices))
    message.version = before.version + 1
    dictionaries = {**before.dictionaries, **staged.dictionaries}
    builder = Builder(staged, before, stored, message, indices, dictionaries)
    for fragment in message.fragments:  # an older writer may have left it out
        builder.note_id(fragment.id)
    return builder


def finish(builder: Builder) -> bytes:
    """Settle what every version has in common and return its manifest file.

    Raises SchemaRefused for files of 0.1 in a table of 2.x and the other way round.
    """
    message = builder.message
    assign(message.fragments, sorted(message.fragments, key=lambda one: one.id))
    for fragment in message.fragments:  # L.table.datafile.all-replaced
        live = [one for one in fragment.files if set(one.fields) != {TOMBSTONE}]
        if len(live) != len(fragment.files):
            assign(fragment.files, live)
    old = 0 if builder.before is None else builder.before.message.reader_feature_flags
    kept_flags = message.reader_feature_flags & flags.STABLE_ROW_IDS | old & flags.STICKY
    if any(index.covering_fields for index in builder.indices):
        kept_flags |= flags.COVERED_INDEX_METADATA
    if any(index.name == REUSE_INDEX and index.index_version for index in builder.indices):
        kept_flags |= flags.FRAGMENT_REUSE_INDEX
    flags.set_flags(message, kept_flags | _mixed(builder))
    message.ClearField("tag")
    return _sealed(message, builder.transaction, builder.indices, builder.dictionaries)


def _sealed(
    message: table_pb2.Manifest,
    transaction: Transaction,
    indices: Sequence[table_pb2.IndexMetadata],
    dictionaries: Mapping[int, pa.Array],
) -> bytes:
    """Return the manifest file of a version that this writer makes now."""
    message.transaction_file = transaction_name(transaction)
    message.writer_version.CopyFrom(WRITER)
    stamp(message)
    return encode_manifest(message, transaction, indices, dictionaries)


def _mixed(builder: Builder) -> int:
    """Return the flag for files of several versions if it is needed. Raises SchemaRefused."""
    stated = STORAGE_VERSIONS.get(builder.message.data_format.version)
    own, flag = stated or storage_version_of(builder.message), 0
    for file in (file for one in builder.message.fragments for file in data_files_of(one)):
        version = version_of(file)
        if version is None or (version == V0_1) != (own == V0_1):
            _refuse_mixture(builder)
            raise SchemaRefused(
                f"cannot append data files in version {version} to a dataset with default "
                f"version {own}: V1 and V2 storage versions cannot be mixed"
            )
        if version != own:
            flag = flags.MIXED_DATA_FILE_VERSIONS
    return flag


def _refuse_mixture(builder: Builder) -> None:
    """Raise SchemaRefused where the version that was read has files of 0.1 beside others."""
    before = () if builder.before is None else builder.before.message.fragments
    versions = dict.fromkeys(version_of(file) for one in before for file in one.files)
    known = [one for one in versions if one is not None]
    if V0_1 in known and len(known) > 1:
        raise SchemaRefused(
            "The dataset contains a mixture of file versions. You will need to rollback to an "
            f"earlier version: All data files must have the same version. Detected both {known[0]} "
            f"and {known[1]}"
        )


def write_clone(store: Store, source: Manifest, clone: Transaction.Clone) -> int:
    """Write the first version of a clone, whose files are there already; return its size in bytes.

    `ref_path` of `clone` is the absolute root of the table that `source` is a version of. Raises
    AlreadyExists where there is a table.
    """
    message, indices = copy_of(source.message), list(map(copy_of, source.indices))
    entries: list[Based] = [*indices]
    for fragment in message.fragments:
        entries += data_files_of(fragment)
        if fragment.HasField("deletion_file"):
            entries.append(fragment.deletion_file)
    if clone.is_shallow:
        base = free_id(message.base_paths, 0)
        for entry in entries:
            if not entry.HasField("base_id"):
                entry.base_id = base
        name, root = message.branch or None, clone.ref_path
        message.base_paths.add(id=base, name=name, is_dataset_root=True, path=root)
    else:
        for entry in entries:
            entry.ClearField("base_id")
        del message.base_paths[:]
    transaction = new_transaction(source.version)
    transaction.clone.CopyFrom(clone)
    transaction.clone.ref_version = source.version
    if message.branch:
        transaction.clone.ref_name = message.branch
    message.ClearField("branch")
    if clone.HasField("branch_name"):
        message.branch = clone.branch_name
    kept_flags = flags.STABLE_ROW_IDS | flags.STICKY
    flags.set_flags(message, message.reader_feature_flags & kept_flags)
    data = _sealed(message, transaction, indices, source.dictionaries)
    if next(iter(store.list(FOLDER)), None) is not None:
        raise AlreadyExists(f"Dataset already exists: {store.root}")
    with Draft() as draft:
        write_transaction(store, transaction, draft)
        files = draft.hand_over()
        if not store.put_if_absent(name_of(source.version, "V2").path, data):
            draft.add(*files)
            raise AlreadyExists(f"Dataset already exists: {store.root}")
    write_hint(store, source.version)
    return len(data)

"""Transactions as values and as messages, one into the other (face).

An operation pylance has no class for (a memory WAL state) is its name only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from uuid import UUID

import pyarrow as pa
from lanceref.core.errors import FormatError
from lanceref.file.schema import LanceSchema, schema_of
from lanceref.file.schema_messages import field_message, schema_message
from lanceref.proto import table_pb2
from lanceref.proto import transaction_pb2 as pb
from lanceref.table.data_files import with_dictionaries
from lanceref.transactions.change_rows import updated_offsets
from lanceref.transactions.index_entries import covered, set_covered

from pylanceref.bitmap import Bitmap
from pylanceref.metadata import FragmentMetadata
from pylanceref.operation import DatasetBasePath, Index, IndexFile, LanceOperation, Transaction
from pylanceref.overlay_messages import overlay_message
from pylanceref.schema import LanceSchema as PublicSchema

Op = LanceOperation

_MODES = {
    "": pb.Transaction.Update.REWRITE_ROWS,
    "rewrite_rows": pb.Transaction.Update.REWRITE_ROWS,
    "rewrite_columns": pb.Transaction.Update.REWRITE_COLUMNS,
}


def lance_schema(schema: PublicSchema | LanceSchema | pa.Schema) -> LanceSchema:
    """Return a schema with field ids; an Arrow schema gets them from 0 on."""
    if isinstance(schema, PublicSchema):
        return schema._schema
    return schema if isinstance(schema, LanceSchema) else with_dictionaries(schema_of(schema))


def to_message(given: Transaction) -> pb.Transaction:
    """Return the message of a transaction. Raises TypeError for an unknown operation."""
    message = pb.Transaction(
        read_version=given.read_version,
        uuid=given.uuid,
        transaction_properties=given.transaction_properties or {},
    )
    fill = _FILLS.get(type(given.operation))
    if fill is None:
        raise TypeError(
            f"operation must be an operation or Transaction, got {type(given.operation)}"
        )
    fill(message, given.operation)
    return message


def _fragments(given: Iterable[FragmentMetadata]) -> list[table_pb2.DataFragment]:
    return [one.to_message() for one in given]


def _append(message: pb.Transaction, op: Op.Append) -> None:
    message.append.SetInParent()
    message.append.fragments.extend(_fragments(op.fragments))


def _overwrite(message: pb.Transaction, op: Op.Overwrite) -> None:
    made, schema = message.overwrite, schema_message(lance_schema(op.new_schema))
    made.SetInParent()
    made.fragments.extend(_fragments(op.fragments))
    made.schema.extend(schema.fields)
    for key, value in schema.metadata.items():
        made.schema_metadata[key] = value
    made.initial_bases.extend(base_messages(op.initial_bases or (), 1))


def _delete(message: pb.Transaction, op: Op.Delete) -> None:
    message.delete.CopyFrom(
        pb.Transaction.Delete(
            updated_fragments=_fragments(op.updated_fragments),
            deleted_fragment_ids=op.deleted_fragment_ids,
            predicate=op.predicate,
        )
    )


def _update(message: pb.Transaction, op: Op.Update) -> None:
    if op.update_mode not in _MODES:
        raise ValueError(f"Invalid update mode: {op.update_mode}")
    message.update.CopyFrom(
        pb.Transaction.Update(
            removed_fragment_ids=op.removed_fragment_ids,
            updated_fragments=_fragments(op.updated_fragments),
            new_fragments=_fragments(op.new_fragments),
            fields_modified=op.fields_modified,
            fields_for_preserving_frag_bitmap=op.fields_for_preserving_frag_bitmap,
            update_mode=_MODES[op.update_mode],
            updated_fragment_offset_bitmaps=op.updated_fragment_offsets or {},
        )
    )
    try:
        updated_offsets(message.update)
    except FormatError as error:
        raise ValueError(f"updated_fragment_offsets holds no RoaringBitmap: {error}") from error


def _merge(message: pb.Transaction, op: Op.Merge) -> None:
    made = message.merge
    made.fragments.extend(_fragments(op.fragments))
    made.schema.extend(field_message(one) for one in lance_schema(op.schema).flat())
    made.preserves_nullability = op.preserves_nullability
    made.SetInParent()


def _project(message: pb.Transaction, op: Op.Project) -> None:
    message.project.schema.extend(field_message(one) for one in lance_schema(op.schema).flat())
    message.project.preserves_nullability = op.preserves_nullability


def _restore(message: pb.Transaction, op: Op.Restore) -> None:
    message.restore.version = op.version
    message.restore.SetInParent()


def _reserve(message: pb.Transaction, op: Op.ReserveFragments) -> None:
    message.reserve_fragments.num_fragments = op.num_fragments
    message.reserve_fragments.SetInParent()


def _clone(message: pb.Transaction, op: Op.Clone) -> None:
    message.clone.CopyFrom(
        pb.Transaction.Clone(
            is_shallow=op.is_shallow,
            ref_name=op.ref_name,
            ref_version=op.ref_version,
            ref_path=op.ref_path,
            branch_name=op.branch_name,
        )
    )


def _rewrite(message: pb.Transaction, op: Op.Rewrite) -> None:
    made = message.rewrite
    made.SetInParent()
    for group in op.groups:
        made.groups.add(
            old_fragments=_fragments(group.old_fragments),
            new_fragments=_fragments(group.new_fragments),
        )
    for one in op.rewritten_indices:
        added = made.rewritten_indices.add(new_index_version=one.new_index_version)
        added.old_id.uuid, added.new_id.uuid = UUID(one.old_id).bytes, UUID(one.new_id).bytes
        added.new_index_details.type_url = one.new_details_type_url
        added.new_index_details.value = one.new_details_value


def _create_index(message: pb.Transaction, op: Op.CreateIndex) -> None:
    message.create_index.SetInParent()
    message.create_index.new_indices.extend(index_message(one) for one in op.new_indices)
    message.create_index.removed_indices.extend(index_message(one) for one in op.removed_indices)


def _replace(message: pb.Transaction, op: Op.DataReplacement) -> None:
    message.data_replacement.SetInParent()
    for group in op.replacements:
        file = group.new_file.to_message()
        message.data_replacement.replacements.add(fragment_id=group.fragment_id, new_file=file)


def _overlay(message: pb.Transaction, op: Op.DataOverlay) -> None:
    message.data_overlay.SetInParent()
    for group in op.groups:
        made = message.data_overlay.groups.add(fragment_id=group.fragment_id)
        made.overlays.extend(overlay_message(one) for one in group.overlays)


def _config(message: pb.Transaction, op: Op.UpdateConfig) -> None:
    made = message.update_config
    made.SetInParent()
    for name in ("config_updates", "table_metadata_updates", "schema_metadata_updates"):
        edit = getattr(op, name)
        if edit is not None:
            getattr(made, name).CopyFrom(map_message(edit))
    for number, edit in (op.field_metadata_updates or {}).items():
        made.field_metadata_updates[number].CopyFrom(map_message(edit))


def map_message(edit: Op.UpdateMap) -> pb.Transaction.UpdateMap:
    """Return the message of an edit of one map."""
    made = pb.Transaction.UpdateMap(replace=edit.replace)
    for key, value in edit.updates.items():
        made.update_entries.add(key=key, value=value)
    return made


def _bases(message: pb.Transaction, op: Op.UpdateBases) -> None:
    message.update_bases.SetInParent()
    message.update_bases.new_bases.extend(base_messages(op.new_bases, None))


def base_messages(
    bases: Iterable[DatasetBasePath], first_id: int | None
) -> list[table_pb2.BasePath]:
    """Return the messages of base paths, numbered from `first_id` on unless that is None."""
    made, next_id = [], first_id
    for base in bases:
        own = base.id
        if own is None:
            own, next_id = (0, None) if next_id is None else (next_id, next_id + 1)
        made.append(
            table_pb2.BasePath(
                id=own, name=base.name, is_dataset_root=base.is_dataset_root, path=base.path
            )
        )
    return made


def index_message(given: Index) -> table_pb2.IndexMetadata:
    """Return the index entry of a segment."""
    made = table_pb2.IndexMetadata(
        fields=given.fields,
        name=given.name,
        dataset_version=given.dataset_version,
        index_version=given.index_version,
        base_id=given.base_id,
        covering_fields=given.covering_fields,
    )
    made.uuid.uuid = UUID(given.uuid).bytes
    set_covered(made, given.fragment_ids, runs=True)
    if given.created_at is not None:
        made.created_at = round(given.created_at.timestamp() * 1000)
    for file in given.files or ():
        made.files.add(path=file.path, size_bytes=file.size_bytes)
    if given.index_details is not None:
        made.index_details.type_url, made.index_details.value = given.index_details
    return made


def index_of(entry: table_pb2.IndexMetadata) -> Index:
    """Return the segment of an index entry."""
    created = datetime.fromtimestamp(entry.created_at / 1000, UTC) if entry.created_at else None
    details = entry.index_details
    return Index(
        uuid=str(UUID(bytes=entry.uuid.uuid)),
        name=entry.name,
        fields=list(entry.fields),
        dataset_version=entry.dataset_version,
        fragment_ids=Bitmap(covered(entry)),
        index_version=entry.index_version,
        created_at=created,
        base_id=entry.base_id if entry.HasField("base_id") else None,
        files=[IndexFile(one.path, one.size_bytes) for one in entry.files] or None,
        index_details=(details.type_url, details.value) if details.type_url else None,
        covering_fields=list(entry.covering_fields),
    )


_FILLS: dict[type, Callable[..., None]] = {
    Op.Append: _append,
    Op.Overwrite: _overwrite,
    Op.Delete: _delete,
    Op.Update: _update,
    Op.Merge: _merge,
    Op.Project: _project,
    Op.Restore: _restore,
    Op.ReserveFragments: _reserve,
    Op.Clone: _clone,
    Op.Rewrite: _rewrite,
    Op.CreateIndex: _create_index,
    Op.DataReplacement: _replace,
    Op.DataOverlay: _overlay,
    Op.UpdateConfig: _config,
    Op.UpdateBases: _bases,
}

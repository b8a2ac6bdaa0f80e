"""Transactions read: from the message of a version to an operation (face)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from uuid import UUID

from lanceref.core.context import Context
from lanceref.core.errors import FormatError, LanceError, NotYet
from lanceref.file.schema_messages import parse_schema
from lanceref.proto import file_pb2, table_pb2
from lanceref.proto import transaction_pb2 as pb

from pylanceref.metadata import DataFile, FragmentMetadata
from pylanceref.operation import DatasetBasePath, LanceOperation, Transaction
from pylanceref.overlay_messages import overlay_of
from pylanceref.schema import LanceSchema
from pylanceref.transactions import index_of

Op = LanceOperation

UPDATE_MODES = ("rewrite_rows", "rewrite_columns")


def from_message(message: pb.Transaction) -> Transaction:
    """Return a transaction.

    Raises NotYet for an operation that has no class, FormatError for one whose uuids, modes or
    types of files are none.
    """
    name = message.WhichOneof("operation") or "none"
    if name not in _READS:
        raise NotYet(f"operation {name} has no form in Python")
    try:
        operation = _READS[name](getattr(message, name))
    except LanceError:
        raise
    except (ValueError, LookupError) as error:
        place = Context("transaction").at(0)
        found, wanted = f"{name}: {error}", "uuids of 16 bytes, known modes and types"
        raise FormatError("L.txn.file.message", place, found=found, wanted=wanted) from error
    properties = dict(message.transaction_properties)
    return Transaction(message.read_version, operation, message.uuid, properties)


def _fragments(listed: Iterable[table_pb2.DataFragment]) -> list[FragmentMetadata]:
    return [FragmentMetadata.from_message(one) for one in listed]


def _schema(fields: Iterable[file_pb2.Field], metadata: dict[str, bytes]) -> LanceSchema:
    ctx = Context("transaction")
    return LanceSchema(parse_schema(fields, metadata, ctx, ctx.at(0)))


def _overwrite(held: pb.Transaction.Overwrite) -> Op.Overwrite:
    bases = [_base(one) for one in held.initial_bases]
    schema = _schema(held.schema, dict(held.schema_metadata))
    return Op.Overwrite(schema, _fragments(held.fragments), bases or None)


def _base(held: table_pb2.BasePath) -> DatasetBasePath:
    name = held.name if held.HasField("name") else None
    return DatasetBasePath(held.path, name, held.is_dataset_root, held.id)


def _delete(held: pb.Transaction.Delete) -> Op.Delete:
    gone = list(held.deleted_fragment_ids)
    return Op.Delete(_fragments(held.updated_fragments), gone, held.predicate)


def _update(held: pb.Transaction.Update) -> Op.Update:
    return Op.Update(
        list(held.removed_fragment_ids),
        _fragments(held.updated_fragments),
        _fragments(held.new_fragments),
        list(held.fields_modified),
        list(held.fields_for_preserving_frag_bitmap),
        UPDATE_MODES[held.update_mode],
        dict(held.updated_fragment_offset_bitmaps) or None,
    )


def _merge(held: pb.Transaction.Merge) -> Op.Merge:
    schema = _schema(held.schema, dict(held.schema_metadata))
    return Op.Merge(_fragments(held.fragments), schema, held.preserves_nullability)


def _rewrite(held: pb.Transaction.Rewrite) -> Op.Rewrite:
    groups = [
        Op.RewriteGroup(_fragments(one.old_fragments), _fragments(one.new_fragments))
        for one in held.groups
    ]
    indices = [
        Op.RewrittenIndex(
            str(UUID(bytes=one.old_id.uuid)),
            str(UUID(bytes=one.new_id.uuid)),
            one.new_index_details.type_url,
            one.new_index_details.value,
            one.new_index_version,
        )
        for one in held.rewritten_indices
    ]
    return Op.Rewrite(groups, indices)


def _clone(held: pb.Transaction.Clone) -> Op.Clone:
    name = held.ref_name if held.HasField("ref_name") else None
    branch = held.branch_name if held.HasField("branch_name") else None
    return Op.Clone(held.is_shallow, name, held.ref_version, held.ref_path, branch)


def _replacement(held: pb.Transaction.DataReplacement) -> Op.DataReplacement:
    return Op.DataReplacement(
        [
            Op.DataReplacementGroup(one.fragment_id, DataFile.from_message(one.new_file))
            for one in held.replacements
        ]
    )


def _overlay(held: pb.Transaction.DataOverlay) -> Op.DataOverlay:
    groups = [
        Op.DataOverlayGroup(one.fragment_id, [overlay_of(file) for file in one.overlays])
        for one in held.groups
    ]
    return Op.DataOverlay(groups)


def _map(held: pb.Transaction.UpdateMap) -> Op.UpdateMap:
    entries = {one.key: one.value if one.HasField("value") else None for one in held.update_entries}
    return Op.UpdateMap(entries, held.replace)


def _config(held: pb.Transaction.UpdateConfig) -> Op.UpdateConfig:
    names = ("config_updates", "table_metadata_updates", "schema_metadata_updates")
    maps = [_map(getattr(held, name)) if held.HasField(name) else None for name in names]
    fields = {number: _map(one) for number, one in held.field_metadata_updates.items()}
    return Op.UpdateConfig(maps[0], maps[1], maps[2], fields or None)


_READS: dict[str, Callable[..., Op.BaseOperation]] = {
    "append": lambda held: Op.Append(_fragments(held.fragments)),
    "overwrite": _overwrite,
    "delete": _delete,
    "update": _update,
    "merge": _merge,
    "project": lambda held: Op.Project(_schema(held.schema, {}), held.preserves_nullability),
    "restore": lambda held: Op.Restore(held.version),
    "reserve_fragments": lambda held: Op.ReserveFragments(held.num_fragments),
    "rewrite": _rewrite,
    "clone": _clone,
    "create_index": lambda held: Op.CreateIndex(
        [index_of(one) for one in held.new_indices],
        [index_of(one) for one in held.removed_indices],
    ),
    "data_replacement": _replacement,
    "data_overlay": _overlay,
    "update_config": _config,
    "update_bases": lambda held: Op.UpdateBases([_base(one) for one in held.new_bases]),
}

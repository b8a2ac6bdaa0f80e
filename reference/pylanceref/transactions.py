"""Transactions as values and as messages, one into the other (face).

A value and its message have fields of the same names, which are converted one by one; exceptions
are the schemas, the mode and the offsets of an update, and base paths. An operation pylance has no
class for (a memory WAL state) cannot be read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar
from uuid import UUID

import pyarrow as pa
from google.protobuf.any_pb2 import Any
from google.protobuf.message import Message
from lanceref.core.context import Context
from lanceref.core.errors import FormatError, LanceError, NotYet
from lanceref.file.arrow_schema import field_message, schema_message, schema_of
from lanceref.file.schema import LanceSchema, parse_schema
from lanceref.proto import file_pb2, table_pb2
from lanceref.proto import transaction_pb2 as pb
from lanceref.table.data_files import with_dictionaries
from lanceref.transactions.fragment_operations import updated_offsets
from lanceref.transactions.index_entries import covered, set_covered

from pylanceref.metadata import DataFile, DataOverlayFile, FragmentMetadata
from pylanceref.operation import DatasetBasePath, Index, IndexFile, LanceOperation, Transaction
from pylanceref.schema import LanceSchema as PublicSchema

Op = LanceOperation
T = TypeVar("T")

UPDATE_MODES = {"": 0, "rewrite_columns": 1, "rewrite_rows": 0}
"""Modes of an update by name; rows are rewritten when none is named."""

OPERATIONS = {
    re.sub(r"\B([A-Z])", r"_\1", kind.__name__).lower(): kind
    for kind in Op.BaseOperation.__subclasses__()
}
"""Classes of the operations, by the fields of their messages."""


def lance_schema(schema: PublicSchema | LanceSchema | pa.Schema) -> LanceSchema:
    """Return a schema with field ids; an Arrow schema gets them from 0 on."""
    if isinstance(schema, PublicSchema):
        return schema._schema
    return schema if isinstance(schema, LanceSchema) else with_dictionaries(schema_of(schema))


def to_message(given: Transaction) -> pb.Transaction:
    """Return the message of a transaction. Raises TypeError for an unknown operation."""
    op = given.operation
    name = next((name for name, kind in OPERATIONS.items() if type(op) is kind), None)
    if name is None:
        raise TypeError(f"operation must be an operation or Transaction, got {type(op)}")
    fields = _stored_fields(op)
    if isinstance(op, Op.Overwrite):
        schema = schema_message(lance_schema(op.new_schema))
        fields |= {"schema": schema.fields, "schema_metadata": schema.metadata}
        fields["initial_bases"] = base_messages(op.initial_bases or (), 1)
        del fields["new_schema"]
    elif isinstance(op, Op.UpdateBases):
        fields["new_bases"] = base_messages(op.new_bases, None)
    elif isinstance(op, Op.Update):
        if op.update_mode not in UPDATE_MODES:
            raise ValueError(f"Invalid update mode: {op.update_mode}")
        fields["update_mode"] = UPDATE_MODES[op.update_mode]
        fields["updated_fragment_offset_bitmaps"] = fields.pop("updated_fragment_offsets", {})
    message = pb.Transaction(
        read_version=given.read_version,
        uuid=given.uuid,
        transaction_properties=given.transaction_properties or {},
        **{name: fields},  # type: ignore[arg-type]
    )
    try:
        updated_offsets(message.update)
    except FormatError as error:
        raise ValueError(f"updated_fragment_offsets holds no RoaringBitmap: {error}") from error
    return message


def _stored_fields(value: object) -> dict[str, object]:
    return {name: _stored(held) for name, held in vars(value).items() if held is not None}


def _stored(value: object) -> object:
    """Return what a message holds of a value: a message, a dict of its fields, or itself."""
    if isinstance(value, FragmentMetadata | DataFile | DataOverlayFile):
        return value.to_message()
    if isinstance(value, Index):
        return index_message(value)
    if isinstance(value, Op.UpdateMap):
        return map_message(value)
    if isinstance(value, Op.RewrittenIndex):
        ids = {"old_id": value.old_id, "new_id": value.new_id}
        return {
            **{name: {"uuid": UUID(text).bytes} for name, text in ids.items()},
            "new_index_details": Any(
                type_url=value.new_details_type_url, value=value.new_details_value
            ),
            "new_index_version": value.new_index_version,
        }
    if isinstance(value, PublicSchema | LanceSchema | pa.Schema):
        return [field_message(one) for one in lance_schema(value).flat()]
    if isinstance(value, Mapping):
        return {key: _stored(one) for key, one in value.items()}
    if isinstance(value, str | bytes | int | DatasetBasePath):
        return value
    return list(map(_stored, value)) if isinstance(value, Iterable) else _stored_fields(value)


def from_message(message: pb.Transaction) -> Transaction:
    """Return a transaction. Raises NotYet for one without a class, FormatError for wrong values."""
    name = message.WhichOneof("operation") or "none"
    if name not in OPERATIONS:
        raise NotYet(f"operation {name} has no form in Python")
    try:
        operation = _read(OPERATIONS[name], getattr(message, name))
    except LanceError:
        raise
    except (ValueError, LookupError) as error:
        place = Context("transaction").at(0)
        found, wanted = f"{name}: {error}", "uuids of 16 bytes, known modes and types"
        raise FormatError("L.txn.file.message", place, found=found, wanted=wanted) from error
    properties = dict(message.transaction_properties)
    return Transaction(message.read_version, operation, message.uuid, properties)


def _read(kind: type[T], held: Message) -> T:
    """Return an operation, or a part of one, of the fields of its message."""
    return kind(**{name: _field(held, name) for name in kind.__match_args__})  # type: ignore[attr-defined]


def _field(held: Message, name: str) -> object:
    """Return the value of a field of an operation."""
    if isinstance(held, pb.Transaction.Update) and name == "update_mode":
        return ("rewrite_rows", "rewrite_columns")[held.update_mode]
    if name in ("schema", "new_schema"):
        ctx, metadata = Context("transaction"), getattr(held, "schema_metadata", {})
        fields: Iterable[file_pb2.Field] = getattr(held, "schema")  # noqa: B009
        return PublicSchema(parse_schema(fields, dict(metadata), ctx, ctx.at(0)))
    name = "updated_fragment_offset_bitmaps" if name == "updated_fragment_offsets" else name
    if held.DESCRIPTOR.fields_by_name[name].has_presence and not held.HasField(name):
        return None
    value = getattr(held, name)
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()} or None
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        values = list(map(_plain, value))
        return values or None if name == "initial_bases" else values
    return _plain(value)


def _plain(value: object) -> object:
    """Return the value of a message; what is no message is a value already."""
    return READERS[type(value)](value) if isinstance(value, Message) else value


def _rewritten(held: pb.Transaction.Rewrite.RewrittenIndex) -> Op.RewrittenIndex:
    ids, details = (held.old_id, held.new_id), held.new_index_details
    old, new = (str(UUID(bytes=one.uuid)) for one in ids)
    return Op.RewrittenIndex(old, new, details.type_url, details.value, held.new_index_version)


def map_message(edit: Op.UpdateMap) -> pb.Transaction.UpdateMap:
    """Return the message of an edit of one map."""
    made = pb.Transaction.UpdateMap(replace=edit.replace)
    for key, value in edit.updates.items():
        made.update_entries.add(key=key, value=value)
    return made


def map_of(held: pb.Transaction.UpdateMap) -> Op.UpdateMap:
    """Return the edit of one map of a message."""
    entries = {one.key: one.value if one.HasField("value") else None for one in held.update_entries}
    return Op.UpdateMap(entries, held.replace)


def base_of(held: table_pb2.BasePath) -> DatasetBasePath:
    """Return the base path of a message."""
    name = held.name if held.HasField("name") else None
    return DatasetBasePath(held.path, name, held.is_dataset_root, held.id)


def base_messages(
    bases: Iterable[DatasetBasePath], first_id: int | None
) -> list[table_pb2.BasePath]:
    """Return the messages of base paths, numbered from `first_id` on unless that is None."""
    made, next_id = [], first_id
    for base in bases:
        own = base.id
        if own is None:
            own, next_id = (0, None) if next_id is None else (next_id, next_id + 1)
        made.append(table_pb2.BasePath(**{**asdict(base), "id": own}))
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
    try:
        created = datetime.fromtimestamp(entry.created_at / 1000, UTC) if entry.created_at else None
    except (ValueError, OverflowError, OSError):  # beyond the year 9999
        created = None
    details = entry.index_details
    return Index(
        uuid=str(UUID(bytes=entry.uuid.uuid)),
        name=entry.name,
        fields=list(entry.fields),
        dataset_version=entry.dataset_version,
        fragment_ids=set(covered(entry) or ()),
        index_version=entry.index_version,
        created_at=created,
        base_id=entry.base_id if entry.HasField("base_id") else None,
        files=[IndexFile(one.path, one.size_bytes) for one in entry.files] or None,
        index_details=(details.type_url, details.value) if details.type_url else None,
        covering_fields=list(entry.covering_fields),
    )


READERS: dict[type, Callable[..., object]] = {
    table_pb2.DataFragment: FragmentMetadata.from_message,
    table_pb2.DataFile: DataFile.from_message,
    table_pb2.DataOverlayFile: DataOverlayFile.from_message,
    table_pb2.IndexMetadata: index_of,
    table_pb2.BasePath: base_of,
    pb.Transaction.UpdateMap: map_of,
    pb.Transaction.Rewrite.RewrittenIndex: _rewritten,
    pb.Transaction.Rewrite.RewriteGroup: partial(_read, Op.RewriteGroup),
    pb.Transaction.DataReplacementGroup: partial(_read, Op.DataReplacementGroup),
    pb.Transaction.DataOverlayGroup: partial(_read, Op.DataOverlayGroup),
}
"""What reads the messages that are parts of operations."""

"""Texts for people: schemas, manifests, fragments and transactions at length (face).

Has the names of pylance's `lance.debug`, and its way to write: a value below its name, a step
further in. What a message holds is shown with the names of its fields.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from lanceref.file.schema import Field, LanceSchema
from lanceref.file.schema_write import CLUSTERING_KEY, PRIMARY_KEY, storage_encoding
from lanceref.history import History
from lanceref.metadata import FragmentMetadata
from lanceref.opened import OpenTable
from lanceref.proto import file_pb2
from lanceref.table.naming import list_versions
from lanceref.txn.commit import transaction_of

INDENT = "    "

_NAMES = {"DataFragment": "Fragment", "MapEntry": "Entry"}
"""Messages that go by another name."""

_ENCODINGS = {"PLAIN": "Plain", "VAR_BINARY": "VarBinary", "DICTIONARY": "Dictionary", "RLE": "RLE"}


@dataclass(frozen=True, slots=True)
class _Struct:
    """A name, and values by theirs."""

    name: str
    held: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class _Variant:
    """A name, and one value without any."""

    name: str
    value: object


@dataclass(frozen=True, slots=True)
class _Word:
    """A name alone."""

    name: str


def format_schema(dataset: OpenTable) -> str:
    """Return the schema of a table."""
    return _text(_schema(dataset._snapshot.manifest.schema))


def format_manifest(dataset: OpenTable) -> str:
    """Return the manifest of the version that is open."""
    manifest = dataset._snapshot.manifest
    others = _message(manifest.message)
    held = {name: value for name, value in others.held.items() if name != "schema_metadata"}
    held.pop("fields")
    return _text(_Struct("Manifest", {"schema": _schema(manifest.schema), **held}))


def format_fragment(fragment: FragmentMetadata, dataset: OpenTable) -> str:
    """Return the metadata of a fragment; each file with the part of the schema it holds."""
    message = fragment.to_message()
    files = []
    for file in message.files:
        own = _pruned(dataset._snapshot.manifest.schema, set(file.fields))
        held = {
            "path": file.path,
            "fields": list(file.fields),
            "column_indices": list(file.column_indices),
            "schema": _schema(own),
            "major_version": file.file_major_version,
            "minor_version": file.file_minor_version,
        }
        files.append(_Struct("PrettyPrintableDataFile", held))
    deleted = _message(message.deletion_file) if message.HasField("deletion_file") else None
    shown = {
        "id": fragment.id,
        "files": files,
        "deletion_file": _some(deleted),
        "physical_rows": _some(fragment.physical_rows),
    }
    return _text(_Struct("PrettyPrintableFragment", shown))


def list_transactions(dataset: History, max_transactions: int = 10) -> list[str]:
    """Return what the latest versions did, newest first; those whose transaction is gone not."""
    found: list[str] = []
    for name in reversed(list_versions(dataset._snapshot.store, dataset._ctx)):
        if len(found) >= max_transactions:
            break
        manifest = dataset._named(name)
        message = transaction_of(dataset._snapshot.store, manifest, dataset._ctx)
        if message is not None:
            found.append(_text(_transaction(message)))
    return found


def _transaction(message: Message) -> _Struct:
    """Return a transaction with its operation under a name of its own."""
    operation = message.WhichOneof("operation")
    shown = _message(message)
    chosen = message.DESCRIPTOR.oneofs_by_name["operation"].fields
    held = {k: v for k, v in shown.held.items() if k not in {field.name for field in chosen}}
    if operation is not None:
        held["operation"] = _message(getattr(message, operation))
    order = ["read_version", "uuid", "operation", "tag", "transaction_properties"]
    return _Struct("Transaction", {name: held[name] for name in order if name in held})


def _message(message: Message) -> _Struct:
    """Return a message: every field, those that may be left out as such."""
    descriptor = message.DESCRIPTOR
    held = {field.name: _field(message, field) for field in descriptor.fields}  # type: ignore[arg-type]
    return _Struct(_NAMES.get(descriptor.name, descriptor.name), held)


def _field(message: Message, field: FieldDescriptor) -> object:
    value = getattr(message, field.name)
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        below = field.message_type.fields_by_name["value"]
        return {key: _value(value[key], below) for key in sorted(value)}
    if field.is_repeated:
        return [_value(one, field) for one in value]
    if field.has_presence:
        return _some(_value(value, field) if message.HasField(field.name) else None)
    return _value(value, field)


def _value(value: object, field: FieldDescriptor) -> object:
    if isinstance(value, Message):
        return _message(value)
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(value)  # type: ignore[call-overload]
        return _Word(known.name if known is not None else str(value))
    return value


def _schema(schema: LanceSchema) -> _Struct:
    fields = [_schema_field(field) for field in schema.fields]
    return _Struct("Schema", {"fields": fields, "metadata": dict(schema.metadata)})


def _schema_field(field: Field) -> _Struct:
    encoding = file_pb2.Encoding.Name(storage_encoding(field.logical_type))
    dictionary = None
    if field.dictionary is not None:
        offset, length = field.dictionary
        dictionary = _Struct("Dictionary", {"offset": offset, "length": length})
    word = _ENCODINGS.get(encoding)
    held = {
        "name": field.name,
        "id": field.id,
        "parent_id": field.parent_id,
        "logical_type": _Variant("LogicalType", field.logical_type),
        "metadata": dict(field.metadata),
        "encoding": _some(None if word is None else _Word(word)),
        "nullable": field.nullable,
        "children": [_schema_field(child) for child in field.children],
        "dictionary": _some(dictionary),
        "unenforced_primary_key_position": _some(_position(field, PRIMARY_KEY)),
        "unenforced_clustering_key_position": _some(_position(field, CLUSTERING_KEY)),
    }
    return _Struct("Field", held)


def _position(field: Field, key: str) -> int | None:
    """Return the place of a field in a key of the table: 0 when only its membership is told."""
    told = field.metadata.get(f"{key}:position", "")
    if told.isdecimal():
        return int(told)
    return 0 if field.metadata.get(key, "").lower() == "true" else None


def _pruned(schema: LanceSchema, ids: set[int]) -> LanceSchema:
    """Return the fields with these ids, and what stands above them."""
    return LanceSchema(tuple(_held(schema.fields, ids)), schema.metadata)


def _held(fields: Iterable[Field], ids: set[int]) -> Iterator[Field]:
    for field in fields:
        children = tuple(_held(field.children, ids))
        if field.id in ids or children:
            yield replace(field, children=children)


def _some(value: object) -> _Variant | _Word:
    return _Word("None") if value is None else _Variant("Some", value)


def _text(value: object) -> str:
    """Return a value at length, its parts a step further in."""
    if isinstance(value, _Word):
        return value.name
    if isinstance(value, _Variant):
        return _block(f"{value.name}(", [_text(value.value)], ")")
    if isinstance(value, _Struct):
        lines = [f"{name}: {_text(one)}" for name, one in value.held.items()]
        return _block(f"{value.name} {{", lines, "}")
    if isinstance(value, Mapping):
        return _block("{", [f"{_text(key)}: {_text(one)}" for key, one in value.items()], "}")
    if isinstance(value, list):
        return _block("[", [_text(one) for one in value], "]")
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value)


def _block(start: str, parts: list[str], end: str) -> str:
    if not parts:
        return f"{start}{end}"
    below = "".join(f"{part},\n" for part in parts).splitlines(keepends=True)
    return "".join([f"{start}\n", *(f"{INDENT}{line}" for line in below), end])

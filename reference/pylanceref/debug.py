"""Texts for people: schemas, manifests, fragments and transactions at length (face).

Has the names of pylance's `lance.debug`, and its way to write: a value below its name, a step
further in. What a message holds is shown with the names of its fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from google.protobuf.message import Message
from lanceref.file.schema import CLUSTERING_KEY, PRIMARY_KEY, Field, LanceSchema
from lanceref.file.schema_messages import storage_encoding
from lanceref.proto import file_pb2
from lanceref.storage.manifests.manifest_names import list_versions
from lanceref.transactions.commit import transaction_of

from pylanceref.history import History
from pylanceref.message_text import Struct, Variant, Word, shown, some, text_of
from pylanceref.metadata import FragmentMetadata
from pylanceref.table_handle import OpenTable

_ENCODINGS = {"PLAIN": "Plain", "VAR_BINARY": "VarBinary", "DICTIONARY": "Dictionary", "RLE": "RLE"}


def format_schema(dataset: OpenTable) -> str:
    """Return the schema of a table."""
    return text_of(_schema(dataset._snapshot.manifest.schema))


def format_manifest(dataset: OpenTable) -> str:
    """Return the manifest of the version that is open."""
    manifest = dataset._snapshot.manifest
    others = shown(manifest.message)
    held = {name: value for name, value in others.held.items() if name != "schema_metadata"}
    held.pop("fields")
    return text_of(Struct("Manifest", {"schema": _schema(manifest.schema), **held}))


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
        files.append(Struct("PrettyPrintableDataFile", held))
    deleted = shown(message.deletion_file) if message.HasField("deletion_file") else None
    whole = {
        "id": fragment.id,
        "files": files,
        "deletion_file": some(deleted),
        "physical_rows": some(fragment.physical_rows),
    }
    return text_of(Struct("PrettyPrintableFragment", whole))


def list_transactions(dataset: History, max_transactions: int = 10) -> list[str]:
    """Return what the latest versions did, newest first; those whose transaction is gone not."""
    found: list[str] = []
    for name in reversed(list_versions(dataset._snapshot.store, dataset._ctx)):
        if len(found) >= max_transactions:
            break
        manifest = dataset._named(name)
        message = transaction_of(dataset._snapshot.store, manifest, dataset._ctx)
        if message is not None:
            found.append(text_of(_transaction(message)))
    return found


def _transaction(message: Message) -> Struct:
    """Return a transaction with its operation under a name of its own."""
    operation = message.WhichOneof("operation")
    held = dict(shown(message).held)
    if operation is not None:
        held["operation"] = shown(getattr(message, operation))
    order = ["read_version", "uuid", "operation", "tag", "transaction_properties"]
    return Struct("Transaction", {name: held[name] for name in order if name in held})


def _schema(schema: LanceSchema) -> Struct:
    fields = [_schema_field(field) for field in schema.fields]
    return Struct("Schema", {"fields": fields, "metadata": dict(schema.metadata)})


def _schema_field(field: Field) -> Struct:
    encoding = file_pb2.Encoding.Name(storage_encoding(field.logical_type))
    dictionary = None
    if field.dictionary is not None:
        offset, length = field.dictionary
        dictionary = Struct("Dictionary", {"offset": offset, "length": length})
    word = _ENCODINGS.get(encoding)
    held = {
        "name": field.name,
        "id": field.id,
        "parent_id": field.parent_id,
        "logical_type": Variant("LogicalType", field.logical_type),
        "metadata": dict(field.metadata),
        "encoding": some(None if word is None else Word(word)),
        "nullable": field.nullable,
        "children": [_schema_field(child) for child in field.children],
        "dictionary": some(dictionary),
        "unenforced_primary_key_position": some(_position(field, PRIMARY_KEY)),
        "unenforced_clustering_key_position": some(_position(field, CLUSTERING_KEY)),
    }
    return Struct("Field", held)


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

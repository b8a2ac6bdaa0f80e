"""The manifest that a commit has written, as facts that a case can expect."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from google.protobuf import json_format
from lanceref.core.context import Context
from lanceref.proto import table_pb2
from lanceref.storage import open_store
from lanceref.storage.manifests.manifest_names import find_version
from lanceref.table.manifest import open_manifest
from lanceref.transactions.index_entries import covered, set_covered


def manifest_facts(root: Path) -> dict[str, Any]:
    """Return the JSON form of the latest manifest, with its indices and its transaction.

    Raises LanceError.
    """
    store = open_store(str(root))
    name = find_version(store, Context(root.name), None)
    manifest = open_manifest(store.open(name.path), Context(name.name))
    facts = _json(manifest.message)
    facts["indices"] = [_index(index) for index in manifest.indices]
    if manifest.transaction is not None:
        name = manifest.transaction.WhichOneof("operation")
        read = str(manifest.transaction.read_version)
        facts["transaction"] = {"operation": name, "read_version": read}
    return facts


def _index(entry: table_pb2.IndexMetadata) -> dict[str, Any]:
    """Return the facts of an index; of its details only the type, as the message may be unknown.

    The fragments that it covers are a bitmap without runs, whatever containers it has.
    """
    copy = table_pb2.IndexMetadata()
    copy.CopyFrom(entry)
    copy.ClearField("index_details")
    bitmap = covered(entry)
    if bitmap is not None:
        set_covered(copy, bitmap)
    return {**_json(copy), "index_details": entry.index_details.type_url}


def _json(message: Any) -> dict[str, Any]:
    document: dict[str, Any] = json_format.MessageToDict(
        message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )
    return document


def first_mismatch(expected: object, found: object, where: str) -> str | None:
    """Return the first fact that differs from the expected one; null means absent."""
    if isinstance(expected, Mapping):
        if not isinstance(found, Mapping):
            return f"{where}: expected {dict(expected)}, found {found}"
        mismatches = (first_mismatch(v, found.get(k), f"{where}.{k}") for k, v in expected.items())
        return next((text for text in mismatches if text is not None), None)
    if isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            return f"{where}: expected {len(expected)} items, found {len(found)}"
        pairs = enumerate(zip(expected, found, strict=True))
        mismatches = (first_mismatch(e, f, f"{where}[{i}]") for i, (e, f) in pairs)
        return next((text for text in mismatches if text is not None), None)
    return None if expected == found else f"{where}: expected {expected}, found {found}"

"""Table facts: the comparable content of a manifest and its transaction, for two writers.

Names of files, uuids, timestamps, sizes of files, and offsets of sections of the manifest are left
out. So are sequences of row ids and versions: their encoding is the writer's choice, and a read of
the rows compares them.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator, Mapping, Set
from typing import cast

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from lanceref.proto import table_pb2
from lanceref.table.manifest import Manifest
from pyroaring import BitMap

VOLATILE = frozenset(
    {
        *("timestamp", "transaction_file", "index_section", "transaction_section", "uuid"),
        "version_aux_data",
        *("writer_version", "file_size_bytes", "size_bytes", "created_at", "manifest_size"),
        *("create_at", "updated_at", "branch_identifier", "inline_row_ids"),
        *("inline_created_at_versions", "inline_last_updated_at_versions"),
    }
)
"""Fields that differ between any two writes."""

UNORDERED = frozenset(
    {
        *("updated_fragments", "removed_fragment_ids", "deleted_fragment_ids", "update_entries"),
        *("base_paths", "new_indices", "removed_indices", "rewritten_indices", "new_index_files"),
        "fields_for_preserving_frag_bitmap",
    }
)
"""Lists that the oracle fills in the order of a hash map."""

_FILE_NAME = re.compile(r"^[0-9a-fA-F-]{30,}\.lance$")


def facts(manifest: Manifest, root: str) -> dict[str, object]:
    """Return the comparable content of a manifest, its indices and its transaction.

    Paths below `root` become relative to it.
    """
    live = {one.id for one in manifest.fragments}
    return {
        "manifest": normalize(_as_dict(manifest.message), root),
        "indices": normalize(
            sorted((_index(one, live) for one in manifest.indices), key=_sort_key), root
        ),
        "transaction": manifest.transaction and normalize(_as_dict(manifest.transaction), root),
    }


def _as_dict(message: Message) -> dict[str, object]:
    content: dict[str, object] = MessageToDict(message, preserving_proto_field_name=True)
    return content


def _index(entry: table_pb2.IndexMetadata, live: Set[int]) -> dict[str, object]:
    """Return the content of an entry; the oracle keeps any of several without live fragments."""
    content = _as_dict(entry)
    if live.isdisjoint(BitMap.deserialize(entry.fragment_bitmap)):
        return {name: content.get(name) for name in ("name", "fields", "index_details")}
    return content


def _sort_key(index: Mapping[str, object]) -> tuple[str, str]:
    """Return the sort key of an entry of the index section."""
    return str(index["name"]), str(index.get("fragment_bitmap"))


def normalize(value: object, root: str) -> object:
    """Return a value without volatile fields, with sorted unordered lists and relative paths."""
    if isinstance(value, Mapping):
        content = {k: normalize(v, root) for k, v in value.items() if k not in VOLATILE}
        if "num_deleted_rows" in content:
            content.pop("id", None)
        if "fragment_bitmap" in content:
            bitmap = b64decode(cast("str", content["fragment_bitmap"]))
            content["fragment_bitmap"] = list(BitMap.deserialize(bitmap))
            content["files"] = sorted(cast("list[object]", content.get("files", [])), key=str)
            if "Inverted" in str(content.get("index_details")):
                del content["files"]  # the number of partitions is the writer's choice
        for name in UNORDERED & content.keys():
            content[name] = sorted(cast("list[object]", content[name]), key=str)
        return content
    if isinstance(value, list | tuple):
        return [normalize(one, root) for one in value]
    if isinstance(value, str):
        return "*.lance" if _FILE_NAME.match(value) else value.replace(root, "ROOT")
    return value


def differences(left: object, right: object, path: str = "") -> Iterator[str]:
    """Yield the paths at which two normalized values differ, with both values."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        for key in sorted({*left, *right}, key=str):
            yield from differences(left.get(key), right.get(key), f"{path}.{key}")
    elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for number, (one, other) in enumerate(zip(left, right)):
            yield from differences(one, other, f"{path}[{number}]")
    elif left != right:
        yield f"{path}: {str(left)[:300]} and {str(right)[:300]}"

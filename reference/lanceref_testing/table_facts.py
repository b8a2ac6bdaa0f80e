"""Table facts: what a manifest and its transaction say, but for what no two writes have in common.

What chance or the clock decides is left out: names of files, uuids, timestamps, sizes of files, and
where a section of the manifest lies. So are sequences of row ids and versions: how they are cut is
the writer's choice, and who reads the rows sees them.
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

CHANCE = frozenset(
    {
        *("timestamp", "transaction_file", "index_section", "transaction_section", "uuid"),
        "version_aux_data",
        *("writer_version", "file_size_bytes", "size_bytes", "created_at", "manifest_size"),
        *("create_at", "updated_at", "branch_identifier", "inline_row_ids"),
        *("inline_created_at_versions", "inline_last_updated_at_versions"),
    }
)
"""Names of what no two writes have in common."""

UNORDERED = frozenset(
    {
        *("updated_fragments", "removed_fragment_ids", "deleted_fragment_ids", "update_entries"),
        *("base_paths", "new_indices", "removed_indices", "rewritten_indices", "new_index_files"),
        "fields_for_preserving_frag_bitmap",
    }
)
"""Lists that the oracle fills from a hash map, or in the order of one that it has so filled."""

_FILE_NAME = re.compile(r"^[0-9a-fA-F-]{30,}\.lance$")


def facts(manifest: Manifest, root: str) -> dict[str, object]:
    """Return what a manifest, its indices and its transaction say; paths become relative."""
    live = {one.id for one in manifest.fragments}
    return {
        "manifest": plain(_told(manifest.message), root),
        "indices": plain(sorted((_index(one, live) for one in manifest.indices), key=_entry), root),
        "transaction": manifest.transaction and plain(_told(manifest.transaction), root),
    }


def _told(message: Message) -> dict[str, object]:
    told: dict[str, object] = MessageToDict(message, preserving_proto_field_name=True)
    return told


def _index(entry: table_pb2.IndexMetadata, live: Set[int]) -> dict[str, object]:
    """Return an entry; of several over no live fragment the oracle leaves open which one stays."""
    told = _told(entry)
    if live.isdisjoint(BitMap.deserialize(entry.fragment_bitmap)):
        return {name: told.get(name) for name in ("name", "fields", "index_details")}
    return told


def _entry(index: Mapping[str, object]) -> tuple[str, str]:
    """Return what entries of an index section are ordered by."""
    return str(index["name"]), str(index.get("fragment_bitmap"))


def plain(value: object, root: str) -> object:
    """Return a value without what is left to chance."""
    if isinstance(value, Mapping):
        kept = {k: plain(v, root) for k, v in value.items() if k not in CHANCE}
        if "num_deleted_rows" in kept:
            kept.pop("id", None)
        if "fragment_bitmap" in kept:
            bitmap = b64decode(cast("str", kept["fragment_bitmap"]))
            kept["fragment_bitmap"] = list(BitMap.deserialize(bitmap))
            kept["files"] = sorted(cast("list[object]", kept.get("files", [])), key=str)
            if "Inverted" in str(kept.get("index_details")):
                del kept["files"]  # how many partitions there are is the writer's choice
        for name in UNORDERED & kept.keys():
            kept[name] = sorted(cast("list[object]", kept[name]), key=str)
        return kept
    if isinstance(value, list | tuple):
        return [plain(one, root) for one in value]
    if isinstance(value, str):
        return "*.lance" if _FILE_NAME.match(value) else value.replace(root, "ROOT")
    return value


def apart(left: object, right: object, where: str = "") -> Iterator[str]:
    """Yield where two plain values differ."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        for key in sorted({*left, *right}, key=str):
            yield from apart(left.get(key), right.get(key), f"{where}.{key}")
    elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for number, (one, other) in enumerate(zip(left, right)):
            yield from apart(one, other, f"{where}[{number}]")
    elif left != right:
        yield f"{where}: {str(left)[:300]} and {str(right)[:300]}"

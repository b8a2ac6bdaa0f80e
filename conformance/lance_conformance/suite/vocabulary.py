"""Vocabulary: the words of `requires`, of `exclude` in `hello`, and of `unsupported`.

It is closed. Encodings are named after the protobuf fields that select them, so that the chapters
and `protos/` define them; types and features are listed here. `derived_requirements` derives the
words of a case from its bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from google.protobuf.descriptor import Descriptor
from lanceref.proto import encodings_v2_0_pb2, encodings_v2_1_pb2, encodings_v2_3_pb2

LEGACY_ENCODINGS: Mapping[object, str] = {1: "plain", 2: "var_binary", 3: "dictionary", 4: "rle"}
"""Encodings of a field in a file of 0.1."""

SCHEMES: Mapping[object, str] = {1: "lz4", 2: "zstd", "lz4": "lz4", "zstd": "zstd"}
"""Compression of buffers: numbers from 2.1 on, names in 2.0."""

TYPES: Mapping[str, str] = {
    "null": "", "bool": "", "int8": "", "int16": "", "int32": "", "int64": "",
    "uint8": "", "uint16": "", "uint32": "", "uint64": "",
    "float16": "halffloat", "float": "", "double": "",
    "bfloat16": "an extension over two bytes",
    "decimal128": "", "decimal256": "",
    "date32": "", "date64": "", "time32:s": "", "time32:ms": "", "time64:us": "", "time64:ns": "",
    "timestamp:s": "", "timestamp:ms": "", "timestamp:us": "", "timestamp:ns": "",
    "timezone": "a timestamp with a time zone",
    "duration:s": "", "duration:ms": "", "duration:us": "", "duration:ns": "",
    "string": "", "large_string": "", "binary": "", "large_binary": "", "fixed_size_binary": "",
    "json": "JSONB of chapter 33",
    "list": "", "large_list": "", "fixed_size_list": "", "struct": "", "map": "",
    "dictionary": "Arrow's dictionary type, not the encoding",
}  # fmt: skip
"""Types of fields at any depth by logical type, with the meaning where the name differs."""

FEATURES: Mapping[str, str] = {
    "base-paths": "files under other roots than that of the table",
    "blob": "a column of blobs",
    "branch": "a version of a branch",
    "deletion-files": "deleted rows",
    "overlays": "values that override those of data files",
    "row-address": "the column _rowaddr",
    "row-id": "the column _rowid",
    "several-data-files": "fragments with columns in several files",
    "stable-row-ids": "row ids that are not addresses",
    "tag": "a version by its tag",
    "version": "another version than the latest",
}
"""Features of tables and requests."""

INDICES = (
    "BTREE", "BITMAP", "LABEL_LIST", "NGRAM", "ZONEMAP", "BLOOMFILTER", "RTREE", "FM", "JSON",
    "INVERTED", "MINHASH", "IVF_FLAT", "IVF_SQ", "IVF_PQ", "IVF_RQ",
    "IVF_HNSW_FLAT", "IVF_HNSW_SQ", "IVF_HNSW_PQ",
)  # fmt: skip
"""Types of indices."""

_MODULES = (encodings_v2_0_pb2, encodings_v2_1_pb2, encodings_v2_3_pb2)

_DEFAULTS = frozenset({"values", "no_nulls"})
"""Fields that select no encoding."""


def _choices() -> Iterator[tuple[str, str, str]]:
    """Yield message, field and word of each choice between encodings."""
    waiting: list[Descriptor] = [
        message
        for module in _MODULES
        for message in module.DESCRIPTOR.message_types_by_name.values()
    ]
    while waiting:
        message = waiting.pop()
        waiting += message.nested_types
        for choice in message.oneofs:
            for field in choice.fields:
                if field.message_type is not None and field.name not in _DEFAULTS:
                    yield message.full_name, field.name, field.name.removesuffix("_layout")


CHOICES: Mapping[tuple[str, str], str] = {
    **{(message, field): word for message, field, word in _choices()},
    ("lance.encodings21.MiniBlockLayout", "dictionary"): "dictionary",
}
"""Word of an encoding by the message that selects it and the field that is set.

A mini-block page has a dictionary in addition to the encoding of its indices.
"""

ENCODINGS = frozenset(CHOICES.values()) | {*LEGACY_ENCODINGS.values(), *SCHEMES.values()}
"""Encodings of pages, and compression of buffers."""


def type_words(logical_type: str) -> frozenset[str]:
    """Return the words of a logical type, without those of its children."""
    head, *rest = logical_type.split(":")
    if head == "fixed_size_list":
        return frozenset({head}) | type_words(":".join(rest[:-1]))
    if head == "dict":
        return frozenset({"dictionary"}).union(*map(type_words, rest[:2]))
    if head == "timestamp":
        zone = {"timezone"} if rest[1:] not in ([], ["-"]) else set()
        return frozenset({f"{head}:{rest[0]}", *zone})
    if head in ("time32", "time64", "duration"):
        return frozenset({f"{head}:{rest[0]}"})
    if head == "decimal":
        return frozenset({f"decimal{rest[0]}"})
    known = {"halffloat": "float16", "lance.bfloat16": "bfloat16"}
    return frozenset({known.get(head, head.split(".")[0])})

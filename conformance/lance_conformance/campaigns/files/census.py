"""Census of a campaign: how often each type, encoding, layout and pattern came up.

Encodings are read from the messages in the file's own metadata: every `oneof` arm that is set
counts under the name of its message, as in `PageLayout mini_block_layout`.
"""

from __future__ import annotations

from collections.abc import Iterator

from google.protobuf.message import Message
from lanceref.data_file.data_file import DataFile

_TYPES = (
    *("bool", "halffloat", "float", "double", "null", "dictionary", "decimal128", "decimal256"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("string", "large_string", "binary", "large_binary", "fixed_size_binary"),
    *("date32", "date64", "time32", "time64", "timestamp", "duration"),
    *("list", "large_list", "struct", "fixed_size_list"),
)

_EVERY_VERSION = (
    *(f"type {name}" for name in _TYPES),
    *(f"nulls {name}" for name in ("none", "some", "all", "first", "last")),
    *(f"depth {depth}" for depth in range(5)),
    "packed struct",
    "many pages",
    "rows 0",
)
"""What a campaign over any version must have met."""

_ARRAY_ENCODINGS = (
    *(f"ArrayEncoding {arm}" for arm in ("flat", "nullable", "fixed_size_list", "list", "struct")),
    *(f"ArrayEncoding {arm}" for arm in ("binary", "dictionary", "fsst", "packed_struct")),
    *(f"Nullable {arm}" for arm in ("no_nulls", "some_nulls", "all_nulls")),
    "Compression zstd",
    "Compression lz4",
)

_LAYOUTS = (
    "PageLayout mini_block_layout",
    "PageLayout full_zip_layout",
    "PageLayout constant_layout",
    "dictionary",
    *(
        f"CompressiveEncoding {arm}"
        for arm in (
            "flat",
            "variable",
            "inline_bitpacking",
            "out_of_line_bitpacking",
            "fsst",
            "rle",
            "byte_stream_split",
            "general",
            "fixed_size_list",
            "packed_struct",
        )
    ),
)

REQUIRED: dict[str, tuple[str, ...]] = {
    "0.1": _EVERY_VERSION,
    "2.0": (*_EVERY_VERSION, *_ARRAY_ENCODINGS),
    "2.1": (*_EVERY_VERSION, *_LAYOUTS),
    "2.2": (*_EVERY_VERSION, *_LAYOUTS, "type map"),
    "2.3": (*_EVERY_VERSION, "type map"),
}
"""Labels that must not stay at zero, by file version."""


def encodings_of(file: DataFile) -> set[str]:
    """Return the labels of every encoding in a file's metadata."""
    labels: set[str] = set()
    for column in file.columns:
        if len(column.pages) > 1:
            labels.add("many pages")
        for page in column.pages:
            labels.update(_arms(page.encoding))
    return labels


def _arms(message: Message) -> Iterator[str]:
    if message.DESCRIPTOR.name == "Compression":
        yield f"Compression {message.scheme}"  # type: ignore[attr-defined]
    for field, value in message.ListFields():
        if field.containing_oneof is not None and field.message_type is not None:
            yield f"{message.DESCRIPTOR.name} {field.name}"
        if field.name == "dictionary":
            yield "dictionary"
        if field.message_type is None:
            continue
        for inner in value if field.is_repeated else [value]:
            yield from _arms(inner)

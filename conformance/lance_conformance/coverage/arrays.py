"""Coverage of 2.0 and 0.1: widths, keys and compression of 2.0, encodings of 0.1."""

from __future__ import annotations

from collections.abc import Iterator

from google.protobuf.message import Message
from lanceref.proto import encodings_v2_0_pb2 as pb
from lanceref.proto import file_pb2

from lance_conformance.coverage.codecs import FIXED_BITS, WORDS
from lance_conformance.coverage.messages import Fact

_KINDS = ("bool", "integer", "float", "decimal", "temporal", "fixed_size")
_NUMBERS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in WORDS)

_WIDTHS = {bits: tuple(map(str, range(1, bits + 1))) for bits in WORDS}

AXES: dict[str, tuple[str, ...]] = {
    **{f"bitpacked width of {bits}-bit values in 2.0": _WIDTHS[bits] for bits in WORDS},
    **{f"FastLanes width of {bits}-bit values in 2.0": _WIDTHS[bits] for bits in WORDS},
    "flat bits in 2.0": ("1", *FIXED_BITS),
    "compression in 2.0": ("zstd", "lz4"),
    "dictionary key bits in 2.0": tuple(map(str, WORDS)),
    "buffers in 2.0": ("page", "column", "file"),
    "encoding in 0.1": (
        *(f"{kind}, PLAIN" for kind in _KINDS),
        *(f"{kind}, VAR_BINARY" for kind in ("string", "binary")),
        "dictionary, DICTIONARY",
        "list, PLAIN",
        "struct, NONE",
    ),
    "statistics in 0.1": (
        *_NUMBERS,
        *("bool", "float", "double", "string", "binary", "large_string", "large_binary"),
        *("date32", "date64", "decimal"),
    ),
}
"""Axes of messages of 2.0 and fields of 0.1, with their members."""

_BUFFER = pb.Buffer.BufferType


def message_facts(message: Message) -> Iterator[Fact]:
    """Yield the facts of one message of a page of 2.0."""
    if isinstance(message, pb.Flat):
        yield "flat bits in 2.0", str(message.bits_per_value)
        if message.HasField("compression"):
            yield "compression in 2.0", message.compression.scheme
    elif isinstance(message, pb.Bitpacked):
        axis = f"bitpacked width of {message.uncompressed_bits_per_value}-bit values in 2.0"
        yield axis, str(message.compressed_bits_per_value)
    elif isinstance(message, pb.BitpackedForNonNeg):
        axis = f"FastLanes width of {message.uncompressed_bits_per_value}-bit values in 2.0"
        yield axis, str(message.compressed_bits_per_value)
    elif isinstance(message, pb.Dictionary):
        keys = message.indices
        while keys.WhichOneof("array_encoding") == "nullable":
            keys = keys.nullable.no_nulls.values
        yield "dictionary key bits in 2.0", str(keys.flat.bits_per_value)
    elif isinstance(message, pb.Buffer):
        yield "buffers in 2.0", _BUFFER.Name(message.buffer_type)


def legacy_facts(message: Message) -> Iterator[Fact]:
    """Yield the facts of fields and statistics of a file of 0.1."""
    if isinstance(message, file_pb2.Field) and message.name not in ("min_value", "max_value"):
        name = file_pb2.Encoding.Name(message.encoding)
        yield "encoding in 0.1", f"{_kind(message.logical_type)}, {name}"
    elif isinstance(message, file_pb2.Metadata.StatisticsMetadata):
        for field in message.schema:
            if field.name == "min_value":
                yield "statistics in 0.1", field.logical_type.partition(":")[0]


def _kind(logical: str) -> str:
    """Return the group of a logical type."""
    kind = logical.partition(":")[0]
    groups = {
        "integer": _NUMBERS,
        "float": ("halffloat", "float", "double"),
        "temporal": ("date32", "date64", "time32", "time64", "timestamp", "duration"),
        "fixed_size": ("fixed_size_list", "fixed_size_binary"),
        "list": ("list", "list.struct", "large_list", "large_list.struct"),
        "string": ("string", "large_string"),
        "binary": ("binary", "large_binary"),
        "dictionary": ("dict",),
    }
    return next((name for name, kinds in groups.items() if kind in kinds), kind)

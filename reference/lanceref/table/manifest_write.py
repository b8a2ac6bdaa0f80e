"""Manifest file, written.

The counterpart of `manifest`: sections go out one behind the other from offset 0, and the manifest
learns where the others begin.

Layout: see `manifest`.

Clauses: L.table.manifest.magic, L.table.manifest.footer, L.table.manifest.footer-version,
L.table.manifest.section, L.table.manifest.index-section, L.table.manifest.timestamp,
L.legacy.dictionary.location

Divergences: D.table.transaction-section-23
"""

from __future__ import annotations

import struct
import time
from collections.abc import Mapping, Sequence

import pyarrow as pa
from google.protobuf.message import Message

from lanceref.proto import table_pb2, transaction_pb2
from lanceref.table.manifest import MAGIC

_FOOTER = struct.Struct("<QHH4s")
_LENGTH = struct.Struct("<I")


def encode_manifest(
    message: table_pb2.Manifest,
    transaction: transaction_pb2.Transaction,
    indices: Sequence[table_pb2.IndexMetadata],
    dictionaries: Mapping[int, pa.Array],
) -> bytes:
    """Return the file of a version; `message` is told where its sections and dictionaries lie."""
    out = bytearray()
    _write_dictionaries(out, message, dictionaries)
    message.ClearField("index_section")
    if indices:
        message.index_section = _write_section(out, table_pb2.IndexSection(indices=indices))
    message.ClearField("transaction_section_deprecated")
    message.transaction_section = _write_section(out, transaction)
    position = _write_section(out, message)
    return bytes(out) + _FOOTER.pack(position, 0, 2, MAGIC)


def _write_section(out: bytearray, message: Message) -> int:
    """Append a length and a message; return where they begin."""
    position, data = len(out), message.SerializeToString(deterministic=True)
    out += _LENGTH.pack(len(data)) + data
    return position


def _write_dictionaries(
    out: bytearray, message: table_pb2.Manifest, dictionaries: Mapping[int, pa.Array]
) -> None:
    from lanceref.file_0_1.dictionary import encode_dictionaries  # readers never need it

    data, located = encode_dictionaries(dictionaries, len(out))
    out += data
    for field in message.fields:
        if field.id in located:
            field.dictionary.offset, field.dictionary.length = located[field.id]


def stamp(message: table_pb2.Manifest, nanoseconds: int | None = None) -> None:
    """Set the time of a version, in nanoseconds since 1970; the present when none is given."""
    now = time.time_ns() if nanoseconds is None else nanoseconds
    message.timestamp.seconds, message.timestamp.nanos = divmod(now, 10**9)

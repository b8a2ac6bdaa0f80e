"""Manifests made by hand, and the worked one."""

from lanceref.core.context import Context, Finding
from lanceref.core.spans import SpanRecorder
from lanceref.proto import table_pb2
from lanceref.storage import BytesSource
from lanceref.table.manifest import Manifest, open_manifest

NAME = "18446744073709551614.manifest"

WORKED = bytes.fromhex(
    "44000000122466393065313761632d383563302d343835372d623639372d373432313161376530623363b2061b"
    "121912016120ffffffffffffffffff012a05696e74363430013801790000000a1912016120ffffffffffffffff"
    "ff012a05696e7436343001380118013a0c08e29584d80610ff97c8fc02622a302d66393065313761632d383563"
    "302d343835372d623639372d3734323131613765306233632e74786e6a0f0a056c616e6365120631342e302e32"
    "7a0c0a056c616e63651203322e32b801004800000000000000000002004c414e43"
)
"""Version 1 of an empty table with one column `a`, written by the oracle."""


def footer(position: int, major: int = 0, minor: int = 2, magic: bytes = b"LANC") -> bytes:
    """The 16 bytes at the end."""
    words = major.to_bytes(2, "little") + minor.to_bytes(2, "little")
    return position.to_bytes(8, "little") + words + magic


def section(message: bytes) -> bytes:
    """A length and a message."""
    return len(message).to_bytes(4, "little") + message


def minimal(**fields: object) -> table_pb2.Manifest:
    """Version 1 of a table of int64 column `a` (field 0) in 2.2, with more fields as given."""
    given = {
        "fields": [{"name": "a", "id": 0, "parent_id": -1, "logical_type": "int64"}],
        "version": 1,
        "data_format": {"file_format": "lance", "version": "2.2"},
        "writer_version": {"library": "lance", "version": "1"},
    }
    return table_pb2.Manifest(**{**given, **fields})


def data_file(**fields: object) -> dict[str, object]:
    """A data file of 2.2 that holds field 0."""
    given = {"path": "f.lance", "fields": [0], "column_indices": [0]}
    return {**given, "file_major_version": 2, "file_minor_version": 2, **fields}


def fragment(number: int = 0, *files: dict[str, object], **fields: object) -> dict[str, object]:
    """A fragment of ten rows in one file, or in those given."""
    return {"id": number, "files": list(files) or [data_file()], "physical_rows": 10, **fields}


def to_bytes(message: table_pb2.Manifest) -> bytes:
    """The file of a manifest without other sections."""
    return section(message.SerializeToString()) + footer(0)


def parse(
    data: bytes | table_pb2.Manifest,
    findings: list[Finding] | None = None,
    spans: SpanRecorder | None = None,
) -> Manifest:
    """Open the bytes of a manifest, or a message."""
    held = data if isinstance(data, bytes) else to_bytes(data)
    return open_manifest(BytesSource(held, NAME), Context(NAME, findings=findings, spans=spans))

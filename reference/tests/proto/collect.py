"""Every protobuf message in the files of a folder, found without the reference's own parsers."""

import json
import struct
from collections.abc import Iterator
from pathlib import Path

from google.protobuf.message import Message
from lanceref import proto

from .known import Seen, examine

Found = Iterator[tuple[str, Message]]


def messages_below(folder: Path) -> Found:
    """Yield where each message lies, and the message."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            for name, message in _messages_of(path):
                yield f"{path.relative_to(folder)}: {name}", message


def examine_below(folder: Path, seen: Seen) -> None:
    """Note the fields of every message below a folder."""
    for at, message in messages_below(folder):
        examine(message, at, seen)


def _messages_of(path: Path) -> Found:
    data = path.read_bytes()
    if path.parent.name == "_transactions":
        yield "transaction", proto.transaction_pb2.Transaction.FromString(data)
    elif path.name == "details.binpb":
        content = proto.index_details_pb2.FragmentReuseIndexDetails.InlineContent
        yield "fragment reuse", content.FromString(data)
    elif path.suffix == ".binpb":
        yield "shard manifest", proto.mem_wal_pb2.ShardManifest.FromString(data)
    elif data[-4:] == b"LANC":
        version = struct.unpack("<HH", data[-8:-4])
        if path.suffix == ".manifest":
            yield from _manifest(data)
        elif version == (0, 1):
            yield "index", _prefixed(data, _footer_position(data), proto.index_pb2.Index)
        elif version == (0, 2):
            yield from _data_file_0(data)
        else:
            yield from _data_file_2(data)


def _footer_position(data: bytes) -> int:
    return struct.unpack("<Q", data[-16:-8])[0]


def _prefixed(data: bytes, at: int, cls: type[Message]) -> Message:
    """Parse a message after its u32 length."""
    (size,) = struct.unpack_from("<I", data, at)
    return cls.FromString(data[at + 4 : at + 4 + size])


def _manifest(data: bytes) -> Found:
    manifest = _prefixed(data, _footer_position(data), proto.table_pb2.Manifest)
    yield "manifest", manifest
    if manifest.HasField("index_section"):
        yield "index section", _prefixed(data, manifest.index_section, proto.table_pb2.IndexSection)
    if manifest.HasField("transaction_section"):
        at = manifest.transaction_section
        yield "transaction section", _prefixed(data, at, proto.transaction_pb2.Transaction)


def _data_file_0(data: bytes) -> Found:
    metadata = _prefixed(data, _footer_position(data), proto.file_pb2.Metadata)
    yield "metadata", metadata
    yield "manifest", _prefixed(data, metadata.manifest_position, proto.table_pb2.Manifest)


def _data_file_2(data: bytes) -> Found:
    _, columns_at, buffers_at, num_buffers, num_columns = struct.unpack("<QQQII", data[-40:-8])
    for column, part in enumerate(_parts(data, columns_at, num_columns)):
        yield f"column {column}", proto.file2_pb2.ColumnMetadata.FromString(part)
    buffers = _parts(data, buffers_at, num_buffers)
    descriptor = proto.file_pb2.FileDescriptor.FromString(buffers[0])
    yield "descriptor", descriptor
    yield from _index_messages(descriptor.schema.metadata, buffers)


def _parts(data: bytes, table_at: int, count: int) -> list[bytes]:
    """Cut what a table of (position, size) pairs lists."""
    pairs = struct.iter_unpack("<QQ", data[table_at : table_at + 16 * count])
    return [data[at : at + size] for at, size in pairs]


def _index_messages(metadata: dict[str, bytes], buffers: list[bytes]) -> Found:
    """Yield what the schema metadata of an index file points to."""
    if "lance:ivf" in metadata:
        yield "ivf", proto.index_pb2.IVF.FromString(buffers[int(metadata["lance:ivf"])])
    for text in json.loads(metadata.get("storage_metadata", b"[]")):
        storage = json.loads(text)
        for key in ("codebook_position", "rotate_mat_position"):
            if storage.get(key) is not None:
                yield key, proto.index_pb2.Tensor.FromString(buffers[storage[key]])
    if "minhash_lsh_details" in metadata:
        details = bytes.fromhex(metadata["minhash_lsh_details"].decode())
        yield "details", proto.index_pb2.MinHashLshIndexDetails.FromString(details)

"""Applying the one change of a negative case to its parent's bytes.

The location of a change is a name, which is resolved by the span tree of the reference: a recipe
has `("footer", "num_columns")` and not an offset. After the edit of a message, the lengths and
offsets around it are recomputed: the metadata of a data file come after its data, so the data keep
their offsets, and the descriptor, the column metadata, the two tables and the footer are rewritten.
A manifest is a sequence of length-prefixed sections and a footer with the offset of the last one;
so are the metadata of a 0.1 file, and a vector index of a single file. A global buffer other than
the descriptor moves after it when its message is edited.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch

from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import Message
from lanceref.core.context import Context
from lanceref.core.spans import Span
from lanceref.data_file.data_file import DataFile, open_metadata
from lanceref.inspection import explain_source
from lanceref.proto import file2_pb2, file_pb2, index_pb2, table_pb2, transaction_pb2
from lanceref.proto.encodings_v2_0_pb2 import ArrayEncoding
from lanceref.proto.encodings_v2_1_pb2 import PageLayout
from lanceref.proto.encodings_v2_3_pb2 import PlanarLayout
from lanceref.storage import BytesSource

from lance_conformance.recipes.edits import update
from lance_conformance.recipes.model import Change, MessageEdit, Remove, Rename, Resize, SpanPatch

_PAGES: tuple[type[Message], ...] = (ArrayEncoding, PageLayout, PlanarLayout)
_PAGE_MESSAGES = {kind.DESCRIPTOR.full_name: kind for kind in _PAGES}

PADDING = b"H"
"""Padding between buffers."""

_BUFFERS: dict[str, type[Message]] = {"IVF": index_pb2.IVF, "Tensor": index_pb2.Tensor}

_SECTIONS: dict[str, type[Message]] = {"transaction": transaction_pb2.Transaction,
    "manifest": table_pb2.Manifest, "index section": table_pb2.IndexSection}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Edited:
    """The new file, and the edited message before and after; `at` is where it stood."""

    data: bytes
    at: int
    was: bytes
    now: bytes


def edit_message(name: str, data: bytes, where: str, edit: Callable[[Message], None]) -> Edited:
    """Apply `edit` to the message `where` names in the file `name`."""
    if name.endswith(".manifest"):
        return _edit_manifest(data, where, edit)
    if name.endswith(".txn"):
        return _edit_whole_file(data, transaction_pb2.Transaction, edit)
    if where == "metadata":
        return _edit_prefixed(data, file_pb2.Metadata, edit)
    if where == "index":
        return _edit_prefixed(data, index_pb2.Index, edit)
    return _edit_data_file(data, where, edit)


def _edited_bytes(data: bytes, cls: type[Message], edit: Callable[[Message], None]) -> bytes:
    message = cls.FromString(data)
    edit(message)
    return bytes(message.SerializeToString(deterministic=True))


def _edit_whole_file(data: bytes, cls: type[Message], edit: Callable[[Message], None]) -> Edited:
    now = _edited_bytes(data, cls, edit)
    return Edited(now, 0, data, now)


def _edit_prefixed(data: bytes, cls: type[Message], edit: Callable[[Message], None]) -> Edited:
    """Edit the message directly before the footer."""
    at = int.from_bytes(data[-16:-8], "little")
    was = _section(data, at)
    now = _edited_bytes(was, cls, edit)
    changed = data[:at] + len(now).to_bytes(4, "little") + now + data[-16:]
    return Edited(changed, at + 4, was, now)


def _edit_data_file(data: bytes, where: str, edit: Callable[[Message], None]) -> Edited:
    file = open_metadata(BytesSource(data), Context("parent", findings=[]))
    descriptor_at = file.global_buffers[0]
    descriptor = data[descriptor_at.offset : descriptor_at.end]
    columns = [data[extent.offset : extent.end] for extent in file.column_extents]
    kind, _, number = where.partition(" ")
    if kind == "buffer":
        return _edit_buffer(data, file, number, edit)
    if kind == "descriptor":
        was, at = descriptor, descriptor_at.offset
        now = descriptor = _edited_bytes(was, file_pb2.FileDescriptor, edit)
    else:
        index = int(number.partition(".")[0])
        was, at = columns[index], file.column_extents[index].offset
        if kind == "page":
            page = int(number.partition(".")[2])
            now = _edited_bytes(was, file2_pb2.ColumnMetadata, lambda m: _edit_page(m, page, edit))
        else:
            now = _edited_bytes(was, file2_pb2.ColumnMetadata, edit)
        columns[index] = now
    return Edited(_rewrite_tail(data, file, descriptor, columns), at, was, now)


def _edit_buffer(data: bytes, file: DataFile, name: str, edit: Callable[[Message], None]) -> Edited:
    """Edit the message in the global buffer named by its number and message type."""
    number, _, type_name = name.partition(" ")
    extent, descriptor = file.global_buffers[int(number)], file.global_buffers[0]
    was = data[extent.offset : extent.end]
    now = _edited_bytes(was, _BUFFERS[type_name], edit)
    first = data[descriptor.offset : descriptor.end]
    columns = [data[one.offset : one.end] for one in file.column_extents]
    cleared = data[: extent.offset] + PADDING * len(was) + data[extent.end :]
    moved = _rewrite_tail(cleared, file, first, columns, {int(number): now})
    return Edited(moved, extent.offset, was, now)


def _edit_page(message: Message, page: int, edit: Callable[[Message], None]) -> None:
    assert isinstance(message, file2_pb2.ColumnMetadata)
    direct = message.pages[page].encoding.direct
    packed = AnyMessage.FromString(direct.encoding)
    cls = _PAGE_MESSAGES[packed.type_url[1:]]
    packed.value = _edited_bytes(packed.value, cls, edit)
    direct.encoding = packed.SerializeToString(deterministic=True)


def _rewrite_tail(
    data: bytes,
    file: DataFile,
    descriptor: bytes,
    columns: list[bytes],
    moved: Mapping[int, bytes] | None = None,
) -> bytes:
    """Return the data area followed by descriptor, columns, tables and footer at new places.

    Global buffers that `moved` come before the columns.
    """
    start = file.global_buffers[0].offset
    buffers = [(start, len(descriptor)), *file.global_buffers[1:]]
    out = bytearray(data[:start] + descriptor)
    for number, buffer in (moved or {}).items():
        buffers[number] = (len(out), len(buffer))
        out += buffer
    return closed(out, buffers, columns, data[-8:])


def closed(
    out: bytearray, buffers: list[tuple[int, int]], columns: list[bytes], version: bytes
) -> bytes:
    """Append column metadata, the tables of columns and of global buffers, and the footer."""
    starts, entries = [len(out)], []
    for column in columns:
        entries.append((len(out), len(column)))
        out += column
    for table in (entries, buffers):
        starts.append(len(out))
        out += b"".join(number.to_bytes(8, "little") for entry in table for number in entry)
    out += b"".join(word.to_bytes(8, "little") for word in starts)
    out += b"".join(len(table).to_bytes(4, "little") for table in (buffers, columns))
    return bytes(out + version)


def _edit_manifest(data: bytes, where: str, edit: Callable[[Message], None]) -> Edited:
    """Edit one section; the sections after it move, and their offsets are recomputed."""
    at_manifest = int.from_bytes(data[-16:-8], "little")
    manifest = table_pb2.Manifest.FromString(_section(data, at_manifest))
    places = {"manifest": at_manifest}
    if manifest.HasField("transaction_section"):
        places["transaction"] = manifest.transaction_section
    if manifest.HasField("index_section"):
        places["index section"] = manifest.index_section
    at = places[where]
    was = _section(data, at)
    now = _edited_bytes(was, _SECTIONS[where], edit)
    moved = len(now) - len(was)
    tail = bytearray(data[at + 4 + len(was) :])
    if where != "manifest":
        if manifest.HasField("transaction_section") and manifest.transaction_section > at:
            manifest.transaction_section += moved
        at_manifest += moved
        body = manifest.SerializeToString(deterministic=True)
        between = data[at + 4 + len(was) : at_manifest - moved]
        tail = bytearray(between + len(body).to_bytes(4, "little") + body + data[-16:])
    tail[-16:-8] = at_manifest.to_bytes(8, "little")
    return Edited(data[:at] + len(now).to_bytes(4, "little") + now + bytes(tail), at + 4, was, now)


def _section(data: bytes, at: int) -> bytes:
    size = int.from_bytes(data[at : at + 4], "little")
    return data[at + 4 : at + 4 + size]


@dataclass(frozen=True, slots=True)
class Patch:
    """The difference between parent and case, as in the member `patch` of `case.json`."""

    target: str
    at: int
    was: bytes
    now: bytes
    field: str
    reflow: bool = False


class RecipeError(Exception):
    """A recipe names a location that its parent does not have, or changes nothing."""


def apply(change: Change, parent: Mapping[str, bytes]) -> tuple[dict[str, bytes], Patch]:
    """Return the changed files and the patch that describes the change."""
    target = _target(change.target, parent)
    data, files = parent[target], dict(parent)
    if isinstance(change, Remove):
        del files[target]
        return files, Patch(target, 0, data, b"", "file")
    if isinstance(change, Rename):
        files[change.to] = files.pop(target)
        return files, Patch(target, 0, target.encode(), change.to.encode(), "name")
    if isinstance(change, Resize):
        more = change.append(data) if callable(change.append) else change.append
        files[target] = data[: change.keep] + more
        patch = _difference(target, data, files[target], "end of file")
    elif isinstance(change, SpanPatch):
        files[target], patch = _patch_span(change, target, data)
    else:
        files[target], patch = _edit(change, target, data)
    if files[target] == data:
        raise RecipeError(f"{change} changes nothing in {target}")
    return files, patch


def _target(pattern: str, parent: Mapping[str, bytes]) -> str:
    names = [name for name in parent if fnmatch(name, pattern)]
    if len(names) != 1:
        raise RecipeError(f"{pattern} names {len(names)} files of {', '.join(parent)}")
    return names[0]


def _patch_span(change: SpanPatch, target: str, data: bytes) -> tuple[bytes, Patch]:
    root = explain_source(BytesSource(data, target)).root
    found = list(find(root, change.path))
    if change.nth >= len(found):
        raise RecipeError(f"{' > '.join(change.path)} #{change.nth} is not in {target}")
    leaf = found[change.nth]
    old = data[leaf.start : leaf.end]
    if callable(change.new):
        new = change.new(old)
    elif isinstance(change.new, int):
        new = change.new.to_bytes(len(old), "little")
    else:
        new = old[: change.at] + change.new + old[change.at + len(change.new) :]
    if len(new) != len(old):
        raise RecipeError(f"{' > '.join(change.path)} has {len(old)} bytes, not {len(new)}")
    changed = data[: leaf.start] + new + data[leaf.end :]
    return changed, Patch(target, leaf.start, old, new, ".".join(change.path))


def find(root: Span, path: tuple[str, ...]) -> Iterator[Span]:
    """Yield the leaves that `path` names; a part matches a span's name whole or as a glob.

    A group with a clause is named as a whole: its parts are those of a structure inside a value.
    """
    if not path:
        if root.is_leaf or root.clause:
            yield root
        return
    for child in root.children:
        if fnmatch(child.name, path[0]):
            yield from find(child, path[1:])
        else:
            yield from find(child, path)


def _edit(change: MessageEdit, target: str, data: bytes) -> tuple[bytes, Patch]:
    edited = edit_message(target, data, change.where, lambda message: update(message, change.edit))
    at, was, now = trim(edited.was, edited.now)
    patch = Patch(target, edited.at + at, was, now, change.where, reflow=True)
    return edited.data, patch


def _difference(target: str, was: bytes, now: bytes, field: str) -> Patch:
    at, old, new = trim(was, now)
    return Patch(target, at, old, new, field)


def trim(was: bytes, now: bytes) -> tuple[int, bytes, bytes]:
    """Return (offset, old, new) without the bytes both share at the start and at the end."""
    start = 0
    while start < min(len(was), len(now)) and was[start] == now[start]:
        start += 1
    end = 0
    while end < min(len(was), len(now)) - start and was[-1 - end] == now[-1 - end]:
        end += 1
    return start, was[start : len(was) - end], now[start : len(now) - end]

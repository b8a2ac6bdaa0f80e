"""Changes of a parent: bytes of a leaf, fields of a message, sizes of the buffers of a page.

There is one function for each kind of message of a `MessageEdit`, for any file with such a message.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from copy import deepcopy
from functools import reduce
from typing import Any, TypeVar

from google.protobuf.message import Message

from lance_conformance.recipes.model import DATA, MessageEdit, Paths, Resize, SpanPatch

Edit = Callable[[Any], None] | Paths
"""A function that edits a message, or new values by paths."""

Kind = TypeVar("Kind", bound=Message)
"""A kind of message."""

MANIFEST = "_versions/*.manifest"
"""The only manifest of a table."""

LAST = "_versions/1844674407370955161[0-3].manifest"
"""The manifest of the last version of a table with up to nine versions."""

DATA_FILES = "data/*.lance"
"""The only data file of a table."""


def manifest_of(version: int) -> str:
    """Return the path of the manifest of a version."""
    return f"_versions/{2**64 - 1 - version}.manifest"


FIRST, SECOND, THIRD, FOURTH = map(manifest_of, (1, 2, 3, 4))
"""The versions of a table that is written, and of one with a change, two and three."""

SIXTH = manifest_of(6)
"""The last version of a table whose rows were moved after indexing."""

M, Z = "mini_block_layout", "full_zip_layout"
V = f"{M}.value_compression"
"""Path of the description of values in that of a page."""

FIRST_PACKED = f"{Z}.value_compression.variable_packed_struct.fields.0"
"""Path of the description of the first field of packed rows."""


def update(message: Any, edit: Edit) -> None:
    """Edit a message by a function, or set values at paths."""
    if not isinstance(edit, Mapping):
        edit(message)
        return
    for path, new in edit.items():
        parent, _, last = path.rpartition(".")
        _set(at_path(message, parent), last, new)


def build(kind: type[Kind], paths: Paths) -> Kind:
    """Return a message with values at paths."""
    message = kind()
    update(message, paths)
    return message


def inside(kind: type[Message], edit: Edit) -> Callable[[bytes], bytes]:
    """Return an edit of the bytes of a message."""

    def change(old: bytes) -> bytes:
        message = kind.FromString(old)
        update(message, edit)
        return bytes(message.SerializeToString(deterministic=True))

    return change


def at_path(message: Any, path: str) -> Any:
    """Return the value at a dotted path in a message; an index past the end of a list appends."""
    found = message
    for name in path.split(".") if path else ():
        if isinstance(found, MutableMapping):
            found = found[name]
        elif name.lstrip("-").isdigit():
            found = found.add() if int(name) == len(found) else found[int(name)]
        else:
            found = getattr(found, name)
    return found


def _set(holder: Any, name: str, new: object) -> None:
    if callable(new):
        new = new(at_path(holder, name))
    if isinstance(holder, MutableMapping) or name.lstrip("-").isdigit():
        key: Any = name if isinstance(holder, MutableMapping) else int(name)
        if new is None:
            del holder[key]
        else:
            holder[key] = new
    elif new is None:
        holder.ClearField(name)
    elif isinstance(new, Message):
        getattr(holder, name).CopyFrom(new)
    elif isinstance(new, Mapping):
        getattr(holder, name).SetInParent()
    elif isinstance(new, (list, tuple)):
        values = [deepcopy(one) if isinstance(one, Message) else one for one in new]
        holder.ClearField(name)
        getattr(holder, name).extend(values)
    else:
        setattr(holder, name, new)


def _edit_part(path: str, edit: Edit) -> Callable[[Any], None]:
    return lambda message: update(at_path(message, path), edit)


def descriptor(edit: Edit, target: str = DATA) -> MessageEdit:
    """Change the descriptor of a file."""
    return MessageEdit("descriptor", edit, target)


def field(index: int, **values: object) -> MessageEdit:
    """Set fields of one field of the descriptor's schema."""
    return descriptor(_edit_part(f"schema.fields.{index}", values))


def column_edit(edit: Edit, number: int = 0) -> MessageEdit:
    """Change the metadata of a column."""
    return MessageEdit(f"column {number}", edit)


def page(edit: Edit, column: int = 0, target: str = DATA) -> MessageEdit:
    """Change the encoding of the first page of a column."""
    return MessageEdit(f"page {column}.0", edit, target)


def assign(path: str, value: object) -> MessageEdit:
    """Set a field of the first page's encoding; `path` is its dotted path."""
    return page({path: value})


def clear(path: str) -> MessageEdit:
    """Clear a field of the first page's encoding."""
    return page({path: None})


def nested(times: int, paths: Paths, path: str) -> MessageEdit:
    """Wrap the values of the first mini-block page in nested encodings."""

    def wrap(inner_encoding: Any, _: int) -> Any:
        return build(type(inner_encoding), {**paths, path: inner_encoding})

    return assign(V, lambda old: reduce(wrap, range(times), old))


def resize(buffer: int, by: int) -> MessageEdit:
    """Change the stated size of a buffer of the first page by `by` bytes."""
    return column_edit({f"pages.0.buffer_sizes.{buffer}": lambda old: old + by})


def spare_buffer(number: int = 0) -> MessageEdit:
    """Add an empty buffer to the first page."""
    more = dict.fromkeys(("pages.0.buffer_offsets", "pages.0.buffer_sizes"), lambda old: [*old, 0])
    return column_edit(more, number)


def no_buffers() -> MessageEdit:
    """Remove all buffers of the first page."""
    return column_edit({"pages.0.buffer_offsets": [], "pages.0.buffer_sizes": []})


def manifest(edit: Edit, target: str = MANIFEST) -> MessageEdit:
    """Change a manifest."""
    return MessageEdit("manifest", edit, target)


def fragment(edit: Edit, target: str = MANIFEST) -> MessageEdit:
    """Change the first fragment of a manifest."""
    return manifest(_edit_part("fragments.0", edit), target)


def data_file(edit: Edit, target: str = MANIFEST) -> MessageEdit:
    """Change the first data file of the first fragment of a manifest."""
    return manifest(_edit_part("fragments.0.files.0", edit), target)


def indices(edit: Edit, target: str = MANIFEST) -> MessageEdit:
    """Change the index section of a manifest."""
    return MessageEdit("index section", edit, target)


def index(edit: Edit, target: str = MANIFEST) -> MessageEdit:
    """Change the first index of a manifest."""
    return indices(_edit_part("indices.0", edit), target)


def partitions(edit: Edit, target: str) -> MessageEdit:
    """Change the description of partitions in a file of a vector index."""
    return MessageEdit("buffer 1 IVF", edit, target)


def tensor(edit: Edit, target: str) -> MessageEdit:
    """Change the tensor in a file of a vector index."""
    return MessageEdit("buffer 2 Tensor", edit, target)


def single_file(edit: Edit, target: str) -> MessageEdit:
    """Change the message of a vector index of early releases."""
    return MessageEdit("index", edit, target)


def transaction(edit: Edit, target: str = MANIFEST) -> MessageEdit:
    """Change the transaction in a manifest or in a transaction file."""
    return MessageEdit("transaction", edit, target)


UNLOGGED = {"transaction_file": None, "transaction_section": None}
"""Values of a version without its transaction."""


def byte(*path: str, at: int, new: int, nth: int = 0, target: str = DATA) -> SpanPatch:
    """Set one byte of a leaf; `at` may count from its end."""
    return SpanPatch(path, set_byte(at, new), nth, target=target)


def add(*path: str, by: int = 1, at: int = 0, nth: int = 0, target: str = DATA) -> SpanPatch:
    """Add to one byte of a leaf."""

    def patch(old: bytes) -> bytes:
        return set_byte(at, (old[at] + by) % 256)(old)

    return SpanPatch(path, patch, nth, target=target)


def set_byte(at: int, new: int) -> Callable[[bytes], bytes]:
    """Return the edit of one byte; `at` may count from the end."""

    def edit(old: bytes) -> bytes:
        place = at % len(old)
        return old[:place] + bytes([new]) + old[place + 1 :]

    return edit


def zeros(old: bytes) -> bytes:
    """Return the same number of zero bytes."""
    return bytes(len(old))


def minor(new: int) -> SpanPatch:
    """State another minor version in the footer of a file."""
    return SpanPatch(("footer", "minor"), new)


def swap(data: bytes, target: str) -> Resize:
    """Replace the content of a file."""
    return Resize(keep=0, append=data, target=target)

"""Edits of one message of a parent, each door typed by the message it opens.

`MessageEdit` names its message by a word, and cannot say what it edits. Recipes go through these
doors, so that the type checker sees the fields they touch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

from google.protobuf.message import Message
from lanceref.proto.encodings_v2_0_pb2 import ArrayEncoding
from lanceref.proto.encodings_v2_1_pb2 import PageLayout
from lanceref.proto.encodings_v2_3_pb2 import PlanarLayout
from lanceref.proto.file2_pb2 import ColumnMetadata
from lanceref.proto.file_pb2 import FileDescriptor
from lanceref.proto.index_pb2 import IVF, Index, Tensor
from lanceref.proto.table_pb2 import DataFile, DataFragment, IndexMetadata, IndexSection, Manifest
from lanceref.proto.transaction_pb2 import Transaction

from lance_conformance.recipes.model import DATA, MessageEdit, Paths

MANIFEST = "_versions/*.manifest"
"""The one manifest of a table."""


def put(message: Any, edit: Callable[[Any], None] | Paths) -> None:
    """Edit a message by a function, or set what paths name in it."""
    if not isinstance(edit, Mapping):
        edit(message)
        return
    for path, new in edit.items():
        way, _, last = path.rpartition(".")
        _set(inner(message, way), last, new)


def inner(message: Any, path: str) -> Any:
    """Return what `path` names with dots in a message; a number picks from a list."""
    found = message
    for name in path.split(".") if path else ():
        found = found[int(name)] if name.lstrip("-").isdigit() else getattr(found, name)
    return found


def _set(holder: Any, name: str, new: object) -> None:
    if callable(new):
        new = new(inner(holder, name))
    if name.lstrip("-").isdigit():
        holder[int(name)] = new
    elif new is None:
        holder.ClearField(name)
    elif isinstance(new, Message):
        getattr(holder, name).CopyFrom(new)
    elif isinstance(new, Mapping):
        getattr(holder, name).SetInParent()
    elif isinstance(new, (list, tuple)):
        kept = [deepcopy(one) if isinstance(one, Message) else one for one in new]
        holder.ClearField(name)
        getattr(holder, name).extend(kept)
    else:
        setattr(holder, name, new)


def descriptor(edit: Callable[[FileDescriptor], None] | Paths, target: str = DATA) -> MessageEdit:
    """Change the descriptor of a file."""
    return MessageEdit("descriptor", edit, target)


def field(index: int, **values: object) -> MessageEdit:
    """Set fields of one field of the descriptor's schema."""
    return descriptor(lambda message: setting(**values)(message.schema.fields[index]))


def column_edit(edit: Callable[[ColumnMetadata], None] | Paths, number: int = 0) -> MessageEdit:
    """Change the metadata of a column."""
    return MessageEdit(f"column {number}", edit)


def array(edit: Callable[[ArrayEncoding], None] | Paths, column: int = 0) -> MessageEdit:
    """Change the encoding of the first page of a column of 2.0."""
    return MessageEdit(f"page {column}.0", edit)


def page(edit: Callable[[PageLayout], None] | Paths, column: int = 0) -> MessageEdit:
    """Change the layout of the first page of a column of 2.1 or 2.2."""
    return MessageEdit(f"page {column}.0", edit)


def planes(edit: Callable[[PlanarLayout], None] | Paths, column: int = 0) -> MessageEdit:
    """Change the layout of the first page of a column of 2.3."""
    return MessageEdit(f"page {column}.0", edit)


def manifest(edit: Callable[[Manifest], None] | Paths, target: str = MANIFEST) -> MessageEdit:
    """Change a manifest."""
    return MessageEdit("manifest", edit, target)


def fragment(edit: Callable[[DataFragment], None] | Paths, target: str = MANIFEST) -> MessageEdit:
    """Change the first fragment of a manifest."""
    return manifest(lambda message: put(message.fragments[0], edit), target)


def data_file(edit: Callable[[DataFile], None] | Paths, target: str = MANIFEST) -> MessageEdit:
    """Change the first data file of the first fragment of a manifest."""
    return fragment(lambda message: put(message.files[0], edit), target)


def indices(edit: Callable[[IndexSection], None] | Paths, target: str = MANIFEST) -> MessageEdit:
    """Change the index section of a manifest."""
    return MessageEdit("index section", edit, target)


def index(edit: Callable[[IndexMetadata], None] | Paths, target: str = MANIFEST) -> MessageEdit:
    """Change the first index of a manifest."""
    return indices(lambda section: put(section.indices[0], edit), target)


def partitions(edit: Callable[[IVF], None] | Paths, target: str) -> MessageEdit:
    """Change what a file of a vector index says of its partitions."""
    return MessageEdit("buffer 1 IVF", edit, target)


def tensor(edit: Callable[[Tensor], None] | Paths, target: str) -> MessageEdit:
    """Change the table of numbers that a file of a vector index has."""
    return MessageEdit("buffer 2 Tensor", edit, target)


def single_file(edit: Callable[[Index], None] | Paths, target: str) -> MessageEdit:
    """Change the message of a vector index of early releases."""
    return MessageEdit("index", edit, target)


def transaction(edit: Callable[[Transaction], None] | Paths, target: str = MANIFEST) -> MessageEdit:
    """Change the transaction inside of a manifest, or the one of a transaction file."""
    return MessageEdit("transaction", edit, target)


def setting(**values: object) -> Callable[[Message], None]:
    """Return the edit that sets fields of whatever message it is given."""

    def edit(message: Message) -> None:
        for name, value in values.items():
            setattr(message, name, value)

    return edit

"""Identity: whether two files of the same rows have the same bytes, or the first difference.

The order of entries in protobuf maps is ignored. Files with FSST pages are not compared, because
the oracle trains symbol tables on random samples.
"""

from __future__ import annotations

from pathlib import Path

from google.protobuf.message import Message
from lanceref.core.context import Context
from lanceref.data_file.data_file import DataFile, open_file
from lanceref.proto import file_pb2
from lanceref.storage import LocalSource

IDENTICAL, TRAINED = "identical", "fsst"
"""Results of a comparison: the same bytes; bytes that depend on a random sample."""


def compare_files(ours: Path, theirs: Path) -> str:
    """Return IDENTICAL, TRAINED, or the first field that differs."""
    mine, other = ours.read_bytes(), theirs.read_bytes()
    if mine == other:
        return IDENTICAL
    left, right = _open(ours), _open(theirs)
    if any("fsst" in str(page.encoding) for column in right.columns for page in column.pages):
        return TRAINED
    difference = _page_difference(left, right, mine, other)
    if difference is not None:
        return difference
    return (
        IDENTICAL
        if _without_map_order(left, mine) == _without_map_order(right, other)
        else "container"
    )


def _open(path: Path) -> DataFile:
    return open_file(LocalSource(str(path)), Context(path.name))


def _page_difference(left: DataFile, right: DataFile, mine: bytes, other: bytes) -> str | None:
    """Return the first difference of pages, or None."""
    for column, (one, two) in enumerate(zip(left.columns, right.columns, strict=True)):
        if len(one.pages) != len(two.pages):
            return f"column {column}: {len(one.pages)} pages for {len(two.pages)}"
        for number, (a, b) in enumerate(zip(one.pages, two.pages, strict=True)):
            where = f"column {column} page {number}"
            if a.num_rows != b.num_rows:
                return f"{where}: {a.num_rows} rows for {b.num_rows}"
            if a.encoding != b.encoding:
                return f"{where}: encoding, {_field(a.encoding, b.encoding)}"
            for i, (x, y) in enumerate(zip(a.extents, b.extents, strict=True)):
                if mine[x.offset : x.end] != other[y.offset : y.end]:
                    return f"{where}: buffer {i}"
    return None


def _field(one: Message, other: Message) -> str:
    """Return the path of the first field that differs between two messages of a type."""
    left, right = ({field.name: value for field, value in m.ListFields()} for m in (one, other))
    if set(left) != set(right):
        return " or ".join(sorted(set(left) ^ set(right)))
    name = next((name for name in left if left[name] != right[name]), "")
    inner = isinstance(left.get(name), Message)
    return f"{name}.{_field(left[name], right[name])}" if inner else name


def _without_map_order(file: DataFile, data: bytes) -> tuple[bytes, str, bytes]:
    """Return the bytes before and after the descriptor, and its message."""
    extent = file.global_buffers[0]
    message = file_pb2.FileDescriptor.FromString(data[extent.offset : extent.end])
    return data[: extent.offset], str(message), data[extent.end :]

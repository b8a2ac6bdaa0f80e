"""Overlay files as values and as messages, one into the other (face)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from lanceref.core.context import Context
from lanceref.core.errors import Place
from lanceref.proto import table_pb2
from lanceref.table.overlays import parse_offsets
from pyroaring import BitMap

from pylanceref.bitmap import Bitmap
from pylanceref.file_metadata import DataFile

_ASKED = (
    "DataOverlayFile.offsets must be an iterable of ints (dense coverage shared by every field) "
    "or an iterable of per-field int iterables (sparse coverage)"
)


@dataclass
class DataOverlayFile:
    """New values for rows at some offsets: the same for each field of the file, or a set each.

    The value of the n-th offset, in ascending order, is row n of the file. The commit sets
    `committed_version`.
    """

    data_file: DataFile
    offsets: Iterable[int] | list[Iterable[int]]
    committed_version: int | None = None


def overlay_message(given: DataOverlayFile) -> table_pb2.DataOverlayFile:
    """Return the message of an overlay file. Raises TypeError, ValueError."""
    made = table_pb2.DataOverlayFile(
        data_file=given.data_file.to_message(), committed_version=given.committed_version or 0
    )
    if not isinstance(given.offsets, Iterable):
        raise ValueError(_ASKED)
    offsets = list(given.offsets)
    if any(isinstance(one, Iterable) and not isinstance(one, str) for one in offsets):
        made.field_coverage.SetInParent()
        made.field_coverage.offset_bitmaps.extend(_serialized(one) for one in offsets)
    else:
        made.shared_offset_bitmap = _serialized(offsets)
    return made


def _serialized(given: object) -> bytes:
    """Return the bitmap of offsets, which may come in any order. Raises TypeError, ValueError."""
    if not isinstance(given, Iterable):
        raise ValueError(_ASKED)
    found = BitMap()
    for one in given:
        if not isinstance(one, int):
            raise TypeError(f"{type(one).__name__!r} object cannot be interpreted as an integer")
        if not 0 <= one < 2**32:
            raise ValueError(f"Bitmap values must fit in an unsigned 32-bit integer, got {one}")
        if one in found:
            raise ValueError(
                f"DataOverlayFile.offsets must not repeat an offset, but {one} appears more than "
                "once; each offset maps positionally to a row of the overlay's value file"
            )
        found.add(one)
    return bytes(found.serialize())


def overlay_of(message: table_pb2.DataOverlayFile) -> DataOverlayFile:
    """Return what a manifest or transaction lists. Raises FormatError."""
    offsets: Bitmap | list[Iterable[int]]
    if message.HasField("field_coverage"):
        offsets = [_bitmap(one) for one in message.field_coverage.offset_bitmaps]
    else:
        offsets = _bitmap(message.shared_offset_bitmap)
    file = DataFile.from_message(message.data_file)
    return DataOverlayFile(file, offsets, message.committed_version)


def overlay_json(given: DataOverlayFile) -> dict[str, object]:
    """Return what `json.dumps` takes."""
    offsets = [list(one) if isinstance(one, Iterable) else one for one in given.offsets]
    return {
        "data_file": given.data_file.asdict(),
        "offsets": offsets,
        "committed_version": given.committed_version,
    }


def overlay_from_json(held: Mapping[str, object]) -> DataOverlayFile:
    """Return the overlay of what `overlay_json` gave."""
    file = DataFile(**cast("dict[str, Any]", held["data_file"]))
    offsets = cast("list[int]", held["offsets"])
    return DataOverlayFile(file, offsets, cast("int | None", held.get("committed_version")))


def _bitmap(data: bytes) -> Bitmap:
    ctx = Context("overlay")
    return Bitmap(parse_offsets(data, ctx, Place("overlay", 0, len(data))))

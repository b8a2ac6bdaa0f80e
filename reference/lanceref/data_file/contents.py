"""Contents: values that have clauses of their own, wherever they are nested.

The documents of json columns, and the descriptors of blobs that say where in this file a value
lies, are values like others for the page that holds them. Here they are looked into.

Clauses: L.json.header, L.json.entries, L.json.payload, L.blob.kind, L.blob.range
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.cursor import Extent
from lanceref.core.errors import OutOfRange, UnknownEncoding
from lanceref.core.nesting import children_of, from_start
from lanceref.data_file.data_file import DataFile
from lanceref.file.payloads import KINDS
from lanceref.file.schema import Field
from lanceref.json import jsonb


def check_contents(opened: DataFile, field: Field) -> None:
    """Check every document and every descriptor at or below a field."""
    ctx, place = opened.bytes.ctx.during("decode"), opened.descriptor.place
    for documents in _values(opened, field, _is_json):
        jsonb.check_documents(documents, ctx, place)
    for descriptors in _values(opened, field, _is_descriptor):
        kinds = _numbers(descriptors, 0)
        if len(kinds) and int(kinds.max()) >= KINDS:
            raise UnknownEncoding(
                "L.blob.kind", place, found=f"blob kind {int(kinds.max())}", wanted="0 to 5"
            )
        for extent in _inline(descriptors):
            if extent.end > opened.footer.start:
                raise OutOfRange(
                    "L.blob.range", place, found=extent, wanted=f"bytes below {opened.footer.start}"
                )
            ctx.leaf(extent.offset, extent.end, "payload", "blob", "L.blob.range")


def inline_extents(opened: DataFile) -> set[Extent]:
    """Return where the blobs lie that descriptors place into the file itself."""
    found: set[Extent] = set()
    for field in opened.descriptor.schema.fields:
        for descriptors in _values(opened, field, _is_descriptor):
            found.update(_inline(descriptors))
    return found


def _is_json(field: Field) -> bool:
    return field.logical_type == "json"


def _is_descriptor(field: Field) -> bool:
    return field.is_blob and field.is_packed and [c.name for c in field.children][:1] == ["kind"]


def _inline(descriptors: pa.Array) -> list[Extent]:
    kind, position, size = (_numbers(descriptors, number) for number in range(3))
    here = (kind == 0) & (size > 0)
    return [Extent(p, s) for p, s in zip(position[here].tolist(), size[here].tolist())]


def _numbers(descriptors: pa.Array, number: int) -> NDArray[np.uint64]:
    """Return one number of each descriptor that is not null."""
    return np.asarray(descriptors.drop_null().field(number).fill_null(0)).astype(np.uint64)


def _values(opened: DataFile, field: Field, wanted: Callable[[Field], bool]) -> Iterator[pa.Array]:
    """Yield the values of every `wanted` field at or below `field`."""
    if not any(wanted(one) for one in field.flat()):
        return
    ctx = replace(opened.bytes.ctx, spans=None, findings=None)
    quiet = replace(opened, bytes=opened.bytes.during(ctx), readers={})
    for array in quiet.open_field(field).scan(0, opened.num_rows):
        yield from values_below(array, field, wanted)


def values_below(
    array: pa.Array, field: Field, wanted: Callable[[Field], bool]
) -> Iterator[pa.Array]:
    """Yield the values of every `wanted` field at or below `field` that an array of it holds."""
    if wanted(field):
        yield from_start(array)
        return
    for below, child in zip(children_of(from_start(array)), field.children):
        yield from values_below(below, child, wanted)

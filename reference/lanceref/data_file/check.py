"""The whole file, checked: what a reader passes over is looked at too.

Runs the parsers of reading over everything a file holds, then accounts for the bytes between the
pieces: padding, and bytes that nothing refers to. The values of a large file can be shared out:
each share is a range of its rows.

Clauses: L.file.padding.value, L.file.buffers.overlap, L.file.columns.order

Contents: values that have clauses of their own, wherever they are nested.

The documents of json columns, and the descriptors of blobs that say where in this file a value
lies, are values like others for the page that holds them. Here they are looked into.

Clauses: L.json.header, L.json.entries, L.json.payload, L.blob.kind, L.blob.range
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.context import Context
from lanceref.core.cursor import Extent
from lanceref.core.errors import BytesError, OutOfRange, UnknownEncoding
from lanceref.core.file_versions import V2_0
from lanceref.core.nesting import children_of, from_start
from lanceref.data_file.data_file import DataFile, open_file
from lanceref.encodings_2_0.blob import BlobColumn
from lanceref.file.column_reader import KINDS
from lanceref.file.columns import ALIGNMENT
from lanceref.file.footer import ENTRY_BYTES, FOOTER_BYTES
from lanceref.file.schema import Field
from lanceref.json import jsonb
from lanceref.pages.column import PageColumn
from lanceref.storage import Source


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


PADDING_BYTE = 0x48
"""What the oracle writes between buffers: `H`."""


def check_file(source: Source, ctx: Context, *, values: bool = True) -> DataFile | None:
    """Parse and check a data file; None when it cannot be opened (the findings say why).

    Without `values` everything is looked at but what `check_share` decodes.
    """
    opened = None
    with ctx.piece():
        opened = open_file(source, ctx)
        if values:
            _check_values(opened, 0, 1)
        _check_column_order(opened)
        _account_for_the_rest(opened)
    return opened


def check_share(source: Source, ctx: Context, share: int, shares: int) -> None:
    """Check one of several shares of the values of a data file: all of them are the whole."""
    with ctx.piece():
        _check_values(open_file(source, ctx), share, shares)


def _check_values(opened: DataFile, share: int, shares: int) -> None:
    """Check a range of the rows of each field; what has no pages by rows is in one share whole."""
    ctx = opened.bytes.ctx
    for number, field in enumerate(opened.descriptor.schema.fields):
        whole = number % shares == share
        with ctx.group(f"field {field.name}"), ctx.piece():
            reader = opened.open_field(field)
            if isinstance(reader, PageColumn):
                rows = reader.num_rows
                reader.check_rows(share * rows // shares, (share + 1) * rows // shares)
            elif whole:
                reader.check()
        if whole:
            with ctx.piece():
                check_contents(opened, field)


def _check_column_order(opened: DataFile) -> None:
    """Lint: column metadata stand in column order, back to back."""
    at = opened.footer.column_metadata_start
    for index, extent in enumerate(opened.column_extents):
        if extent.offset != at:
            opened.bytes.ctx.lint(
                "L.file.columns.order",
                opened.bytes.ctx.at(extent.offset, extent.size),
                found=f"column metadata {index} at {extent.offset}",
                wanted=f"{at}, right after the one before",
            )
        at = extent.end


def _account_for_the_rest(opened: DataFile) -> None:
    """Own the bytes between the pieces, and report buffers that overlap."""
    ctx, at = opened.bytes.ctx, 0
    for index, extent in enumerate(opened.global_buffers[1:], start=1):
        name = f"global buffer {index}"
        ctx.leaf(extent.offset, extent.end, name, "user buffer", "L.file.gbo.entry")
    for extent in sorted(_pieces(opened)):
        if extent.offset > at:
            _own_gap(opened, at, extent.offset)
        elif extent.offset < at and extent.size:
            ctx.lint(
                "L.file.buffers.overlap",
                ctx.at(extent.offset, extent.size),
                found=f"a piece at {extent.offset}",
                wanted=f"nothing before {at}, where the one before it ends",
            )
        at = max(at, extent.end)


def _pieces(opened: DataFile) -> list[Extent]:
    footer = opened.footer
    buffers = [e for c in opened.columns for p in c.pages for e in p.extents]
    buffers += [e for c in opened.columns for e in c.extents]
    return [
        *(extent for extent in buffers if extent.size),
        *_payloads(opened),
        *opened.global_buffers,
        *opened.column_extents,
        Extent(footer.cmo_start, footer.num_columns * ENTRY_BYTES),
        Extent(footer.gbo_start, footer.num_global_buffers * ENTRY_BYTES),
        Extent(footer.start, FOOTER_BYTES),
    ]


def _payloads(opened: DataFile) -> set[Extent]:
    """Return the payloads of blob columns: buffers that only their rows know."""
    ctx = replace(opened.bytes.ctx, spans=None, findings=None)
    quiet = replace(opened, bytes=opened.bytes.during(ctx))
    found: set[Extent] = set()
    schema = opened.descriptor.schema
    for field in schema.flat() if opened.footer.version == V2_0 else schema.fields:
        if any(below.is_blob for below in field.flat()):
            with suppress(BytesError):  # reported when the field was checked
                reader = quiet.open_field(field, opened.assigned)
                if isinstance(reader, BlobColumn | PageColumn):
                    found.update(reader.payload_extents())
    with suppress(BytesError):
        found |= inline_extents(quiet)
    return {extent for extent in found if extent.end <= opened.footer.start}


def _own_gap(opened: DataFile, start: int, end: int) -> None:
    """Own the bytes start..end: padding up to the next multiple of 64, or unreferenced bytes."""
    ctx = opened.bytes.ctx
    padded = end % ALIGNMENT == 0 and end - start < ALIGNMENT
    kind = "padding" if padded else "unreferenced"
    ctx.leaf(start, end, kind, kind, "L.file.padding.value")
    if not ctx.validating:
        return
    found = opened.bytes.cursor(Extent(start, end - start), kind, "L.file.padding.value").data
    if bytes(found) != bytes([PADDING_BYTE]) * (end - start):
        ctx.lint(
            "L.file.padding.value",
            ctx.at(start, end - start),
            found=bytes(found[:16]).hex(),
            wanted=f"bytes {PADDING_BYTE:02x} between buffers",
        )

"""The whole data file of any version, checked: what a reader skips is checked too.

Runs the parsers of reading over everything a file holds, then accounts for the bytes between the
pieces: padding, and bytes that nothing refers to. Statistics of 0.1 are compared with the values.
The values of a large file can be divided: each share is a range of its rows. The documents of json
columns, and the descriptors of blobs that place a value in this file, are values like others for
the page that holds them; here their content is checked, wherever they are nested.

Clauses: L.file.padding.value, L.file.buffers.overlap, L.file.columns.order, L.json.header,
L.json.entries, L.json.payload, L.blob.kind, L.blob.range, L.legacy.layout.gaps,
L.legacy.layout.overlap, L.legacy.page-table.holes, L.legacy.statistics.covered
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.blobs.descriptors import INLINE, OF_BASE
from lanceref.core.arrow_buffers import children_of
from lanceref.core.context import Context
from lanceref.core.cursor import Extent
from lanceref.core.errors import BytesError, OutOfRange, UnknownEncoding
from lanceref.core.file_versions import V2_0
from lanceref.core.spans import SpanRecorder
from lanceref.data_file.data_file import DataFile, open_file
from lanceref.encodings_2_0.blob import BlobColumn
from lanceref.file.container import ALIGNMENT, ENTRY_BYTES, FOOTER_BYTES, is_legacy
from lanceref.file.schema import Field
from lanceref.file.schema_view import from_start
from lanceref.file_0_1.column import open_node
from lanceref.file_0_1.data_file import LegacyFile, open_legacy
from lanceref.file_0_1.encodings import Dictionaries
from lanceref.file_0_1.page_table import BatchRanges
from lanceref.file_0_1.statistics import Statistics, covered_fields, faults, parse_statistics
from lanceref.json import jsonb
from lanceref.pages.column import PageColumn
from lanceref.storage import Source

PADDING_BYTE = 0x48
"""What the oracle writes between buffers: `H`."""


def check_data_file(source: Source, ctx: Context) -> DataFile | LegacyFile | None:
    """Parse and check a data file of any version; None when it cannot be opened."""
    return check_legacy(source, ctx) if is_legacy(source) else check_file(source, ctx)


def check_legacy(
    source: Source,
    ctx: Context,
    field_ids: Iterable[int] = (),
    dictionaries: Dictionaries | None = None,
) -> LegacyFile | None:
    """Parse and check a 0.1 file, by its own schema; None when it cannot be opened."""
    if ctx.spans is None:
        ctx = replace(ctx, spans=SpanRecorder(ctx.limits.expanded(source.size)))
    opened = None
    with ctx.piece():
        opened = open_legacy(source, ctx, field_ids, dictionaries)
        if opened.manifest is not None:
            schema, table = opened.manifest.schema, opened.table
            for field in schema.fields:
                with ctx.group(f"field {field.name}"), ctx.piece():
                    opened.open_field(field).check()
            paged = {f.id for f in schema.flat() if not pa.types.is_struct(f.arrow.type)}
            table.lint_holes(set(range(table.first_id, table.last_id + 1)) - paged)
            with ctx.piece():
                _check_statistics(opened)
        _check_gaps(opened)
    return opened


def _check_statistics(opened: LegacyFile) -> None:
    manifest, file = opened.manifest, opened.bytes
    assert manifest is not None
    statistics = parse_statistics(file, opened.metadata, manifest.extent.offset)
    wanted = list(covered_fields(manifest.schema))
    if statistics is None and not manifest.states_format:  # an early release
        return
    named = [] if statistics is None else [top.name for top in statistics.schema.fields]
    if named != [str(field.id) for field in wanted]:
        clause, ids = "L.legacy.statistics.covered", [field.id for field in wanted]
        file.ctx.lint(clause, opened.metadata.place, named[:8], ids[:8])
    if statistics is not None:
        for field in wanted:
            if str(field.id) in statistics.by_field:
                _compare(opened, field, statistics)


def _compare(opened: LegacyFile, field: Field, statistics: Statistics) -> None:
    """Report every batch whose values and statistics disagree; unread pages were reported."""
    ctx = opened.bytes.ctx
    quiet = opened.bytes.quiet()
    stored = statistics.by_field[str(field.id)]
    if stored.type.field(1).type != field.arrow.type:
        clause, found = "L.legacy.statistics.schema", f"bounds of {stored.type.field(1).type}"
        ctx.lint(clause, statistics.place, found, field.arrow.type)
        return
    rows = np.diff(opened.metadata.batch_offsets)
    counts, lows, highs = stored.flatten()
    with suppress(BytesError):
        node = open_node(quiet, field, opened.table, opened.dictionaries, rows)
        for batch, num_rows in enumerate(rows.tolist()):
            values = node.read(BatchRanges.whole(batch, num_rows))
            count = counts[batch].as_py()
            for clause, found, wanted in faults(values, count, lows[batch], highs[batch]):
                where = f"in batch {batch} of field {field.name!r}"
                ctx.lint(clause, statistics.place, f"{found} {where}", wanted)


def _check_gaps(opened: LegacyFile) -> None:
    """Own the bytes that nothing refers to, and report them; report bytes owned twice."""
    ctx = opened.bytes.ctx
    assert ctx.spans is not None
    at = 0
    for leaf in sorted(ctx.spans.root.leaves(), key=lambda span: (span.start, span.end)):
        if leaf.start < at:
            place, found = ctx.at(leaf.start, leaf.end - leaf.start), f"{leaf.name} at {leaf.start}"
            ctx.lint("L.legacy.layout.overlap", place, found, f"nothing before {at}")
        at = max(at, leaf.end)
    for start, end in ctx.spans.gaps(opened.bytes.size):
        ctx.leaf(start, end, "unreferenced", "unreferenced", "L.legacy.layout.gaps")
        if opened.manifest is not None:  # without a schema nothing says how long a page is
            place, found = ctx.at(start, end - start), f"{end - start} bytes between pieces"
            ctx.lint("L.legacy.layout.gaps", place, found, "none")


def check_file(source: Source, ctx: Context, *, values: bool = True) -> DataFile | None:
    """Parse and check a data file; None when it cannot be opened (the findings say why).

    Without `values` everything is checked but what `check_share` decodes.
    """
    opened = None
    with ctx.piece():
        opened = open_file(source, ctx)
        if values:
            _check_values(opened, 0, 1)
        at = opened.footer.column_metadata_start
        for index, extent in enumerate(opened.column_extents):  # in column order, back to back
            if extent.offset != at:
                place = opened.bytes.ctx.at(extent.offset, extent.size)
                clause, found = "L.file.columns.order", f"metadata {index} at {extent.offset}"
                opened.bytes.ctx.lint(clause, place, found, at)
            at = extent.end
        _own_remaining_bytes(opened)
    return opened


def check_share(source: Source, ctx: Context, share: int, shares: int) -> None:
    """Check one of several shares of the values of a data file: all of them are the whole."""
    with ctx.piece():
        _check_values(open_file(source, ctx), share, shares)


def _check_values(opened: DataFile, share: int, shares: int) -> None:
    """Check a range of the rows of each field; a field without pages by rows is in one share."""
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
                _check_contents(opened, field)


def _check_contents(opened: DataFile, field: Field) -> None:
    """Check every document and every descriptor at or below a field."""
    ctx, place = opened.bytes.ctx.during("decode"), opened.descriptor.place
    for documents in _values(opened, field, lambda one: one.logical_type == "json"):
        jsonb.check_documents(documents, ctx, place)
    for descriptors in _values(opened, field, _is_descriptor):
        kinds = _numbers(descriptors, 0)
        if len(kinds) and (kind := int(kinds.max())) > OF_BASE:
            raise UnknownEncoding("L.blob.kind", place, f"blob kind {kind}", f"0 to {OF_BASE}")
        for extent in _inline(descriptors):
            if extent.end > opened.footer.start:
                wanted = f"bytes below {opened.footer.start}"
                raise OutOfRange("L.blob.range", place, extent, wanted)
            ctx.leaf(extent.offset, extent.end, "payload", "blob", "L.blob.range")


def _is_descriptor(field: Field) -> bool:
    return field.is_descriptor and [c.name for c in field.children][:1] == ["kind"]


def _inline(descriptors: pa.Array) -> list[Extent]:
    kind, position, size = (_numbers(descriptors, number) for number in range(3))
    here = (kind == INLINE) & (size > 0)
    return [Extent(p, s) for p, s in zip(position[here].tolist(), size[here].tolist())]


def _numbers(descriptors: pa.Array, number: int) -> NDArray[np.uint64]:
    """Return one number of each descriptor that is not null."""
    return np.asarray(descriptors.drop_null().field(number).fill_null(0)).astype(np.uint64)


def _values(opened: DataFile, field: Field, wanted: Callable[[Field], bool]) -> Iterator[pa.Array]:
    """Yield the values of every `wanted` field at or below `field`."""
    if any(wanted(one) for one in field.flat()):
        quiet = replace(opened, bytes=opened.bytes.quiet(), readers={})
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


def _own_remaining_bytes(opened: DataFile) -> None:
    """Own the bytes between the pieces, and report buffers that overlap."""
    ctx, at = opened.bytes.ctx, 0
    for index, extent in enumerate(opened.global_buffers[1:], start=1):
        name = f"global buffer {index}"
        ctx.leaf(extent.offset, extent.end, name, "user buffer", "L.file.gbo.entry")
    for extent in sorted(_pieces(opened)):
        if extent.offset > at:
            _own_gap(opened, at, extent.offset)
        elif extent.offset < at and extent.size:
            place, found = ctx.at(extent.offset, extent.size), f"a piece at {extent.offset}"
            ctx.lint("L.file.buffers.overlap", place, found, f"nothing before {at}")
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
    """Return the payloads of blob columns and descriptors: buffers that only rows know."""
    quiet, extents = replace(opened, bytes=opened.bytes.quiet()), set[Extent]()
    schema = opened.descriptor.schema
    for field in schema.flat() if opened.version == V2_0 else schema.fields:
        if any(below.is_blob for below in field.flat()):
            with suppress(BytesError):  # reported when the field was checked
                reader = quiet.open_field(field, opened.assigned)
                if isinstance(reader, BlobColumn | PageColumn):
                    extents.update(reader.payload_extents())
    with suppress(BytesError):
        for field in schema.fields:
            for descriptors in _values(quiet, field, _is_descriptor):
                extents.update(_inline(descriptors))
    return {extent for extent in extents if extent.end <= opened.footer.start}


def _own_gap(opened: DataFile, start: int, end: int) -> None:
    """Own the bytes start..end: padding up to the next multiple of 64, or unreferenced bytes."""
    ctx, clause = opened.bytes.ctx, "L.file.padding.value"
    padded = end % ALIGNMENT == 0 and end - start < ALIGNMENT
    kind = "padding" if padded else "unreferenced"
    ctx.leaf(start, end, kind, kind, clause)
    if ctx.validating:
        cursor = opened.bytes.cursor(Extent(start, end - start), kind, clause)
        data = np.frombuffer(cursor.data, np.uint8)
        wrong = np.flatnonzero(data != PADDING_BYTE)
        if len(wrong):
            at, wanted = start + int(wrong[0]), f"bytes {PADDING_BYTE:02x}"
            ctx.lint(clause, ctx.at(at, end - at), data[wrong[0] :][:16].tobytes().hex(), wanted)

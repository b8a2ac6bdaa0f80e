"""The whole 0.1 file, checked: pages, statistics, and the bytes that nothing refers to.

Clauses: L.legacy.layout.gaps, L.legacy.layout.overlap, L.legacy.page-table.holes,
L.legacy.statistics.covered
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pyarrow as pa

from lanceref.core.context import Context
from lanceref.core.errors import BytesError
from lanceref.core.spans import SpanRecorder
from lanceref.data_file.check import check_file
from lanceref.data_file.data_file import DataFile
from lanceref.file.schema import Field
from lanceref.file_0_1.column import open_node
from lanceref.file_0_1.data_file import LegacyFile, is_legacy, open_legacy
from lanceref.file_0_1.encodings import Dictionaries
from lanceref.file_0_1.page_table import BatchRanges
from lanceref.file_0_1.statistics import Statistics, covered_fields, faults, parse_statistics
from lanceref.storage import Source


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
        _account_for_the_rest(opened)
    return opened


def _check_statistics(opened: LegacyFile) -> None:
    """Parse the statistics and compare them with the values."""
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
    quiet = opened.bytes.during(replace(ctx, spans=None, findings=None))
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


def _account_for_the_rest(opened: LegacyFile) -> None:
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

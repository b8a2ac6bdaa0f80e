"""Segments against rows: whether an index has the values that the table has.

Only a look at all rows shows it; no reader has to. Rows that the index has besides, deleted ones or
of fragments that it does not cover any more, do no harm.

Clauses: L.index.segment.complete
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lanceref.core.context import Context
from lanceref.core.integers import is_in
from lanceref.file.schema import LanceSchema, project
from lanceref.index.indices import Index, paths_of
from lanceref.index.row_set import Keys
from lanceref.index.segment import Segment
from lanceref.index.training import Training, may_be_missing, sort_keys
from lanceref.table.rows import FragmentRows


def check_against_rows(
    index: Index,
    segment: Segment,
    schema: LanceSchema,
    fragments: Sequence[FragmentRows],
    ctx: Context,
) -> None:
    """Report a live row that a segment covers and does not have, or has with another value."""
    if index.field_id not in paths_of(schema):
        return
    (field,) = project(schema, [paths_of(schema)[index.field_id]])
    by_address = index.kind.by_address(segment.entry.index_version, segment.stable_row_ids)
    covered = [rows for rows in fragments if rows.fragment.id in segment.covers]
    training = Training(field, covered, segment.stable_row_ids, by_address)
    if index.kind.check_rows is not None and segment.built:
        index.kind.check_rows(segment, training)
    if index.kind.entries is None:
        return
    values, keys = index.kind.entries(segment)
    if by_address and segment.moves is not None:
        kept, keys = segment.moves(keys)
        values = values.filter(pa.array(kept))
    if by_address:
        segment.check_fragments(np.sort(keys))
    order = np.argsort(keys, kind="stable")
    values, keys = values.take(pa.array(order)), keys[order]
    if index.kind.rows_of is not None:
        training = index.kind.rows_of(training, segment)
    for run in training.runs():
        wrong = _wrong(values, keys, run.values, run.keys)
        if wrong is not None:
            ctx.lint(
                "L.index.segment.complete",
                segment.place,
                found=f"row {wrong} missing in {index.name!r}, or with another value",
                wanted="the value of every live row of the fragments covered",
            )
            return


def _wrong(values: pa.Array, keys: Keys, own: pa.Array, wanted: Keys) -> int | None:
    """Return the first key whose value in the index is not its own, None when there is none."""
    unknown = may_be_missing(own) & ~is_in(wanted, keys)
    own, wanted = own.filter(pa.array(~unknown)), wanted[~unknown]
    if not len(wanted):
        return None
    if not len(keys):
        return int(wanted[0])
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    held, rows = sort_keys(values.take(pa.array(at))), sort_keys(own)
    try:
        equal = pc.equal(held, rows)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # values of another type
        return int(wanted[0])
    same = pc.fill_null(equal, False).to_numpy(zero_copy_only=False)
    nulls = pc.and_(pc.is_null(held), pc.is_null(rows)).to_numpy(zero_copy_only=False)
    right = (keys[at] == wanted) & (same | nulls).astype(np.bool_)
    return None if right.all() else int(wanted[np.argmin(right)])

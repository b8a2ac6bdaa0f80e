"""Scores and distances of search results, compared within a tolerance.

The best rows of a search come first; rows with equal scores may be in any order. Rows are matched
by their other columns; a score within the tolerance counts as the expected one.
"""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa

from lance_conformance.comparison.table_diff import sort_rows

SCORE_COLUMNS = {"_score": -1, "_distance": 1}
"""Columns of scores, and the sign by which better rows sort first."""


ROUNDING = 1e-6
"""Absolute error of float32 where terms of about 1 cancel out, allowed in addition."""


def order_error(found: pa.Table) -> str | None:
    """Return where a row of a search is better than the row before, None if sorted."""
    for name, sign in SCORE_COLUMNS.items():
        fields = [field for field in found.schema if field.name == name]
        if len(fields) == 1 and pa.types.is_floating(fields[0].type):
            values = sign * np.asarray(found[name].combine_chunks(), np.float64)
            worse = np.flatnonzero(np.diff(values) < 0)
            if len(worse):
                return f"column {name}: row {int(worse[0]) + 1} is better than the one before"
    return None


def align_scores(expected: pa.Table, found: pa.Table, tolerance: str) -> pa.Table:
    """Return the found rows, sorted; scores within the tolerance are replaced by the expected."""
    name = next((one for one in SCORE_COLUMNS if one in expected.column_names), None)
    if name is None or expected.schema.names != found.schema.names or len(expected) != len(found):
        return found
    others = [one for one in expected.column_names if one != name]
    target = sort_rows(expected, others)[name].combine_chunks()
    found = sort_rows(found, others)
    own = found[name].combine_chunks()
    if own.type != target.type or own.null_count or target.null_count:
        return found
    near = np.isclose(own, target, rtol=float(Decimal(tolerance)), atol=ROUNDING)
    values = pa.array(np.where(near, np.asarray(target), np.asarray(own)), target.type)
    return found.set_column(found.column_names.index(name), found.schema.field(name), values)

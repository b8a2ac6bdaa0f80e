"""Nearness: scores and distances that are equal but for rounding.

The rows of a search come best first; among equals their order is free. They are paired by what else
they hold; a score within the tolerance of its pair is then taken for it.
"""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa

from lance_conformance.compare import sorted_rows

MEASURES = {"_score": -1, "_distance": 1}
"""Columns that say how good a row is: the sign by which better ones come first."""


ROUNDING = 1e-6
"""What float32 may lose where terms of about 1 cancel out, whatever the tolerance."""


def out_of_order(found: pa.Table) -> str | None:
    """Return where the rows of a search do not come best first, None when they do."""
    for name, sign in MEASURES.items():
        fields = [field for field in found.schema if field.name == name]
        if len(fields) == 1 and pa.types.is_floating(fields[0].type):
            values = sign * np.asarray(found[name].combine_chunks(), np.float64)
            worse = np.flatnonzero(np.diff(values) < 0)
            if len(worse):
                return f"column {name}: row {int(worse[0]) + 1} is better than the one before"
    return None


def settled(expected: pa.Table, found: pa.Table, tolerance: str) -> pa.Table:
    """Return the rows found, sorted, with the scores expected in place of those near to them."""
    name = next((one for one in MEASURES if one in expected.column_names), None)
    if name is None or expected.schema.names != found.schema.names or len(expected) != len(found):
        return found
    others = [one for one in expected.column_names if one != name]
    wanted = sorted_rows(expected, others)[name].combine_chunks()
    found = sorted_rows(found, others)
    own = found[name].combine_chunks()
    if own.type != wanted.type or own.null_count or wanted.null_count:
        return found
    near = np.isclose(own, wanted, rtol=float(Decimal(tolerance)), atol=ROUNDING)
    values = pa.array(np.where(near, np.asarray(wanted), np.asarray(own)), wanted.type)
    return found.set_column(found.column_names.index(name), found.schema.field(name), values)

"""Filter divergences: which published divergence makes two answers to a filter differ.

Each is named by the text of the filter and by the rows that only one side finds.
"""

from __future__ import annotations

import math
import re

from lance_conformance.campaigns.queries.filter_grammar import TABLE
from lance_conformance.known_divergences import id_of

FRAGMENT_ROWS = 20
"""Rows of a fragment of the table of all types."""

ZEROS = re.compile(r"coalesce\(0\.0, (?:dec|f64|f32|\()")
"""A zero that is only there after the expression was simplified."""


def divergence_of(text: str, wanted: object, found: object) -> str | None:
    """Return the id of the divergence that a filter shows, None where there is none.

    `wanted` and `found` are addresses of rows, or the text of a refusal.
    """
    if not (isinstance(wanted, list) and isinstance(found, list) and ZEROS.search(text)):
        return None
    different = {(one >> 32) * FRAGMENT_ROWS + (one & 0xFFFFFFFF) for one in {*wanted} ^ {*found}}
    values = TABLE["f64"].to_pylist()
    is_zero = all(values[row] == 0 and math.copysign(1, values[row]) < 0 for row in different)
    return id_of("queries/grammar", "zeros differ by their sign") if is_zero else None

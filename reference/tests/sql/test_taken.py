"""Rows taken by position, by hand."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from pylanceref.sql.columns import take_columns

from .written import write


def test_columns_or_expressions(tmp_path):
    """Of the rows in the order asked for."""
    table = pa.table({"n": [1, 2, 3], "st": [{"a": 4, "b": 5}] * 3})
    snapshot = write(table, tmp_path)._snapshot
    rows = np.array([2, 0, 2])

    assert {"n": [3, 1, 3]} == take_columns(snapshot, rows, ["n"]).to_pydict()
    found = take_columns(snapshot, rows, {"x": "n * 2", "y": "st.b", "at": "_rowoffset"})
    assert {"x": [6, 2, 6], "y": [5, 5, 5], "at": [2, 0, 2]} == found.to_pydict()

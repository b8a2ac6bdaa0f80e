"""Names of pylance's module of this name."""

from __future__ import annotations

from typing import get_args

import pyarrow as pa
import pylanceref.types


def test_rows_of_any_form_become_a_reader():
    """What may be handed over is what is read from."""
    table = pa.table({"a": [1, 2]})
    for given in (table, table.to_batches()[0], table.to_reader()):
        assert type(given) in get_args(pylanceref.types.ReaderLike)
        assert pylanceref.types.reader_of(given).read_all() == table

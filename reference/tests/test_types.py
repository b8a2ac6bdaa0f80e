"""Names of pylance's module of this name."""

from __future__ import annotations

from typing import get_args

import pyarrow as pa
import pylanceref.types
import pytest


def test_rows_of_any_form_become_a_reader():
    """What may be handed over is what is read from."""
    table = pa.table({"a": [1, 2]})
    for given in (table, table.to_batches()[0], table.to_reader()):
        assert type(given) in get_args(pylanceref.types.ReaderLike)
        assert pylanceref.types._coerce_reader(given).read_all() == table


@pytest.mark.oracle
def test_pylance_reads_the_same():
    """Under the same name, with the same arguments."""
    from lance.types import _coerce_reader

    batches = pa.table({"a": [1, 2]}).to_batches()
    for reader in (_coerce_reader, pylanceref.types._coerce_reader):
        assert reader(iter(batches), schema=batches[0].schema).read_all()["a"].to_pylist() == [1, 2]

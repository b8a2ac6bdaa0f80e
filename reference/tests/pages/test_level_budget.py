"""Level budget: the cuts that the oracle makes."""

import numpy as np
import pyarrow as pa
import pytest
from lanceref.file.arrow_schema import schema_of
from lanceref.pages.encode import level_limit, row_cuts
from lanceref.pages.shred import ravel, shred

LIST = pa.list_(pa.int8())
NESTED = pa.list_(LIST)


def _levels(rows, type_):
    field = schema_of(pa.schema([("c", type_)])).fields[0]
    (leaf,) = shred(pa.array(rows, type_), field)
    return ravel(leaf)


@pytest.mark.parametrize(
    ("rows", "cuts"),
    [
        ([[1]] * 100_000, [0]),
        ([[]] * 65_534 + [[1]], [0]),
        ([[]] * 65_535 + [[1]], [0, 65_535]),
        ([[1, 2]] * 40_000 + [[]] * 70_000 + [[3]] * 10, [0, 40_000, 105_535]),
        ([[]] * 70_000 + [[1, 2]] * 40_000 + [[3]] * 10, [0, 65_535, 100_535]),
    ],
)
def test_a_page_is_cut_before_its_levels_pass_the_budget(rows, cuts):
    """Only entries without a value count: rows of values alone are never cut."""
    levels = _levels(rows, LIST)

    assert row_cuts(levels, len(rows)).tolist() == cuts


@pytest.mark.parametrize(
    ("rows", "limit"),
    [
        ([[[1]], []], 43_690),
        ([[[1], []], []], 32_768),
    ],
)
def test_the_limit_follows_from_the_bits_of_the_levels(rows, limit):
    """16 KiB hold 43,690 entries of 2 + 1 bits, and 32,768 of 2 + 2."""
    assert level_limit(_levels(rows, NESTED)) == limit


def test_a_single_row_above_the_limit_cannot_be_cut():
    """60,000 empty lists in one row take more than 32,768 entries."""
    rows = [[[]] * 60_000, [[1]], []]

    assert row_cuts(_levels(rows, NESTED), 3) is None


@pytest.mark.oracle
def test_the_oracle_cuts_its_pages_at_the_same_rows(tmp_path):
    """Pages of a file of the oracle begin where the budget says."""
    from lance.file import LanceFileWriter
    from lanceref.core.context import Context
    from lanceref.data_file.data_file import open_file
    from lanceref.storage import LocalSource

    rows = [[[i % 100]] if i % 3 else [] for i in range(100_000)]
    table = pa.table({"c": pa.array(rows, NESTED)})
    with LanceFileWriter(str(tmp_path / "f"), table.schema, version="2.2") as writer:
        writer.write_batch(table)
    file = open_file(LocalSource(str(tmp_path / "f")), Context("f"))
    pages = [page.num_rows for page in file.columns[0].pages]

    cuts = row_cuts(_levels(rows, NESTED), len(rows))

    assert np.cumsum([0, *pages])[:-1].tolist() == cuts.tolist()

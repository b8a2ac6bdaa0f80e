"""Asking both."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lance_conformance.campaigns.nearest.asking import Table, found, parts, scanner
from lance_conformance.campaigns.nearest.questions import Question

VALUES = np.random.default_rng(1).normal(size=(300, 8)).astype(np.float32)

ASKED = Question({"column": "v", "q": VALUES[7], "k": 3}, {})


@pytest.fixture(params=[False, True], ids=["addresses", "stable"])
def path(request, tmp_path):
    """A table with an index over all rows, and some more rows."""
    options = {"max_rows_per_file": 100, "enable_stable_row_ids": request.param}
    dataset = pylanceref.write_dataset(_rows(0, 250), tmp_path, **options)
    dataset.create_index("v", "IVF_FLAT", num_partitions=2)
    dataset.insert(_rows(250, 300))
    return str(tmp_path)


def _rows(start, end):
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(VALUES[start:end].ravel()), 8)
    return pa.table({"i": range(start, end), "v": vectors})


def test_rows_come_with_their_ids(path):
    """Those of each query apart, also where one has none; an error is its text."""
    dataset = pylanceref.dataset(path)
    ((first, *_),) = found(dataset, ASKED)
    assert (7, 0.0) == first
    several = found(dataset, ASKED.but(q=VALUES[:2]))
    assert [0, 1] == [part[0][0] for part in several]
    assert [3, 3] == [len(part) for part in several]
    assert "ValueError: Nearest-K must be > 0 but got 0" == found(dataset, ASKED.but(k=0))
    table = scanner(dataset, ASKED.but(q=VALUES[:3])).to_table()
    table = table.filter(pa.compute.not_equal(table["query_index"], 1))
    assert [3, 0, 3] == [len(part) for part in parts(table, ASKED.but(q=VALUES[:3]))]


@pytest.mark.oracle
def test_what_is_read_is_counted(path, monkeypatch):
    """An index answers alone; where it is not asked nothing is said."""
    table = Table(path)
    assert "" == table.misread(ASKED)
    assert "" == table.misread(ASKED.but(use_index=False))
    assert "" == table.misread(ASKED.scanned(filter="i < 9"))
    asked = ASKED.but(refine_factor=1)
    monkeypatch.setattr(Question, "scanned", lambda self, **_: asked)
    assert table.misread(ASKED).endswith(" bytes of data are read")
    asked = ASKED.but(use_index=False)
    monkeypatch.setattr("lance_conformance.campaigns.nearest.asking.SEARCHED", "")
    assert "the index is not read" == table.misread(ASKED)


@pytest.mark.oracle
def test_both_are_asked(path):
    """They find the same, and count the rows; a range is a share of what is far."""
    table = Table(path)
    theirs, ours = table.ask(ASKED)
    assert theirs == ours
    assert 300 == table.num_rows
    assert 9 == len(table.passing("i < 9"))
    ranged = table.with_range(Question(ASKED.nearest, {}, (None, 0.5)))
    (part,) = found(pylanceref.dataset(path), ASKED.but(k=60))
    assert [part[-1][1] * 0.5] == ranged.ends

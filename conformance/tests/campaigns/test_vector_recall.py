"""Recall of vector indices."""

import lanceref
import numpy as np
import pyarrow as pa
import pytest
from lance_conformance.campaigns.vector_recall import Answers, Data, ask, draw, line, measure


def stored(data: Data, path: str) -> str:
    """Write the vectors with their numbers."""
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(data.vectors.ravel()), 8)
    table = pa.table({"i": np.arange(len(data.vectors)), "v": vectors})
    lanceref.write_dataset(table, path)
    return path


def test_without_an_index_everything_is_found(tmp_path):
    """The nearest rows that recall is counted by are those of a scan."""
    data = draw(400, 8, 0)
    path = stored(data, str(tmp_path / "t"))
    assert ask(lanceref, path, data, 1, None).recall == 1
    wrong = Data(data.vectors, data.queries, [frozenset(range(10))] * len(data.queries))
    assert ask(lanceref, path, wrong, 1, None).recall < 0.2


def test_what_is_printed():
    """Recall by both sides over both indices, as means, and milliseconds over the oracle's."""
    columns = [[Answers(0.5, 0.002), Answers(0.7, 0.004)], [Answers(1, 0.01)]]
    columns += [[Answers(0.25, 1)], [Answers(0, 1)]]
    shown = line("IVF_SQ", 4, columns).split()
    assert shown == ["IVF_SQ", "4", "0.6000", "1.0000", "0.2500", "0.0000", "3.00", "10.00"]


@pytest.mark.oracle
def test_a_type_is_measured(tmp_path, capsys):
    """Both build and both ask."""
    data = draw(600, 8, 0)
    stored(data, str(tmp_path / "rows"))
    measure("IVF_SQ", data, tmp_path, 1, 2)
    first, second, times = capsys.readouterr().out.splitlines()
    assert all(0.5 < float(one) <= 1 for one in (*first.split()[2:6], *second.split()[2:6]))
    assert "built in oracle" in times

"""Benchmark of indices: figures of every question, of sides that find the same; no time is held."""

import pytest
from lance_conformance.bench.figures import Figure
from lance_conformance.bench.scalar import build, run, table
from lance_conformance.bench.scalar_cases import CASES, Case
from lance_conformance.bench.sides import ORACLE, OURS

BY_TYPE = {case.type: case for case in CASES}


@pytest.mark.oracle
def test_both_sides_are_measured(tmp_path, monkeypatch):
    """Building, in processes of their own, and every question; the tables are gone afterwards."""
    monkeypatch.setattr("lance_conformance.bench.scalar._apart", build)
    figures = list(run(tmp_path, BY_TYPE["BTREE"], 1000, 1))

    measured = {("build", "s"), ("build", "MiB")}
    measured |= {
        (name, unit) for name in ("point", "range", "several") for unit in ("reads", "KiB", "ms")
    }
    assert measured == {(one.measure, one.unit) for one in figures}
    assert all(one.ours > 0 and one.oracle > 0 for one in figures if one.unit != "MiB")
    assert [] == list(tmp_path.iterdir())


@pytest.mark.oracle
@pytest.mark.parametrize("case", CASES, ids=BY_TYPE)
def test_questions_find_some_rows(tmp_path, case):
    """The reference finds rows of a small table by one of them at least, and all by none."""
    import pyarrow as pa

    rows = 1000
    ORACLE.tables().write_dataset(pa.table({"c": case.column(rows)}), str(tmp_path / "t"))
    seconds, _ = build(OURS, case, tmp_path / "t")
    dataset = OURS.tables().dataset(str(tmp_path / "t"))

    assert seconds > 0
    found = [len(dataset.to_table(**question)) for question in case.questions.values()]
    assert 0 < max(found) < rows


@pytest.mark.oracle
def test_sides_that_differ_are_not_measured(tmp_path, monkeypatch):
    """A side that finds other rows is an error, and no figure."""
    case = Case("BTREE", BY_TYPE["BTREE"].column, {"other": {"limit": 1}})
    monkeypatch.setattr("lance_conformance.bench.scalar._apart", lambda *_: (1.0, 1.0))
    answers = iter((1, 2))
    monkeypatch.setattr("lance_conformance.bench.scalar._reads", lambda *_: (next(answers), 1, 1.0))

    with pytest.raises(ValueError, match="1 rows, the oracle finds 2"):
        list(run(tmp_path, case, 10, 1))


def test_a_line_for_each_figure():
    """With both sides and their ratio."""
    heading, line = table([Figure("point", "BTREE", "", 3, 4, "reads")])

    assert heading.split() == ["index", "question", "unit", "ours", "oracle", "ratio"]
    assert line.split() == ["BTREE", "point", "reads", "3", "4", "0.75"]

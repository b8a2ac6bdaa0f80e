"""The benchmark: tables, figures, goals and verdicts; no time is asserted."""

import re

import pytest
from lance_conformance.bench import random_access, scaling, workers
from lance_conformance.bench.engines import ORACLE
from lance_conformance.bench.figures import Figure
from lance_conformance.bench.goals import GOALS, Goal, judge
from lance_conformance.bench.index_cases import CASES, Case
from lance_conformance.bench.indices import run as run_indices
from lance_conformance.bench.run import Size, run
from lance_conformance.bench.tables import REFUSED, TABLES
from lanceref_spark.jobs import Loop

FASTER = Goal("G", "speed", ("scan",), 2, 1, ("2.1",), ("f32", "bool"))


def _figure(table: str, ours: float, oracle: float, measure: str = "scan") -> Figure:
    return Figure(measure, table, "2.1", ours, oracle, "")


@pytest.mark.parametrize(("ours", "word"), [(4.0, "goal"), (1.5, "floor"), (0.9, "below")])
def test_the_worst_table_decides(ours, word):
    """The other one is twice as good."""
    (verdict,) = judge([FASTER], [_figure("f32", 2 * ours, 1), _figure("bool", ours, 1)])

    assert (word, "bool", ours) == (verdict.word, verdict.table, verdict.value)


def test_a_floor_is_never_better_than_its_goal():
    """For all goals, which have unique names."""
    assert all(goal.reached(goal.goal, goal.floor) for goal in GOALS)
    assert len(GOALS) == len({goal.name for goal in GOALS})


MIB = 8
MAX_RATIO = 1.01
"""Requests may be one or two more for fewer bytes, and vice versa: the implementations coalesce
different adjacent reads."""

EXCEPTIONS = {("listi32", "2.3"): 1.05}
"""Larger ratios of requests, for fewer bytes."""


@pytest.mark.oracle
@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2", "2.3"])
@pytest.mark.parametrize("name", TABLES)
def test_no_more_is_read_than_the_oracle_reads(name, version, tmp_path):
    """Requests and bytes: to open, of a thousand rows, and of one row by a new reader."""
    if (name, version) in REFUSED:
        pytest.skip("2.0 has no struct validity")
    table, path = TABLES[name](MIB), tmp_path / "x.lance"
    ORACLE.write(path, table, version)
    for figure in random_access.requests(path, name, version, len(table)):
        most = MAX_RATIO if figure.measure.startswith("take") else 1.0
        if figure.measure == "take requests":
            most = EXCEPTIONS.get((name, version), most)

        assert figure.ratio <= most, figure


SIZE = Size(read_mib=1, write_mib=1, rounds=1)


@pytest.mark.oracle
def test_each_table_and_version_gives_the_figures_its_goals_need(tmp_path):
    """Except those that the oracle refuses to write; the files are removed."""
    goals = [goal for goal in GOALS if goal.name in ("P2", "P6", "P10")]
    figures = list(run(tmp_path, ["0.1", "2.0", "2.1"], ["structnull", "bool"], goals, SIZE))

    every = {("0.1", "take"), ("0.1", "write")}
    every |= {(version, what) for version in ("2.0", "2.1") for what in ("scan", "take", "write")}
    measured = {(figure.table, figure.version, figure.measure) for figure in figures}
    assert measured == {("bool", *which) for which in every} | {
        ("structnull", version, what) for version, what in every if version != "2.0"
    }
    assert all(figure.ours > 0 and figure.oracle > 0 for figure in figures)
    assert [] == list(tmp_path.iterdir())


BY_TYPE = {case.type: case for case in CASES}


@pytest.mark.oracle
@pytest.mark.parametrize("kind, ours", [("limit", [1]), ("limit", [1, 1]), ("nearest", [1, 3])])
def test_different_results_are_an_error(tmp_path, monkeypatch, kind, ours):
    """Other rows, or farther vectors."""
    case, module = BY_TYPE["BTREE"], "lance_conformance.bench.indices"
    case, results = Case("BTREE", case.column, {"other": {kind: 1}}), iter((ours, [1, 2]))
    monkeypatch.setattr(f"{module}._build_in_subprocess", lambda *_: (1.0, 1.0))
    monkeypatch.setattr(f"{module}._run_counted", lambda *_: (next(results), 1, 1.0))
    with pytest.raises(ValueError, match=re.escape(f"found {ours}, the oracle [1, 2]")):
        list(run_indices(tmp_path, case, 10, 1))


@pytest.mark.oracle
def test_a_table_of_each_size_gives_every_figure(tmp_path, monkeypatch):
    """Both implementations find the row of the query; the files are removed."""
    monkeypatch.setattr(scaling, "MILLION", 2500)
    figures = list(scaling.run(tmp_path, 2, 1))

    assert [*scaling.UNITS] == [figure.measure for figure in figures]
    assert all(figure.ours > 0 for figure in figures if figure.measure != "validate MiB")
    assert [] == list(tmp_path.iterdir())


@pytest.mark.oracle
def test_workers_scan_all_fragments_and_validate_a_sound_table(tmp_path, monkeypatch):
    """Here in one process: every fragment is in one job, and there are no findings."""
    monkeypatch.setattr(scaling, "MILLION", 2500)
    monkeypatch.setattr(workers, "NUMBERS", 10)
    scaling.write(tmp_path / "x", 7500)
    scanned = []
    monkeypatch.setattr(workers, "scan_fragments", lambda part, _: scanned.extend(part))
    workloads = workers.workloads(tmp_path / "x")
    workloads["scan"](Loop())

    assert [0, 1, 2] == sorted(scanned)
    assert [] == workloads["validate"](Loop()).findings
    assert [50 * 45.0] * workers.JOBS == workloads["memory"](Loop())

"""A run of the benchmark: figures for what was asked; no time is asserted."""

import pytest
from lance_conformance.bench.goals import EVERY, GOALS
from lance_conformance.bench.run import Size, run

SIZE = Size(read_mib=1, write_mib=1, rounds=1)


@pytest.mark.oracle
def test_each_table_and_version_gives_the_figures_its_goals_need(tmp_path):
    """But for what the oracle refuses to write; the files are gone afterwards."""
    goals = [goal for goal in GOALS if goal.name in ("P2", "P6", "P10")]
    figures = list(run(tmp_path, ["0.1", "2.0", "2.1"], ["structnull", "bool"], goals, SIZE))

    every = {("0.1", "take"), ("0.1", "write")}
    every |= {(version, what) for version in ("2.0", "2.1") for what in ("scan", "take", "write")}
    found = {(figure.table, figure.version, figure.measure) for figure in figures}
    assert found == {("bool", *which) for which in every} | {
        ("structnull", version, what) for version, what in every if version != "2.0"
    }
    assert all(figure.ours > 0 and figure.oracle > 0 for figure in figures)
    assert [] == list(tmp_path.iterdir())


@pytest.mark.oracle
def test_every_goal_gets_a_figure(tmp_path):
    """From one table, but for the goals that ask for others, and those of vector indices."""
    goals = [goal for goal in GOALS if not {"query", "build", "recall"} & {*goal.measures}]
    figures = list(run(tmp_path, list(EVERY), ["f32"], goals, SIZE))
    measures = {figure.measure for figure in figures}

    assert measures == {measure for goal in goals for measure in goal.measures}

"""Schedules: what failed attempts may leave, and what they may not."""

import json

import pytest

pytestmark = pytest.mark.spark


@pytest.fixture
def journal(tmp_path):
    """Three attempts: one wrote `a`, one wrote `b`, one only began."""
    pytest.importorskip("pyspark")
    for number, files in enumerate((["a"], ["b"], None)):
        (tmp_path / f"{number}.began").write_text("[]")
        if files is not None:
            (tmp_path / f"{number}.wrote").write_text(json.dumps(files))
    return tmp_path


@pytest.mark.parametrize(
    ("orphans", "told"),
    [
        ({"b"}, []),
        ({"b", "unfinished"}, []),
        (set(), ["lost: b"]),
        ({"b", "x", "y"}, ["files of nobody: ['x', 'y']"]),
    ],
)
def test_orphans_are_those_of_attempts(journal, orphans, told):
    """Told files are all there; an attempt that did not end may leave one more."""
    from lance_conformance.campaigns.spark.schedules import unexpected

    assert unexpected(orphans, {"a"}, journal) == told


def test_a_seed_gives_a_schedule():
    """The same each time, within the partitions, and not for every seed the same."""
    pytest.importorskip("pyspark")
    from lance_conformance.campaigns.spark.schedules import PARTITIONS, draw

    drawn = [draw(seed, ("ok", "before"), 2) for seed in range(20)]
    assert drawn == [draw(seed, ("ok", "before"), 2) for seed in range(20)]
    assert {number for one in drawn for number in one} == {str(n) for n in range(PARTITIONS)}
    assert all(1 <= len(faults) <= 2 for one in drawn for faults in one.values())

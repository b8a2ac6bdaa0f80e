"""Tests of the levels: every case has one, in the order of the chapter for a first reader."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from lance_conformance import cases, levels, places
from lance_conformance.cases import Case, Selection

CHAPTER = Path(__file__).resolve().parents[2] / "spec" / "05-first-reader.md"
RUNGS = CHAPTER.read_text(encoding="utf-8").split("\n## Rung ")[1:]


@pytest.fixture(scope="module")
def active() -> dict[str, Case]:
    """The active cases of the suite, by id."""
    return {case.id: case for case in cases.load(places.fixtures()) if case.is_active}


def test_every_case_belongs_to_a_level_of_the_ladder(active: dict[str, Case]) -> None:
    """A case that no rule fits would be lost to every level."""
    assert [] == [case.id for case in active.values() if case.level not in levels.LADDER]


def test_rungs_are_levels_in_the_order_of_the_chapter(active: dict[str, Case]) -> None:
    """Most cases that the chapter lists under a rung belong to the level of the rung."""
    rungs = [rung for level in levels.LADDER.values() for rung in level.rungs]

    assert list(range(1, len(RUNGS) + 1)) == rungs
    for level in levels.LADDER.values():
        for rung in level.rungs:
            (listed,) = re.findall(r"\nCases, asked of `\w+`: (.*)\.\n", RUNGS[rung - 1])
            found = Counter(active[name].level for name in re.findall(r"`([^`]+)`", listed))
            assert level.name == found.most_common(1)[0][0]


def test_the_level_of_an_index_is_that_of_its_type(active: dict[str, Case]) -> None:
    """`index-ivf-pq` has the cases that need IVF_PQ."""
    for case in active.values():
        if "index" in case.requires and case.id.startswith("index/"):
            assert f"index-{case.requires['index'].lower().replace('_', '-')}" == case.level


def test_a_flat_level_needs_no_strings_lists_or_codecs(active: dict[str, Case]) -> None:
    """Every positive case of it can be read by the first four rungs."""
    chosen = cases.select(active.values(), Selection("all", levels=("2.1-flat",)))

    assert {"file/2.1/miniblock/plain", "file/2.1/miniblock/int32"} <= {c.id for c in chosen}
    for case in chosen:
        needed = {*case.requires.get("types", ()), *case.requires.get("encodings", ())}
        assert needed.isdisjoint({"string", "list", "struct", "fsst", "inline_bitpacking"})


def test_counts_follow_the_ladder_and_leave_nothing_out(active: dict[str, Case]) -> None:
    """The sum of all levels is the number of active cases."""
    found = levels.counts(case.manifest for case in active.values())

    assert len(active) == sum(found.values())
    assert list(found) == [name for name in levels.LADDER if name in found]

"""The runner's contract: selection, seed, resuming, the report and the exit code."""

import json

import pytest
from lance_conformance.campaigns.runner import (
    PROGRESS,
    Campaign,
    NothingSelectedError,
    Options,
    Outcome,
    Part,
    Session,
    report,
    run,
)


def campaign(outcomes, ran, **more):
    """A campaign of two parts with the same cases, which notes what it ran."""

    def part(name):
        def opened(plan):
            def one(case):
                ran.append((name, plan.seed, case))
                return outcomes[case]

            yield Session(list(outcomes)[: plan.count], one)

        return Part(name, 3, opened, **more)

    return Campaign("toy", (part("left"), part("right")))


GOOD = {"2.1/a": Outcome("agreed", (), {"ints": 2}), "2.1/b": Outcome("known", ("D.a.b",))}

BAD = {**GOOD, "2.1/c[1]": Outcome("differed", ("too long",))}


@pytest.mark.parametrize(
    ("only", "wanted"),
    [
        ("*", ["left 2.1/a", "left 2.1/b", "right 2.1/a", "right 2.1/b"]),
        ("left", ["left 2.1/a", "left 2.1/b"]),
        ("right/2.1/b", ["right 2.1/b"]),
        ("*/2.1/a", ["left 2.1/a", "right 2.1/a"]),
    ],
)
def test_only_selects_parts_and_cases(only, wanted):
    """A pattern matches the name of a part or that of a case with its part."""
    ran = []
    run(campaign(GOOD, ran), Options(only=only))

    assert wanted == [f"{part} {case}" for part, _, case in ran]


def test_a_pattern_that_matches_nothing_is_an_error():
    """A mistyped pattern must not pass for a run in which all agreed."""
    with pytest.raises(NothingSelectedError, match="left/9"):
        run(campaign(GOOD, []), Options(only="left/9"))


def test_kept_outcomes_are_not_run_again(tmp_path):
    """A resumed run has the outcomes of the first; another seed has its own."""
    ran, again = [], []
    first = run(campaign(BAD, ran), Options(resume=tmp_path))
    second = run(campaign(BAD, again), Options(resume=tmp_path))

    assert (6, []) == (len(ran), again)
    assert [list(one) for one in first.values()] == [list(one) for one in second.values()]
    assert "too long" == second["left"]["left/2.1/c[1]"].details[0]
    run(campaign(BAD, again), Options(seed=1, resume=tmp_path))
    assert 6 == len(again)


def test_an_interrupted_run_goes_on_where_it_was(tmp_path):
    """Each outcome is in the file once it is known; half a line of a killed run is dropped."""
    run(campaign(GOOD, []), Options(resume=tmp_path))
    lines = (tmp_path / PROGRESS).read_text().splitlines()
    (tmp_path / PROGRESS).write_text(lines[0] + "\n" + lines[1][:20])
    ran = []
    run(campaign(GOOD, ran), Options(resume=tmp_path))

    assert "left/2.1/a" == json.loads(lines[0])["case"]
    assert [("left", 0, "2.1/b"), ("right", 0, "2.1/a"), ("right", 0, "2.1/b")] == ran
    assert 4 == len([json.loads(line) for line in (tmp_path / PROGRESS).read_text().splitlines()])


def test_the_report_of_what_agrees():
    """Verdicts, known divergences and counts are printed, and the exit code is 0."""
    toy, options = campaign(GOOD, []), Options()
    text, code = report(toy, options, run(toy, options))

    assert 0 == code
    assert "known 1 x D.a.b" in text
    assert ["left", "1", "1", "0", "0"] in [line.split() for line in text.splitlines()]
    assert ["ints", "2"] in [line.split() for line in text.splitlines()]


def test_the_command_of_a_difference_repeats_it_alone():
    """A case that differs is printed with a command; its pattern matches that case."""
    toy, options = campaign(BAD, []), Options(seed=3, count=9)
    text, code = report(toy, options, run(toy, options))

    assert 1 == code
    assert "DIFFERED left/2.1/c[1]" in text
    assert "nox -s campaign -- toy --seed 3 --count 9 --only 'left/2.1/c[[]1]'" in text
    ran = []
    run(campaign(BAD, ran), Options(seed=3, count=9, only="left/2.1/c[[]1]"))
    assert [("left", 3, "2.1/c[1]")] == ran


@pytest.mark.parametrize(
    ("count", "only", "code"), [(None, "*", 1), (2, "*", 0), (None, "left/*a", 0)]
)
def test_what_never_came_up_fails_a_full_run(count, only, code):
    """A gap is always printed; a run that was cut down on purpose does not fail by it."""
    toy = campaign(GOOD, [], required={"2.1": ("ints", "floats")})
    options = Options(count=count, only=only)
    text, found = report(toy, options, run(toy, options))

    assert code == found
    assert "NEVER CAME UP 2.1: floats" in text
    assert "NEVER CAME UP 2.1: ints" not in text

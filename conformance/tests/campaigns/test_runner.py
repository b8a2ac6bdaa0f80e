"""The contract of the runner of campaigns, and the version matrix as one."""

import json
import shutil
from dataclasses import replace

import pyarrow as pa
import pytest
from lance_conformance.campaigns import runner
from lance_conformance.campaigns.histories import releases
from lance_conformance.campaigns.histories.release_tables import all_histories
from lance_conformance.campaigns.histories.releases import (
    Judge,
    Read,
    differences,
    manifest_differences,
)
from lance_conformance.matrix.actor import Actor, load, save
from pylanceref.dataset import write_dataset


def campaign(outcomes, ran, **more):
    """A campaign of two parts with the same cases, which notes what it ran."""

    def part(name):
        def opened(plan):
            def one(case):
                ran.append((name, plan.seed, case))
                return outcomes[case]

            yield runner.Session(list(outcomes)[: plan.count], one)

        return runner.Part(name, 3, opened, **more)

    return runner.Campaign("toy", (part("left"), part("right")))


GOOD = {
    "2.1/a": runner.Outcome("agreed", (), {"ints": 2}),
    "2.1/b": runner.Outcome("known", ("D.a.b",)),
}

BAD = {**GOOD, "2.1/c[1]": runner.Outcome("differed", ("too long",))}


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
    runner.run(campaign(GOOD, ran), runner.Options(only=only))

    assert wanted == [f"{part} {case}" for part, _, case in ran]


def test_a_pattern_that_matches_nothing_is_an_error():
    """A mistyped pattern must not pass for a run in which all agreed."""
    with pytest.raises(runner.NothingSelectedError, match="left/9"):
        runner.run(campaign(GOOD, []), runner.Options(only="left/9"))


def test_kept_outcomes_are_not_run_again(tmp_path):
    """A resumed run has the outcomes of the first; another seed has its own."""
    ran, again = [], []
    first = runner.run(campaign(BAD, ran), runner.Options(resume=tmp_path))
    second = runner.run(campaign(BAD, again), runner.Options(resume=tmp_path))

    assert (6, []) == (len(ran), again)
    assert [list(one) for one in first.values()] == [list(one) for one in second.values()]
    assert "too long" == second["left"]["left/2.1/c[1]"].details[0]
    runner.run(campaign(BAD, again), runner.Options(seed=1, resume=tmp_path))
    assert 6 == len(again)


def test_an_interrupted_run_goes_on_where_it_was(tmp_path):
    """Each outcome is in the file once it is known; half a line of a killed run is dropped."""
    runner.run(campaign(GOOD, []), runner.Options(resume=tmp_path))
    lines = (tmp_path / runner.PROGRESS).read_text().splitlines()
    (tmp_path / runner.PROGRESS).write_text(lines[0] + "\n" + lines[1][:20])
    ran = []
    runner.run(campaign(GOOD, ran), runner.Options(resume=tmp_path))

    assert "left/2.1/a" == json.loads(lines[0])["case"]
    assert [("left", 0, "2.1/b"), ("right", 0, "2.1/a"), ("right", 0, "2.1/b")] == ran
    assert 4 == len(
        [json.loads(line) for line in (tmp_path / runner.PROGRESS).read_text().splitlines()]
    )


def test_the_report_of_what_agrees():
    """Verdicts, known divergences and counts are printed, and the exit code is 0."""
    toy, options = campaign(GOOD, []), runner.Options()
    text, code = runner.report(toy, options, runner.run(toy, options))

    assert 0 == code
    assert "known 1 x D.a.b" in text
    assert ["left", "1", "1", "0", "0"] in [line.split() for line in text.splitlines()]
    assert ["ints", "2"] in [line.split() for line in text.splitlines()]


def test_the_command_of_a_difference_repeats_it_alone():
    """A case that differs is printed with a command; its pattern matches that case."""
    toy, options = campaign(BAD, []), runner.Options(seed=3, count=9)
    text, code = runner.report(toy, options, runner.run(toy, options))

    assert 1 == code
    assert "DIFFERED left/2.1/c[1]" in text
    assert "nox -s campaign -- toy --seed 3 --count 9 --only 'left/2.1/c[[]1]'" in text
    ran = []
    runner.run(campaign(BAD, ran), runner.Options(seed=3, count=9, only="left/2.1/c[[]1]"))
    assert [("left", 3, "2.1/c[1]")] == ran


@pytest.mark.parametrize(
    ("count", "only", "code"), [(None, "*", 1), (2, "*", 0), (None, "left/*a", 0)]
)
def test_what_never_came_up_fails_a_full_run(count, only, code):
    """A gap is always printed; a run that was cut down on purpose does not fail by it."""
    toy = campaign(GOOD, [], required={"2.1": ("ints", "floats")})
    options = runner.Options(count=count, only=only)
    text, found = runner.report(toy, options, runner.run(toy, options))

    assert code == found
    assert "NEVER CAME UP 2.1: floats" in text
    assert "NEVER CAME UP 2.1: ints" not in text


HISTORY = next(one for one in all_histories() if one.name == "type:int32")


class Fake:
    """The reference under another name, which may read a row less or refuse to write."""

    def __init__(self, name, *, short=False, refuses=False):
        self.name = name
        self._short, self._refuses = short, refuses
        self._actor = Actor("pylanceref")

    def ask(self, do, **request):
        if do == "build" and self._refuses and request.get("new", True):
            return ["no such type"]
        answer = getattr(self._actor, do)(**request)
        if do == "read" and self._short:
            for name in answer:
                if name.endswith("rows"):
                    path = f"{request['out']}/{name}.arrow"
                    save(load(path).slice(1), path)
        return answer


def _judged(folder, format_="2.1", **wheels):
    given = {name: Fake(name) for name in ("release", "reference", "oracle")} | wheels
    return Judge(**given, folder=folder).history(HISTORY, format_)


def test_all_directions_are_the_same_for_equal_libraries(tmp_path):
    """Four verdicts for a format, two for the release's own choice."""
    assert 4 * ["agreed"] == [one.verdict for one in _judged(tmp_path)]
    assert 2 * ["agreed"] == [one.verdict for one in _judged(tmp_path, None)]


def test_the_reference_is_to_blame_when_it_stands_alone(tmp_path):
    """It reads a row less than the release and the oracle."""
    verdicts = _judged(tmp_path, reference=Fake("reference", short=True))

    assert {"differed"} == {one.verdict for one in verdicts}
    assert "2.1 reference reads release: 1 rows: rows: expected 20" in str(verdicts[0].details)


def test_an_old_release_that_errs_alone_is_excused(tmp_path):
    """It reads a row less than the others of its own table, and of the oracle's too."""
    verdicts = _judged(tmp_path, release=Fake("release", short=True))

    assert {"known"} == {one.verdict for one in verdicts}


def test_what_a_release_cannot_write_is_refused(tmp_path):
    """The other direction is judged all the same."""
    verdicts = _judged(tmp_path, release=Fake("release", refuses=True))

    assert ["refused", "agreed", "agreed"] == [one.verdict for one in verdicts]


def test_readings_are_compared_by_name(tmp_path):
    """Equal tables, two refusals, one refusal, a missing version, a table that does not open."""
    save(pa.table({"a": [1]}), str(tmp_path / "1 rows.arrow"))
    ours = Read({"1 rows": None, "1 take": "no", "1 ids": None}, tmp_path)
    theirs = replace(ours, answers={"1 rows": None, "1 take": "never", "1 ids": "boom"})

    assert {"1 ids": "expected rows, found boom"} == differences(ours, theirs)
    short = replace(ours, answers={"1 rows": None, "1 take": "no"})
    assert {"1 ids": "expected rows, found no such version"} == differences(ours, short)
    closed = replace(ours, answers={"open": "closed"})
    assert ["1 ids", "1 rows"] == list(differences(ours, closed))


SAMPLE = [("type:list-struct", "legacy"), ("edits", "2.1"), ("columns", "legacy")]
"""Types and operations in the format of today and in the oldest."""


@pytest.mark.oracle
@pytest.mark.parametrize(("name", "format_"), SAMPLE)
def test_the_oracle_of_today_agrees(tmp_path, name, format_):
    """It reads and continues what the reference wrote, and the reference what it wrote."""
    oracle, release = Fake("oracle"), Fake("release")
    oracle._actor = release._actor = Actor("lance")
    (history,) = (one for one in all_histories() if one.name == name)
    judge = releases.Judge(release, Fake("reference"), oracle, tmp_path)

    assert [] == [one for one in judge.history(history, format_) if one.verdict == "differed"]


ROWS = pa.table({"a": range(4)})


def test_what_is_written_otherwise_is_told(tmp_path):
    """By the place in the message."""
    write_dataset(ROWS, tmp_path / "x", max_rows_per_file=2)
    shutil.copytree(tmp_path / "x", tmp_path / "y")
    write_dataset(ROWS, tmp_path / "x", mode="append")
    write_dataset(ROWS.slice(1), tmp_path / "y", mode="append")

    found = manifest_differences(tmp_path / "x", tmp_path / "y")
    assert ["manifest.fragments[2].physical_rows: 4 and 3"] == found

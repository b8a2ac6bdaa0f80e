"""The runner of campaigns, and the comparison of releases."""

import json
import shutil
from dataclasses import replace

import pyarrow as pa
import pytest
from lance_conformance.campaigns import runner
from lance_conformance.campaigns.histories.release_tables import all_histories
from lance_conformance.campaigns.histories.releases import (
    Reading,
    ReleaseComparison,
    differences,
    manifest_differences,
)
from lance_conformance.matrix.library_worker import LibraryWorker, load, save
from pylanceref.dataset import write_dataset


def campaign(outcomes, ran, **more):
    """A campaign of two parts with the same cases, which records the cases that ran."""

    def part(name):
        def open_session(plan):
            def run(case):
                ran.append((name, plan.seed, case))
                return outcomes[case]

            yield runner.Session(list(outcomes)[: plan.count], run)

        return runner.Part(name, 3, open_session, **more)

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
    """A mistyped pattern must not look like a run in which all cases agree."""
    with pytest.raises(runner.NothingSelectedError, match="left/9"):
        runner.run(campaign(GOOD, []), runner.Options(only="left/9"))


def test_cases_with_saved_outcomes_do_not_run_again(tmp_path):
    """A resumed run has the outcomes of the first; another seed has its own."""
    ran, again = [], []
    first = runner.run(campaign(BAD, ran), runner.Options(resume=tmp_path))
    second = runner.run(campaign(BAD, again), runner.Options(resume=tmp_path))

    assert (6, []) == (len(ran), again)
    assert [list(one) for one in first.values()] == [list(one) for one in second.values()]
    assert "too long" == second["left"]["left/2.1/c[1]"].details[0]
    runner.run(campaign(BAD, again), runner.Options(seed=1, resume=tmp_path))
    assert 6 == len(again)


def test_an_interrupted_run_continues(tmp_path):
    """Each outcome is saved at once; a partial line of a killed run is dropped."""
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
def test_a_required_count_of_zero_fails_a_full_run(count, only, code):
    """It is always printed, and does not fail a run of some cases."""
    toy = campaign(GOOD, [], required={"2.1": ("ints", "floats")})
    options = runner.Options(count=count, only=only)
    text, found = runner.report(toy, options, runner.run(toy, options))

    assert code == found
    assert "NEVER CAME UP 2.1: floats" in text
    assert "NEVER CAME UP 2.1: ints" not in text


HISTORY = next(one for one in all_histories() if one.name == "type:int32")


class Fake:
    """The reference under another name, which may lose a row in reads or refuse writes."""

    def __init__(self, name, *, short=False, refuses=False):
        self.name = name
        self._short, self._refuses = short, refuses
        self.worker = LibraryWorker("pylanceref")

    def request(self, do, **request):
        if do == "build" and self._refuses and request.get("new", True):
            return ["no such type"]
        response = getattr(self.worker, do)(**request)
        if do == "read" and self._short:
            for name in response:
                if name.endswith("rows"):
                    path = f"{request['out']}/{name}.arrow"
                    save(load(path).slice(1), path)
        return response


def _compare(folder, format_="2.1", **workers):
    workers = {name: Fake(name) for name in ("release", "reference", "oracle")} | workers
    return ReleaseComparison(**workers, folder=folder).compare(HISTORY, format_)


def test_all_directions_are_the_same_for_equal_libraries(tmp_path):
    """Four verdicts for a format, two for the default of the release."""
    assert 4 * ["agreed"] == [one.verdict for one in _compare(tmp_path)]
    assert 2 * ["agreed"] == [one.verdict for one in _compare(tmp_path, None)]


def test_a_difference_of_the_reference_alone_counts(tmp_path):
    """It reads a row less than the release and the oracle."""
    verdicts = _compare(tmp_path, reference=Fake("reference", short=True))

    assert {"differed"} == {one.verdict for one in verdicts}
    assert "2.1 reference reads release: 1 rows: rows: expected 20" in str(verdicts[0].details)


def test_a_difference_of_an_old_release_alone_is_excused(tmp_path):
    """It reads a row less of its own table, and of the oracle's too."""
    verdicts = _compare(tmp_path, release=Fake("release", short=True))

    assert {"known"} == {one.verdict for one in verdicts}


def test_a_failed_write_of_a_release_is_refused(tmp_path):
    """The other direction is compared."""
    verdicts = _compare(tmp_path, release=Fake("release", refuses=True))

    assert ["refused", "agreed", "agreed"] == [one.verdict for one in verdicts]


def test_readings_are_compared_by_name(tmp_path):
    """Equal tables, two refusals, one refusal, a missing version, a table that does not open."""
    save(pa.table({"a": [1]}), str(tmp_path / "1 rows.arrow"))
    ours = Reading({"1 rows": None, "1 take": "no", "1 ids": None}, tmp_path)
    theirs = replace(ours, errors={"1 rows": None, "1 take": "never", "1 ids": "boom"})

    assert {"1 ids": "expected rows, found boom"} == differences(ours, theirs)
    short = replace(ours, errors={"1 rows": None, "1 take": "no"})
    assert {"1 ids": "expected rows, found no such version"} == differences(ours, short)
    closed = replace(ours, errors={"open": "closed"})
    assert ["1 ids", "1 rows"] == list(differences(ours, closed))


SAMPLE = [("type:list-struct", "legacy"), ("edits", "2.1"), ("columns", "legacy")]
"""Types and operations in the format of today and in the oldest."""


@pytest.mark.oracle
@pytest.mark.parametrize(("name", "format_"), SAMPLE)
def test_the_oracle_of_today_agrees(tmp_path, name, format_):
    """It reads and continues a table of the reference, and the reference one of the oracle."""
    oracle, release = Fake("oracle"), Fake("release")
    oracle.worker = release.worker = LibraryWorker("lance")
    (history,) = (one for one in all_histories() if one.name == name)
    outcomes = ReleaseComparison(release, Fake("reference"), oracle, tmp_path)

    assert [] == [one for one in outcomes.compare(history, format_) if one.verdict == "differed"]


ROWS = pa.table({"a": range(4)})


def test_differences_of_manifests_are_reported(tmp_path):
    """With the path in the message."""
    write_dataset(ROWS, tmp_path / "x", max_rows_per_file=2)
    shutil.copytree(tmp_path / "x", tmp_path / "y")
    write_dataset(ROWS, tmp_path / "x", mode="append")
    write_dataset(ROWS.slice(1), tmp_path / "y", mode="append")

    found = manifest_differences(tmp_path / "x", tmp_path / "y")
    assert ["manifest.fragments[2].physical_rows: 4 and 3"] == found

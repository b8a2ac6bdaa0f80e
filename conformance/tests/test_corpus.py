"""Corpus: the same bytes whoever makes it, and what is wrong is reported."""

import json

import pytest
from lance_conformance import corpus
from lance_conformance.corpus import INDEX, Corpus, make_corpus, plan
from lanceref_spark.jobs import Loop, Processes
from pylanceref.file import LanceFileReader


class Backwards(Loop):
    """Does the jobs from the last to the first."""

    def map(self, run, jobs, shared):
        return reversed(list(super().map(run, list(reversed(jobs)), shared)))


def made(folder, executor, seed=5, count=3, each=20):
    """Make a corpus in two versions; return its files."""
    make_corpus(executor, Corpus(str(folder), seed, False), count, ["2.0", "2.2"], each)
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_every_executor_makes_the_same_files(tmp_path):
    """Bytes and index are those of a loop, for other processes, orders and sizes of jobs."""
    files = made(tmp_path / "loop", Loop())
    assert files == made(tmp_path / "process", Processes(2))
    assert files == made(tmp_path / "parts", Backwards(), each=2)
    assert files != made(tmp_path / "other", Loop(), seed=6)


def test_the_index_has_a_line_for_each_case(tmp_path):
    """In order, with what the table holds, and nothing wrong; nothing else is left."""
    files = made(tmp_path, Loop(), count=4)
    entries = [json.loads(line) for line in files[INDEX].splitlines()]
    assert [one["case"] for one in entries] == [
        f"{version}/{n:06}" for version in ("2.0", "2.2") for n in range(4)
    ]
    assert all(one["labels"] and not one["differences"] for one in entries)
    paths = [one["path"] for one in entries if one["path"]]
    assert len(files) == 1 + 2 * len(paths)
    assert all(LanceFileReader(tmp_path / path).num_rows() >= 0 for path in paths)


def test_what_is_read_otherwise_is_told(tmp_path, monkeypatch):
    """A difference that a reader finds is in the index."""
    monkeypatch.setattr(corpus, "file_differences", lambda path, table, rng: ["row 3"])
    (entry,) = make_corpus(Loop(), Corpus(str(tmp_path), 1, False), 1, ["2.1"])
    assert entry.differences == ("row 3",)


def test_a_job_has_cases_of_one_version():
    """Each case is in one job."""
    jobs = plan(45, ["2.0", "2.3"], 20)
    assert [(one.version, one.start, one.stop) for one in jobs] == [
        (version, *part) for version in ("2.0", "2.3") for part in ((0, 20), (20, 40), (40, 45))
    ]


class Dying:
    """An oracle whose process dies of the files that `dies` says."""

    def __init__(self, dies):
        self.dies = dies

    def difference(self, path, table):
        return "the oracle's process died" if path.suffix in self.dies else None

    def close(self):
        pass


@pytest.mark.parametrize(
    ("dies", "told"),
    [
        ((), ()),
        ((".lance",), ("oracle: the oracle's process died",)),
        ((".lance", ".theirs"), ()),
    ],
)
def test_the_death_of_the_oracle_is_told(tmp_path, monkeypatch, dies, told):
    """A process that dies of our file is a difference, unless it dies of the oracle's own too."""
    monkeypatch.setattr(corpus, "OracleChild", lambda: Dying(dies))
    monkeypatch.setattr(corpus, "write_by_oracle", lambda sample, path: path.touch())
    entries = make_corpus(Loop(), Corpus(str(tmp_path), 1, True), 2, ["2.1"])
    assert [one.differences for one in entries if one.refused is None] == [told] * 2

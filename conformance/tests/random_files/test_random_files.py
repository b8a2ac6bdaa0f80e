"""Random files: identity of bytes, the oracle in its own process, the corpus."""

import json
from contextlib import closing

import pyarrow as pa
import pytest
from lance_conformance.random_files import corpus
from lance_conformance.random_files.corpus import INDEX, Corpus, make_corpus, plan
from lance_conformance.random_files.identity import IDENTICAL, TRAINED, compare_files
from lance_conformance.random_files.oracle_child import OracleChild
from lanceref_spark.jobs import Loop, Processes
from pylanceref.file import LanceFileReader, LanceFileWriter


def _file(path, values, version="2.1", metadata=None, **options):
    array = pa.array(values)
    schema = pa.schema([pa.field("c", array.type)], metadata=metadata)
    with LanceFileWriter(path, schema, version=version, **options) as writer:
        writer.write_batch(pa.record_batch([array], schema=schema))
    return path


def test_the_same_bytes_are_identical(tmp_path):
    """Two files of the same rows."""
    assert compare_files(_file(tmp_path / "a", [1, 2]), _file(tmp_path / "b", [1, 2])) == IDENTICAL


def test_the_first_difference_is_returned(tmp_path):
    """Another value: a buffer; another layout: the encoding; other metadata: the container."""
    one = _file(tmp_path / "a", [2**62, 2**61 + 5])

    value = compare_files(_file(tmp_path / "b", [2**62, 2**61 + 7]), one)
    assert value == "column 0 page 0: buffer 1"
    layout = compare_files(_file(tmp_path / "c", [None, 2**61]), one)
    assert layout == "column 0 page 0: encoding, mini_block_layout.def_compression"
    assert compare_files(_file(tmp_path / "d", [2**62]), one) == "column 0 page 0: 1 rows for 2"
    metadata = compare_files(_file(tmp_path / "e", [2**62, 2**61 + 5], metadata={"k": "v"}), one)
    assert metadata == "container"


def test_trained_tables_are_not_compared(tmp_path):
    """Files with FSST pages are not compared."""
    one = _file(tmp_path / "a", [f"value {i:08d}" for i in range(4000)])
    other = _file(tmp_path / "b", [f"other {i:08d}" for i in range(4000)])

    assert compare_files(one, other) == TRAINED


@pytest.mark.oracle
def test_the_child_returns_differences_of_several_files(tmp_path):
    """Equal rows, other rows, and a missing file."""
    table = pa.table({"c": [1, 2, 3]})
    with LanceFileWriter(tmp_path / "f", table.schema) as writer:
        writer.write_batch(table)

    with closing(OracleChild()) as child:
        assert child.difference(tmp_path / "f", table) is None
        assert "c" in child.difference(tmp_path / "f", pa.table({"c": [1, 2, 4]}))
        assert child.difference(tmp_path / "missing", table) is not None
        assert child.difference(tmp_path / "f", table) is None


class Backwards(Loop):
    """Runs the jobs in reverse order."""

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


def test_a_job_has_cases_of_one_version():
    """Each case is in one job."""
    jobs = plan(45, ["2.0", "2.3"], 20)
    assert [(one.version, one.start, one.stop) for one in jobs] == [
        (version, *part) for version in ("2.0", "2.3") for part in ((0, 20), (20, 40), (40, 45))
    ]


class Dying:
    """An oracle whose process dies of files with the suffixes `dies`."""

    def __init__(self, dies):
        self.dies = dies

    def difference(self, path, table):
        return "the oracle's process died" if path.suffix in self.dies else None

    def close(self):
        pass


@pytest.mark.parametrize(
    ("dies", "reported"),
    [((), ()), ((".lance",), ("oracle: the oracle's process died",)), ((".lance", ".theirs"), ())],
)
def test_the_death_of_the_oracle_is_reported(tmp_path, monkeypatch, dies, reported):
    """A process that dies of our file is a difference, unless it dies of the oracle's own too."""
    monkeypatch.setattr(corpus, "OracleChild", lambda: Dying(dies))
    monkeypatch.setattr(corpus, "write_by_oracle", lambda sample, path: path.touch())
    entries = make_corpus(Loop(), Corpus(str(tmp_path), 1, True), 2, ["2.1"])
    assert [one.differences for one in entries if one.refused is None] == [reported] * 2

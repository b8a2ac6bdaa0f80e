"""Verdicts on damage: every kind of reading, and every kind of result of an operation."""

import os
import signal
from pathlib import Path

import pyarrow as pa
import pytest
from lance_conformance.adapters.server import write_table
from lance_conformance.campaigns.damage.readers import Reader, read_target
from lance_conformance.campaigns.damage.tables import operations
from lance_conformance.campaigns.damage.tables.trial import Attack, Step, Trial, run_all
from lance_conformance.campaigns.damage.targets import Target
from lanceref.core.errors import BadMagic, NotFound, Place
from pylanceref.file import LanceFileWriter

CORRECT = pa.table({"c": pa.array([1, 2, 3], pa.int32())})
TARGET = Target("file/x", "file", Path("/nowhere/x.lance"))


def _reader(answer, *, strict: bool = True) -> Reader:
    def read(_target: Target) -> pa.Table:
        if isinstance(answer, BaseException):
            raise answer
        return answer() if callable(answer) else answer

    return Reader("a reader", read, strict=strict)


def _read(answer, *, strict: bool = True, expected: pa.Table = CORRECT):
    return read_target(_reader(answer, strict=strict), TARGET, expected, undetectable=True)


def _abort() -> pa.Table:
    os.kill(os.getpid(), signal.SIGKILL)
    return CORRECT


def _out_of_memory() -> pa.Table:
    os.write(2, b"memory allocation of 99 bytes failed")
    return _abort()


def _alarm() -> pa.Table:
    os.kill(os.getpid(), signal.SIGALRM)
    return CORRECT


class PanicException(BaseException):
    """Exception of the oracle's bindings, which is no `Exception`."""


OF_ANY_READER = [
    (CORRECT, "ok"),
    (pa.table({"c": pa.array([1, 2, 4], pa.int32())}), "silent"),
    (CORRECT.slice(1), "silent-shape"),
    (CORRECT.rename_columns(["d"]), "silent-shape"),
    (CORRECT.replace_schema_metadata({"a": "b"}), "silent-shape"),
    (BadMagic("L.a", Place("f", 0), found="x", wanted="LANC"), "err"),
    (PanicException("range start"), "panic"),
    (MemoryError(), "oom"),
    (_out_of_memory, "oom"),
    (_abort, "abort"),
    (_alarm, "hang"),
]


@pytest.mark.parametrize("strict", [True, False], ids=["reference", "oracle"])
@pytest.mark.parametrize(("answer", "kind"), OF_ANY_READER, ids=lambda case: str(case)[:20])
def test_every_reading_has_its_kind(answer, kind, strict):
    """Kinds that both readers have."""
    assert kind == _read(answer, strict=strict).kind


@pytest.mark.parametrize(
    ("error", "ours", "theirs"),
    [
        (IndexError("7"), "panic", "err"),
        (RecursionError(), "panic", "err"),
        (OSError("task 10 panicked with message"), "panic", "err-panic"),
    ],
)
def test_the_reference_may_only_raise_lance_errors(error, ours, theirs):
    """The oracle may raise any exception, but not one with the text of a panic."""
    assert ours == _read(error).kind
    assert theirs == _read(error, strict=False).kind


@pytest.mark.parametrize(
    ("error", "missing"),
    [
        (BadMagic("L.a", Place("f", 0), found="x", wanted="LANC"), ""),
        (BadMagic("", Place("f", 0), found="x", wanted="LANC"), "clause"),
        (BadMagic("L.a", Place("", -1), found="", wanted=" "), "file, found, wanted, offset"),
        (NotFound("no such file"), "all: NotFound"),
        (BadMagic("L.a", Place("/nowhere/x", 0), found="x", wanted="y"), "none, but"),
        (BadMagic("L.a", Place("f", 0), found="page.py line 7", wanted="y"), "none, but"),
    ],
)
def test_a_refusal_must_name_its_facts_and_no_path_of_the_machine(error, missing):
    """A refusal without clause, file, offset, found or wanted is reported as incomplete."""
    reading = _read(error)

    assert "err" == reading.kind
    assert reading.missing.startswith(missing) and bool(reading.missing) == bool(missing)


def test_an_invalid_arrow_table_is_a_failure():
    """Invalid UTF-8 is a failure; a decimal with too many digits is a wrong value."""
    text = [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff")]
    broken = pa.Array.from_buffers(pa.utf8(), 1, text)
    big = pa.array([10**6], pa.decimal128(20, 0)).cast(pa.decimal128(20, 0)).buffers()
    decimals = pa.Array.from_buffers(pa.decimal128(3, 0), 1, big)

    assert "panic" == _read(pa.table({"c": broken})).kind
    expected = pa.table({"c": pa.array([1], pa.decimal128(3, 0))})
    assert "silent" == _read(pa.table({"c": decimals}), expected=expected).kind


def test_wrong_rows_are_validated_when_damage_is_detectable(tmp_path):
    """The reading has the first broken clause; none for an undamaged file."""
    path = tmp_path / "x.lance"
    with LanceFileWriter(str(path), CORRECT.schema) as writer:
        writer.write_batch(CORRECT)
    wrong = _reader(CORRECT.slice(1))
    target = Target("file/x", "file", path)

    assert "" == read_target(wrong, target, CORRECT, undetectable=False).clause
    path.write_bytes(path.read_bytes()[:-1] + b"X")
    assert "" == read_target(wrong, target, CORRECT, undetectable=True).clause
    assert "L.file.footer.magic" == read_target(wrong, target, CORRECT, undetectable=False).clause


CORRECT_ROWS = pa.table({"id": pa.array([1, 2], pa.int64())})


@pytest.fixture
def trial(tmp_path: Path) -> Trial:
    """A trial without a table, for operations of the tests."""
    (tmp_path / "table").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "sentinel").write_text("as it was")
    write_table(str(tmp_path / "x.arrow"), CORRECT_ROWS)
    attack = Attack(lambda _root, _rng: "nothing")
    return Trial(tmp_path, "early", attack, tmp_path / "x.arrow")


def _steps(monkeypatch, trial, **by_name) -> list[Step]:
    monkeypatch.setattr(operations, "OPERATIONS", operations.OPERATIONS | by_name)
    return list(run_all(trial, list(by_name)))


def _call(function):
    def operation(_hostile):
        function()
        return []

    return operation


def _raise(error: BaseException):
    def operation(_hostile):
        raise error

    return operation


def test_every_result_has_its_kind(monkeypatch, trial):
    """Compared rows, other rows, a refusal, another exception."""
    (right,) = _steps(monkeypatch, trial, to_table=lambda _: [CORRECT_ROWS])
    (wrong,) = _steps(monkeypatch, trial, to_table=lambda _: [CORRECT_ROWS.slice(1)])
    others = _steps(
        monkeypatch,
        trial,
        reads=lambda _: [CORRECT_ROWS],
        refuses=_raise(NotFound("gone")),
        fails=_raise(OSError("boo")),
        recurses=_raise(RecursionError()),
    )

    assert ["wrong", "right"] == [wrong.kind, right.kind]
    assert ["done", "err", "escape", "escape"] == [step.kind for step in others]
    assert "NotFound: gone" == others[1].detail
    assert "OSError: 'boo'" in others[2].detail


def test_access_to_outside_files_is_out(monkeypatch, trial):
    """Opening, changing, adding and removing a file."""
    sentinel = trial.outside / "sentinel"
    steps = _steps(
        monkeypatch,
        trial,
        opens=_call(sentinel.read_text),
        changes=_call(lambda: sentinel.write_text("new")),
        rests=_call(lambda: None),
        adds=_call((trial.outside / "more").touch),
        removes=_call(sentinel.unlink),
    )

    assert ["out", "out", "done", "out", "out"] == [step.kind for step in steps]
    assert "changed outside: sentinel" in steps[1].detail
    assert "gone outside: sentinel" in steps[4].detail


def test_limits_of_memory_and_time_depend_on_bytes_read():
    """64 MiB and 16 times the bytes; two seconds for each megabyte, at least two."""
    limit = 64 * 2**20
    step = Step("open", "done", "", 2.0, limit, 0)

    assert not step.exceeds_memory and not step.is_slow
    assert Step("open", "done", "", 2.1, limit + 1, 0).exceeds_memory
    assert not Step("open", "done", "", 2.1, limit + 160, 10).exceeds_memory
    assert Step("open", "done", "", 2.1, 0, 10**6).is_slow
    assert not Step("open", "done", "", 5.9, 0, 3 * 10**6).is_slow

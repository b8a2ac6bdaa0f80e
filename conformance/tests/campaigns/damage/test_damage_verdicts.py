"""Verdicts on damage: every class of answer and of operation, made to happen."""

import os
import signal
from pathlib import Path

import pyarrow as pa
import pytest
from lance_conformance.adapters.server import write_table
from lance_conformance.campaigns.damage.readers import Side, judge
from lance_conformance.campaigns.damage.targets import Target
from lance_conformance.campaigns.damage.whole import operations
from lance_conformance.campaigns.damage.whole.trial import Attack, Step, try_all
from lance_conformance.campaigns.damage.whole.trial import Place as TrialPlace
from lanceref.core.errors import BadMagic, NotFound, Place
from pylanceref.file import LanceFileWriter

RIGHT = pa.table({"c": pa.array([1, 2, 3], pa.int32())})
TARGET = Target("file/x", "file", Path("/nowhere/x.lance"))


def _side(answer, *, strict: bool = True) -> Side:
    def read(_target: Target) -> pa.Table:
        if isinstance(answer, BaseException):
            raise answer
        return answer() if callable(answer) else answer

    return Side("a side", read, strict=strict)


def _judge(answer, *, strict: bool = True, expected: pa.Table = RIGHT):
    return judge(_side(answer, strict=strict), TARGET, expected, explained=True)


def _abort() -> pa.Table:
    os.kill(os.getpid(), signal.SIGKILL)
    return RIGHT


def _out_of_memory() -> pa.Table:
    os.write(2, b"memory allocation of 99 bytes failed")
    return _abort()


def _alarm() -> pa.Table:
    os.kill(os.getpid(), signal.SIGALRM)
    return RIGHT


class PanicException(BaseException):
    """What the oracle's bindings raise: no Exception."""


OF_ANY_SIDE = [
    (RIGHT, "ok"),
    (pa.table({"c": pa.array([1, 2, 4], pa.int32())}), "silent"),
    (RIGHT.slice(1), "silent-shape"),
    (RIGHT.rename_columns(["d"]), "silent-shape"),
    (RIGHT.replace_schema_metadata({"a": "b"}), "silent-shape"),
    (BadMagic("L.a", Place("f", 0), found="x", wanted="LANC"), "err"),
    (PanicException("range start"), "panic"),
    (MemoryError(), "oom"),
    (_out_of_memory, "oom"),
    (_abort, "abort"),
    (_alarm, "hang"),
]


@pytest.mark.parametrize("strict", [True, False], ids=["reference", "oracle"])
@pytest.mark.parametrize(("answer", "kind"), OF_ANY_SIDE, ids=lambda case: str(case)[:20])
def test_every_class_is_told(answer, kind, strict):
    """What both sides are measured by."""
    assert kind == _judge(answer, strict=strict).kind


@pytest.mark.parametrize(
    ("error", "ours", "theirs"),
    [
        (IndexError("7"), "panic", "err"),
        (RecursionError(), "panic", "err"),
        (OSError("task 10 panicked with message"), "panic", "err-panic"),
    ],
)
def test_only_refusals_of_its_own_family_are_allowed_to_the_reference(error, ours, theirs):
    """The oracle may raise what it likes, but not a panic dressed as an error."""
    assert ours == _judge(error).kind
    assert theirs == _judge(error, strict=False).kind


@pytest.mark.parametrize(
    ("error", "missing"),
    [
        (BadMagic("L.a", Place("f", 0), found="x", wanted="LANC"), ""),
        (BadMagic("", Place("f", 0), found="x", wanted="LANC"), "clause"),
        (BadMagic("L.a", Place("", -1), found="", wanted=" "), "file, found, wanted, offset"),
        (NotFound("no such file"), "all: NotFound"),
        (BadMagic("L.a", Place("/nowhere/x", 0), found="x", wanted="y"), "nothing, but"),
        (BadMagic("L.a", Place("f", 0), found="page.py line 7", wanted="y"), "nothing, but"),
    ],
)
def test_a_refusal_must_name_its_facts_and_no_path_of_the_machine(error, missing):
    """A refusal without clause, file, offset, found or wanted is reported as incomplete."""
    judged = _judge(error)

    assert "err" == judged.kind
    assert judged.missing.startswith(missing) and bool(judged.missing) == bool(missing)


def test_a_table_that_breaks_the_rules_of_arrow_is_no_answer():
    """Text that is none is a failure; a decimal of too many digits is a wrong value."""
    text = [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff")]
    broken = pa.Array.from_buffers(pa.utf8(), 1, text)
    big = pa.array([10**6], pa.decimal128(20, 0)).cast(pa.decimal128(20, 0)).buffers()
    decimals = pa.Array.from_buffers(pa.decimal128(3, 0), 1, big)

    assert "panic" == _judge(pa.table({"c": broken})).kind
    expected = pa.table({"c": pa.array([1], pa.decimal128(3, 0))})
    assert "silent" == _judge(pa.table({"c": decimals}), expected=expected).kind


def test_wrong_rows_are_put_to_validate_when_nothing_explains_them(tmp_path):
    """The first broken clause is kept; none for an undamaged file."""
    path = tmp_path / "x.lance"
    with LanceFileWriter(str(path), RIGHT.schema) as writer:
        writer.write_batch(RIGHT)
    wrong = _side(RIGHT.slice(1))
    target = Target("file/x", "file", path)

    assert "" == judge(wrong, target, RIGHT, explained=False).clause
    path.write_bytes(path.read_bytes()[:-1] + b"X")
    assert "" == judge(wrong, target, RIGHT, explained=True).clause
    assert "L.file.footer.magic" == judge(wrong, target, RIGHT, explained=False).clause


RIGHT_ROWS = pa.table({"id": pa.array([1, 2], pa.int64())})


@pytest.fixture
def place(tmp_path: Path) -> TrialPlace:
    """No table at all: the operations are those of the tests."""
    (tmp_path / "table").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "sentinel").write_text("as it was")
    write_table(str(tmp_path / "x.arrow"), RIGHT_ROWS)
    attack = Attack(lambda _root, _rng: "nothing")
    return TrialPlace(tmp_path, "early", attack, tmp_path / "x.arrow")


def _steps(monkeypatch, place, **by_name) -> list[Step]:
    names = {name.replace("_", " "): made for name, made in by_name.items()}
    monkeypatch.setattr(operations, "OPERATIONS", operations.OPERATIONS | names)
    return list(try_all(place, list(names)))


def _does(work):
    def operation(_visit):
        work()
        return []

    return operation


def _raise(error: BaseException):
    def operation(_visit):
        raise error

    return operation


def test_every_answer_has_its_class(monkeypatch, place):
    """Rows that are compared, rows that are not, a refusal, another exception."""
    monkeypatch.setitem(operations.OPERATIONS, operations.WHOLE, lambda _: [RIGHT_ROWS.slice(1)])
    wrong = list(try_all(place, [operations.WHOLE]))
    monkeypatch.setitem(operations.OPERATIONS, operations.WHOLE, lambda _: [RIGHT_ROWS])
    right = list(try_all(place, [operations.WHOLE]))
    others = _steps(
        monkeypatch,
        place,
        reads=lambda _: [RIGHT_ROWS],
        refuses=_raise(NotFound("gone")),
        fails=_raise(OSError("boo")),
        recurses=_raise(RecursionError()),
    )

    assert ["wrong", "right"] == [wrong[0].kind, right[0].kind]
    assert ["done", "err", "escape", "escape"] == [step.kind for step in others]
    assert "NotFound: gone" == others[1].detail
    assert "OSError: 'boo'" in others[2].detail


def test_what_is_opened_or_changed_outside_is_out(monkeypatch, place):
    """Each time, also where the answer is a refusal."""
    sentinel = place.outside / "sentinel"
    steps = _steps(
        monkeypatch,
        place,
        opens=_does(sentinel.read_text),
        changes=_does(lambda: sentinel.write_text("new")),
        rests=_does(lambda: None),
        adds=_does((place.outside / "more").touch),
        removes=_does(sentinel.unlink),
    )

    assert ["out", "out", "done", "out", "out"] == [step.kind for step in steps]
    assert "changed outside: sentinel" in steps[1].detail
    assert "gone outside: sentinel" in steps[4].detail


def test_memory_and_time_are_held_against_what_was_read():
    """64 MiB and 16 times the bytes; two seconds for each megabyte, two at least."""
    limit = 64 * 2**20
    step = Step("open", "done", "", 2.0, limit, 0)

    assert not step.is_fat and not step.is_slow
    assert Step("open", "done", "", 2.1, limit + 1, 0).is_fat
    assert not Step("open", "done", "", 2.1, limit + 160, 10).is_fat
    assert Step("open", "done", "", 2.1, 0, 10**6).is_slow
    assert not Step("open", "done", "", 5.9, 0, 3 * 10**6).is_slow

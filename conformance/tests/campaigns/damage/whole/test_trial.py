"""Trial: every class of what may become of an operation, made to happen."""

import os
import signal
import time
from pathlib import Path

import pyarrow as pa
import pytest
from lance_conformance.campaigns.damage.whole import operations
from lance_conformance.campaigns.damage.whole.bases import MARK, MARK_TEXT
from lance_conformance.campaigns.damage.whole.trial import Place, Step, try_all
from lanceref.core.errors import NotFound

RIGHT = pa.table({"id": pa.array([1, 2], pa.int64())})


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """No table at all: the operations are those of the tests."""
    (tmp_path / "table").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "sentinel").write_text("as it was")
    with pa.OSFile(str(tmp_path / "x.arrow"), "wb") as out, pa.ipc.new_file(out, RIGHT.schema) as w:
        w.write_table(RIGHT)
    return Place(tmp_path, "early", by_link=False, as_nobody=False, expected=tmp_path / "x.arrow")


def _steps(monkeypatch, place, **by_name) -> list[Step]:
    names = {name.replace("_", " "): made for name, made in by_name.items()}
    monkeypatch.setattr(operations, "OPERATIONS", operations.OPERATIONS | names)
    return try_all(place, list(names))


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
    monkeypatch.setitem(operations.OPERATIONS, operations.WHOLE, lambda _: [RIGHT.slice(1)])
    wrong = try_all(place, [operations.WHOLE])
    monkeypatch.setitem(operations.OPERATIONS, operations.WHOLE, lambda _: [RIGHT])
    right = try_all(place, [operations.WHOLE])
    others = _steps(
        monkeypatch,
        place,
        reads=lambda _: [RIGHT],
        refuses=_raise(NotFound("gone")),
        fails=_raise(OSError("boo")),
        recurses=_raise(RecursionError()),
    )

    assert ["wrong", "right"] == [wrong[0].kind, right[0].kind]
    assert ["done", "err", "escape", "escape"] == [step.kind for step in others]
    assert "NotFound: gone" == others[1].detail
    assert "OSError: 'boo'" in others[2].detail


@pytest.mark.parametrize("column", [{"id": [MARK + 3]}, {"text": [MARK_TEXT]}])
def test_a_row_of_the_victim_is_out(monkeypatch, place, column):
    """By its number or by its text."""
    (step,) = _steps(monkeypatch, place, leaks=lambda _: [RIGHT, pa.table(column)])

    assert "out" == step.kind


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


def test_an_idle_operation_hangs_and_what_came_before_is_kept(monkeypatch, place):
    """The operations after it are not asked."""
    steps = _steps(
        monkeypatch, place, reads=lambda _: [], waits=lambda _: time.sleep(60), never=lambda _: []
    )

    assert [("reads", "done"), ("waits", "hang")] == [(s.operation, s.kind) for s in steps]
    assert steps[1].detail.startswith("idle at ")


def test_a_death_is_an_abort(monkeypatch, place):
    """Of the operation that was under way."""
    steps = _steps(
        monkeypatch,
        place,
        reads=lambda _: [],
        dies=lambda _: os.kill(os.getpid(), signal.SIGKILL),
    )

    assert [("reads", "done"), ("dies", "abort")] == [(s.operation, s.kind) for s in steps]


def test_memory_and_time_are_held_against_what_was_read():
    """64 MiB and 16 times the bytes; two seconds for each megabyte, two at least."""
    limit = 64 * 2**20
    step = Step("open", "done", "", 2.0, limit, 0)

    assert not step.is_fat and not step.is_slow
    assert Step("open", "done", "", 2.1, limit + 1, 0).is_fat
    assert not Step("open", "done", "", 2.1, limit + 160, 10).is_fat
    assert Step("open", "done", "", 2.1, 0, 10**6).is_slow
    assert not Step("open", "done", "", 5.9, 0, 3 * 10**6).is_slow

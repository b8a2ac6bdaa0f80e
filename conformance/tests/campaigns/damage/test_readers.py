"""Readers: every class of answer, made to happen."""

import os
import signal
from pathlib import Path

import pyarrow as pa
import pytest
from lance_conformance.campaigns.damage.readers import (
    REFERENCE,
    Side,
    judge,
    load_expected,
    save_expected,
)
from lance_conformance.campaigns.damage.targets import Target
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
    """Clause, file, offset, found, wanted."""
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


def test_the_expected_table_comes_from_a_child(tmp_path):
    """What the reference reads of the undamaged file; a file it cannot read ends the campaign."""
    path = tmp_path / "x.lance"
    with LanceFileWriter(str(path), RIGHT.schema) as writer:
        writer.write_batch(RIGHT)
    save_expected(REFERENCE, Target("file/x", "file", path), tmp_path / "expected.arrow")

    assert RIGHT == load_expected(tmp_path / "expected.arrow")
    with pytest.raises(RuntimeError, match="cannot read file/x"):
        save_expected(REFERENCE, TARGET, tmp_path / "other.arrow")

"""Trial: one hostile table before the operations, each in a child that may die of it.

What became of an operation is put into one class:

* `right`: the rows of the undamaged table; `wrong`: others; `done`: an answer that is not compared;
* `err`: a `LanceError`;
* `escape`: any other exception;
* `out`: a row of the victim was returned, a file outside was opened, or one has changed;
* `hang`: no end within the limits; `abort`: the process died.
"""

from __future__ import annotations

import hashlib
import os
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pylanceref
from lanceref.core.errors import LanceError

from lance_conformance.campaigns.child import (
    MEMORY_BYTES,
    MEMORY_FACTOR,
    SECONDS,
    Ended,
    ask,
    start_nothing,
    start_sql,
)
from lance_conformance.campaigns.damage.readers import load_expected
from lance_conformance.campaigns.damage.whole.bases import BASES, MARK, MARK_TEXT
from lance_conformance.campaigns.damage.whole.operations import (
    FILTERING,
    READING,
    WHOLE,
    Visit,
    perform,
)

HANG_SECONDS = 5.0
"""Processor time after which an operation is taken to hang, beside what its bytes allow."""

ALARM_SECONDS = 180
"""Time after which an operation is ended, on a busy machine too."""

MARKED_FILES = ("/etc/hostname",)
"""Files of the machine that names of the attacks lead to."""

HINT = "latest_version_hint.json"
"""File that each commit writes again."""

NOBODY = 65534
"""User without rights."""


@dataclass(frozen=True, slots=True)
class Step:
    """What became of one operation, and what it cost; `read_bytes` is what it read of files."""

    operation: str
    kind: str
    detail: str
    seconds: float
    peak_bytes: int
    read_bytes: int

    @property
    def allowed_bytes(self) -> int:
        """Memory the operation may take."""
        return MEMORY_BYTES + MEMORY_FACTOR * self.read_bytes

    @property
    def is_fat(self) -> bool:
        """Whether it reads, and took more: the rule is about opening, reading and explaining."""
        return self.operation in READING and self.peak_bytes > self.allowed_bytes

    @property
    def is_slow(self) -> bool:
        """Whether it took longer than two seconds, and that for each megabyte of what it read."""
        return self.seconds > SECONDS * max(1, self.read_bytes / 10**6)


@dataclass(frozen=True, slots=True)
class Place:
    """Folders of a case: the table below `folder`, what is outside of it, and the expected rows."""

    folder: Path
    base: str
    by_link: bool
    as_nobody: bool
    expected: Path

    @property
    def root(self) -> Path:
        """The hostile table."""
        return self.folder / "table"

    @property
    def outside(self) -> Path:
        """The victim and the sentinel."""
        return self.folder / "outside"


def try_all(place: Place, operations: Sequence[str]) -> Iterator[Step]:
    """Put operations to a table, each in a child of its own."""
    expected, before = load_expected(place.expected), contents(place.outside)
    for name in operations:
        prepare = start_sql if name in FILTERING else start_nothing
        ended = ask(partial(_answer, place, name, expected), prepare)
        step, after = _step(name, ended), contents(place.outside)
        if changed := _changed(before, after, by_link=place.by_link):
            step = Step(name, "out", "; ".join(changed)[:300], step.seconds, 0, step.read_bytes)
        yield step
        before = after


def _step(name: str, ended: Ended) -> Step:
    if ended.answer is None:
        kind = "hang" if ended.signal == signal.SIGALRM else "abort"
        detail = f"signal {ended.signal} {ended.told[-200:]}"
        return Step(name, kind, detail, ended.seconds, ended.peak_bytes, 0)
    kind, detail, read = ended.answer
    slow = ended.seconds > HANG_SECONDS + SECONDS * int(read) / 10**6
    return Step(name, "hang" if slow else kind, detail, ended.seconds, ended.peak_bytes, int(read))


def _answer(place: Place, name: str, expected: pa.Table) -> list[str]:
    """Return kind and detail of an operation, and the bytes it read."""
    signal.alarm(ALARM_SECONDS)
    if place.as_nobody and os.geteuid() == 0:
        os.setegid(NOBODY)
        os.seteuid(NOBODY)
    opened, read = set[tuple[str, str]](), pylanceref.bytes_read_counter()

    def audit(event: str, given: tuple[object, ...]) -> None:
        watched = event in ("open", "os.listdir", "os.scandir", "os.remove")
        if watched and isinstance(given[0], str | bytes | os.PathLike):
            opened.add((event, os.fsdecode(given[0])))

    sys.addaudithook(audit)
    visit = Visit(place.root, BASES[place.base])
    kind, detail = _judged(name, visit, expected, by_link=place.by_link)
    read = pylanceref.bytes_read_counter() - read
    outside = [] if place.by_link else list(_outside(opened.copy(), place))
    return ["out", "; ".join(outside)[:300], str(read)] if outside else [kind, detail, str(read)]


def _outside(opened: set[tuple[str, str]], place: Place) -> Iterator[str]:
    """Yield what was asked of files outside."""
    outside = os.path.realpath(place.outside)
    for event, path in sorted(opened):
        real = os.path.realpath(path)
        if real.startswith(outside) or real in MARKED_FILES:
            yield f"{event} {real[-60:]}"


def _judged(name: str, visit: Visit, expected: pa.Table, *, by_link: bool) -> tuple[str, str]:
    try:
        tables = perform(name, visit)
        for table in tables:
            table.validate(full=True)
        if not by_link and any(map(_has_mark, tables)):
            return "out", "a row of the victim was returned"
        if name != WHOLE:
            return "done", ""
        is_right = tables[0].equals(expected)
        return ("right", "") if is_right else ("wrong", f"{tables[0].num_rows} rows")
    except LanceError as error:
        return "err", f"{type(error).__name__}: {error}"[:200].encode("utf-8", "replace").decode()
    except BaseException as error:  # the campaign exists to find these  # noqa: BLE001
        return "escape", _traced(error)


def _traced(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if "lanceref" in f.filename] or frames
    where = f"{Path(ours[-1].filename).name}:{ours[-1].lineno} {ours[-1].name}" if ours else ""
    text = f"{type(error).__name__}: {str(error)[:150]!r} at {where}"
    return text.encode("utf-8", "replace").decode()


def _has_mark(table: pa.Table) -> bool:
    found = False
    if "id" in table.column_names and pa.types.is_integer(table["id"].type):
        found = bool(pc.any(pc.greater_equal(table["id"], pa.scalar(MARK, pa.int64()))).as_py())
    if "text" in table.column_names and pa.types.is_string(table["text"].type):
        found = found or bool(pc.any(pc.equal(table["text"], MARK_TEXT)).as_py())
    return found


def contents(folder: Path) -> dict[str, str]:
    """Return the hash of every file below a folder."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _changed(before: dict[str, str], after: dict[str, str], *, by_link: bool) -> list[str]:
    """Return what is not as it was; by a link a writer may add files, and write a hint again."""
    found = []
    for name in sorted({*before, *after}):
        may_change = by_link and (name not in before or name.endswith(HINT))
        if before.get(name) != after.get(name) and not may_change:
            how = "new" if name not in before else "changed" if name in after else "gone"
            found.append(f"{how} outside: {name}")
    return found

"""Trial: one hostile table before the operations, in a child that may die of it.

What became of an operation is put into one class:

* `right`: the rows of the undamaged table; `wrong`: others; `done`: an answer that is not compared;
* `err`: a `LanceError`;
* `escape`: any other exception;
* `out`: a row of the victim was returned, a file outside was opened, or one has changed;
* `hang`: no end within the limits; `abort`: the process died.

The child writes a line for each operation as it goes, so that a death keeps what came before.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NoReturn

import pyarrow as pa
import pyarrow.compute as pc
import pylanceref
from lanceref.core.errors import LanceError

from lance_conformance.campaigns.child import (
    MEMORY_BYTES,
    MEMORY_FACTOR,
    SECONDS,
    ask,
    start_sql,
)
from lance_conformance.campaigns.damage.readers import load_expected
from lance_conformance.campaigns.damage.whole.bases import BASES, MARK, MARK_TEXT
from lance_conformance.campaigns.damage.whole.operations import READING, WHOLE, Visit, perform

HANG_SECONDS = 5.0
"""Processor time after which an operation is taken to hang, beside what its bytes allow."""

IDLE_SECONDS = 3.0
"""Time without any work after which an operation is taken to wait forever."""

_WORK_SECONDS = 0.02
"""Processor time that counts as work."""

MARKED_FILES = ("/etc/hostname",)
"""Files of the machine that names of the attacks lead to."""

HINT = "latest_version_hint.json"
"""File that each commit writes again."""

NOBODY = 65534
"""User without rights."""

ALARM_SECONDS = 600
"""Limit of the clock: it ends what the watch cannot, and lets a busy machine work."""


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


def try_all(place: Place, operations: Sequence[str]) -> list[Step]:
    """Put operations to a table, in one child; the last one may be what killed it."""
    told = place.folder / "steps"
    told.unlink(missing_ok=True)
    ended = ask(lambda: _child(place, operations, told), start_sql)
    lines = told.read_text(encoding="utf-8").splitlines() if told.exists() else []
    steps = [Step(**json.loads(line)) for line in lines]
    if ended.answer is None and not (steps and steps[-1].kind == "hang"):
        dead = operations[len(steps)] if len(steps) < len(operations) else "end"
        detail = f"signal {ended.signal} {ended.told[-200:]}"
        kind = "hang" if ended.signal == signal.SIGALRM else "abort"
        steps.append(Step(dead, kind, detail, ended.seconds, ended.peak_bytes, 0))
    return steps


def _child(place: Place, operations: Sequence[str], told: Path) -> list[str]:
    signal.alarm(ALARM_SECONDS)
    expected = load_expected(place.expected)  # before the rights to read it are given up
    with told.open("a", encoding="utf-8") as out:
        if place.as_nobody and os.geteuid() == 0:
            os.setegid(NOBODY)
            os.seteuid(NOBODY)
        watch = Watch(out.fileno(), place)
        visit = Visit(place.root, BASES[place.base])
        before = contents(place.outside)
        for name in operations:
            watch.begin(name)
            kind, detail = _judged(name, visit, expected, by_link=place.by_link)
            watch.end()
            outside = [] if place.by_link else watch.opened
            changed = _changed(before, contents(place.outside), by_link=place.by_link)
            if changed or outside:
                kind, detail = "out", "; ".join((*changed, *outside))[:300]
                before = contents(place.outside)
            watch.write(kind, detail)
    return ["done"]


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


class Watch:
    """Measures each operation, notes the files opened outside, and ends a child that hangs."""

    def __init__(self, out: int, place: Place) -> None:
        self._out = out
        self._outside = os.path.realpath(place.outside)
        self._base = _peak()
        self.opened: list[str] = []
        self._asked = set[tuple[str, str]]()
        self._name = ""
        self._on = False
        self._lock = threading.Lock()
        sys.addaudithook(self._audit)
        threading.Thread(target=self._look, daemon=True).start()

    def begin(self, name: str) -> None:
        """Start the clock of an operation."""
        with self._lock:
            self.opened, self._name = [], name
            self._asked.clear()
            self._read = pylanceref.bytes_read_counter()
            self._began, self._on = time.process_time(), True

    def end(self) -> None:
        """Stop the clock."""
        with self._lock:
            self._on = False
            self._measure()
            self.opened = list(self._lead_out())

    def _measure(self) -> None:
        self._spent = round(time.process_time() - self._began, 3)
        self._high = _peak() - self._base
        self._read = pylanceref.bytes_read_counter() - self._read

    def write(self, kind: str, detail: str) -> None:
        """Write what became of the operation that ended."""
        step = Step(self._name, kind, detail, self._spent, self._high, self._read)
        os.write(self._out, json.dumps(asdict(step)).encode() + b"\n")

    def _audit(self, event: str, arguments: tuple[object, ...]) -> None:
        if not self._on or event not in ("open", "os.listdir", "os.scandir", "os.remove"):
            return
        path = arguments[0]
        if isinstance(path, str | bytes | os.PathLike):
            self._asked.add((event, os.fsdecode(path)))

    def _lead_out(self) -> Iterator[str]:
        """Yield what was asked of files outside."""
        for event, path in sorted(self._asked):
            real = os.path.realpath(path)
            if real.startswith(self._outside) or real in MARKED_FILES:
                yield f"{event} {real[-60:]}"

    def _look(self) -> None:
        worked, since = 0.0, time.monotonic()
        while True:
            time.sleep(0.25)
            name, spent = self._name, time.process_time()
            if spent - worked > _WORK_SECONDS or not self._on:
                worked, since = spent, time.monotonic()
            idle = time.monotonic() - since > IDLE_SECONDS
            with self._lock:
                if not self._on or name != self._name:
                    continue
                read = pylanceref.bytes_read_counter() - self._read
                allowed = HANG_SECONDS + SECONDS * read / 10**6  # more where it has read much
                if idle or spent - self._began > allowed:
                    self._end_hanging("idle" if idle else "busy")

    def _end_hanging(self, how: str) -> NoReturn:
        """Write where the operation is, and end the process."""
        main = sys._current_frames().get(threading.main_thread().ident or 0)
        stack = traceback.extract_stack(main)[-4:] if main else []
        where = " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in stack[::-1])
        self._measure()
        self.write("hang", f"{how} at {where}")
        os._exit(0)


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

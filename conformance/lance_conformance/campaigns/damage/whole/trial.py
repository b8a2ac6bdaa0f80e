"""Hostile tables: one attack each, then every operation, each in a child that may die of it.

The number of a case decides the kind of attack; the base and all that is left to chance come from
the seed and the number. What became of an operation is put into one class:

* `right`: the rows of the undamaged table; `wrong`: others; `done`: an answer that is not compared;
* `err`: a `LanceError`;
* `escape`: any other exception;
* `out`: a row of the victim was returned, a file outside was opened, or one has changed;
* `hang`: no end within the limits; `abort`, `oom`: the process died.
"""

from __future__ import annotations

import gc
import hashlib
import os
import shutil
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.compute as pc
import pylanceref
from lanceref.core.errors import LanceError

from lance_conformance.adapters.server import write_table
from lance_conformance.campaigns.child import SECONDS, allowed_bytes, ask, start_sql
from lance_conformance.campaigns.damage.readers import load_expected
from lance_conformance.campaigns.damage.whole import messages, places
from lance_conformance.campaigns.damage.whole.bases import BASES, MARK, make_bases
from lance_conformance.campaigns.damage.whole.operations import (
    FILTERING,
    OPERATIONS,
    READING,
    WHOLE,
    Visit,
    perform,
)
from lance_conformance.campaigns.runner import Outcome, Part, Plan, Session

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

ALL = tuple(BASES)
INDEXED = tuple(name for name, base in BASES.items() if base.index is not None)
COLUMNAR = tuple(name for name, base in BASES.items() if base.version != "legacy")
STABLE = tuple(name for name, base in BASES.items() if base.stable_row_ids)
COVERED = ("overlay-2.1",)


@dataclass(frozen=True, slots=True)
class Attack:
    """Makes a table hostile, and tells how; `bases` are those it works on.

    With `by_link` base paths of the table lead out of it: a reader may follow, a writer may add
    files, but none may change or vanish. The user `nobody` works `as_nobody`:
    nothing is hidden from root.
    """

    make: Callable[[Path, Random], str]
    bases: tuple[str, ...] = ALL
    by_link: bool = False
    as_nobody: bool = False


ATTACKS: dict[str, Attack] = {
    **{
        name: Attack(messages.changed(pick), bases)
        for name, pick, bases in (
            ("manifest", messages.section("manifest"), ALL),
            ("indices", messages.section("index section"), INDEXED),
            ("transaction", messages.section("transaction"), ALL),
            ("row ids", messages.section("manifest"), STABLE),
            ("overlays", messages.section("manifest"), COVERED),
            ("columns", messages.column, COLUMNAR),
            ("encodings", messages.encoding, COLUMNAR),
            ("index file", messages.index_column, INDEXED),
            ("file schema", messages.schema, COLUMNAR),
            ("branch", messages.branch, ALL),
        )
    },
    "deletions": Attack(messages.deletions),
    "repeated pages": Attack(messages.repeated_pages, COLUMNAR),
    "strange schema": Attack(messages.strange_schema),
    "base paths": Attack(messages.strange_bases, by_link=True),
    "unreadable": Attack(places.unreadable, as_nobody=True),
    **{name: Attack(make) for name, make in places.ATTACKS.items()},
}
"""Attacks by kind."""


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
    def is_fat(self) -> bool:
        """Whether it reads, and took more: the rule is about opening, reading and explaining."""
        return self.operation in READING and self.peak_bytes > allowed_bytes(self.read_bytes)

    @property
    def is_slow(self) -> bool:
        """Whether it took longer than two seconds, and that for each megabyte of what it read."""
        return self.seconds > SECONDS * max(1, self.read_bytes / 10**6)


@dataclass(frozen=True, slots=True)
class Place:
    """Folders of a case: the table below `folder`, what is outside of it, and the expected rows."""

    folder: Path
    base: str
    attack: Attack
    expected: Path

    @property
    def root(self) -> Path:
        """The hostile table."""
        return self.folder / "table"

    @property
    def outside(self) -> Path:
        """The victim and the sentinel."""
        return self.folder / "outside"


def tables(plan: Plan) -> Iterator[Session]:
    """Open the part: hostile tables by number; the bases are kept in the folder of the part."""
    kinds, bases, warm = list(ATTACKS), plan.folder / "bases", set[str]()
    cases = {f"{kinds[n % len(kinds)]}:{n}": n for n in range(plan.count)}
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as scratch:
        Path(scratch).chmod(0o755)

        def run(case: str) -> Outcome:
            attack, seed = ATTACKS[case.partition(":")[0]], f"{plan.seed} {cases[case]}"
            base = Random(f"{seed} base").choice(attack.bases)
            if base not in warm:
                _warm_up(base, bases, Path(scratch) / "warm")
                warm.add(base)
            place = Place(Path(scratch) / "case", base, attack, bases / f"{base}.arrow")
            try:
                told = _in_child(lambda: _make(Random(seed), bases / base, place))
                return judged_steps(f"{base}: {told}", list(try_all(place, list(OPERATIONS))))
            finally:
                _in_child(lambda: _remove(place.folder))

        yield Session(cases, run)


SLOW = "slow, which no rule forbids"

ESCAPES = ("escape", "abort", "oom", "out", "hang")
"""What no operation may end in."""


def judged_steps(told: str, steps: Sequence[Step]) -> Outcome:
    """Return the outcome of a hostile table: every operation ends well, in bounded memory."""
    counts = Counter(f"operations: {step.kind}" for step in steps)
    counts[SLOW] = sum(step.is_slow for step in steps)
    broken = [step for step in steps if step.kind in ESCAPES or step.is_fat]
    details = [
        f"{step.kind} {step.operation}: {step.detail} ({step.seconds:g} s, "
        f"{step.peak_bytes >> 20} of {allowed_bytes(step.read_bytes) >> 20} MiB)"
        for step in broken
    ]
    return Outcome("differed" if broken else "agreed", [*details, told] if broken else (), counts)


def try_all(place: Place, operations: Sequence[str]) -> Iterator[Step]:
    """Put operations to a table, each in a child of its own."""
    expected, before = load_expected(place.expected), contents(place.outside)
    for name in operations:
        prepare = [start_sql] if name in FILTERING else []
        ended = ask(partial(_answer, place, name, expected), *prepare)
        kind, detail, read = ended.answer or [ended.death, ended.last_words, "0"]
        if ended.seconds > HANG_SECONDS + SECONDS * int(read) / 10**6:
            kind = "hang"
        after = contents(place.outside)
        if changed := _changed(before, after, by_link=place.attack.by_link):
            kind, detail = "out", "; ".join(changed)[:300]
        yield Step(name, kind, detail, ended.seconds, ended.peak_bytes, int(read))
        before = after


def _answer(place: Place, name: str, expected: pa.Table) -> list[str]:
    """Return kind and detail of an operation, and the bytes it read."""
    signal.alarm(ALARM_SECONDS)
    if place.attack.as_nobody and os.geteuid() == 0:
        os.setegid(NOBODY)
        os.seteuid(NOBODY)
    opened, read = set[tuple[str, str]](), pylanceref.bytes_read_counter()

    def audit(event: str, given: tuple[object, ...]) -> None:
        watched = event in ("open", "os.listdir", "os.scandir", "os.remove")
        if watched and isinstance(given[0], str | bytes | os.PathLike):
            opened.add((event, os.fsdecode(given[0])))

    sys.addaudithook(audit)
    visit = Visit(place.root, BASES[place.base])
    kind, detail = _judged(name, visit, expected, by_link=place.attack.by_link)
    read = pylanceref.bytes_read_counter() - read
    outside = [] if place.attack.by_link else list(_outside(opened.copy(), place))
    return ["out", "; ".join(outside)[:300], str(read)] if outside else [kind, detail, str(read)]


def _outside(opened: set[tuple[str, str]], place: Place) -> Iterator[str]:
    """Yield what was asked of files outside."""
    outside = os.path.realpath(place.outside)
    for event, path in sorted(opened):
        real = _real_path(path)
        if real.startswith(outside) or real in MARKED_FILES:
            yield f"{event} {real[-60:]}"


def _real_path(path: str) -> str:
    """Return where a path leads; below many folders `realpath` takes seconds."""
    try:
        number = os.open(path, os.O_PATH)
    except OSError:
        return os.path.realpath(path)
    real = str(Path(f"/proc/self/fd/{number}").readlink())
    os.close(number)
    return real


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
    if "id" not in table.column_names or not pa.types.is_integer(table["id"].type):
        return False
    return bool(pc.any(pc.greater_equal(table["id"], pa.scalar(MARK, pa.int64()))).as_py())


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


def _warm_up(name: str, bases: Path, folder: Path) -> None:
    """Put the operations to an undamaged table: no child has to import what they need."""
    if not bases.exists():
        _in_child(lambda: make_bases(bases))
    shutil.copytree(bases / name, folder)
    for operation in OPERATIONS:
        tables = perform(operation, Visit(folder / "table", BASES[name]))
        if operation == WHOLE:
            write_table(str(bases / f"{name}.arrow"), tables[0])
    shutil.rmtree(folder)
    gc.freeze()  # children copy less


def _in_child(make: Callable[[], object]) -> str:
    """Run a function in a child, where it may take all the memory it likes."""
    ended = ask(lambda: [str(make())])
    if ended.answer is None:
        raise RuntimeError(f"the case could not be made: {ended}")
    return ended.answer[0]


def _make(rng: Random, base: Path, place: Place) -> str:
    """Make a copy of a base hostile; return how."""
    shutil.copytree(base, place.folder)
    if os.geteuid() == 0 and place.attack.as_nobody:
        for path in (place.folder, *place.folder.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
    return place.attack.make(place.root, rng).encode("utf-8", "replace").decode()


def _remove(folder: Path) -> None:
    """Remove a folder, however deep, with whatever rights it has."""
    sys.setrecursionlimit(10**5)
    for path, folders, _ in os.walk(folder):
        for name in folders:
            place = Path(path, name)
            if not place.is_symlink():
                place.chmod(0o755)
    shutil.rmtree(folder, ignore_errors=True)


PARTS = (Part("tables", 110 * len(ATTACKS), tables),)

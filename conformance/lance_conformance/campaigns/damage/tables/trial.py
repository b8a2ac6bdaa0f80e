"""Trial: an attack makes a table hostile, then every operation runs on it, each in a child.

The number of a case determines the kind of attack; the seed and the number determine the base and
all random choices. The result of an operation has one of these kinds:

* `right`: the rows of the undamaged table; `wrong`: other rows; `done`: not compared;
* `err`: a `LanceError`;
* `escape`: any other exception;
* `out`: a row of the outside table was returned, or an outside file was opened or changed;
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
from lance_conformance.campaigns.child import SECONDS, allowed_bytes, run_in_child, warm_up_sql
from lance_conformance.campaigns.damage.readers import load_expected
from lance_conformance.campaigns.damage.tables import messages, paths
from lance_conformance.campaigns.damage.tables.bases import BASES, OUTSIDE_ID, make_bases
from lance_conformance.campaigns.damage.tables.operations import (
    FILTERING,
    FULL_SCAN,
    OPERATIONS,
    READING,
    HostileTable,
    run_operation,
)
from lance_conformance.campaigns.runner import Outcome, Part, Plan, Session

HANG_SECONDS, ALARM_SECONDS = 5.0, 180
"""Processor time of a hang, without that of the bytes read; wall-clock limit of an operation."""

SYSTEM_FILES = ("/etc/hostname",)
"""Files of the machine to which names of the attacks lead."""

HINT = "latest_version_hint.json"
"""File that each commit replaces."""

NOBODY = 65534
"""Id of an unprivileged user and group."""

ALL = tuple(BASES)
INDEXED = tuple(name for name, base in BASES.items() if base.index is not None)
COLUMNAR = tuple(name for name, base in BASES.items() if base.version != "legacy")
STABLE = tuple(name for name, base in BASES.items() if base.stable_row_ids)
OVERLAID = ("overlay-2.1",)


@dataclass(frozen=True, slots=True)
class Attack:
    """Makes a table hostile, and returns a description; `bases` are those that it applies to.

    With `leads_outside` base paths of the table lead out of it: readers may follow them and writers
    may add files, but must not change or remove any. With `as_nobody` operations run as an
    unprivileged user.
    """

    make: Callable[[Path, Random], str]
    bases: tuple[str, ...] = ALL
    leads_outside: bool = False
    as_nobody: bool = False


ATTACKS: dict[str, Attack] = {
    **{
        name: Attack(messages.change_fields(choose), bases)
        for name, choose, bases in (
            ("manifest", messages.section("manifest"), ALL),
            ("indices", messages.section("index section"), INDEXED),
            ("transaction", messages.section("transaction"), ALL),
            ("row ids", messages.section("manifest"), STABLE),
            ("overlays", messages.section("manifest"), OVERLAID),
            ("columns", messages.column, COLUMNAR),
            ("encodings", messages.encoding, COLUMNAR),
            ("index file", messages.index_column, INDEXED),
            ("file schema", messages.schema, COLUMNAR),
            ("branch", messages.branch, ALL),
        )
    },
    "deletions": Attack(messages.deletions),
    "repeated pages": Attack(messages.repeated_pages, COLUMNAR),
    "invalid schema": Attack(messages.invalid_schema),
    "base paths": Attack(messages.invalid_bases, leads_outside=True),
    "unreadable": Attack(paths.unreadable, as_nobody=True),
    **{name: Attack(make) for name, make in paths.ATTACKS.items()},
}
"""Attacks by kind."""


@dataclass(frozen=True, slots=True)
class Step:
    """The result of one operation, and its cost; `read_bytes` were read from files."""

    operation: str
    kind: str
    detail: str
    seconds: float
    peak_bytes: int
    read_bytes: int

    @property
    def exceeds_memory(self) -> bool:
        """Whether it is a read that exceeds the memory limit; writes have none."""
        return self.operation in READING and self.peak_bytes > allowed_bytes(self.read_bytes)

    @property
    def is_slow(self) -> bool:
        """Whether it took longer than two seconds, and than two for each megabyte that it read."""
        return self.seconds > SECONDS * max(1, self.read_bytes / 10**6)


@dataclass(frozen=True, slots=True)
class Trial:
    """A case: its folder with the table and outside files, the attack, and the expected rows."""

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
        """The folder of the outside table and the sentinel."""
        return self.folder / "outside"


def tables(plan: Plan) -> Iterator[Session]:
    """Open the part: hostile tables by number; the bases are in the folder of the part."""
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
            trial = Trial(Path(scratch) / "case", base, attack, bases / f"{base}.arrow")
            try:
                attacked = _in_child(lambda: _make(Random(seed), bases / base, trial))
                return trial_outcome(f"{base}: {attacked}", list(run_all(trial, list(OPERATIONS))))
            finally:
                _in_child(lambda: _remove(trial.folder))

        yield Session(cases, run)


SLOW = "slow, which is allowed"

FORBIDDEN = ("escape", "abort", "oom", "out", "hang")
"""Kinds of results that no operation may have."""


def trial_outcome(attack: str, steps: Sequence[Step]) -> Outcome:
    """Return the outcome of a hostile table: allowed results of all operations, bounded memory."""
    counts = Counter(f"operations: {step.kind}" for step in steps)
    counts[SLOW] = sum(step.is_slow for step in steps)
    broken = [step for step in steps if step.kind in FORBIDDEN or step.exceeds_memory]
    details = [
        f"{step.kind} {step.operation}: {step.detail} ({step.seconds:g} s, "
        f"{step.peak_bytes >> 20} of {allowed_bytes(step.read_bytes) >> 20} MiB)"
        for step in broken
    ]
    return Outcome("differed" if broken else "agreed", [*details, attack] if broken else (), counts)


def run_all(trial: Trial, operations: Sequence[str]) -> Iterator[Step]:
    """Run operations on a table, each in a child of its own."""
    expected, before = load_expected(trial.expected), file_hashes(trial.outside)
    for name in operations:
        prepare = [warm_up_sql] if name in FILTERING else []
        child = run_in_child(partial(_run_audited, trial, name, expected), *prepare)
        kind, detail, read = child.result or [child.failure, child.failure_detail, "0"]
        if child.seconds > HANG_SECONDS + SECONDS * int(read) / 10**6:
            kind = "hang"
        after = file_hashes(trial.outside)
        if changes := _changes(before, after, leads_outside=trial.attack.leads_outside):
            kind, detail = "out", "; ".join(changes)[:300]
        yield Step(name, kind, detail, child.seconds, child.peak_bytes, int(read))
        before = after


def _run_audited(trial: Trial, name: str, expected: pa.Table) -> list[str]:
    """Run an operation; return kind and detail of its result, and the number of bytes read."""
    signal.alarm(ALARM_SECONDS)
    if trial.attack.as_nobody and os.geteuid() == 0:
        os.setegid(NOBODY)
        os.seteuid(NOBODY)
    opened, read = set[tuple[str, str]](), pylanceref.bytes_read_counter()

    def audit(event: str, arguments: tuple[object, ...]) -> None:
        is_access = event in ("open", "os.listdir", "os.scandir", "os.remove")
        if is_access and isinstance(arguments[0], str | bytes | os.PathLike):
            opened.add((event, os.fsdecode(arguments[0])))

    sys.addaudithook(audit)
    kind, detail = _classify(name, trial, expected)
    read = pylanceref.bytes_read_counter() - read
    outside = [] if trial.attack.leads_outside else list(_outside(opened.copy(), trial))
    return ["out", "; ".join(outside)[:300], str(read)] if outside else [kind, detail, str(read)]


def _outside(opened: set[tuple[str, str]], trial: Trial) -> Iterator[str]:
    """Yield the accesses to outside files."""
    outside = os.path.realpath(trial.outside)
    for event, path in sorted(opened):
        real = _real_path(path)
        if real.startswith(outside) or real in SYSTEM_FILES:
            yield f"{event} {real[-60:]}"


def _real_path(path: str) -> str:
    """Return the real path of a path; `realpath` takes seconds in deep folders."""
    try:
        number = os.open(path, os.O_PATH)
    except OSError:
        return os.path.realpath(path)
    real = str(Path(f"/proc/self/fd/{number}").readlink())
    os.close(number)
    return real


def _classify(name: str, trial: Trial, expected: pa.Table) -> tuple[str, str]:
    try:
        tables = run_operation(name, HostileTable(trial.root, BASES[trial.base]))
        for table in tables:
            table.validate(full=True)
        if not trial.attack.leads_outside and any(map(_has_outside_rows, tables)):
            return "out", "a row of the outside table was returned"
        if name != FULL_SCAN:
            return "done", ""
        is_right = tables[0].equals(expected)
        return ("right", "") if is_right else ("wrong", f"{tables[0].num_rows} rows")
    except LanceError as error:
        return "err", f"{type(error).__name__}: {error}"[:200].encode("utf-8", "replace").decode()
    except BaseException as error:  # any exception is a result  # noqa: BLE001
        return "escape", _describe(error)


def _describe(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if "lanceref" in f.filename] or frames
    where = f"{Path(ours[-1].filename).name}:{ours[-1].lineno} {ours[-1].name}" if ours else ""
    text = f"{type(error).__name__}: {str(error)[:150]!r} at {where}"
    return text.encode("utf-8", "replace").decode()


def _has_outside_rows(table: pa.Table) -> bool:
    if "id" not in table.column_names or not pa.types.is_integer(table["id"].type):
        return False
    return bool(pc.any(pc.greater_equal(table["id"], pa.scalar(OUTSIDE_ID, pa.int64()))).as_py())


def file_hashes(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file below a folder, by relative path."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _changes(before: dict[str, str], after: dict[str, str], *, leads_outside: bool) -> list[str]:
    """Return forbidden changes; with `leads_outside` writers may add files and replace hints."""
    changes = []
    for name in sorted({*before, *after}):
        is_allowed = leads_outside and (name not in before or name.endswith(HINT))
        if before.get(name) != after.get(name) and not is_allowed:
            how = "new" if name not in before else "changed" if name in after else "gone"
            changes.append(f"{how} outside: {name}")
    return changes


def _warm_up(name: str, bases: Path, folder: Path) -> None:
    """Run the operations on an undamaged table, so that no child has to import modules."""
    if not bases.exists():
        _in_child(lambda: make_bases(bases))
    shutil.copytree(bases / name, folder)
    for operation in OPERATIONS:
        tables = run_operation(operation, HostileTable(folder / "table", BASES[name]))
        if operation == FULL_SCAN:
            write_table(str(bases / f"{name}.arrow"), tables[0])
    shutil.rmtree(folder)
    gc.freeze()  # children copy less


def _in_child(make: Callable[[], object]) -> str:
    """Run a function in a child, so that its memory does not count; return its result as text."""
    child = run_in_child(lambda: [str(make())])
    if child.result is None:
        raise RuntimeError(f"the case could not be made: {child}")
    return child.result[0]


def _make(rng: Random, base: Path, trial: Trial) -> str:
    """Make a copy of a base hostile; return the description of the attack."""
    shutil.copytree(base, trial.folder)
    if os.geteuid() == 0 and trial.attack.as_nobody:
        for path in (trial.folder, *trial.folder.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
    return trial.attack.make(trial.root, rng).encode("utf-8", "replace").decode()


def _remove(folder: Path) -> None:
    """Remove a folder of any depth and with any permissions."""
    sys.setrecursionlimit(10**5)
    for path, folders, _ in os.walk(folder):
        for name in folders:
            child = Path(path, name)
            if not child.is_symlink():
                child.chmod(0o755)
    shutil.rmtree(folder, ignore_errors=True)


PARTS = (Part("tables", 110 * len(ATTACKS), tables),)

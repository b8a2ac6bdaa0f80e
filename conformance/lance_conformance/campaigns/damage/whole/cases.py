"""Cases: hostile tables by seed and number, and what became of each.

The number decides the kind of attack; the base and all that is left to chance come from the seed
and the number, so that one case can be made again alone.
"""

from __future__ import annotations

import gc
import os
import shutil
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from lance_conformance.campaigns.child import ask
from lance_conformance.campaigns.damage.readers import save_table
from lance_conformance.campaigns.damage.whole import bombs, places, sources
from lance_conformance.campaigns.damage.whole.bases import BASES, make_bases
from lance_conformance.campaigns.damage.whole.operations import OPERATIONS, WHOLE, Visit, perform
from lance_conformance.campaigns.damage.whole.trial import NOBODY, Place, Step, try_all
from lance_conformance.campaigns.runner import Outcome, Part, Plan, Session

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
        name: Attack(sources.changed(pick), bases)
        for name, pick, bases in (
            ("manifest", sources.section("manifest"), ALL),
            ("indices", sources.section("index section"), INDEXED),
            ("transaction", sources.section("transaction"), ALL),
            ("row ids", sources.section("manifest"), STABLE),
            ("overlays", sources.section("manifest"), COVERED),
            ("columns", sources.column, COLUMNAR),
            ("encodings", sources.encoding, COLUMNAR),
            ("index file", sources.index_column, INDEXED),
            ("file schema", sources.schema, COLUMNAR),
            ("branch", sources.branch, ALL),
        )
    },
    "deletions": Attack(bombs.deletions),
    "repeated pages": Attack(bombs.repeated_pages, COLUMNAR),
    "strange schema": Attack(bombs.strange_schema),
    "base paths": Attack(bombs.strange_bases, by_link=True),
    "wandering branch": Attack(places.wandering_branch),
    "strange reference": Attack(places.strange_reference),
    "no json": Attack(places.no_json),
    "many references": Attack(places.many_references),
    **{name: Attack(put) for name, put in places.PUT.items()},
    "unreadable": Attack(places.unreadable, as_nobody=True),
    "sparse": Attack(places.sparse),
    "other content": Attack(places.other_content),
    "strange names": Attack(places.strange_names),
    "many files": Attack(places.many_files),
    "deep folders": Attack(places.deep_folders),
}
"""Attacks by kind."""


SLOW = "slow, which no rule forbids"

ESCAPES = ("escape", "abort", "out", "hang")
"""What no operation may end in."""


def tables(plan: Plan) -> Iterator[Session]:
    """Open the part: hostile tables by number; the bases are kept in the folder of the part."""
    kinds, bases, warm = list(ATTACKS), plan.folder / "bases", set[str]()
    cases = {f"{kinds[n % len(kinds)]}:{n}": n for n in range(plan.count)}
    with tempfile.TemporaryDirectory(dir=_memory()) as scratch:
        Path(scratch).chmod(0o755)

        def run(case: str) -> Outcome:
            attack, seed = ATTACKS[case.partition(":")[0]], f"{plan.seed} {cases[case]}"
            base = Random(f"{seed} base").choice(attack.bases)
            if base not in warm:
                _warm_up(base, bases, Path(scratch) / "warm")
                warm.add(base)
            expected, folder = bases / f"{base}.arrow", Path(scratch) / "case"
            place = Place(folder, base, attack.by_link, attack.as_nobody, expected)
            try:
                told = _in_child(lambda: _make(attack, Random(seed), bases / base, place))
                return judged_steps(f"{base}: {told}", list(try_all(place, list(OPERATIONS))))
            finally:
                _in_child(lambda: _remove(folder))

        yield Session(cases, run)


def judged_steps(told: str, steps: Sequence[Step]) -> Outcome:
    """Return the outcome of a hostile table: every operation ends well, in bounded memory."""
    counts = Counter(f"operations: {step.kind}" for step in steps)
    counts[SLOW] = sum(step.is_slow for step in steps)
    broken = [step for step in steps if step.kind in ESCAPES or step.is_fat]
    details = [
        f"{step.kind} {step.operation}: {step.detail} "
        f"({step.seconds:g} s, {step.peak_bytes >> 20} of {step.allowed_bytes >> 20} MiB)"
        for step in broken
    ]
    return Outcome("differed" if broken else "agreed", [*details, told] if broken else (), counts)


def _memory() -> str | None:
    """Return a folder that is held in memory, where the machine has one."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def _warm_up(name: str, bases: Path, folder: Path) -> None:
    """Put the operations to an undamaged table: no child has to import what they need."""
    if not bases.exists():
        _in_child(lambda: make_bases(bases))
    shutil.copytree(bases / name, folder)
    for operation in OPERATIONS:
        tables = perform(operation, Visit(folder / "table", BASES[name]))
        if operation == WHOLE:
            save_table(tables[0], bases / f"{name}.arrow")
    shutil.rmtree(folder)
    gc.freeze()  # children copy less


def _in_child(make: Callable[[], object]) -> str:
    """Run a function in a child, where it may take all the memory it likes."""

    def made() -> list[str]:
        try:
            return [str(make())]
        except Exception:
            traceback.print_exc()
            raise

    ended = ask(made)
    if ended.answer is None:
        raise RuntimeError(f"the case could not be made: {ended}")
    return ended.answer[0]


def _make(attack: Attack, rng: Random, base: Path, place: Place) -> str:
    """Make a copy of a base hostile; return how."""
    shutil.copytree(base, place.folder)
    if os.geteuid() == 0 and place.as_nobody:
        for path in (place.folder, *place.folder.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
    return attack.make(place.root, rng).encode("utf-8", "replace").decode()


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

"""Releases part: every release, every format it knows, every history, in both directions.

A difference counts against the reference unless the release that decides (the oracle) shows the
same: it reads the old table as the reference does, or its own table of the same history fares with
the old release as the reference's does. Such a difference is excused, and told with its reason.
Manifests of two writers that did the same are compared without what is by chance.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pyarrow as pa
from lanceref.core.errors import LanceError
from lanceref.inspection import validate
from lanceref_testing.table_facts import apart, facts
from pylanceref.dataset import dataset

from lance_conformance.campaigns.histories.release_tables import History, Step, all_histories
from lance_conformance.campaigns.runner import Outcome, Part, Plan, Session, Verdict
from lance_conformance.known_divergences import find
from lance_conformance.matrix.actor import load
from lance_conformance.matrix.wheels import Wheel, cache, interpreter, reference
from lance_conformance.oracle import RELEASE, RELEASES
from lance_conformance.table_diff import first_difference


def manifest_differences(expected: Path, found: Path) -> list[str]:
    """Return where the latest manifests of two tables tell different things."""
    theirs, ours = (
        facts(dataset(path)._snapshot.manifest, str(path)) for path in (expected, found)
    )
    told = ("manifest", "indices")
    return [text for name in told for text in apart(theirs[name], ours[name], name)]


DIED = "the process died"
"""What is reported of a request that ended its process."""

READS, CONTINUES = "reference reads release", "reference continues release"
READ, CONTINUED = "release reads reference", "release continues reference"
"""Directions."""

THEIRS, OURS, ORACLES = "theirs", "ours", "oracles"
"""Names of the tables that the release, the reference and the oracle make."""


@dataclass(frozen=True, slots=True)
class Read:
    """What a library read of a table: by name of a reading None, or why there is none.

    The Arrow files lie in the folder.
    """

    answers: Mapping[str, str | None]
    folder: Path


@dataclass(slots=True)
class Judge:
    """The three who write and read below a folder.

    Where a release does not know names of V2, the others write those of V1.
    """

    release: Wheel
    reference: Wheel
    oracle: Wheel
    folder: Path
    v2_names: bool = True
    _reads: dict[tuple[str, Path], Read] = field(default_factory=dict)

    def history(self, history: History, format_: str | None) -> list[Outcome]:
        """Judge a history in every direction; a format of None is the release's own choice."""
        here = self.folder / f"{format_}-{history.name.replace(':', '-')}"
        history.lay_out(here)
        verdicts = self._theirs(history, format_, here)
        if format_ is not None:
            verdicts += self._ours(history, format_, here)
        shutil.rmtree(here)
        self._reads.clear()
        return verdicts

    def _theirs(self, history: History, format_: str | None, here: Path) -> list[Outcome]:
        """Let the release write: the reference reads, then continues."""
        judge = partial(self._judged, history, format_)
        theirs = here / THEIRS
        steps = self._build(self.release, theirs, history, format_)
        refused = _refusals(history.steps, steps)
        if steps[0] is not None:
            return [judge(READS, [], others=refused, otherwise="refused")]
        differs, excused = self._apart(theirs, history, self.release, self.reference)
        findings = _findings(theirs)
        rows = self._read(self.oracle, theirs, history).answers.items() if findings else ()
        legible = not any(told for name, told in rows if name.endswith(("rows", "open")))
        (differs if legible else excused).extend(findings)
        verdicts = [judge(READS, differs, excused, refused)]
        ours, oracles = here / "theirs-ours", here / "theirs-oracles"
        for copy in (ours, oracles):
            shutil.copytree(theirs, copy)
        told = self._continue(self.reference, ours, history)
        wanted = self._continue(self.oracle, oracles, history)
        differs = _steps_apart(history.after, wanted, told)
        differs += _findings(ours, latest=True)
        if not any(wanted):
            differs += [f"manifest {one}" for one in manifest_differences(oracles, ours)]
        more, excused = self._apart(ours, history, self.reference, self.release, oracles)
        if not legible:
            differs, more, excused = [], [], [*differs, *more, *excused]
        return [*verdicts, judge(CONTINUES, [*differs, *more], excused)]

    def _ours(self, history: History, format_: str, here: Path) -> list[Outcome]:
        """Let the reference write: the release reads, then continues."""
        judge = partial(self._judged, history, format_)
        ours, oracles = here / OURS, here / ORACLES
        told = self._build(self.reference, ours, history, format_)
        wanted = self._build(self.oracle, oracles, history, format_)
        differs = _steps_apart(history.steps, wanted, told)
        if told[0] is not None or wanted[0] is not None:
            refused = _refusals(history.steps, told)
            return [judge(READ, differs, others=refused, otherwise="refused")]
        differs += _findings(ours)
        more, excused = self._apart(ours, history, self.reference, self.release, oracles)
        verdicts = [judge(READ, [*differs, *more], excused)]
        on_ours, on_oracles = here / "ours-theirs", here / "oracles-theirs"
        shutil.copytree(ours, on_ours)
        shutil.copytree(oracles, on_oracles)
        told = self._continue(self.release, on_ours, history)
        wanted = self._continue(self.release, on_oracles, history)
        apart = _steps_apart(history.after, wanted, told)
        differs = [text for text in apart if "expected taken" in text]
        more, excused = self._apart(on_ours, history, self.release, self.reference)
        refused = _refusals(history.after, told)
        return [*verdicts, judge(CONTINUED, [*differs, *more], excused, refused)]

    def _judged(
        self,
        history: History,
        format_: str | None,
        direction: str,
        differs: list[str],
        excused: Sequence[str] = (),
        others: Sequence[str] = (),
        otherwise: Verdict = "agreed",
    ) -> Outcome:
        """Return the outcome of a direction: a difference is known where every detail of it is.

        Without any it is known what is `excused`, and `otherwise` where nothing is.
        """
        format_ = format_ or "default"
        where, about = f"{self.release.name} {format_} {history.name}", f"{format_} {direction}"
        told, verdict = [*excused, *others], "known" if excused else otherwise
        if differs:
            asked = {"where": where, "direction": direction}
            known = [find("histories/releases", **asked, told=text) for text in differs]
            told = [f"{one.id}: {text}" if one else text for one, text in zip(known, differs)]
            verdict = "differed" if None in known else "known"
        return Outcome(verdict, [f"{about}: {text}" for text in told], {f"{about}: {verdict}": 1})

    def _build(
        self, wheel: Wheel, uri: Path, history: History, format_: str | None
    ) -> list[str | None]:
        options = dict(history.options) | ({} if format_ is None else {"format": format_})
        if not self.v2_names and wheel is not self.release:
            options.setdefault("enable_v2_manifest_paths", False)
        return _taken(wheel, uri, history.steps, options, new=True)

    def _continue(self, wheel: Wheel, uri: Path, history: History) -> list[str | None]:
        return _taken(wheel, uri, history.after, {}, new=False)

    def _read(self, wheel: Wheel, uri: Path, history: History) -> Read:
        """Read every version, of a table that was continued only the last; each but once."""
        read = self._reads.get((wheel.name, uri))
        if read is None:
            out = uri.parent / f"{uri.name}.{wheel.name}"
            out.mkdir()
            latest = uri.name not in (THEIRS, OURS, ORACLES)
            request = {"uri": str(uri), "out": str(out), "filters": list(history.filters)}
            answers = wheel.ask("read", **request, latest=latest)
            read = Read({"open": DIED} if answers is None else answers, out)
            self._reads[wheel.name, uri] = read
        return read

    def _apart(
        self, uri: Path, history: History, wanted: Wheel, found: Wheel, second: Path | None = None
    ) -> tuple[list[str], list[str]]:
        """Return how one reads a table and another not as it does: differences and excuses.

        Without `second`, a difference is excused where the oracle reads as the reference. With it,
        where the release fares alike with that table, which the oracle made.
        """
        expected = self._read(wanted, uri, history)
        apart = differences(expected, self._read(found, uri, history))
        if not apart:
            return [], []
        if second is None:
            ours, judge = (self._read(one, uri, history) for one in (self.reference, self.oracle))
            release = self._read(self.release, uri, history)
            neither = {key for key in apart if _answer(judge, key) and _answer(release, key)}
            return _parted(apart, neither | (apart.keys() - differences(judge, ours).keys()))
        theirs = self._read(self.release, second, history)
        alike = differences(self._read(self.oracle, second, history), theirs).keys()
        return _parted(apart, alike | {key for key in apart if _answer(theirs, key)})


def differences(expected: Read, found: Read) -> dict[str, str]:
    """Return by reading how one is not the other; where neither has one they are alike."""
    apart = {}
    for key in sorted(expected.answers.keys() | found.answers.keys()):
        wanted, got = (_answer(read, key) for read in (expected, found))
        if wanted is None and got is None:
            ours, theirs = (one.folder / f"{key}.arrow" for one in (expected, found))
            told = _tables_apart(ours, theirs, "any" if "filter" in key else "storage")
        else:
            told = None if wanted and got else f"expected {wanted or 'rows'}, found {got or 'rows'}"
        if told is not None:
            apart[key] = " ".join(told.split())
    return apart


def _tables_apart(expected: Path, found: Path, order: str) -> str | None:
    """Return how one table is not the other; an old release may give an impossible array."""
    try:
        tables = load(str(expected)), load(str(found))
        for table in tables:
            table.validate(full=True)
        return first_difference(*tables, order=order)
    except pa.ArrowException as error:
        return f"{type(error).__name__}: {error}"


def _answer(read: Read, key: str) -> str | None:
    """Return why there is no such reading, None where there is one."""
    if key in read.answers:
        return read.answers[key]
    return read.answers.get("open") or "no such version"


def _taken(
    wheel: Wheel, uri: Path, steps: Sequence[Step], options: Mapping[str, object], *, new: bool
) -> list[str | None]:
    """Let an implementation take steps; return for each None, or why it was not taken."""
    request = {"uri": str(uri), "folder": str(uri.parent), "options": options, "new": new}
    told: list[str | None] | None = wheel.ask(
        "build", **request, steps=[list(one) for one in steps]
    )
    return [DIED] if told is None else told


def _parted(apart: Mapping[str, str], excused: Iterable[str]) -> tuple[list[str], list[str]]:
    names = frozenset(excused)
    told = {key: f"{key}: {text}" for key, text in apart.items()}
    return (
        [text for key, text in told.items() if key not in names],
        [text for key, text in told.items() if key in names],
    )


def _refusals(steps: Iterable[tuple[object, ...]], told: list[str | None]) -> list[str]:
    """Return the steps that were not taken."""
    return [f"step {step[0]}: {said}" for step, said in zip(steps, told, strict=False) if said]


def _steps_apart(
    steps: Iterable[tuple[object, ...]], wanted: list[str | None], found: list[str | None]
) -> list[str]:
    """Return the steps that one took and the other did not."""
    return [
        f"step {step[0]}: expected {ours or 'taken'}, found {theirs or 'taken'}"
        for step, ours, theirs in zip(steps, wanted, found, strict=False)
        if bool(ours) != bool(theirs)
    ]


def _findings(path: Path, *, latest: bool = False) -> list[str]:
    """Return what a deep validation of every version (or the latest) reports as broken."""
    try:
        versions = sorted(int(str(one["version"])) for one in dataset(path).versions())
        chosen = versions[-1:] if latest else versions
        found = [one for number in chosen for one in validate(path, deep=True, version=number)]
    except LanceError as error:
        return [f"validate: {error}"]
    return sorted(
        {f"validate {one.clause}: {one.message}" for one in found if one.severity == "must"}
    )


def releases(plan: Plan) -> Iterator[Session]:
    """Open the part: as many releases and histories as are planned, evenly spread.

    One release at a time has a process, beside the reference and the oracle.
    """
    histories = {one.name: one for one in all_histories()}
    names = [f"{release}/{name}" for release in RELEASES for name in histories]
    judges = dict[str, tuple[Judge, list[str | None]]]()
    with closing(reference()) as ours, closing(_wheel(RELEASE)) as oracle, ExitStack() as stack:

        def run(case: str) -> Outcome:
            release, _, name = case.partition("/")
            if release not in judges:
                stack.close()
                judges.clear()
                wheel = oracle
                if release != RELEASE:
                    wheel = stack.enter_context(closing(_wheel(release)))
                folder = stack.enter_context(tempfile.TemporaryDirectory())
                about = wheel.ask("about", folder=folder)
                judge = Judge(wheel, ours, oracle, Path(folder), v2_names=about["v2_names"])
                judges[release] = judge, [None, *about["formats"]]
            judge, formats = judges[release]
            found = [one for format_ in formats for one in judge.history(histories[name], format_)]
            return judged_history(found)

        yield Session(plan.spread(names), run)


def _wheel(release: str) -> Wheel:
    return Wheel(release, interpreter(release, cache()))


def judged_history(found: Sequence[Outcome]) -> Outcome:
    """Return the outcome of a history with a release, in all formats and directions: the worst."""
    counts = Counter[str]()
    for one in found:
        counts.update(one.counts)
    verdicts: tuple[Verdict, ...] = ("differed", "known", "refused")
    for verdict in verdicts:
        told = [text for one in found if one.verdict == verdict for text in one.details]
        if any(one.verdict == verdict for one in found):
            reason = re.sub(r"/\S+|[0-9a-f-]{36}|\d+", "N", "".join(told[:1]))
            return Outcome(verdict, told if verdict == "differed" else [reason, *told], counts)
    return Outcome("agreed", (), counts)


PARTS = (Part("releases", 10_000, releases),)

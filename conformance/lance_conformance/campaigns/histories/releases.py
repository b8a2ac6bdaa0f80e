"""Releases part: every release, every format that it writes, every history, in both directions.

A difference counts against the reference unless the oracle has it too: it reads the old table as
the reference does, or the old release treats the oracle's table of the same history as that of the
reference. Such a difference is excused, and reported. Manifests of the reference and of the oracle
are compare without volatile fields.
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
from lanceref_testing.table_facts import differences as fact_differences
from lanceref_testing.table_facts import facts
from pylanceref.dataset import dataset

from lance_conformance.campaigns.histories.release_tables import History, Step, all_histories
from lance_conformance.campaigns.runner import Outcome, Part, Plan, Session, Verdict
from lance_conformance.comparison.table_diff import first_difference
from lance_conformance.matrix.library_worker import load
from lance_conformance.matrix.wheels import Worker, cache, interpreter, reference
from lance_conformance.oracle import RELEASE, RELEASES
from lance_conformance.specification.known_divergences import find


def manifest_differences(expected: Path, found: Path) -> list[str]:
    """Return the differences between the latest manifests of two tables."""
    theirs, ours = (
        facts(dataset(path)._snapshot.manifest, str(path)) for path in (expected, found)
    )
    names = ("manifest", "indices")
    return [text for name in names for text in fact_differences(theirs[name], ours[name], name)]


DIED = "the process died"
"""Error of a request that ended its process."""

READS, CONTINUES = "reference reads release", "reference continues release"
READ, CONTINUED = "release reads reference", "release continues reference"
"""Directions."""

THEIRS, OURS, ORACLES = "theirs", "ours", "oracles"
"""Names of the tables that the release, the reference and the oracle write."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Results of a library for a table: by name None, or an error.

    The Arrow files of the results are in the folder.
    """

    errors: Mapping[str, str | None]
    folder: Path


@dataclass(slots=True)
class ReleaseComparison:
    """A release, the reference and the oracle, which write and read tables below a folder.

    If the release does not support V2 names of manifests, the others write V1 names.
    """

    release: Worker
    reference: Worker
    oracle: Worker
    folder: Path
    v2_names: bool = True
    _readings: dict[tuple[str, Path], Reading] = field(default_factory=dict)

    def compare(self, history: History, format_: str | None) -> list[Outcome]:
        """Compare a history in every direction; a format of None is the default of the release."""
        folder = self.folder / f"{format_}-{history.name.replace(':', '-')}"
        history.write_tables(folder)
        outcomes = self._from_release(history, format_, folder)
        if format_ is not None:
            outcomes += self._from_reference(history, format_, folder)
        shutil.rmtree(folder)
        self._readings.clear()
        return outcomes

    def _from_release(self, history: History, format_: str | None, folder: Path) -> list[Outcome]:
        """The release writes a table: the reference reads it, then continues it."""
        outcome = partial(self._outcome, history, format_)
        theirs = folder / THEIRS
        errors = self._build(self.release, theirs, history, format_)
        refused = _refusals(history.steps, errors)
        if errors[0] is not None:
            return [outcome(READS, [], others=refused, otherwise="refused")]
        differs, excused = self._differences(theirs, history, self.release, self.reference)
        findings = _findings(theirs)
        rows = self._read(self.oracle, theirs, history).errors.items() if findings else ()
        is_legible = not any(error for name, error in rows if name.endswith(("rows", "open")))
        (differs if is_legible else excused).extend(findings)
        outcomes = [outcome(READS, differs, excused, refused)]
        ours, oracles = folder / "theirs-ours", folder / "theirs-oracles"
        for copy in (ours, oracles):
            shutil.copytree(theirs, copy)
        errors = self._continue(self.reference, ours, history)
        expected = self._continue(self.oracle, oracles, history)
        differs = _step_differences(history.continuation, expected, errors)
        differs += _findings(ours, latest=True)
        if not any(expected):
            differs += [f"manifest {one}" for one in manifest_differences(oracles, ours)]
        more, excused = self._differences(ours, history, self.reference, self.release, oracles)
        if not is_legible:
            differs, more, excused = [], [], [*differs, *more, *excused]
        return [*outcomes, outcome(CONTINUES, [*differs, *more], excused)]

    def _from_reference(self, history: History, format_: str, folder: Path) -> list[Outcome]:
        """The reference writes a table: the release reads it, then continues it."""
        outcome = partial(self._outcome, history, format_)
        ours, oracles = folder / OURS, folder / ORACLES
        errors = self._build(self.reference, ours, history, format_)
        expected = self._build(self.oracle, oracles, history, format_)
        differs = _step_differences(history.steps, expected, errors)
        if errors[0] is not None or expected[0] is not None:
            refused = _refusals(history.steps, errors)
            return [outcome(READ, differs, others=refused, otherwise="refused")]
        differs += _findings(ours)
        more, excused = self._differences(ours, history, self.reference, self.release, oracles)
        outcomes = [outcome(READ, [*differs, *more], excused)]
        on_ours, on_oracles = folder / "ours-theirs", folder / "oracles-theirs"
        shutil.copytree(ours, on_ours)
        shutil.copytree(oracles, on_oracles)
        errors = self._continue(self.release, on_ours, history)
        expected = self._continue(self.release, on_oracles, history)
        steps = _step_differences(history.continuation, expected, errors)
        differs = [text for text in steps if "expected taken" in text]
        more, excused = self._differences(on_ours, history, self.release, self.reference)
        refused = _refusals(history.continuation, errors)
        return [*outcomes, outcome(CONTINUED, [*differs, *more], excused, refused)]

    def _outcome(
        self,
        history: History,
        format_: str | None,
        direction: str,
        differs: list[str],
        excused: Sequence[str] = (),
        others: Sequence[str] = (),
        otherwise: Verdict = "agreed",
    ) -> Outcome:
        """Return the outcome of a direction: `known` if all differences are known or excused.

        Without any the verdict is `otherwise`.
        """
        format_ = format_ or "default"
        name, prefix = f"{self.release.name} {format_} {history.name}", f"{format_} {direction}"
        details, verdict = [*excused, *others], "known" if excused else otherwise
        if differs:
            where = {"where": name, "direction": direction}
            known = [find("histories/releases", **where, detail=text) for text in differs]
            details = [f"{one.id}: {text}" if one else text for one, text in zip(known, differs)]
            verdict = "differed" if None in known else "known"
        details = [f"{prefix}: {text}" for text in details]
        return Outcome(verdict, details, {f"{prefix}: {verdict}": 1})

    def _build(
        self, wheel: Worker, uri: Path, history: History, format_: str | None
    ) -> list[str | None]:
        options = dict(history.options) | ({} if format_ is None else {"format": format_})
        if not self.v2_names and wheel is not self.release:
            options.setdefault("enable_v2_manifest_paths", False)
        return _run_steps(wheel, uri, history.steps, options, new=True)

    def _continue(self, wheel: Worker, uri: Path, history: History) -> list[str | None]:
        return _run_steps(wheel, uri, history.continuation, {}, new=False)

    def _read(self, wheel: Worker, uri: Path, history: History) -> Reading:
        """Read every version of a table once, but only the last of a continued table."""
        reading = self._readings.get((wheel.name, uri))
        if reading is None:
            out = uri.parent / f"{uri.name}.{wheel.name}"
            out.mkdir()
            latest = uri.name not in (THEIRS, OURS, ORACLES)
            request = {"uri": str(uri), "out": str(out), "filters": list(history.filters)}
            errors = wheel.request("read", **request, latest=latest)
            reading = Reading({"open": DIED} if errors is None else errors, out)
            self._readings[wheel.name, uri] = reading
        return reading

    def _differences(
        self, uri: Path, history: History, first: Worker, second: Worker, other: Path | None = None
    ) -> tuple[list[str], list[str]]:
        """Return the differences between two readings of a table: counted and excused ones.

        Without `other`, a difference is excused if the oracle reads as the reference does. With it,
        if the release has a difference in that table too, which the oracle wrote.
        """
        expected = self._read(first, uri, history)
        found = differences(expected, self._read(second, uri, history))
        if not found:
            return [], []
        if other is None:
            ours, oracle = (self._read(one, uri, history) for one in (self.reference, self.oracle))
            release = self._read(self.release, uri, history)
            failed = {key for key in found if _error(oracle, key) and _error(release, key)}
            return _split(found, failed | (found.keys() - differences(oracle, ours).keys()))
        theirs = self._read(self.release, other, history)
        shared = differences(self._read(self.oracle, other, history), theirs).keys()
        return _split(found, shared | {key for key in found if _error(theirs, key)})


def differences(expected: Reading, found: Reading) -> dict[str, str]:
    """Return the differences between two readings by name; two errors are equal."""
    texts = {}
    for key in sorted(expected.errors.keys() | found.errors.keys()):
        first, second = (_error(reading, key) for reading in (expected, found))
        if first is None and second is None:
            ours, theirs = (one.folder / f"{key}.arrow" for one in (expected, found))
            text = _table_difference(ours, theirs, "any" if "filter" in key else "storage")
        elif first and second:
            text = None
        else:
            text = f"expected {first or 'rows'}, found {second or 'rows'}"
        if text is not None:
            texts[key] = " ".join(text.split())
    return texts


def _table_difference(expected: Path, found: Path, order: str) -> str | None:
    """Return the first difference of two tables; old releases may return an invalid array."""
    try:
        tables = load(str(expected)), load(str(found))
        for table in tables:
            table.validate(full=True)
        return first_difference(*tables, order=order)
    except pa.ArrowException as error:
        return f"{type(error).__name__}: {error}"


def _error(reading: Reading, key: str) -> str | None:
    """Return the error of a reading by name, or None."""
    if key in reading.errors:
        return reading.errors[key]
    return reading.errors.get("open") or "no such version"


def _run_steps(
    wheel: Worker, uri: Path, steps: Sequence[Step], options: Mapping[str, object], *, new: bool
) -> list[str | None]:
    """Run steps by an implementation; return the error of each, or None."""
    request = {"uri": str(uri), "folder": str(uri.parent), "options": options, "new": new}
    errors: list[str | None] | None = wheel.request("build", **request, steps=[*map(list, steps)])
    return [DIED] if errors is None else errors


def _split(texts: Mapping[str, str], excused: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the differences that are not excused, and those that are."""
    names = frozenset(excused)
    return (
        [f"{key}: {text}" for key, text in texts.items() if key not in names],
        [f"{key}: {text}" for key, text in texts.items() if key in names],
    )


def _refusals(steps: Iterable[Step], errors: list[str | None]) -> list[str]:
    """Return the steps that failed."""
    return [f"step {step[0]}: {error}" for step, error in zip(steps, errors) if error]


def _step_differences(
    steps: Iterable[Step], expected: list[str | None], found: list[str | None]
) -> list[str]:
    """Return the steps that failed by one implementation alone."""
    return [
        f"step {step[0]}: expected {first or 'taken'}, found {second or 'taken'}"
        for step, first, second in zip(steps, expected, found)
        if bool(first) != bool(second)
    ]


def _findings(path: Path, *, latest: bool = False) -> list[str]:
    """Return the violations that a deep validation of every version (or the latest) reports."""
    try:
        versions = sorted(int(str(one["version"])) for one in dataset(path).versions())
        chosen = versions[-1:] if latest else versions
        findings = [one for number in chosen for one in validate(path, deep=True, version=number)]
    except LanceError as error:
        return [f"validate: {error}"]
    return sorted(
        {f"validate {one.clause}: {one.message}" for one in findings if one.severity == "must"}
    )


def releases(plan: Plan) -> Iterator[Session]:
    """Open the part: the planned number of releases and histories, evenly spread.

    One release at a time has a process, beside those of the reference and the oracle.
    """
    histories = {one.name: one for one in all_histories()}
    names = [f"{release}/{name}" for release in RELEASES for name in histories]
    comparisons = dict[str, tuple[ReleaseComparison, list[str | None]]]()
    with closing(reference()) as ours, closing(_wheel(RELEASE)) as oracle, ExitStack() as stack:

        def run(case: str) -> Outcome:
            release, _, name = case.partition("/")
            if release not in comparisons:
                stack.close()
                comparisons.clear()
                wheel = oracle
                if release != RELEASE:
                    wheel = stack.enter_context(closing(_wheel(release)))
                folder = stack.enter_context(tempfile.TemporaryDirectory())
                about = wheel.request("about", folder=folder)
                made = ReleaseComparison(wheel, ours, oracle, Path(folder), about["v2_names"])
                comparisons[release] = made, [None, *about["formats"]]
            comparison, formats = comparisons[release]
            return history_outcome(
                [one for format_ in formats for one in comparison.compare(histories[name], format_)]
            )

        yield Session(plan.spread(names), run)


def _wheel(release: str) -> Worker:
    return Worker(release, interpreter(release, cache()))


def history_outcome(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the worst outcome of a history, of all formats and directions of a release."""
    counts = Counter[str]()
    for one in outcomes:
        counts.update(one.counts)
    verdicts: tuple[Verdict, ...] = ("differed", "known", "refused")
    for verdict in verdicts:
        details = [text for one in outcomes if one.verdict == verdict for text in one.details]
        if any(one.verdict == verdict for one in outcomes):
            reason = re.sub(r"/\S+|[0-9a-f-]{36}|\d+", "N", "".join(details[:1]))
            return Outcome(
                verdict, details if verdict == "differed" else [reason, *details], counts
            )
    return Outcome("agreed", (), counts)


PARTS = (Part("releases", 10_000, releases),)

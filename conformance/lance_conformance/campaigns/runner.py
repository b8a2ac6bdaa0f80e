"""Runner: runs the cases of a campaign, and saves one outcome of each in a file of JSON lines.

A campaign consists of parts. A part opens a session in a folder of its own; the session lists its
cases and runs one at a time. A case depends on the seed and its name alone, so that it can be
repeated by itself. The report has verdicts and counts of each part, required counts that are zero,
and each case that differs with the command that repeats it.
"""

from __future__ import annotations

import glob
import json
import shlex
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

Verdict = Literal["agreed", "known", "refused", "differed"]
"""As expected; a published divergence; refused by all implementations; anything else."""

PROGRESS = "outcomes.jsonl"
"""Name of the file with outcomes in the folder of `--resume`."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The verdict on a case; `counts` are summed per part in the report.

    Each line of `details` describes a difference, or names a known divergence.
    """

    verdict: Verdict
    details: Sequence[str] = ()
    counts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Plan:
    """Arguments of a part: seed, number of cases, and a folder, which a resumed run reuses."""

    seed: int
    count: int
    folder: Path

    @property
    def seeds(self) -> range:
        """One seed for each planned case."""
        return range(self.seed, self.seed + self.count)

    def spread(self, names: Sequence[str]) -> Sequence[str]:
        """Return one name for each planned case, evenly spread over all names."""
        return names[:: max(1, len(names) // self.count)]


@dataclass(frozen=True, slots=True)
class Session:
    """An open part: the names of its cases, in order, and the function that runs one."""

    cases: Iterable[str]
    run: Callable[[str], Outcome]


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a campaign; `count` is the default number of cases.

    `open` yields one session, and releases its resources afterwards. `required` lists, by the first
    component of case names, the counts that must not be zero in a full run. `conclude` yields
    errors of all outcomes together; `summary` yields lines of the report.
    """

    name: str
    count: int
    open: Callable[[Plan], Iterator[Session]]
    required: Mapping[str, Sequence[str]] = field(default_factory=dict)
    conclude: Callable[[Mapping[str, Outcome]], Iterable[str]] = lambda _: ()
    summary: Callable[[Mapping[str, Outcome]], Iterable[str]] = lambda _: ()


@dataclass(frozen=True, slots=True)
class Options:
    """The options that every campaign takes."""

    seed: int = 0
    count: int | None = None
    only: str = "*"
    resume: Path | None = None


@dataclass(frozen=True, slots=True)
class Campaign:
    """A named tool and its parts."""

    name: str
    parts: Sequence[Part]

    def command(self, options: Options, case: str) -> str:
        """Return the command that repeats one case."""
        count = "" if options.count is None else f" --count {options.count}"
        only = shlex.quote(glob.escape(case))
        return f"nox -s campaign -- {self.name} --seed {options.seed}{count} --only {only}"


class NothingSelectedError(Exception):
    """The pattern of `--only` matches no case of a campaign."""


Results = dict[str, dict[str, Outcome]]
"""Outcomes by part and case."""


def run(campaign: Campaign, options: Options) -> Results:
    """Run the cases that the options select and that have no saved outcome.

    Raises NothingSelectedError where `--only` selects no case.
    """
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.resume or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        progress = Progress(folder / PROGRESS, campaign.name, options.seed)
        results = {
            part.name: dict(_run_part(part, options, folder, progress))
            for part in campaign.parts
            if _may_select(options.only, part.name)
        }
    results = {name: outcomes for name, outcomes in results.items() if outcomes}
    if not results:
        raise NothingSelectedError(f"no case of {campaign.name} matches {options.only}")
    return results


def _run_part(
    part: Part, options: Options, folder: Path, progress: Progress
) -> Iterator[tuple[str, Outcome]]:
    part_folder = folder / f"{part.name}-{options.seed}"
    part_folder.mkdir(exist_ok=True)
    plan = Plan(options.seed, options.count or part.count, part_folder)
    with contextmanager(part.open)(plan) as session:
        for name in session.cases:
            case = f"{part.name}/{name}"
            if not (fnmatchcase(part.name, options.only) or fnmatchcase(case, options.only)):
                continue
            outcome = progress.get(case)
            if outcome is None:
                outcome = session.run(name)
                progress.add(case, outcome)
            yield case, outcome


def _may_select(only: str, part: str) -> bool:
    """Whether a pattern can match a part or one of its cases; other parts are not opened."""
    head = only.partition("/")[0]
    return fnmatchcase(part, only) or fnmatchcase(part, head) or "*" in head


class Progress:
    """Outcomes in a file of JSON lines, one for each campaign, seed and case."""

    def __init__(self, path: Path, campaign: str, seed: int) -> None:
        self._path, self._campaign, self._seed = path, campaign, seed
        self._outcomes: dict[str, Outcome] = {}
        text = path.read_text("utf-8") if path.exists() else ""
        complete = text[: text.rfind("\n") + 1]  # a killed run may leave a partial line
        if complete != text:
            path.write_text(complete, "utf-8")
        for entry in map(json.loads, complete.splitlines()):
            if (entry["campaign"], entry["seed"]) == (campaign, seed):
                self._outcomes[entry["case"]] = Outcome(**entry["outcome"])

    def get(self, case: str) -> Outcome | None:
        """Return the saved outcome of a case, or None."""
        return self._outcomes.get(case)

    def add(self, case: str, outcome: Outcome) -> None:
        """Append an outcome to the file, and show the number of cases on a terminal."""
        self._outcomes[case] = outcome
        data = {"verdict": outcome.verdict, "details": [*outcome.details], "counts": outcome.counts}
        entry = {"campaign": self._campaign, "seed": self._seed, "case": case, "outcome": data}
        with self._path.open("a", encoding="utf-8") as log:
            log.write(json.dumps(entry) + "\n")
        if sys.stderr.isatty():
            print(f"\r{len(self._outcomes)} cases", end="", file=sys.stderr)


def outcome_of(differences: Sequence[str], counts: Mapping[str, float]) -> Outcome:
    """Return the outcome of a case, which agrees if there are no differences."""
    return Outcome("differed" if differences else "agreed", tuple(differences), counts)


VERDICTS: tuple[Verdict, ...] = ("agreed", "known", "refused", "differed")

MAX_CASES, MAX_LINES = 60, 8
"""Most differing cases of a part, and most details of a case, that are printed."""


def report(campaign: Campaign, options: Options, results: Results) -> tuple[str, int]:
    """Return the report as text, and the exit code: 1 for a difference or a required count of 0."""
    lines, failed = [f"{'part':16}" + "".join(f"{word:>10}" for word in VERDICTS)], False
    for part in campaign.parts:
        outcomes = results.get(part.name)
        if outcomes is None:
            continue
        verdicts = Counter(one.verdict for one in outcomes.values())
        lines.append(f"{part.name:16}" + "".join(f"{verdicts[word]:10}" for word in VERDICTS))
        errors = [*_differences(campaign, options, outcomes), *part.conclude(outcomes)]
        gaps = list(_gaps(part, options, outcomes))
        lines += [*_known(outcomes), *_counts(outcomes), *part.summary(outcomes), *gaps, *errors]
        is_full = (options.count or part.count) >= part.count and options.only in ("*", part.name)
        failed = failed or bool(errors) or (is_full and bool(gaps))
    return "\n".join(lines), int(failed)


def _differences(
    campaign: Campaign, options: Options, outcomes: Mapping[str, Outcome]
) -> Iterator[str]:
    differing = [case for case, one in outcomes.items() if one.verdict == "differed"]
    for case in differing[:MAX_CASES]:
        yield f"  DIFFERED {case}"
        yield from (f"      {line}" for line in outcomes[case].details[:MAX_LINES])
        yield f"      {campaign.command(options, case)}"
    if len(differing) > MAX_CASES:
        yield f"  and {len(differing) - MAX_CASES} more cases that differ"


def _known(outcomes: Mapping[str, Outcome]) -> Iterator[str]:
    """Yield the number of cases of each known divergence, and of each reason of a refusal."""
    for verdict in ("known", "refused"):
        chosen = (one for one in outcomes.values() if one.verdict == verdict)
        counts = Counter(one.details[0][:160] if one.details else "" for one in chosen)
        yield from (f"  {verdict} {count} x {text}" for text, count in counts.most_common(20))


def _counts(outcomes: Mapping[str, Outcome]) -> Iterator[str]:
    """Yield the sums of the counts, one column for each first component of the case names."""
    sums: dict[str, Counter[str]] = {}
    for case, one in outcomes.items():
        sums.setdefault(_head(case), Counter()).update(one.counts)
    labels = sorted(set().union(*sums.values()))
    if labels:
        yield f"  {'count':46}" + "".join(f"{head[:11]:>12}" for head in sums)
    for label in labels:
        cells = "".join(f"{column[label]:12.10g}" for column in sums.values())
        yield f"  {label:46}{cells}"


def _gaps(part: Part, options: Options, outcomes: Mapping[str, Outcome]) -> Iterator[str]:
    """Yield the required counts that are zero."""
    for head, labels in part.required.items():
        own = [one for case, one in outcomes.items() if _head(case) == head]
        seen = {label for one in own for label, count in one.counts.items() if count}
        if own:
            yield from (f"  NEVER CAME UP {head}: {name}" for name in labels if name not in seen)


def _head(case: str) -> str:
    """Return the first component of a case name after its part."""
    return case.split("/")[1] if case.count("/") > 1 else ""

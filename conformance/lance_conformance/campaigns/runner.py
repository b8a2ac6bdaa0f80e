"""Runner: cases of a campaign from a seed, one outcome each, kept in one file that is resumed.

A campaign consists of parts. A part opens a session in a folder of its own, and the session names
its cases and runs one at a time. A case depends on the seed and its name alone, so that a single
one can be repeated. The report has verdicts and counts per part, gaps, and what differs with its
command.
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
"""What a case came to: as wanted; a published divergence; refused by all; anything else."""

PROGRESS = "outcomes.jsonl"
"""Name of the file in the folder of `--resume` that keeps outcomes."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a case; `counts` are summed per part in the report.

    Each line of `details` says what differs, or which divergence is known.
    """

    verdict: Verdict
    details: Sequence[str] = ()
    counts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a part is asked for: seed, number of cases, and a folder that a resumed run keeps."""

    seed: int
    count: int
    folder: Path

    @property
    def seeds(self) -> range:
        """As many seeds as cases are planned."""
        return range(self.seed, self.seed + self.count)

    def spread(self, names: Sequence[str]) -> Sequence[str]:
        """Return as many of the names as cases are planned, evenly spread."""
        return names[:: max(1, len(names) // self.count)]


@dataclass(frozen=True, slots=True)
class Session:
    """An open part: the names of its cases, in order, and what runs one of them."""

    cases: Iterable[str]
    run: Callable[[str], Outcome]


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a campaign; `count` is the number of cases when none is given.

    `open` yields one session, and closes what the session needs after that.
    `required` lists, per prefix of case names, the counts that a run of full size must not leave
    at zero. `conclude` judges all outcomes together and yields what differs in
    sum; `summary` yields lines of the report.
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
    """Run the cases that the options select; outcomes kept from an earlier run are not run again.

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
    place = folder / f"{part.name}-{options.seed}"
    place.mkdir(exist_ok=True)
    plan = Plan(options.seed, options.count or part.count, place)
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
    """Whether a pattern can match a part or one of its cases; a part that cannot is not opened."""
    head = only.partition("/")[0]
    return fnmatchcase(part, only) or fnmatchcase(part, head) or "*" in head


class Progress:
    """Outcomes in a file of JSON lines, one for each campaign, seed and case."""

    def __init__(self, path: Path, campaign: str, seed: int) -> None:
        self._path, self._campaign, self._seed = path, campaign, seed
        self._kept: dict[str, Outcome] = {}
        text = path.read_text("utf-8") if path.exists() else ""
        whole = text[: text.rfind("\n") + 1]  # a killed run may have left half a line
        if whole != text:
            path.write_text(whole, "utf-8")
        for entry in map(json.loads, whole.splitlines()):
            if (entry["campaign"], entry["seed"]) == (campaign, seed):
                self._kept[entry["case"]] = Outcome(**entry["outcome"])

    def get(self, case: str) -> Outcome | None:
        """Return the kept outcome of a case, None where it has not been run."""
        return self._kept.get(case)

    def add(self, case: str, outcome: Outcome) -> None:
        """Append an outcome to the file, and show the number of cases on a terminal."""
        self._kept[case] = outcome
        kept = {"verdict": outcome.verdict, "details": [*outcome.details], "counts": outcome.counts}
        entry = {"campaign": self._campaign, "seed": self._seed, "case": case, "outcome": kept}
        with self._path.open("a", encoding="utf-8") as log:
            log.write(json.dumps(entry) + "\n")
        if sys.stderr.isatty():
            print(f"\r{len(self._kept)} cases", end="", file=sys.stderr)


def judged(differences: Sequence[str], **given: Mapping[str, float]) -> Outcome:
    """Return the outcome of a case that agrees unless there are differences."""
    return Outcome("differed" if differences else "agreed", tuple(differences), **given)


VERDICTS: tuple[Verdict, ...] = ("agreed", "known", "refused", "differed")

MOST_CASES = 60
"""Differing cases of a part that are printed one by one."""

MOST_LINES = 8
"""Details of a case that are printed."""


def report(campaign: Campaign, options: Options, results: Results) -> tuple[str, int]:
    """Return the report as text, and the exit code: 1 where a case differs or a gap is left."""
    lines, failed = [f"{'part':16}" + "".join(f"{word:>10}" for word in VERDICTS)], False
    for part in campaign.parts:
        outcomes = results.get(part.name)
        if outcomes is None:
            continue
        verdicts = Counter(one.verdict for one in outcomes.values())
        lines.append(f"{part.name:16}" + "".join(f"{verdicts[word]:10}" for word in VERDICTS))
        wrong = [*_differences(campaign, options, outcomes), *part.conclude(outcomes)]
        gaps = list(_gaps(part, options, outcomes))
        lines += [*_known(outcomes), *_counts(outcomes), *part.summary(outcomes), *gaps, *wrong]
        is_full = (options.count or part.count) >= part.count and options.only in ("*", part.name)
        failed = failed or bool(wrong) or (is_full and bool(gaps))
    return "\n".join(lines), int(failed)


def _differences(
    campaign: Campaign, options: Options, outcomes: Mapping[str, Outcome]
) -> Iterator[str]:
    differing = [case for case, one in outcomes.items() if one.verdict == "differed"]
    for case in differing[:MOST_CASES]:
        yield f"  DIFFERED {case}"
        yield from (f"      {line}" for line in outcomes[case].details[:MOST_LINES])
        yield f"      {campaign.command(options, case)}"
    if len(differing) > MOST_CASES:
        yield f"  and {len(differing) - MOST_CASES} more cases that differ"


def _known(outcomes: Mapping[str, Outcome]) -> Iterator[str]:
    """Yield how many cases each known divergence explains, and each reason to refuse."""
    for verdict in ("known", "refused"):
        chosen = (one for one in outcomes.values() if one.verdict == verdict)
        counts = Counter(one.details[0][:160] if one.details else "" for one in chosen)
        yield from (f"  {verdict} {count} x {text}" for text, count in counts.most_common(20))


def _counts(outcomes: Mapping[str, Outcome]) -> Iterator[str]:
    """Yield the sums of the counts, one column for each first word of the case names."""
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
    """Yield what had to come up and never did."""
    for head, labels in part.required.items():
        own = [one for case, one in outcomes.items() if _head(case) == head]
        seen = {label for one in own for label, count in one.counts.items() if count}
        if own:
            yield from (f"  NEVER CAME UP {head}: {name}" for name in labels if name not in seen)


def _head(case: str) -> str:
    """Return the first word of a case after its part."""
    return case.split("/")[1] if case.count("/") > 1 else ""

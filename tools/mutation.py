"""Mutation score: would the cases notice a bug in a parser, or cases and tests one in any module?

Each mutant of a parsing module of the reference is put to the cases that run through its line, in a
child process, until one detects it. The score is the share that some case detected: by its outcome,
or by the clause of its refusal. Functions that no case runs are not counted. Mutants that are
equivalent to the original are listed in `tools/equivalent_mutants.toml` with a reason; some of them
are equivalent only for cases, and tests judge these.

With `--all`, mutants of every module and function count, those of writers too. Those that
survive the cases of readers are judged by the cases of writers, then by the tests of the reference
that run through their line, and then by tests with the oracle.

Each step has 30 seconds of processor time for a mutant, at first a tenth of them, since most
detections are quick. The number of survivors that were not judged completely is printed at the end:
with more `--seconds` some of these may be detected.

    python tools/mutation.py                        every mutant, into report/mutation
    python tools/mutation.py --all                  cases and tests, all of the reference
    python tools/mutation.py --sample 2000 --seed 0 some of them
    python tools/mutation.py --only "file/*"        those of some modules
    python tools/mutation.py --seconds 5            less time: fewer are detected
    python tools/mutation.py --again                the survivors of the last run

Verdicts are stored in `report/mutation/judged.jsonl`, those of cases of writers and tests in other
files there, and their lines in `lines`; the next run continues from there. A sample is stable when
mutants are added or removed: the order of mutants depends on each alone. With
`--keep conformance/results/mutation.json` the score is what `lance-conformance gate` compares.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from equivalents import excuse, load
from mutant_child import OTHER_CLAUSE, UNFINISHED, Judge, Verdict
from mutant_lines import Lines, touched
from mutant_order import nearest, ordered, topic, touching
from mutant_tests import ALONE, ORACLE, ORACLE_MARKS, Suite, folders_of_tests, lines_of_tests
from mutants import Mutant, mutants, mutated
from sources import ROOT, Source, python_files

FOLDERS = (
    "core", "file", "data_file", "pages", "encodings_2_0", "codecs", "file_0_1", "blobs", "json",
    "table", "index", "checks", "fast",
)  # fmt: skip
"""Folders of the reference that hold parsers."""

WRITERS = (
    "*_build.py", "*_writer.py", "*/writer.py", "*/encode.py", "*/choose.py", "*/training.py",
    "*/arrow_schema.py",
)  # fmt: skip
"""Modules there that only write."""

LIMITS = ("*/core/limits.py", "*/core/query_limits.py")
"""Modules that only bound the cost of bytes, without a clause: tests judge these."""

SECONDS = 30.0
"""Processor time of a mutant with the cases, and with the tests."""

FIRST = 0.1
"""How much of it each mutant has at first, before any has more: it is enough for most."""

_CLAUSE = re.compile(r"L\.[a-z0-9-]+(?:\.[a-z0-9-]+)+")

_ASIDE = re.compile("_?(encode|write|own)(_|$)")
"""Functions that only write, or only name owners of bytes: hexmaps judge these."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A mutant by its name, and the case or test that noticed it; none: it lives."""

    id: str
    path: str
    clauses: tuple[str, ...]
    case: str
    how: str


def every_module(root: Path) -> list[Source]:
    """Return the modules of the reference."""
    return list(python_files(root, "reference/lanceref"))


def parsers(root: Path) -> list[Source]:
    """Return the modules that parse."""
    found = (
        source
        for folder in FOLDERS
        for source in python_files(root, f"reference/lanceref/{folder}")
    )
    aside = WRITERS + LIMITS
    return [s for s in found if not any(fnmatchcase(s.name, pattern) for pattern in aside)]


def reachable(source: Source, lines: Lines) -> Iterator[Mutant]:
    """Yield the mutants of functions that parse and that some case enters."""
    touching = lines.get(source.name, {})
    for mutant in mutants(source):
        if not _ASIDE.match(mutant.function) and any(touching.get(line) for line in mutant.body):
            yield mutant


def score(every: Iterable[Judged]) -> dict[str, tuple[int, int]]:
    """Return (killed, all) by module and by clause."""
    counts: dict[str, tuple[int, int]] = {}
    for one in every:
        for key in (one.path, *one.clauses):
            killed, total = counts.get(key, (0, 0))
            counts[key] = killed + bool(one.case), total + 1
    return counts


def sample_key(seed: int, mutant_id: str) -> bytes:
    """Return the sort key of a mutant; a sample is the start of this order."""
    return hashlib.sha256(f"{seed} {mutant_id}".encode()).digest()


def score_document(every: Sequence[Judged], bar: float) -> dict[str, object]:
    """Return what the gate compares, and the score of each module."""
    modules = {name: pair for name, pair in sorted(score(every).items()) if name.endswith(".py")}
    noticed = sum(bool(one.case) for one in every)
    return {"judged": len(every), "noticed": noticed, "bar": bar, "modules": modules}


def main() -> int:
    """Judge, and print the score; the exit code is 1 below the bar."""
    options = _options()
    options.out.mkdir(parents=True, exist_ok=True)
    lines = _lines(options.out / "lines.json", lambda: touched(ROOT))
    work, num_excused = _sample(
        every_module(ROOT) if options.all else parsers(ROOT), lines, options
    )
    print(f"{num_excused} of the sample are equivalent to the original")
    steps = [
        _Step(_judged, lines, "judged.jsonl"),
        *(_further_steps(options.out) if options.all else ()),
    ]
    with ProcessPoolExecutor(options.jobs, initializer=_prepare) as pool:
        known = _run_steps(work, steps, pool, options)
    every = [known[mutant.id] for mutant in work if mutant.id in known]
    if options.keep:
        options.keep.write_text(
            json.dumps(score_document(every, options.bar), indent=1) + "\n", "utf-8"
        )
    return _conclude(every, options.bar)


@dataclass(frozen=True, slots=True)
class _Step:
    """A step of cases or tests: its judge, their lines, and the file of verdicts."""

    judged: Callable[[float, Mutant, Sequence[str], Mapping[str, int]], Judged]
    lines: Lines
    file: str


def _further_steps(out: Path) -> Iterator[_Step]:
    """Yield what else living mutants are put to: cases of writers, tests, those of the oracle."""
    writing = _lines(out / "lines-of-writers.json", lambda: touched(ROOT, writing=True))
    yield _Step(_judged, writing, "writers.jsonl")
    yield _Step(_tested, _lines_of_tests(out / "lines", ALONE), "tests.jsonl")
    if find_spec(ORACLE):
        yield _Step(_tested, _lines_of_tests(out / "oracle", ORACLE_MARKS), "oracle.jsonl")


def _run_steps(
    work: Sequence[Mutant], steps: Sequence[_Step], pool: Executor, options: argparse.Namespace
) -> dict[str, Judged]:
    """Put mutants to all in little time, then in more to what they were not put to.

    Return the verdicts of each: what detected it, or whether all were run.
    """
    verdicts: dict[str, dict[str, Judged]] = defaultdict(dict)
    for seconds in (options.seconds * FIRST, options.seconds):
        for step in steps:
            living = [m for m in work if not any(one.case for one in verdicts[m.id].values())]
            for one in _step_results(step, living, pool, seconds, options):
                verdicts[one.id][step.file] = one
            num_noticed = sum(
                any(one.case for one in by_file.values()) for by_file in verdicts.values()
            )
            print(f"{step.file}: {num_noticed} of {len(work)} are noticed", flush=True)
    every = (list(by_file.values()) for by_file in verdicts.values() if by_file)
    return {by_file[0].id: max(by_file, key=lambda one: (one.case, one.how)) for by_file in every}


def _step_results(
    step: _Step, work: Sequence[Mutant], pool: Executor, seconds: float, options: argparse.Namespace
) -> list[Judged]:
    """Return the verdicts of a step on mutants, stored or new."""
    path, is_first = options.out / step.file, seconds < options.seconds
    known = _known(path)
    if options.again and is_first:
        known = {name: one for name, one in known.items() if one.case}
    remaining = [
        one
        for one in work
        if one.id not in known or (not is_first and known[one.id].how == UNFINISHED)
        if not options.no_more
    ]
    print(f"{len(work)} mutants, {len(work) - len(remaining)} judged before", flush=True)
    topics = {path: topic(step.lines, path) for path in {mutant.path for mutant in remaining}}
    tests_of = [touching(mutant, step.lines) for mutant in remaining]
    about = [topics[mutant.path] for mutant in remaining]
    judged = partial(step.judged, seconds)
    with path.open("a", encoding="utf-8") as file:
        for number, one in enumerate(pool.map(judged, remaining, tests_of, about), 1):
            known[one.id] = one
            file.write(json.dumps(_entry(one)) + "\n")
            file.flush()
            if number % 50 == 0:
                print(f"{number} of {len(remaining)}", flush=True)
    return [known[one.id] for one in work if one.id in known]


_judges: list[Judge] = []
"""The judge of a process that judges."""

_tests: list[Suite] = []
"""What puts tests to mutants there."""

_noticed: dict[str, list[str]] = defaultdict(list)
"""Cases or tests that noticed something before, by file and by function."""


def _prepare() -> None:
    _judges.append(Judge(ROOT))
    _tests.append(Suite(ROOT, _judges[0]))


def _judged(seconds: float, mutant: Mutant, ids: Sequence[str], about: Mapping[str, int]) -> Judged:
    if not ids:
        return _judged_mutant(mutant, ids, Verdict())
    source = Source(ROOT, ROOT / mutant.path)
    named = _CLAUSE.findall(source.text), mutant.clauses
    likely = [
        *(case for some in named for case in _judges[0].naming(some)),
        *_similar_mutants(mutant),
    ]
    tree = mutated(source, mutant.number)
    chosen = ordered(ids, likely, about)
    return _judged_mutant(mutant, ids, _judges[0].killer(source, tree, chosen, seconds))


def _tested(seconds: float, mutant: Mutant, ids: Sequence[str], _: Mapping[str, int]) -> Judged:
    source = Source(ROOT, ROOT / mutant.path)
    tree = mutated(source, mutant.number)
    tests = nearest(ids, mutant.path, _similar_mutants(mutant))
    verdict = _tests[0].killer(source, tree, tests, seconds)
    if not verdict.case and len(tests) < len(ids):
        verdict = Verdict("", UNFINISHED)
    return _judged_mutant(mutant, ids, verdict)


def _similar_mutants(mutant: Mutant) -> list[str]:
    return [*_noticed[mutant.path], *_noticed[f"{mutant.path}:{mutant.function}"]]


def _judged_mutant(mutant: Mutant, ids: Sequence[str], verdict: Verdict) -> Judged:
    if verdict.case in ids:
        for place in (mutant.path, f"{mutant.path}:{mutant.function}"):
            _noticed[place].append(verdict.case)
    return Judged(mutant.id, mutant.path, mutant.clauses, verdict.case, verdict.how)


def _conclude(every: Sequence[Judged], bar: float) -> int:
    for name, (killed, total) in sorted(score(every).items()):
        print(f"{killed:5} of {total:5}  {100 * killed / total:5.1f} %  {name}")
    for one in sorted(every, key=lambda judged: judged.id):
        if not one.case:
            print(f"lives: {one.id}")
    killed = sum(bool(one.case) for one in every)
    named = sum(one.how == OTHER_CLAUSE for one in every)
    share = 100 * killed / max(1, len(every))
    print(f"mutation score: {killed} of {len(every)}, {share:.1f} %")
    unasked = sum(one.how == UNFINISHED for one in every)
    print(f"{unasked} of those that live were not put to all that could notice them")
    print(f"{named} of them are noticed by the clause that is named alone: another check refuses")
    return 0 if share >= bar else 1


def _sample(
    sources: Iterable[Source], lines: Lines, options: argparse.Namespace
) -> tuple[list[Mutant], int]:
    """Return the mutants to judge, and the number of equivalent ones in the sample."""
    drawn = [
        one
        for source in sources
        if fnmatchcase(source.name.removeprefix("reference/lanceref/"), options.only)
        for one in (mutants(source) if options.all else reachable(source, lines))
    ]
    drawn.sort(key=lambda one: sample_key(options.seed, one.id))
    reasons, num_excused = load(ROOT, tests=options.all), 0
    work: list[Mutant] = []
    for mutant in drawn:
        if options.sample and len(work) == options.sample:
            break
        if excuse(reasons, mutant):
            num_excused += 1
        else:
            work.append(mutant)
    return work, num_excused


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Judge the cases by mutants of the parsers.")
    parser.add_argument("--all", action="store_true", help="all modules, by cases and by tests")
    parser.add_argument("--sample", type=int, default=0, help="judge so many (default: all)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="*", help="modules below reference/lanceref")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--seconds", type=float, default=SECONDS, help="processor time of a mutant each time"
    )
    parser.add_argument("--bar", type=float, default=95.0, help="share wanted, in percent")
    parser.add_argument("--out", type=Path, default=ROOT / "report" / "mutation")
    parser.add_argument("--again", action="store_true", help="judge what lived before once more")
    parser.add_argument("--no-more", action="store_true", help="only count what was judged before")
    parser.add_argument("--keep", type=Path, help="file for the score, which the gate compares")
    return parser.parse_args()


def _lines(path: Path, trace: Callable[[], tuple[Lines, list[str]]]) -> Lines:
    """Return the lines each case or test runs through, traced once."""
    if not path.exists():
        lines, failing = trace()
        path.write_text(json.dumps({"lines": lines, "failing": failing}), encoding="utf-8")
    document = json.loads(path.read_text(encoding="utf-8"))
    for name in document["failing"]:
        print(f"left out, it does not pass in this process, or takes long: {name}")
    return {
        name: {int(line): ids for line, ids in by_line.items()}
        for name, by_line in document["lines"].items()
    }


def _lines_of_tests(out: Path, marked: str) -> Lines:
    """Return the lines each test runs through, folder by folder."""
    out.mkdir(exist_ok=True)
    every: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for folder in folders_of_tests(ROOT):
        path = out / f"{Path(folder).name}.json"
        for module, by_line in _lines(path, partial(lines_of_tests, ROOT, folder, marked)).items():
            for line, ids in by_line.items():
                every[module][line] += ids
    return every


def _known(path: Path) -> dict[str, Judged]:
    if not path.exists():
        return {}
    entries = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {
        entry["id"]: Judged(**{**entry, "clauses": tuple(entry["clauses"])}) for entry in entries
    }


def _entry(judged: Judged) -> dict[str, object]:
    return {
        "id": judged.id,
        "path": judged.path,
        "clauses": list(judged.clauses),
        "case": judged.case,
        "how": judged.how,
    }


if __name__ == "__main__":
    raise SystemExit(main())

"""Mutation score: would the cases notice a bug in a parser, or cases and tests one in any module?

Each mutant of a parsing module of the reference is put to the cases that run through its line, in a
process of its own, until one notices. The score is the share that some case noticed: by its
outcome, or by the clause that the refusal names. Functions that no case enters are not counted. A
mutant that nothing can tell from the original lies in `tools/equivalent_mutants.toml` with its
reason; some of them only no case can tell, and tests judge these.

With `--all`, mutants of every module and function count, those of writers too, and what no case
noticed is put to the tests of the reference that run through its line.

    python tools/mutation.py                        every mutant, into report/mutation
    python tools/mutation.py --all                  cases and tests, all of the reference
    python tools/mutation.py --sample 2000 --seed 0 some of them
    python tools/mutation.py --only "file/*"        those of some modules
    python tools/mutation.py --seconds 5            what takes longer counts as living
    python tools/mutation.py --again                what lived before, once more

What was judged is kept in `report/mutation/judged.jsonl`, what tests said in `tests.jsonl` beside
it, and what they run through in `lines`; the next run goes on from there. A sample
keeps its mutants when others come or go: each has its place in an order of its own. With
`--keep conformance/results/mutation.json` the score is what `lance-conformance gate` compares.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

from equivalents import excuse, load
from mutant_child import OTHER_CLAUSE, Judge, Lines, Verdict, touched
from mutant_tests import TESTS, Suite, folders_of_tests, lines_of_tests
from mutants import Mutant, mutants, mutated
from sources import ROOT, Source, python_files

FOLDERS = (
    "core", "file", "data_file", "pages", "encodings_2_0", "codecs", "file_0_1", "blobs", "json",
    "table", "index", "checks", "fast",
)  # fmt: skip
"""Folders of the reference that hold parsers."""

WRITERS = (
    "*_write.py", "*_encode.py", "*_train.py", "*_build.py", "*_writer.py", "*/writer.py",
    "*/encode.py", "*/choose.py", "*/building.py", "*/training.py", "*/graph_building.py",
    "*/arrow_schema.py",
)  # fmt: skip
"""Modules there that only write."""

LIMITS = ("*/core/limits.py", "*/core/query_limits.py")
"""Modules there that only bound what bytes cost, which no clause says: tests judge these."""

MOST_TESTS = 100
"""Tests that a mutant is put to, of those that run through its line."""

_CLAUSE = re.compile(r"L\.[a-z0-9-]+(?:\.[a-z0-9-]+)+")

_ASIDE = re.compile("_?(encode|write|own)(_|$)")
"""Functions there that only write, or only say what owns bytes: hexmaps judge these."""


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


def touching(mutant: Mutant, lines: Lines) -> list[str]:
    """Return the cases or tests that run through the lines of a mutant."""
    by_line = lines.get(mutant.path, {})
    span = range(mutant.line, mutant.end_line + 1)
    return sorted({name for line in span for name in by_line.get(line, ())})


def ordered(ids: Sequence[str], likely: Sequence[str] = ()) -> list[str]:
    """Return cases in the order in which they are likely to notice.

    Likely ones come first: those that noticed mutants nearby, the last of them at the head, those
    about the clauses of the function, and those about the clauses of its module. Among the others,
    names alike stand apart, and most searches, which take longest, after the rest.
    """
    rank = {case: number for number, case in enumerate(dict.fromkeys(reversed(likely)))}

    def key(name: str) -> tuple[int, int]:
        is_search = name.startswith("index/") and "/neg-" not in name
        return rank.get(name, len(rank)), zlib.crc32(name.encode()) * (4 if is_search else 1)

    return sorted(ids, key=key)


def score(every: Iterable[Judged]) -> dict[str, tuple[int, int]]:
    """Return (killed, all) by module and by clause."""
    counts: dict[str, tuple[int, int]] = {}
    for one in every:
        for key in (one.path, *one.clauses):
            killed, total = counts.get(key, (0, 0))
            counts[key] = killed + bool(one.case), total + 1
    return counts


def place(seed: int, mutant_id: str) -> bytes:
    """Return where a mutant lies in the order that samples are the beginning of."""
    return hashlib.sha256(f"{seed} {mutant_id}".encode()).digest()


def kept(every: Sequence[Judged], bar: float) -> dict[str, object]:
    """Return what the gate compares, and the score of each module."""
    modules = {name: pair for name, pair in sorted(score(every).items()) if name.endswith(".py")}
    noticed = sum(bool(one.case) for one in every)
    return {"judged": len(every), "noticed": noticed, "bar": bar, "modules": modules}


def nearest(ids: Sequence[str], module: str, likely: Sequence[str] = ()) -> list[str]:
    """Return tests in the order in which they are likely to notice, file by file.

    Those that noticed mutants nearby come first, then the files whose names share most with that of
    the module, then those most of whose tests run through the line.
    """
    rank = {test: number for number, test in enumerate(dict.fromkeys(reversed(likely)))}
    counts = Counter(test.partition("::")[0] for test in ids)
    parts = module.removeprefix("reference/lanceref/").removesuffix(".py").split("/")
    shared = {file: sum(part in file.removeprefix(TESTS) for part in parts) for file in counts}

    def key(test: str) -> tuple[int, int, int, str]:
        file = test.partition("::")[0]
        return rank.get(test, len(rank)), -shared[file], -counts[file], test

    return sorted(ids, key=key)[:MOST_TESTS]


def main() -> int:
    """Judge, and print the score; the exit code is 1 below the bar."""
    options = _options()
    options.out.mkdir(parents=True, exist_ok=True)
    lines = _lines(options.out / "lines.json", lambda: touched(ROOT))
    work, num_excused = _sample(
        every_module(ROOT) if options.all else parsers(ROOT), lines, options
    )
    print(f"{num_excused} of those drawn are equivalent: nothing can tell them from the original")
    known = _put(work, _judged, lines, options, "judged.jsonl")
    if options.all:
        living = [mutant for mutant in work if mutant.id in known and not known[mutant.id].case]
        tested = _put(living, _tested, _lines_of_tests(options), options, "tests.jsonl")
        known = {name: one for name, one in known.items() if one.case} | tested
    every = [known[mutant.id] for mutant in work if mutant.id in known]
    if options.keep:
        options.keep.write_text(json.dumps(kept(every, options.bar), indent=1) + "\n", "utf-8")
    return _conclude(every, options.bar)


def _put(
    work: Sequence[Mutant],
    judged: Callable[[Mutant, list[str]], Judged],
    lines: Lines,
    options: argparse.Namespace,
    name: str,
) -> dict[str, Judged]:
    """Put mutants to the cases or tests that touch them, and return what all said, before too."""
    known = _known(options.out / name)
    if options.again:
        known = {name: one for name, one in known.items() if one.case}
    left = [one for one in work if one.id not in known and not options.no_more]
    print(f"{len(work)} mutants, {len(work) - len(left)} judged before", flush=True)
    limit = options.seconds or math.inf
    with (
        (options.out / name).open("a", encoding="utf-8") as file,
        ProcessPoolExecutor(options.jobs, initializer=_prepare, initargs=(limit,)) as pool,
    ):
        given = [touching(mutant, lines) for mutant in left]
        for number, one in enumerate(pool.map(judged, left, given), 1):
            known[one.id] = one
            file.write(json.dumps(_entry(one)) + "\n")
            file.flush()
            if number % 50 == 0:
                print(f"{number} of {len(left)}", flush=True)
    return known


_judges: list[Judge] = []
"""The judge of a process that judges."""

_tests: list[Suite] = []
"""What puts tests to mutants there."""

_noticed: dict[str, list[str]] = defaultdict(list)
"""Cases or tests that noticed something before, by file and by function."""


def _prepare(seconds: float) -> None:
    _judges.append(Judge(ROOT, seconds))
    _tests.append(Suite(ROOT, _judges[0], seconds))


def _judged(mutant: Mutant, ids: Sequence[str]) -> Judged:
    if not ids:
        return _found(mutant, ids, Verdict())
    source = Source(ROOT, ROOT / mutant.path)
    about = _CLAUSE.findall(source.text), mutant.clauses
    likely = [*(case for some in about for case in _judges[0].naming(some)), *_near(mutant)]
    tree = mutated(source, mutant.number)
    return _found(mutant, ids, _judges[0].killer(source, tree, ordered(ids, likely)))


def _tested(mutant: Mutant, ids: Sequence[str]) -> Judged:
    source = Source(ROOT, ROOT / mutant.path)
    tree = mutated(source, mutant.number)
    tests = nearest(ids, mutant.path, _near(mutant))
    return _found(mutant, ids, _tests[0].killer(source, tree, tests))


def _near(mutant: Mutant) -> list[str]:
    return [*_noticed[mutant.path], *_noticed[f"{mutant.path}:{mutant.function}"]]


def _found(mutant: Mutant, ids: Sequence[str], verdict: Verdict) -> Judged:
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
    print(f"{named} of them are noticed by the clause that is named alone: another check refuses")
    return 0 if share >= bar else 1


def _sample(
    sources: Iterable[Source], lines: Lines, options: argparse.Namespace
) -> tuple[list[Mutant], int]:
    """Return the mutants to judge, and how many excused ones were drawn beside them."""
    drawn = [
        one
        for source in sources
        if fnmatchcase(source.name.removeprefix("reference/lanceref/"), options.only)
        for one in (mutants(source) if options.all else reachable(source, lines))
    ]
    drawn.sort(key=lambda one: place(options.seed, one.id))
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
    parser.add_argument("--seconds", type=float, help="processor time of a mutant (default: any)")
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


def _lines_of_tests(options: argparse.Namespace) -> Lines:
    """Return the lines each test runs through, folder by folder."""
    (options.out / "lines").mkdir(exist_ok=True)
    every: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for folder in folders_of_tests(ROOT):
        path = options.out / "lines" / f"{Path(folder).name}.json"
        for name, by_line in _lines(path, partial(lines_of_tests, ROOT, folder)).items():
            for line, ids in by_line.items():
                every[name][line] += ids
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

"""Order: which cases and tests run through a mutant's line, those first that are likely to notice.

touching(mutant, lines)        the cases or tests that run through its lines
topic(lines, path)             how much of a module each of them runs through
ordered(ids, likely, about)    cases in the order in which they are asked
nearest(ids, module, likely)   tests
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain

from mutant_lines import Lines
from mutant_tests import TESTS
from mutants import Mutant

MOST_TESTS = 300
"""Tests that a mutant is put to, of those that run through its line."""


def touching(mutant: Mutant, lines: Lines) -> list[str]:
    """Return the cases or tests that run through the lines of a mutant.

    What runs while modules are imported stands for all that run through the module.
    """
    by_line = lines.get(mutant.path, {})
    span = [by_line[line] for line in range(mutant.line, mutant.end_line + 1) if line in by_line]
    if span and not any(span):
        span = [*by_line.values()]
    return sorted({name for ids in span for name in ids})


def topic(lines: Lines, path: str) -> Counter[str]:
    """Return how many lines of a module each case or test runs through."""
    return Counter(chain.from_iterable(lines.get(path, {}).values()))


def ordered(
    ids: Sequence[str], likely: Sequence[str] = (), about: Mapping[str, int] | None = None
) -> list[str]:
    """Return cases in the order in which they are likely to notice.

    Likely ones come first: those that noticed mutants nearby, the last of them at the head, those
    about the clauses of the function, and those about the clauses of its module. The others take
    turns: one that runs through most lines of the module, as `about` says, and one of any, where
    names alike stand apart, and most searches, which take longest, after the rest.
    """
    first = [case for case in dict.fromkeys(reversed(likely)) if case in set(ids)]

    def anywhere(name: str) -> int:
        is_search = name.startswith("index/") and "/neg-" not in name
        return zlib.crc32(name.encode()) * (4 if is_search else 1)

    rest = sorted(set(ids).difference(first), key=anywhere)
    near = sorted(rest, key=lambda name: -(about or {}).get(name, 0))
    return list(dict.fromkeys([*first, *chain.from_iterable(zip(near, rest, strict=True))]))


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

"""Nearest campaign: both implementations find the same nearest rows, in each other's files.

Of every case a table is drawn, made by one of the two, and asked by both. Each answer is the same,
or the same but for rows as far as the last one, or told by a divergence, or a difference. At the
end there is a line for each type of index, type of numbers and metric: how many questions, how many
differ, and which share of the ten nearest rows both found.

    python -m lance_conformance.campaigns.nearest --seed 3 --out build/nearest.jsonl
    python -m lance_conformance.campaigns.nearest --only 'IVF_PQ/dot/*' --keep build/nearest
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from random import Random

from lance_conformance.campaigns.nearest.cases import cases
from lance_conformance.campaigns.nearest.running import Outcome, run_all

LEAST_AGREEMENT = 0.97
"""Which share of the ten nearest rows both must find."""


def report(outcomes: Iterable[Outcome]) -> int:
    """Print differences and the table; return the exit code."""
    cells: dict[str, list[Outcome]] = defaultdict(list)
    words: Counter[str] = Counter()
    num_cases = without = wrong = 0
    for one in outcomes:
        type_, metric, element, *_ = one.case.split("/")
        cells[f"{type_:14} {element:5} {metric:8}"].append(one)
        words.update(one.words)
        words.update(one.steps)
        num_cases, without = num_cases + 1, without + bool(one.no_index)
        wrong += len(one.differences)
        for difference in one.differences:
            print(f"DIFFERENCE {one.case}, seed {one.seed}: {difference}")
    print(f"{'index':14} {'of':5} {'metric':8} tables  asked differ  alike")
    apart = [name for name, some in sorted(cells.items()) if not _line(name, some)]
    print(f"{num_cases} cases, {without} have no index; {sum(words.values())} verdicts:")
    for word, count in sorted(words.items()):
        print(f"    {word} {count}")
    for name in apart:
        print(f"{name}: fewer than {LEAST_AGREEMENT:.0%} of the rows are the same")
    return 1 if apart or wrong else 0


def _line(name: str, some: list[Outcome]) -> bool:
    """Print the line of a type, numbers and metric; return whether enough rows are the same."""
    asked, answered = sum(one.asked for one in some), sum(one.answered for one in some)
    if not asked:
        return True
    alike = sum(one.alike for one in some) / answered if answered else 1.0
    tables = sum(one.asked > 0 for one in some)
    differ = sum(len(one.differences) for one in some)
    print(f"{name} {tables:6} {asked:6} {differ:6} {alike:6.4f}")
    return alike >= LEAST_AGREEMENT


def main() -> int:
    """Run the campaign of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sample", type=int, help="so many cases, drawn by the seed")
    parser.add_argument("--only", default="*", help="pattern of names of cases, as IVF_PQ/dot/*")
    parser.add_argument("--questions", type=int, default=6, help="to each table")
    parser.add_argument("--out", type=Path, help="progress file (JSON lines), resumed")
    parser.add_argument("--keep", type=Path, help="folder for tables whose answers differ")
    given = parser.parse_args()
    chosen = [case for case in cases() if fnmatchcase(case.name, given.only)]
    Random(given.seed).shuffle(chosen)
    return report(
        run_all(chosen[: given.sample], given.seed, given.questions, given.out, given.keep)
    )


if __name__ == "__main__":
    sys.exit(main())

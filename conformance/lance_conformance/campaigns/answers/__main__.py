"""Answers campaign: each type of index over each type of values, asked the same by both.

`save` needs the oracle: of every subject it writes two tables, gives one an index by the oracle and
the other one by the reference, asks random conditions, with the indices and without, and keeps what
it found. `find` runs where the oracle is not installed: the reference answers from the same files.

    python -m lance_conformance.campaigns.answers save --folder build/answers --questions 200
    python -m lance_conformance.campaigns.answers find --folder build/answers
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path

from lance_conformance.campaigns.answers.finding import Score, find_both
from lance_conformance.campaigns.answers.subjects import subjects


def report(scores: Iterable[tuple[str, dict[str, Score]]]) -> int:
    """Print a line for each table, and what is wrong; return how many answers are."""
    wrong = total = 0
    print(f"{'subject':30} {'index':6} {'asked':>5} {'by index':>8} {'data read':>10}")
    for name, both in scores:
        for maker, score in both.items():
            share = score.data_bytes / score.scan_bytes if score.scan_bytes else 0.0
            print(f"{name:30} {maker:6} {score.asked:5} {score.by_index:8} {share:10.1%}")
            for line in score.wrong[:3]:
                print(f"    {line}")
            wrong += len(score.wrong)
            total += score.asked
    print(f"{total} questions, {wrong} answered wrongly")
    return wrong


def main() -> None:
    """Save or find; exit code 1 when an answer is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=("save", "find"))
    parser.add_argument("--folder", type=Path, default=Path("build/answers"))
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="part of the names of subjects")
    given = parser.parse_args()
    names = [one.name for one in subjects() if given.only in one.name]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        if given.what == "save":
            from lance_conformance.campaigns.answers.saving import save_once

            work = partial(save_once, folder=given.folder, seed=given.seed, count=given.questions)
            for name, told in zip(names, pool.map(work, names), strict=True):
                print(f"{name:30} {told}", flush=True)
            return
        print("pylance is installed" if find_spec("lance") else "pylance is not installed")
        scores = zip(names, pool.map(partial(find_both, folder=given.folder), names), strict=True)
        raise SystemExit(1 if report(scores) else 0)


if __name__ == "__main__":
    main()

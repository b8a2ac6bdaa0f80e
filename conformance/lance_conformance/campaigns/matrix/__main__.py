"""Version matrix, the campaign: every release, every format it knows, every history.

    python -m lance_conformance.campaigns.matrix --release 0.20.0 --only 'type:*' --out matrix.json

Verdicts are appended to a file while it runs; one that is there is not asked again.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from fnmatch import fnmatch
from pathlib import Path

from lance_conformance.campaigns.matrix.histories import History, all_histories
from lance_conformance.campaigns.matrix.judging import DIFFERS, Judge, Verdict
from lance_conformance.campaigns.matrix.report import show
from lance_conformance.matrix.wheels import Wheel, cache, interpreter, reference
from lance_conformance.oracle import RELEASE, RELEASES


def measure(
    releases: list[str], formats: list[str], histories: list[History], done: list[Verdict]
) -> Iterator[Verdict]:
    """Yield the verdicts that are not yet there; no formats: all that a release knows."""
    known = {(one.release, one.format, one.history) for one in done}
    ours, oracle = reference(), Wheel(RELEASE, interpreter(RELEASE, cache()))
    for release in releases:
        wheel = oracle if release == RELEASE else Wheel(release, interpreter(release, cache()))
        with tempfile.TemporaryDirectory() as name:
            about = wheel.ask("about", folder=name)
            judge = Judge(wheel, ours, oracle, Path(name), v2_names=about["v2_names"])
            for format_ in formats or ["default", *about["formats"]]:
                for history in histories:
                    if (release, format_, history.name) not in known:
                        chosen = None if format_ == "default" else format_
                        yield from judge.history(history, chosen)
        wheel.close()
    ours.close()
    oracle.close()


def main() -> int:
    """Run the matrix and print it; 1 when something differs that nobody excuses."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--release", action="append", choices=RELEASES, help="default: all")
    parser.add_argument("--format", action="append", help="default: all that the release knows")
    parser.add_argument("--only", default="*", help="pattern of names of histories")
    parser.add_argument("--out", type=Path, default=Path("matrix.jsonl"), help="file of verdicts")
    asked = parser.parse_args()
    done = _verdicts(asked.out)
    histories = [one for one in all_histories() if fnmatch(one.name, asked.only)]
    with asked.out.open("a", encoding="utf-8") as out:
        for verdict in measure(
            asked.release or list(RELEASES), asked.format or [], histories, done
        ):
            out.write(json.dumps(asdict(verdict)) + "\n")
            out.flush()
            done.append(verdict)
            if verdict.outcome == DIFFERS:
                print(*_line(verdict), sep="\n", file=sys.stderr)
    show(done)
    return int(any(verdict.outcome == DIFFERS for verdict in done))


def _line(verdict: Verdict) -> Iterator[str]:
    yield f"{verdict.release} {verdict.format} {verdict.history}: {verdict.direction}"
    yield from (f"    {text}" for text in verdict.told[:6])


def _verdicts(path: Path) -> list[Verdict]:
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    return [Verdict(**{**one, "told": tuple(one["told"])}) for one in found]


if __name__ == "__main__":
    sys.exit(main())

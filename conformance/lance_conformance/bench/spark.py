"""Spark: what a pipeline costs before its work and for each task, and what a second slot brings.

Each number of slots is measured in a process of its own. Small work in one task and in many gives
the fixed cost and that of a task. Then so many tasks that one slot is busy for the seconds that are
asked for; the median of the rounds counts, and with it how much sooner two slots are done. `cores`
says how many processors the session, its JVM and its workers kept busy: a second slot can use no
more than what the first leaves free. `plain` is how much more two processes do than one without
Spark; divided by what one slot keeps busy it is the `bound` of the ratio on this machine.

    python -m lance_conformance.bench.spark --seconds 24 --rounds 3
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from lanceref_spark.session import make_session

from lance_conformance.bench.spark_plain import scaling
from lance_conformance.bench.spark_work import LARGE_ROWS, PIPELINES, SMALL_ROWS, Pipeline

MODULE = "lance_conformance.bench.spark"
"""What a process of its own runs."""

GOAL = 1.7
"""How much sooner two slots are to be done."""

JUDGED = ("validate", "index", "write")
"""Pipelines that the goal is for."""

MANY = 16
"""Tasks of small work that give the cost of one."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds before the work and for each task, and those of work in `tasks` tasks.

    `cores` is the number of processors that were busy with this work.
    """

    pipeline: str
    slots: int
    fixed: float
    task: float
    tasks: int
    seconds: float
    cores: float


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Return how long something takes, and the processors it keeps busy."""
    start, used = time.perf_counter(), processor_seconds()
    work()
    took = time.perf_counter() - start
    return took, (processor_seconds() - used) / took


def processor_seconds() -> float:
    """Return what this process, all below it and the dead that they waited for have used."""
    parents: dict[int, list[int]] = {}
    used: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended meanwhile
            fields = path.read_text("utf-8").rpartition(")")[2].split()
            own = int(path.parent.name)
            parents.setdefault(int(fields[1]), []).append(own)
            used[own] = sum(map(int, fields[11:15]))
    below = [os.getpid()]
    for one in below:
        below += parents.get(one, [])
    return sum(used.get(one, 0) for one in below) / os.sysconf("SC_CLK_TCK")


def measure(
    names: Sequence[str], slots: int, tasks: dict[str, int], seconds: float, rounds: int
) -> list[Cost]:
    """Measure pipelines on so many slots; one without a number of tasks gets what takes so long."""
    session = make_session(f"local[{slots}]")
    session.sparkContext.setLogLevel("OFF")
    costs = []
    for name in names:
        pipeline = PIPELINES[name]

        def median(
            count: int, rows: int, times: int = rounds, pipeline: Pipeline = pipeline
        ) -> tuple[float, float]:
            with tempfile.TemporaryDirectory() as folder:
                pipeline.prepare(Path(folder), count, rows)
                took = [
                    timed(lambda: pipeline.run(session, Path(folder), count, rows))
                    for _ in range(times)
                ]
            seconds, cores = zip(*took, strict=True)
            return statistics.median(seconds), statistics.median(cores)

        median(2 * slots, LARGE_ROWS, 1)  # imports, and what the JVM compiles
        (one, _), (many, _) = median(1, SMALL_ROWS), median(MANY, SMALL_ROWS)
        each = max(0.0, many - one) / (MANY - 1)
        count = tasks.get(name) or _enough(seconds, lambda count: median(count, LARGE_ROWS, 1)[0])
        costs.append(
            Cost(name, slots, max(0.0, one - each), each, count, *median(count, LARGE_ROWS))
        )
    session.stop()
    return costs


def _enough(seconds: float, measured: Callable[[int], float]) -> int:
    """Return how many tasks keep one slot busy for so long, measured on 2 and then on more."""
    count = 2
    for _ in range(2):
        count = tasks_for(seconds, measured(count) / count)
    return count


def tasks_for(seconds: float, each: float) -> int:
    """Return an even number of tasks that keep one slot busy for so long."""
    return max(2, 2 * round(seconds / each / 2))


def table(ones: Sequence[Cost], twos: Sequence[Cost], plain: Sequence[float]) -> list[str]:
    """Return the lines that are printed."""
    lines = ["pipeline fixed task ms tasks  1 slot cores 2 slots cores plain bound ratio"]
    for one, two, more in zip(ones, twos, plain, strict=True):
        ratio, bound = one.seconds / two.seconds, more / max(1.0, one.cores)
        verdict = "" if one.pipeline not in JUDGED else ("ok" if ratio >= GOAL else "below")
        lines.append(
            f"{one.pipeline:<8} {one.fixed:5.2f} {1000 * one.task:7.1f} {one.tasks:5} "
            f"{one.seconds:7.1f} {one.cores:5.2f} {two.seconds:7.1f} {two.cores:5.2f} "
            f"{more:5.2f} {bound:5.2f} {ratio:5.2f} {verdict}".rstrip()
        )
    return lines


def _apart(
    names: Sequence[str], slots: int, tasks: dict[str, int], seconds: float, rounds: int
) -> list[Cost]:
    """Measure in a process of its own."""
    told = [*names, "--slots", str(slots), "--tasks", json.dumps(tasks)]
    told += ["--seconds", str(seconds), "--rounds", str(rounds)]
    command = [sys.executable, "-W", "ignore", "-m", MODULE, *told]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return [Cost(**one) for one in json.loads(done.stdout.splitlines()[-1])]


def main() -> None:
    """Measure every pipeline, or those that are named, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pipelines", nargs="*", default=list(PIPELINES))
    parser.add_argument("--seconds", type=float, default=24.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--slots", type=int, help="measure only here, and print JSON")
    parser.add_argument("--tasks", type=json.loads, default={}, help="of each pipeline, as JSON")
    given = parser.parse_args()
    names = list(given.pipelines)
    if given.slots:
        costs = measure(names, given.slots, given.tasks, given.seconds, given.rounds)
        print(json.dumps([asdict(one) for one in costs]))
        return
    ones = _apart(names, 1, {}, given.seconds, given.rounds)
    same = {one.pipeline: one.tasks for one in ones}
    twos = _apart(names, 2, same, given.seconds, given.rounds)
    plain = [scaling(name, given.seconds / 5, given.rounds) for name in names]
    print("\n".join(table(ones, twos, plain)))


if __name__ == "__main__":
    main()

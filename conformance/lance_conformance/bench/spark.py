"""Spark: the fixed cost of a pipeline, its cost per task, and the speedup by a second slot.

Each number of slots is measured in a subprocess. Small work in one task and in many determines the
fixed cost and the cost per task. Then the number of tasks keeps one slot busy for `--seconds`; the
result is the median of the rounds, and the speedup by two slots. `cores` is the number of busy
processors of the session, its JVM and its workers, which limits the speedup. `plain` is the speedup
by two processes without Spark; divided by `cores` of one slot it is the `bound` of the ratio.

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
"""Module that subprocesses run."""

GOAL = 1.7
"""Required speedup by two slots."""

JUDGED = ("validate", "index", "write")
"""Pipelines with the goal."""

MANY = 16
"""Tasks of small work from which the cost per task is computed."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Fixed seconds, seconds per task, and seconds of work in `tasks` tasks.

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
    """Return the seconds of a function, and the number of processors that it keeps busy."""
    start, used = time.perf_counter(), processor_seconds()
    work()
    seconds = time.perf_counter() - start
    return seconds, (processor_seconds() - used) / seconds


def processor_seconds() -> float:
    """Return the processor seconds of this process and its descendants, also of ended ones."""
    parents: dict[int, list[int]] = {}
    used: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # the process has ended
            fields = path.read_text("utf-8").rpartition(")")[2].split()
            pid = int(path.parent.name)
            parents.setdefault(int(fields[1]), []).append(pid)
            used[pid] = sum(map(int, fields[11:15]))
    pids = [os.getpid()]
    for pid in pids:
        pids += parents.get(pid, [])
    return sum(used.get(pid, 0) for pid in pids) / os.sysconf("SC_CLK_TCK")


def measure(
    names: Sequence[str], slots: int, tasks: dict[str, int], seconds: float, rounds: int
) -> list[Cost]:
    """Measure pipelines on `slots` slots; missing numbers of tasks follow from `seconds`."""
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
                timings = [
                    timed(lambda: pipeline.run(session, Path(folder), count, rows))
                    for _ in range(times)
                ]
            seconds, cores = zip(*timings, strict=True)
            return statistics.median(seconds), statistics.median(cores)

        median(2 * slots, LARGE_ROWS, 1)  # imports modules, and warms up the JVM
        (one, _), (many, _) = median(1, SMALL_ROWS), median(MANY, SMALL_ROWS)
        each = max(0.0, many - one) / (MANY - 1)
        count = tasks.get(name) or _tasks_of(seconds, lambda n: median(n, LARGE_ROWS, 1)[0])
        costs.append(
            Cost(name, slots, max(0.0, one - each), each, count, *median(count, LARGE_ROWS))
        )
    session.stop()
    return costs


def _tasks_of(seconds: float, measure: Callable[[int], float]) -> int:
    """Return the number of tasks that keep one slot busy for `seconds`, from two measurements."""
    count = 2
    for _ in range(2):
        count = tasks_for(seconds, measure(count) / count)
    return count


def tasks_for(seconds: float, each: float) -> int:
    """Return an even number of tasks of `each` seconds that keep one slot busy for `seconds`."""
    return max(2, 2 * round(seconds / each / 2))


def table(ones: Sequence[Cost], twos: Sequence[Cost], plain: Sequence[float]) -> list[str]:
    """Return the lines of the printed table."""
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


def _measure_in_subprocess(
    names: Sequence[str], slots: int, tasks: dict[str, int], seconds: float, rounds: int
) -> list[Cost]:
    """Measure in a subprocess."""
    arguments = [*names, "--slots", str(slots), "--tasks", json.dumps(tasks)]
    arguments += ["--seconds", str(seconds), "--rounds", str(rounds)]
    command = [sys.executable, "-W", "ignore", "-m", MODULE, *arguments]
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return [Cost(**one) for one in json.loads(result.stdout.splitlines()[-1])]


def main() -> None:
    """Measure all pipelines, or the options ones, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pipelines", nargs="*", default=list(PIPELINES))
    parser.add_argument("--seconds", type=float, default=24.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--slots", type=int, help="measure in this process, and print JSON")
    parser.add_argument("--tasks", type=json.loads, default={}, help="number by pipeline, as JSON")
    options = parser.parse_args()
    names = list(options.pipelines)
    if options.slots:
        costs = measure(names, options.slots, options.tasks, options.seconds, options.rounds)
        print(json.dumps([asdict(one) for one in costs]))
        return
    ones = _measure_in_subprocess(names, 1, {}, options.seconds, options.rounds)
    same = {one.pipeline: one.tasks for one in ones}
    twos = _measure_in_subprocess(names, 2, same, options.seconds, options.rounds)
    plain = [scaling(name, options.seconds / 5, options.rounds) for name in names]
    print("\n".join(table(ones, twos, plain)))


if __name__ == "__main__":
    main()

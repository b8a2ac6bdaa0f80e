"""Executors by the values of `--executor`, with a progress bar on a terminal."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec

from lanceref.core.errors import ExtraMissing
from lanceref_spark.jobs import Executor, Job, Loop, Processes, Result, Shared
from rich.console import Console
from rich.progress import track


class ExecutorKind(StrEnum):
    """Where the jobs run."""

    LOOP = "loop"
    PROCESS = "process"
    SPARK = "spark"


@dataclass(frozen=True, slots=True)
class WithProgress:
    """An executor with a progress bar on a terminal."""

    inner: Executor
    label: str

    def map(
        self, run: Callable[[Job, Shared], Result], jobs: Sequence[Job], shared: Shared
    ) -> Iterator[Result]:
        """Yield the results in the order of the jobs."""
        console = Console(stderr=True)
        results = self.inner.map(run, jobs, shared)
        yield from track(
            results, self.label, len(jobs), console=console, disable=not console.is_terminal
        )


def create_executor(choice: ExecutorKind | None, master: str | None, label: str) -> Executor:
    """Return the executor of the options; a master alone implies Spark.

    Raises ExtraMissing where Spark cannot run.
    """
    if choice is None:
        choice = ExecutorKind.LOOP if master is None else ExecutorKind.SPARK
    if choice is ExecutorKind.SPARK:
        return _spark_executor(master or "local[*]")
    return WithProgress(Loop() if choice is ExecutorKind.LOOP else Processes(), label)


def _spark_executor(master: str) -> Executor:
    """Start Spark, with its own progress bar on a terminal."""
    if find_spec("pyspark") is None:
        raise ExtraMissing("Spark is missing: pip install 'lance-conformance[spark]'")
    if shutil.which("java") is None:
        raise ExtraMissing("Spark needs Java 17 or 21: apt-get install openjdk-17-jre-headless")
    from lanceref_spark.executor import Tasks
    from lanceref_spark.session import make_session

    shown = "true" if sys.stderr.isatty() else "false"
    return Tasks(make_session(master, spark_ui_showConsoleProgress=shown))

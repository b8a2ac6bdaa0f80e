"""Executor: runs each job as one task of Spark.

A `LanceError` of a job is returned and raised in the driver; Spark retries tasks with other errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from lanceref.core.errors import LanceError
from pyspark.sql import SparkSession

from lanceref_spark.jobs import Job, Result, Shared


class Tasks:
    """Runs jobs as tasks of a session, and broadcasts `shared` once."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session

    def map(
        self, run: Callable[[Job, Shared], Result], jobs: Sequence[Job], shared: Shared
    ) -> Iterator[Result]:
        """Yield the results in the order of the jobs. Raises the first LanceError."""
        if not jobs:
            return
        context = self._session.sparkContext
        sent = context.broadcast(shared)

        def guarded(job: Job) -> Result | LanceError:
            try:
                return run(job, sent.value)
            except LanceError as error:
                return error

        try:
            for result in context.parallelize(jobs, len(jobs)).map(guarded).collect():
                if isinstance(result, LanceError):
                    raise result
                yield result
        finally:
            sent.unpersist()

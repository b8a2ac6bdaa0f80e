"""A source whose tasks fail as a schedule says: for tests of what a failed attempt leaves."""

import json
import os
import signal
from functools import cached_property

from lanceref.spark.options import parse
from lanceref.spark.source import LanceDataSource
from lanceref.spark.writing import TableWriter
from pyspark import TaskContext

FAULTS = ("ok", "before", "after", "kill before", "kill after")
"""What an attempt does: all well, or its end before or after its files are written."""


class FaultySource(LanceDataSource):
    """Writes as the option `schedule` says: a list of faults by partition, one for each attempt."""

    @classmethod
    def name(cls):
        return "faulty"

    @cached_property
    def parsed(self):
        return parse({k: v for k, v in self.options.items() if k.lower() != "schedule"})

    def writer(self, schema, overwrite):
        return FaultyWriter(self.parsed, schema, overwrite, json.loads(self.options["schedule"]))


class FaultyWriter(TableWriter):
    """Fails in `write`, before or behind what the writer does."""

    def __init__(self, options, schema, overwrite, schedule):
        super().__init__(options, schema, overwrite)
        self._schedule = schedule

    def write(self, iterator):
        context = TaskContext.get()
        faults = self._schedule.get(str(context.partitionId()), [])
        attempt = context.attemptNumber()
        fault = faults[attempt] if attempt < len(faults) else "ok"
        if fault.endswith("before"):
            _fail(fault)
        message = super().write(iterator)
        if fault.endswith("after"):
            _fail(fault)
        return message


def _fail(fault):
    if fault.startswith("kill"):
        os.kill(os.getpid(), signal.SIGKILL)
    raise RuntimeError(f"fault: {fault}")

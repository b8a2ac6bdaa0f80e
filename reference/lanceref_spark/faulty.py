"""Faults: a source whose tasks fail as a schedule says, for tests of what failed attempts leave.

A schedule names for each partition what its attempts do, one after the other; what it does not name
goes well. With the option `journal`, a folder, every attempt writes there that it began and, after
its files, which they are: what a version does not name must be among them, or be the one file that
a killed attempt was writing.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import pyarrow as pa
from pylanceref.metadata import FragmentMetadata
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from lanceref_spark.options import Options, parse
from lanceref_spark.source import LanceDataSource
from lanceref_spark.writing import Fragments, TableWriter

FAULTS = ("ok", "before", "after", "kill before", "kill after")
"""What an attempt does: all well, or its end before or after its files are written."""

Schedule = Mapping[str, Sequence[str]]
"""Faults of the attempts, by the number of the partition."""


class FaultySource(LanceDataSource):
    """Writes as the option `schedule`, a JSON text, says."""

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return "faulty"

    @cached_property
    def parsed(self) -> Options:
        """The options of the save, without those of the faults."""
        own = ("schedule", "journal")
        return parse({k: v for k, v in self.options.items() if k.lower() not in own})

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceArrowWriter:
        """Return what writes rows and fails."""
        schedule = json.loads(self.options["schedule"])
        journal = self.options.get("journal")
        return FaultyWriter(self.parsed, schema, overwrite, schedule, journal)


class FaultyWriter(TableWriter):
    """Fails in `write`, before or after what the writer does."""

    def __init__(
        self,
        options: Options,
        schema: StructType,
        overwrite: bool,
        schedule: Schedule,
        journal: str | None,
    ) -> None:
        super().__init__(options, schema, overwrite)
        self._schedule = schedule
        self._journal = None if journal is None else Path(journal)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """Write the rows of a task, unless the attempt fails before."""
        context = TaskContext.get()
        faults = self._schedule.get(str(context.partitionId()), ())
        attempt = context.attemptNumber()
        fault = faults[attempt] if attempt < len(faults) else "ok"
        self._note("began", [])
        if fault.endswith("before"):
            _fail(fault)
        message = super().write(iterator)
        assert isinstance(message, Fragments)
        made = (FragmentMetadata.from_json(text) for text in message.fragments)
        self._note("wrote", [file.path for one in made for file in one.files])
        if fault.endswith("after"):
            _fail(fault)
        return message

    def _note(self, what: str, paths: list[str]) -> None:
        if self._journal is not None:
            name = f"{TaskContext.get().taskAttemptId()}.{what}"
            Path(self._journal, name).write_text(json.dumps(paths), encoding="utf-8")


def unexpected(orphans: set[str], named: set[str], journal: Path) -> list[str]:
    """Tell of orphans that no attempt can have left, and of files that should be there."""
    wrote = {path.stem: set(json.loads(path.read_text())) for path in journal.glob("*.wrote")}
    began = {path.stem for path in journal.glob("*.began")}
    told = set[str]().union(*wrote.values())
    untold = orphans - told
    wrong = [f"lost: {name}" for name in sorted(told - named - orphans)]
    if len(untold) > len(began - wrote.keys()):
        wrong.append(f"files of nobody: {sorted(untold)}")
    return wrong


def _fail(fault: str) -> None:
    if fault.startswith("kill"):
        os.kill(os.getpid(), signal.SIGKILL)
    raise RuntimeError(f"fault: {fault}")

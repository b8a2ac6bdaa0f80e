"""Faulty source: a data source whose tasks fail by a schedule, for tests of failed attempts.

A schedule lists for each partition the faults of its attempts; other attempts succeed. With the
option `journal`, a folder, every attempt records its start and then its files. Files that no
version references must be among those, or be the one file that a killed attempt was writing.
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
"""Faults of an attempt: none, or its failure before or after it writes files."""

Schedule = Mapping[str, Sequence[str]]
"""Faults of the attempts, by the number of the partition."""


class FaultySource(LanceDataSource):
    """Writes with the faults of the option `schedule`, a JSON text."""

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return "faulty"

    @cached_property
    def parsed(self) -> Options:
        """The options of the save, without those of the faults."""
        excluded = ("schedule", "journal")
        return parse({k: v for k, v in self.options.items() if k.lower() not in excluded})

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceArrowWriter:
        """Return a writer with faults."""
        schedule = json.loads(self.options["schedule"])
        journal = self.options.get("journal")
        return FaultyWriter(self.parsed, schema, overwrite, schedule, journal)


class FaultyWriter(TableWriter):
    """Fails in `write`, before or after the rows are written."""

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
        """Write the rows of a task, with the fault of its attempt."""
        context = TaskContext.get()
        faults = self._schedule.get(str(context.partitionId()), ())
        attempt = context.attemptNumber()
        fault = faults[attempt] if attempt < len(faults) else "ok"
        self._record("began", [])
        if fault.endswith("before"):
            _fail(fault)
        message = super().write(iterator)
        assert isinstance(message, Fragments)
        fragments = (FragmentMetadata.from_json(text) for text in message.fragments)
        self._record("wrote", [file.path for one in fragments for file in one.files])
        if fault.endswith("after"):
            _fail(fault)
        return message

    def _record(self, event: str, paths: list[str]) -> None:
        if self._journal is not None:
            name = f"{TaskContext.get().taskAttemptId()}.{event}"
            Path(self._journal, name).write_text(json.dumps(paths), encoding="utf-8")


def journal_errors(orphans: set[str], named: set[str], journal: Path) -> list[str]:
    """Return orphans that no attempt can have written, and missing files."""
    wrote = {path.stem: set(json.loads(path.read_text())) for path in journal.glob("*.wrote")}
    began = {path.stem for path in journal.glob("*.began")}
    recorded = set[str]().union(*wrote.values())
    unrecorded = orphans - recorded
    errors = [f"lost: {name}" for name in sorted(recorded - named - orphans)]
    if len(unrecorded) > len(began - wrote.keys()):
        errors.append(f"files of no attempt: {sorted(unrecorded)}")
    return errors


def _fail(fault: str) -> None:
    if fault.startswith("kill"):
        os.kill(os.getpid(), signal.SIGKILL)
    raise RuntimeError(f"fault: {fault}")

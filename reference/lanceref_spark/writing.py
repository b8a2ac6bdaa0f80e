"""Writing: a data frame becomes one version of a table.

Tasks write data files with unique names, and return fragments, which a single commit adds to the
table. The transaction id is drawn before the first task, and the commit checks that no version has
it, so that a repeated commit has no effect. Files of failed attempts are not part of the table; a
cleanup removes them as any unreferenced file.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from uuid import uuid4

import pyarrow as pa
import pylanceref
from lanceref.core.errors import NotFound, SchemaRefused
from pylanceref.metadata import FragmentMetadata
from pylanceref.operation import LanceOperation, Transaction
from pylanceref.write import write_files
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from lanceref_spark.batches import fit_batch
from lanceref_spark.options import Options
from lanceref_spark.types import arrow_schema

LOG = logging.getLogger("lanceref_spark")


@dataclass
class Fragments(WriterCommitMessage):
    """The result of a task: fragments as JSON, the attempt, and the id of the streaming query."""

    fragments: tuple[str, ...]
    partition: int
    attempt: int
    query: str | None = None


@dataclass(frozen=True, slots=True)
class WriteTarget:
    """The table of a write: its version (None: there is no table), and the schema of rows."""

    options: Options
    read_version: int | None
    schema: pa.Schema
    overwrite: bool

    @property
    def appends(self) -> bool:
        """Whether rows are appended to a table."""
        return self.read_version is not None and not self.overwrite


def open_target(options: Options, schema: StructType, overwrite: bool) -> WriteTarget:
    """Open the table of a write, before the first task.

    Raises SchemaRefused for columns that the table does not have.
    """
    rows = arrow_schema(schema)
    try:
        table = pylanceref.dataset(options.uri, storage_options=options.storage_options)
    except NotFound:
        return WriteTarget(options, None, rows, overwrite)
    if overwrite:
        return WriteTarget(options, table.version, rows, True)
    unknown = [name for name in rows.names if name not in table.schema.names]
    if unknown:
        raise SchemaRefused(f"the table at {options.uri} has no columns {', '.join(unknown)}")
    chosen = pa.schema([table.schema.field(name) for name in rows.names])
    return WriteTarget(options, table.version, chosen, False)


def write_task(target: WriteTarget, batches: Iterator[pa.RecordBatch]) -> Fragments:
    """Write the rows of a task to data files, in the types of the table; none without rows."""
    context = TaskContext.get()
    partition = 0 if context is None else context.partitionId()
    attempt = 0 if context is None else context.attemptNumber()
    query = None if context is None else context.getLocalProperty("sql.streaming.queryId")
    rows = (fit_batch(batch, target.schema) for batch in batches if batch.num_rows)
    first = next(rows, None)
    if first is None:
        return Fragments((), partition, attempt, query)
    _, (*_, new) = write_files(
        chain([first], rows),
        target.options.uri,
        target.schema,
        mode="append" if target.appends else "overwrite",
        storage_options=target.options.storage_options,
        **_file_options(target.options),  # type: ignore[arg-type]
    )
    fragments = map(FragmentMetadata.from_message, new.fragments)
    texts = tuple(json.dumps(one.to_json()) for one in fragments)
    return Fragments(texts, partition, attempt, query)


def _file_options(options: Options) -> dict[str, object]:
    return {k: v for k, v in options.files.items() if k != "enable_stable_row_ids"}


def commit(
    target: WriteTarget, messages: Sequence[Fragments], uuid: str, properties: dict[str, str]
) -> int:
    """Commit the fragments of tasks, in the order of their partitions; return the version.

    A version that already has the transaction is returned: any version if the caller gave the id,
    else one since the target was opened. Raises CommitConflict.
    """
    options = target.options
    since = None if options.transaction_id else target.read_version
    existing = find_version(options, since, lambda one: one.uuid == uuid)
    if existing is not None:
        return existing
    ordered = sorted(messages, key=lambda message: message.partition)
    fragments = [FragmentMetadata.from_json(text) for one in ordered for text in one.fragments]
    operation: object
    if target.appends:
        operation = LanceOperation.Append(fragments)
    else:
        operation = LanceOperation.Overwrite(target.schema, fragments)
    transaction = Transaction(
        target.read_version or 0, operation, uuid=uuid, transaction_properties=properties
    )
    stable = bool(options.files.get("enable_stable_row_ids", False))
    committed: pylanceref.LanceDataset = pylanceref.LanceDataset.commit(
        options.uri,
        transaction,
        storage_options=options.storage_options,
        enable_stable_row_ids=stable or None,
    )
    return committed.version


def find_version(
    options: Options, since: int | None, matches: Callable[[Transaction], bool]
) -> int | None:
    """Return the latest version after `since` whose transaction matches, or None."""
    try:
        table = pylanceref.dataset(options.uri, storage_options=options.storage_options)
    except NotFound:
        return None
    for entry in reversed(table.version_refs()):
        if entry["version"] <= (since or 0):
            break
        transaction = table.read_transaction(entry["version"])
        if transaction is not None and matches(transaction):
            return entry["version"]
    return None


class TableWriter(DataSourceArrowWriter):
    """Writes a data frame as one version."""

    def __init__(self, options: Options, schema: StructType, overwrite: bool) -> None:
        self._target = open_target(options, schema, overwrite)
        self._uuid = options.transaction_id or str(uuid4())

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """Write the rows of a task."""
        return write_task(self._target, iterator)

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Commit the rows of all tasks as a version."""
        version = commit(self._target, fragments_of(messages), self._uuid, {})
        uri = self._target.options.uri
        LOG.info("transaction %s is version %d of %s", self._uuid, version, uri)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Keep all files: Spark also aborts after a commit of unknown outcome."""
        report_orphans(self._target, fragments_of(messages))


def fragments_of(messages: Sequence[WriterCommitMessage | None]) -> list[Fragments]:
    """Return the results of the tasks that succeeded."""
    return [one for one in messages if isinstance(one, Fragments)]


def report_orphans(target: WriteTarget, messages: Sequence[Fragments]) -> None:
    """Log the files that may be unreferenced; a cleanup removes them once they are old."""
    for message in messages:
        for text in message.fragments:
            paths = [file.path for file in FragmentMetadata.from_json(text).files]
            LOG.warning("not committed to %s: %s", target.options.uri, ", ".join(paths))

"""Writing: rows of a data frame become one version of a table.

Tasks only write data files, under names of their own, and hand over fragments; the one commit at
the end makes them rows of the table. The id of its transaction is drawn before any task begins, and
a commit looks first whether a version has it already, so that saying it twice commits once. What a
failed attempt leaves is no part of the table, and ages out like any file that no version names.
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

from lanceref_spark.batches import fitted
from lanceref_spark.options import Options
from lanceref_spark.types import arrow_schema

LOG = logging.getLogger("lanceref_spark")


@dataclass
class Fragments(WriterCommitMessage):
    """What a task wrote: fragments as JSON, which attempt it was, and of which streaming query."""

    fragments: tuple[str, ...]
    partition: int
    attempt: int
    query: str | None = None


@dataclass(frozen=True, slots=True)
class Aim:
    """The version that was found (None: there is no table), and the schema of what is written."""

    options: Options
    read_version: int | None
    schema: pa.Schema
    overwrite: bool

    @property
    def appends(self) -> bool:
        """Whether rows go after those of a table."""
        return self.read_version is not None and not self.overwrite


def aim(options: Options, schema: StructType, overwrite: bool) -> Aim:
    """Look at what lies at the path, before any task begins.

    Raises SchemaRefused for columns that are not those of the table.
    """
    given = arrow_schema(schema)
    try:
        table = pylanceref.dataset(options.uri, storage_options=options.storage_options)
    except NotFound:
        return Aim(options, None, given, overwrite)
    if overwrite:
        return Aim(options, table.version, given, True)
    unknown = [name for name in given.names if name not in table.schema.names]
    if unknown:
        raise SchemaRefused(f"the table at {options.uri} has no columns {', '.join(unknown)}")
    chosen = pa.schema([table.schema.field(name) for name in given.names])
    return Aim(options, table.version, chosen, False)


def write_task(aimed: Aim, batches: Iterator[pa.RecordBatch]) -> Fragments:
    """Write the rows of a task as data files, in the types of the table. Empty tasks write none."""
    context = TaskContext.get()
    partition = 0 if context is None else context.partitionId()
    attempt = 0 if context is None else context.attemptNumber()
    query = None if context is None else context.getLocalProperty("sql.streaming.queryId")
    rows = (fitted(batch, aimed.schema) for batch in batches if batch.num_rows)
    first = next(rows, None)
    if first is None:
        return Fragments((), partition, attempt, query)
    _, (*_, new) = write_files(
        chain([first], rows),
        aimed.options.uri,
        aimed.schema,
        mode="append" if aimed.appends else "overwrite",
        storage_options=aimed.options.storage_options,
        **_file_options(aimed.options),  # type: ignore[arg-type]
    )
    made = map(FragmentMetadata.from_message, new.fragments)
    texts = tuple(json.dumps(one.to_json()) for one in made)
    return Fragments(texts, partition, attempt, query)


def _file_options(options: Options) -> dict[str, object]:
    return {k: v for k, v in options.files.items() if k != "enable_stable_row_ids"}


def commit(aimed: Aim, messages: Sequence[Fragments], uuid: str, properties: dict[str, str]) -> int:
    """Commit what the tasks wrote, in the order of their partitions; return the version.

    A version that has the transaction already is returned as it is: any version, where the caller
    gave the id, or one that was made since. Raises CommitConflict.
    """
    options = aimed.options
    since = None if options.transaction_id else aimed.read_version
    done = find_version(options, since, lambda one: one.uuid == uuid)
    if done is not None:
        return done
    ordered = sorted(messages, key=lambda message: message.partition)
    fragments = [FragmentMetadata.from_json(text) for one in ordered for text in one.fragments]
    operation: object
    if aimed.appends:
        operation = LanceOperation.Append(fragments)
    else:
        operation = LanceOperation.Overwrite(aimed.schema, fragments)
    transaction = Transaction(
        aimed.read_version or 0, operation, uuid=uuid, transaction_properties=properties
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
    options: Options, since: int | None, wanted: Callable[[Transaction], bool]
) -> int | None:
    """Return the latest version after `since` whose transaction is wanted, None without one."""
    try:
        table = pylanceref.dataset(options.uri, storage_options=options.storage_options)
    except NotFound:
        return None
    for entry in reversed(table.version_refs()):
        if entry["version"] <= (since or 0):
            break
        transaction = table.read_transaction(entry["version"])
        if transaction is not None and wanted(transaction):
            return entry["version"]
    return None


class TableWriter(DataSourceArrowWriter):
    """Writes a data frame as one version."""

    def __init__(self, options: Options, schema: StructType, overwrite: bool) -> None:
        self._aim = aim(options, schema, overwrite)
        self._uuid = options.transaction_id or str(uuid4())

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """Write the rows of a task."""
        return write_task(self._aim, iterator)

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Make the rows of all tasks a version."""
        version = commit(self._aim, held(messages), self._uuid, {})
        LOG.info("transaction %s is version %d of %s", self._uuid, version, self._aim.options.uri)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Leave all files where they are: Spark also aborts after a commit of unknown outcome."""
        report_orphans(self._aim, held(messages))


def held(messages: Sequence[WriterCommitMessage | None]) -> list[Fragments]:
    """Return the messages of the tasks that came to their end."""
    return [one for one in messages if isinstance(one, Fragments)]


def report_orphans(aimed: Aim, messages: Sequence[Fragments]) -> None:
    """Say which files no version may name; a cleanup removes them when they are old."""
    for message in messages:
        for text in message.fragments:
            paths = [file.path for file in FragmentMetadata.from_json(text).files]
            LOG.warning("not committed to %s: %s", aimed.options.uri, ", ".join(paths))

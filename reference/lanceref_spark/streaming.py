"""Streams: appended rows, which are read and written once each.

The offset of a reader is a version. Between two offsets it reads the fragments that Appends added,
each at the version that added it, so that a compaction neither repeats nor loses a row. A version
that changes rows which may have been read is refused, unless the option `changes` is `skip`.

A writer commits each micro-batch as one version, whose transaction has the query and the epoch, and
checks before that no version has them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from uuid import uuid4

import pyarrow as pa
from lanceref.core.errors import DataRefused
from pylanceref.dataset import LanceDataset
from pylanceref.fragment import LanceFragment
from pylanceref.operation import LanceOperation, Transaction
from pyspark.sql.datasource import (
    DataSourceStreamArrowWriter,
    DataSourceStreamReader,
    InputPartition,
    WriterCommitMessage,
)
from pyspark.sql.types import StructType

from lanceref_spark import writing
from lanceref_spark.options import Options, Rows
from lanceref_spark.reading import open_table, open_with_schema, rows_of
from lanceref_spark.types import batch_schema

QUERY = "spark.query"
EPOCH = "spark.epoch"
"""Transaction properties of a micro-batch."""

_CHANGES = (
    LanceOperation.Delete,
    LanceOperation.Update,
    LanceOperation.Overwrite,
    LanceOperation.Restore,
)
"""Operations that remove or replace rows."""


class StreamReader(DataSourceStreamReader):
    """Reads appended rows; an offset is `{"version": n}`, 0 before the first."""

    def __init__(self, options: Options, columns: Sequence[str]) -> None:
        _, schema = open_with_schema(options, columns)
        self._options = options
        self._columns = list(columns)
        self._schema = batch_schema(schema, truncate=options.truncate)

    def initialOffset(self) -> dict[str, int]:
        """Return the offset before every version."""
        return {"version": 0}

    def latestOffset(self, *_: object) -> dict[str, int]:
        """Return the offset of the latest version."""
        return {"version": open_table(self._options).latest_version}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        """Return the fragments appended after `start`. Raises DataRefused for changed rows."""
        table = open_table(self._options)
        first, last = start["version"], end["version"]
        known = [entry["version"] for entry in table.version_refs()]
        versions = [version for version in known if first < version <= last]
        if first and first not in known:
            raise DataRefused(
                f"version {first} of {self._options.uri} was cleaned up: the rows appended after "
                "it cannot be determined"
            )
        before = {one.fragment_id for one in _fragments(table, first)} if first else set()
        parts: list[InputPartition] = []
        for version in versions:
            ids = [one.fragment_id for one in _fragments(table, version)]
            if self._appends(table.read_transaction(version), version):
                parts += [Rows(version, number) for number in ids if number not in before]
            before = set(ids)
        return parts

    def _appends(self, transaction: Transaction | None, version: int) -> bool:
        """Whether the new fragments of a version are appended; also without a transaction."""
        operation = None if transaction is None else transaction.operation
        if operation is None or isinstance(operation, LanceOperation.Append):
            return True
        if not isinstance(operation, _CHANGES):
            return False
        if isinstance(operation, LanceOperation.Overwrite) and version == 1:
            return True
        if self._options.skip_changes:
            return False
        raise DataRefused(
            f"version {version} of {self._options.uri} is a {type(operation).__name__}, which a "
            "stream of appended rows cannot follow: the option changes=skip passes over it"
        )

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a fragment."""
        if isinstance(partition, Rows):
            yield from rows_of(self._options, partition, self._columns, self._schema)


def _fragments(table: LanceDataset, version: int) -> list[LanceFragment]:
    return table.checkout_version(version).get_fragments()


class StreamWriter(DataSourceStreamArrowWriter):
    """Appends each micro-batch once."""

    def __init__(self, options: Options, schema: StructType, overwrite: bool) -> None:
        if overwrite:
            raise DataRefused("a stream in complete mode cannot be appended to a table")
        self._options, self._spark_schema = options, schema
        self._target = writing.open_target(options, schema, False)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """Write the rows of a task."""
        return writing.write_task(self._target, iterator)

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """Commit the rows of an epoch as a version, unless a version has them."""
        fragments = writing.fragments_of(messages)
        query = self._query(fragments)

        def same(transaction: Transaction) -> bool:
            properties = transaction.transaction_properties or {}
            return properties.get(QUERY) == query and int(properties.get(EPOCH, -1)) >= batchId

        if writing.find_version(self._options, None, same) is not None:
            return
        target = writing.open_target(self._options, self._spark_schema, False)
        writing.commit(target, fragments, str(uuid4()), {QUERY: query, EPOCH: str(batchId)})

    def _query(self, messages: Sequence[writing.Fragments]) -> str:
        for message in messages:
            if message.query is not None:
                return message.query
        if self._options.checkpoint is not None:
            return self._options.checkpoint
        raise DataRefused("no task has the id of the query that wrote the rows")

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """Keep all files, which a cleanup removes."""
        writing.report_orphans(self._target, writing.fragments_of(messages))

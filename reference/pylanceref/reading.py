"""Reading: the rows of a table, scanned, taken, drawn and counted, and their statistics (face)."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import pyarrow as pa
from lanceref.core.context import Finding, plain_forms
from lanceref.core.cursor import IOStats
from lanceref.core.errors import NotYet
from lanceref.data_file.data_file import DataFile
from lanceref.search.blob_rows import Rows, locate_blobs
from lanceref.search.row_locator import positions_of_ids
from lanceref.search.snapshot import positions_of
from lanceref.table.file_entries import NO_COLUMN
from lanceref.table.rows import FragmentRows

from pylanceref.blob import BlobFile
from pylanceref.errors import InvalidTable
from pylanceref.fragment import LanceFragment
from pylanceref.index_listing import index_statistics
from pylanceref.scan_arguments import SCAN_ARGUMENTS, Columns, describe
from pylanceref.scanner import LanceScanner
from pylanceref.sql.columns import take_columns
from pylanceref.table_handle import OpenTable

if TYPE_CHECKING:
    import pandas as pd

SELECTORS = ("ids", "addresses", "indices")
"""Ways to choose rows."""


def get_fragments(table: OpenTable, filter: object = None) -> list[LanceFragment]:
    """Return every fragment. Raises ValueError for a filter: pylance has none here."""
    if filter is not None:
        raise ValueError("get_fragments() does not support filter yet")
    return [LanceFragment.of(table, one) for one in table._snapshot.fragments]


def get_fragment(table: OpenTable, fragment_id: int) -> LanceFragment | None:
    """Return a fragment by id, None when there is none."""
    return next((one for one in get_fragments(table) if one.fragment_id == fragment_id), None)


def count_rows(table: OpenTable, filter: object = None, **kwargs: object) -> int:
    """Return the rows that are not deleted and pass a filter; without one none is read."""
    return scanner(table, columns=[], filter=filter, **kwargs).count_rows()  # type: ignore[arg-type]


def scanner(
    table: OpenTable,
    columns: Columns = None,
    filter: object = None,
    limit: int | None = None,
    offset: int | None = None,
    nearest: object = None,
    *,
    fragments: Iterable[LanceFragment] | None = None,
    **arguments: object,
) -> LanceScanner:
    """Describe a scan of `ScanArguments`; one that is None is the table's. Raises likewise."""
    named = {"columns": columns, "filter": filter, "limit": limit, "offset": offset}
    given = {**named, "nearest": nearest, **arguments}
    rows: Sequence[FragmentRows] = table._snapshot.fragments
    if fragments is not None:
        chosen = list(fragments)
        for one in chosen:
            if not isinstance(one, LanceFragment):
                raise TypeError(f"fragments must be an iterable of LanceFragment. Got {type(one)}")
        rows = table.fragment_rows(one.fragment_id for one in chosen)
    told = {name: value for name, value in given.items() if value is not None}
    return describe(table._snapshot, rows, {**table._scan_options, **told})  # type: ignore[typeddict-item]


def to_table(table: OpenTable, *first: object, **arguments: object) -> pa.Table:
    """Return the rows that a scan finds as a table; arguments as of `scanner`."""
    return scanner(table, *first, **arguments).to_table()  # type: ignore[arg-type]


def to_batches(table: OpenTable, *first: object, **arguments: object) -> Iterator[pa.RecordBatch]:
    """Yield the rows that a scan finds in batches; arguments as of `scanner`."""
    return scanner(table, *first, **arguments).to_batches()  # type: ignore[arg-type]


def to_pandas(table: OpenTable, *first: object, **arguments: object) -> pd.DataFrame:
    """Return the rows as a data frame; arguments that no scan has are those of pyarrow."""
    others = {name: arguments.pop(name) for name in arguments.keys() - SCAN_ARGUMENTS}
    return scanner(table, *first, **arguments).to_pandas(**others)  # type: ignore[arg-type]


def head(table: OpenTable, num_rows: int, **kwargs: object) -> pa.Table:
    """Return the first rows; `kwargs` as in `scanner`."""
    return scanner(table, limit=num_rows, **kwargs).to_table()  # type: ignore[arg-type]


def slice(table: OpenTable, start: int, end: int, columns: Columns = None) -> pa.Table:
    """Return the rows from one position to before another. Raises ValueError."""
    if start < 0:
        raise ValueError(f"start must be non-negative, got {start}")
    if end < start:
        raise ValueError(f"end ({end}) must be >= start ({start})")
    return scanner(table, columns=columns, limit=end - start, offset=start).to_table()


def sample(
    table: OpenTable, num_rows: int, columns: Columns = None, randomize_order: bool = True
) -> pa.Table:
    """Return rows drawn at random, sorted unless asked not to. Raises ValueError for too few."""
    drawn = random.sample(range(count_rows(table)), num_rows)
    return take(table, drawn if randomize_order else sorted(drawn), columns)


def take(table: OpenTable, indices: Sequence[int] | pa.Array, columns: Columns = None) -> pa.Table:
    """Return rows by position, in any order, repeated if asked. Raises RowNotFound, TypeError."""
    positions = positions_of(indices, table._snapshot.fragments.num_rows)
    return take_columns(table._snapshot, positions, columns)


def _take_rows(
    table: OpenTable, row_ids: Rows, columns: Columns = None, *, ignore_deletions: bool = False
) -> pa.Table:
    """Return live rows by row id, in any order. Raises RowNotFound, NotYet."""
    if ignore_deletions:
        raise NotYet("ignore_deletions: this is not there yet")
    return take_columns(table._snapshot, positions_of_ids(table._snapshot, row_ids), columns)


def validate(table: OpenTable) -> None:
    """Raise the first thing that is wrong with this version, as an OSError."""
    from lanceref.checks.tables import check_dataset  # of every version: slow to import

    findings: list[Finding] = []
    ctx = replace(table._ctx, findings=findings)
    with plain_forms():
        check_dataset(table._snapshot.store, ctx, version=table.version, deep=False)
    if findings:
        raise InvalidTable(f"{findings[0]}")


def take_blobs(
    table: OpenTable,
    blob_column: str,
    ids: Rows = None,
    addresses: Rows = None,
    indices: Rows = None,
) -> list[BlobFile | None]:
    """Open blobs by row id, row address or position as files; None for a null."""
    found = locate_blobs(table._snapshot, blob_column, ids, addresses, indices)
    return [None if blob is None else BlobFile(blob) for _, blob in found]


def read_blobs(
    table: OpenTable,
    blob_column: str,
    ids: Rows = None,
    addresses: Rows = None,
    indices: Rows = None,
    *,
    io_buffer_size: int | None = None,
    preserve_order: bool | None = None,
) -> list[tuple[int, bytes | None]]:
    """Return addresses and bytes of blobs that are chosen as by `take_blobs`. Raises ValueError."""
    if io_buffer_size == 0:
        raise ValueError("io_buffer_size must be greater than 0")
    found = locate_blobs(table._snapshot, blob_column, ids, addresses, indices)
    return [(row, None if blob is None else blob.read(0, blob.size)) for row, blob in found]


def read_blob_ranges(
    table: OpenTable,
    blob_column: str,
    requests: Sequence[tuple[int, int, int]],
    *,
    selector: Literal["ids", "addresses", "indices"],
    io_buffer_size: int | None = None,
    preserve_order: bool | None = None,
) -> list[tuple[int, int, bytes | None]]:
    """Return number, row address, bytes of each request (row, start, length). Raises ValueError."""
    if selector not in SELECTORS:
        raise ValueError(f"selector must be one of {SELECTORS}, not {selector!r}")
    rows = [row for row, _, _ in requests]
    chosen = (rows if selector == name else None for name in SELECTORS)
    found = zip(locate_blobs(table._snapshot, blob_column, *chosen), requests, strict=True)
    return [
        (number, row, None if blob is None else BlobFile(blob).read_range(offset, length))
        for number, ((row, blob), (_, offset, length)) in enumerate(found)
    ]


def io_stats_incremental(table: OpenTable) -> IOStats:
    """Return requests and bytes since the last call."""
    return table._snapshot.store.stats.incremental()


@dataclass(frozen=True, slots=True)
class FieldStatistics:
    """Bytes of the pages of one field; those of fields below it are not among them."""

    id: int
    bytes_on_disk: int


@dataclass(frozen=True, slots=True)
class DataStatistics:
    """The bytes on disk of every field, in the order of the schema."""

    fields: list[FieldStatistics]


class LanceStats:
    """Statistics of one version of a table."""

    def __init__(self, table: OpenTable) -> None:
        self._table = table
        self._snapshot = table._snapshot

    def dataset_stats(self, max_rows_per_group: int = 1024) -> dict[str, int]:
        """Count rows and fragments; a fragment of less than `max_rows_per_group` rows is small."""
        fragments = self._snapshot.fragments
        small = [one for one in fragments if one.columns.stated_rows < max_rows_per_group]
        return {
            "num_deleted_rows": sum(one.num_deleted for one in fragments),
            "num_fragments": len(fragments),
            "num_small_files": len(small),
        }

    def index_stats(self, index_name: str) -> dict[str, object]:
        """Return the statistics of an index. Raises NotFound."""
        return index_statistics(self._table, index_name)

    def data_stats(self) -> DataStatistics:
        """Return the bytes of the pages of each field; those of 0.1 files are not counted."""
        sizes = {field.id: 0 for field in self._snapshot.manifest.schema.flat()}
        for rows in self._snapshot.fragments:
            for file in rows.fragment.files:
                opened = rows.columns.open(file)
                if not isinstance(opened, DataFile):
                    continue
                for field_id, number in file.columns.items():
                    if field_id in sizes and number != NO_COLUMN:
                        pages = opened.columns[number].pages
                        sizes[field_id] += sum(one.size for page in pages for one in page.extents)
        return DataStatistics([FieldStatistics(*pair) for pair in sizes.items()])

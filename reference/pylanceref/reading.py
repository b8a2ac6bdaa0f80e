"""Reading: the rows of a table, scanned, taken, drawn and counted (face).

Has the names of pylance's `LanceDataset`, and its `ScannerBuilder`, of which most steps set one
argument of a scan.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Self, Unpack

import pyarrow as pa
from lanceref.core.context import Finding
from lanceref.core.errors import NotYet
from lanceref.core.plain import plain_forms
from lanceref.search.minhash_search import MinHashQuery
from lanceref.search.projection import ColumnOrdering
from lanceref.search.row_locator import positions_of_ids
from lanceref.search.snapshot import positions_of
from lanceref.search.take_blobs import check_buffer, locate_blobs
from lanceref.storage.protocol import IOStats
from lanceref.table.rows import FragmentRows

from pylanceref.bitmap import Bitmap
from pylanceref.blob import DEFAULT_BLOB_BUFFER_SIZE, BlobFile, checked_buffer_size
from pylanceref.errors import InvalidTable
from pylanceref.fragment import LanceFragment, check_fragments
from pylanceref.scan_arguments import (
    Columns,
    ScanArguments,
    check_arguments,
    describe,
    split_arguments,
)
from pylanceref.scanner import LanceScanner
from pylanceref.signatures import parameters
from pylanceref.sql.columns import take_columns
from pylanceref.table_handle import OpenTable

if TYPE_CHECKING:
    import pandas as pd


SCAN = "table columns filter limit offset"
READAHEAD = "batch_readahead fragment_readahead scan_in_order"
WITH = "prefilter with_row_id with_row_address use_stats"
"""Parameters that several scans have in this order."""


def get_fragments(table: OpenTable, filter: object = None) -> list[LanceFragment]:
    """Return every fragment. Raises ValueError for a filter: pylance has none here."""
    if filter is not None:
        raise ValueError("get_fragments() does not support filter yet")
    return [LanceFragment.of(table, one) for one in table._snapshot.fragments]


def get_fragment(table: OpenTable, fragment_id: int) -> LanceFragment | None:
    """Return a fragment by id, None when there is none."""
    found = [one for one in table._snapshot.fragments if one.fragment.id == fragment_id]
    return LanceFragment.of(table, found[0]) if found else None


def fragment_ids(table: OpenTable) -> Bitmap:
    """Return the ids of the fragments as a set."""
    return Bitmap(one.fragment.id for one in table._snapshot.fragments)


def count_rows(table: OpenTable, filter: object = None, **kwargs: object) -> int:
    """Return the rows that are not deleted and pass a filter; without one none is read."""
    return scanner(table, columns=[], filter=filter, **kwargs).count_rows()


@parameters(
    f"{SCAN} nearest batch_size batch_size_bytes {READAHEAD} fragments index_segments "
    f"full_text_query * {WITH} fast_search io_buffer_size late_materialization blob_handling "
    "use_scalar_index include_deleted_rows scan_stats_callback strict_batch_size order_by "
    "disable_scoring_autoprojection row_addr_allowlist row_addr_blocklist"
)
def scanner(
    table: OpenTable,
    *,
    fragments: Iterable[LanceFragment] | None = None,
    **arguments: Unpack[ScanArguments],
) -> LanceScanner:
    """Describe a scan; see `scan_arguments.describe`. Raises TypeError for odd fragments."""
    rows: Sequence[FragmentRows] = table._snapshot.fragments
    if fragments is not None:
        rows = table.fragment_rows(one.fragment_id for one in check_fragments(fragments))
    return describe(table._snapshot, rows, {**table._scan_options, **arguments})


@parameters(
    f"{SCAN} nearest batch_size batch_size_bytes {READAHEAD} * {WITH} fast_search "
    "full_text_query io_buffer_size late_materialization blob_handling use_scalar_index "
    "include_deleted_rows order_by disable_scoring_autoprojection"
)
def to_table(table: OpenTable, **arguments: Unpack[ScanArguments]) -> pa.Table:
    """Return the rows that a scan finds as a table."""
    return scanner(table, **arguments).to_table()


@parameters(
    f"{SCAN} nearest batch_size batch_size_bytes {READAHEAD} * {WITH} full_text_query "
    "io_buffer_size late_materialization blob_handling use_scalar_index strict_batch_size "
    "order_by disable_scoring_autoprojection **kwargs"
)
def to_batches(table: OpenTable, **arguments: Unpack[ScanArguments]) -> Iterator[pa.RecordBatch]:
    """Yield the rows that a scan finds in batches."""
    return scanner(table, **arguments).to_batches()


@parameters(
    f"{SCAN} nearest batch_size {READAHEAD} * {WITH} fast_search full_text_query "
    "io_buffer_size late_materialization use_scalar_index include_deleted_rows order_by "
    "disable_scoring_autoprojection **kwargs"
)
def to_pandas(table: OpenTable, **arguments: object) -> pd.DataFrame:
    """Return the rows as a data frame; arguments that no scan has are those of pyarrow."""
    scan, others = split_arguments(arguments)
    return scanner(table, **scan).to_pandas(**others)


def head(table: OpenTable, num_rows: int, **kwargs: object) -> pa.Table:
    """Return the first rows; `kwargs` as in `scanner`."""
    return scanner(table, limit=num_rows, **kwargs).to_table()


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
    positions = positions_of(indices, count_rows(table))
    return take_columns(table._snapshot, positions, columns)


def _take_rows(
    table: OpenTable,
    row_ids: Sequence[int] | pa.Array,
    columns: Columns = None,
    *,
    ignore_deletions: bool = False,
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
    ids: Sequence[int] | pa.Array | None = None,
    addresses: Sequence[int] | pa.Array | None = None,
    indices: Sequence[int] | pa.Array | None = None,
    *,
    buffer_size: int = DEFAULT_BLOB_BUFFER_SIZE,
) -> list[BlobFile | None]:
    """Open blobs by row id, row address or position as files; None for a null."""
    checked_buffer_size(buffer_size)
    found = locate_blobs(table._snapshot, blob_column, ids, addresses, indices)
    return [None if blob is None else BlobFile(blob, buffer_size) for _, blob in found]


def read_blobs(
    table: OpenTable,
    blob_column: str,
    ids: Sequence[int] | pa.Array | None = None,
    addresses: Sequence[int] | pa.Array | None = None,
    indices: Sequence[int] | pa.Array | None = None,
    *,
    io_buffer_size: int | None = None,
    preserve_order: bool | None = None,
) -> list[tuple[int, bytes | None]]:
    """Return row address and bytes of blobs by row id, row address or position, in order."""
    check_buffer(io_buffer_size)
    found = locate_blobs(table._snapshot, blob_column, ids, addresses, indices)
    return [(row, None if blob is None else blob.read(0, blob.size)) for row, blob in found]


def io_stats_snapshot(table: OpenTable) -> IOStats:
    """Return the requests and bytes of the store up to now."""
    return replace(table._snapshot.store.stats)


def io_stats_incremental(table: OpenTable) -> IOStats:
    """Return requests and bytes since the last call."""
    return table._snapshot.store.stats.incremental()


def _step(name: str, parameter: str = "", **usual: object) -> Callable[..., ScannerBuilder]:
    """Return the method that sets an argument, named `parameter` if given, by default `usual`."""
    parameter = parameter or name

    @parameters(f"self {parameter}")
    def step(self: ScannerBuilder, **given: object) -> ScannerBuilder:
        if given.keys() != {parameter} and (given or not usual):
            raise TypeError(f"{name}() takes the argument {parameter!r}")
        return self._set(name, {"usual": None, **usual, **given}[parameter if given else "usual"])

    return step


class ScannerBuilder:
    """What a scan is to return, so far; each method but the last returns the builder."""

    def __init__(self, ds: OpenTable) -> None:
        self.ds = ds
        self._arguments: dict[str, object] = {}

    def _set(self, name: str, value: object) -> Self:
        """Set an argument. Raises TypeError, ValueError for a value that no scan takes."""
        check_arguments({name: value})  # type: ignore[misc]
        self._arguments[name] = value
        return self

    def apply_defaults(self, default_opts: Mapping[str, object]) -> Self:
        """Call the methods named. Raises ValueError for an unknown one."""
        for name, value in default_opts.items():
            setter = getattr(self, name, None)
            if setter is None:
                raise ValueError(f"Unknown option {name}")
            _ = setter(**value) if isinstance(value, dict) else setter(value)
        return self

    filter = _step("filter")
    columns = _step("columns", "cols", usual=None)
    limit = _step("limit", "n", usual=None)
    offset = _step("offset", "n", usual=None)
    batch_size = _step("batch_size")
    batch_size_bytes = _step("batch_size_bytes")
    strict_batch_size = _step("strict_batch_size", usual=False)
    with_row_id = _step("with_row_id", usual=True)
    with_row_address = _step("with_row_address", usual=True)
    include_deleted_rows = _step("include_deleted_rows", "flag")
    late_materialization = _step("late_materialization")
    blob_handling = _step("blob_handling")
    use_stats = _step("use_stats", usual=True)
    with_index_segments = _step("index_segments")
    scan_stats_callback = _step("scan_stats_callback", "callback")
    disable_scoring_autoprojection = _step("disable_scoring_autoprojection", "disable", usual=True)
    use_scalar_index = _step("use_scalar_index", usual=True)
    fast_search = _step("fast_search", "flag")
    prefilter = _step("prefilter")
    scan_in_order = _step("scan_in_order", usual=True)
    batch_readahead = _step("batch_readahead", "nbatches", usual=None)
    fragment_readahead = _step("fragment_readahead", "nfragments", usual=None)
    io_buffer_size = _step("io_buffer_size")

    def with_fragments(self, fragments: Iterable[LanceFragment] | None) -> Self:
        """Set which fragments are read. Raises TypeError for what is none."""
        self._arguments["fragments"] = None if fragments is None else check_fragments(fragments)
        return self

    def order_by(self, orderings: list[ColumnOrdering] | None) -> Self:
        """Set the columns to order by. Raises TypeError for what is no `ColumnOrdering`."""
        for one in orderings or ():
            if not isinstance(one, ColumnOrdering):
                raise TypeError(f"orderings must be a list of ColumnOrdering. Got {type(one)}")
        return self._set("order_by", orderings)

    def row_addr_prefilter(
        self, allowlist: bytes | None = None, blocklist: bytes | None = None
    ) -> Self:
        """Set which rows alone may be found, and which may not; None for all, and for none."""
        self._set("row_addr_allowlist", allowlist)
        return self._set("row_addr_blocklist", blocklist)

    @parameters(
        "self column q k metric nprobes minimum_nprobes maximum_nprobes refine_factor use_index ef "
        "query_parallelism approx_mode distance_range search_effort",
        use_index=True,
        approx_mode="normal",
    )
    def nearest(self, column: str, q: object, **parameters: object) -> Self:
        """Ask for the nearest vectors. Raises TypeError, ValueError for one that does not fit."""
        from lanceref.search.vector_query import vector_query

        given = {name: one for name, one in parameters.items() if one is not None}
        query = {"use_index": True, "approx_mode": "normal", **given, "column": column, "q": q}
        vector_query(query, self.ds._snapshot.manifest.schema, None)
        return self._set("nearest", query)

    def minhash_search(self, query: MinHashQuery) -> Self:
        """Ask for texts alike. Raises TypeError for another query."""
        if not isinstance(query, MinHashQuery):
            raise TypeError(f"minhash_search expects a MinHashQuery, got {type(query).__name__}")
        return self._set("nearest", query)

    def full_text_search(self, query: object, columns: list[str] | None = None) -> Self:
        """Ask for the rows whose text matches a query."""
        return self._set("full_text_query", {"query": query, "columns": columns})

    def to_scanner(self) -> LanceScanner:
        """Return the scan. Raises what `LanceDataset.scanner` does."""
        return scanner(self.ds, **self._arguments)

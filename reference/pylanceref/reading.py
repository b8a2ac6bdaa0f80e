"""Reading: the rows of a table, scanned, taken, drawn and counted (face).

Has the names of pylance's `LanceDataset`.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, Unpack

import pyarrow as pa
from lanceref.core.context import Finding
from lanceref.core.errors import NotYet
from lanceref.core.plain import plain_forms
from lanceref.search.row_locator import positions_of_ids
from lanceref.search.snapshot import positions_of
from lanceref.search.take_blobs import check_buffer, locate_blobs, read_ranges
from lanceref.storage import IOStats
from lanceref.table.rows import FragmentRows
from lanceref.transactions.manifest_builder import storage_version_of

from pylanceref.bitmap import Bitmap
from pylanceref.blob import DEFAULT_BLOB_BUFFER_SIZE, BlobFile, checked_buffer_size
from pylanceref.errors import InvalidTable
from pylanceref.fragment import LanceFragment, check_fragments
from pylanceref.scan_arguments import (
    Columns,
    ScanArguments,
    describe,
    split_arguments,
    system_columns,
)
from pylanceref.scanner import LanceScanner
from pylanceref.schema import LanceSchema
from pylanceref.signatures import parameters
from pylanceref.sql.columns import take_columns
from pylanceref.table_handle import OpenTable

if TYPE_CHECKING:
    import pandas as pd


SCAN = "self columns filter limit offset"
READAHEAD = "batch_readahead fragment_readahead scan_in_order"
WITH = "prefilter with_row_id with_row_address use_stats"
"""Parameters that several scans have in this order."""


class Reading(OpenTable):
    """What a dataset reads: its rows, schema, fragments and blobs."""

    _scan_options: ScanArguments = {}  # noqa: RUF012
    """Arguments of every scan that does not say otherwise; replaced, never changed."""

    @property
    def schema(self) -> pa.Schema:
        """Arrow schema of the table, and the system columns that every scan returns."""
        own, added = self._snapshot.arrow_schema, system_columns(self._scan_options)
        if not added:
            return own
        return pa.schema([*own, *(pa.field(name, pa.uint64()) for name in added)], own.metadata)

    @property
    def lance_schema(self) -> LanceSchema:
        """Schema of the table with field ids."""
        return LanceSchema(self._snapshot.manifest.schema)

    @property
    def has_stable_row_ids(self) -> bool:
        """Whether rows keep their ids when they move."""
        return self._snapshot.stable_row_ids

    @property
    def max_field_id(self) -> int:
        """Highest id of a field of the schema or of a data file, -1 without any."""
        manifest = self._snapshot.manifest
        held = (file for fragment in manifest.message.fragments for file in fragment.files)
        ids = [number for file in held for number in file.fields]
        return max([*ids, *(field.id for field in manifest.schema.flat())], default=-1)

    @property
    def data_storage_version(self) -> str:
        """Name of the file version that new data files get."""
        manifest = self._snapshot.manifest
        return manifest.storage_version or str(storage_version_of(manifest.message))

    def __len__(self) -> int:
        return self.count_rows()

    def get_fragments(self, filter: object = None) -> list[LanceFragment]:
        """Return every fragment. Raises ValueError for a filter: pylance has none here."""
        if filter is not None:
            raise ValueError("get_fragments() does not support filter yet")
        return [LanceFragment.of(self, one) for one in self._snapshot.fragments]

    def get_fragment(self, fragment_id: int) -> LanceFragment | None:
        """Return a fragment by id, None when there is none."""
        found = [one for one in self._snapshot.fragments if one.fragment.id == fragment_id]
        return LanceFragment.of(self, found[0]) if found else None

    def fragment_ids(self) -> Bitmap:
        """Return the ids of the fragments as a set."""
        return Bitmap(one.fragment.id for one in self._snapshot.fragments)

    @property
    def fragments(self) -> list[LanceFragment]:
        """Every fragment of the table, in the order of the manifest."""
        return self.get_fragments()

    def count_rows(self, filter: object = None, **kwargs: object) -> int:
        """Return the rows that are not deleted and pass a filter; without one none is read."""
        return self.scanner(columns=[], filter=filter, **kwargs).count_rows()

    @parameters(
        f"{SCAN} nearest batch_size batch_size_bytes {READAHEAD} fragments index_segments "
        f"full_text_query * {WITH} fast_search io_buffer_size late_materialization blob_handling "
        "use_scalar_index include_deleted_rows scan_stats_callback strict_batch_size order_by "
        "disable_scoring_autoprojection row_addr_allowlist row_addr_blocklist"
    )
    def scanner(
        self,
        *,
        fragments: Iterable[LanceFragment] | None = None,
        **arguments: Unpack[ScanArguments],
    ) -> LanceScanner:
        """Describe a scan; see `scan_arguments.describe`. Raises TypeError for odd fragments."""
        rows: Sequence[FragmentRows] = self._snapshot.fragments
        if fragments is not None:
            rows = self.fragment_rows(one.fragment_id for one in check_fragments(fragments))
        return describe(self._snapshot, rows, {**self._scan_options, **arguments})

    @parameters(
        f"{SCAN} nearest batch_size batch_size_bytes {READAHEAD} * {WITH} fast_search "
        "full_text_query io_buffer_size late_materialization blob_handling use_scalar_index "
        "include_deleted_rows order_by disable_scoring_autoprojection"
    )
    def to_table(self, **arguments: Unpack[ScanArguments]) -> pa.Table:
        """Return the rows that a scan finds as a table."""
        return self.scanner(**arguments).to_table()

    @parameters(
        f"{SCAN} nearest batch_size batch_size_bytes {READAHEAD} * {WITH} full_text_query "
        "io_buffer_size late_materialization blob_handling use_scalar_index strict_batch_size "
        "order_by disable_scoring_autoprojection **kwargs"
    )
    def to_batches(self, **arguments: Unpack[ScanArguments]) -> Iterator[pa.RecordBatch]:
        """Yield the rows that a scan finds in batches."""
        return self.scanner(**arguments).to_batches()

    @parameters(
        f"{SCAN} nearest batch_size {READAHEAD} * {WITH} fast_search full_text_query "
        "io_buffer_size late_materialization use_scalar_index include_deleted_rows order_by "
        "disable_scoring_autoprojection **kwargs"
    )
    def to_pandas(self, **arguments: object) -> pd.DataFrame:
        """Return the rows as a data frame; arguments that no scan has are those of pyarrow."""
        scan, others = split_arguments(arguments)
        return self.scanner(**scan).to_pandas(**others)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand the rows to another library, by Arrow's protocol of streams."""
        return self.scanner().__arrow_c_stream__(requested_schema)

    def head(self, num_rows: int, **kwargs: object) -> pa.Table:
        """Return the first rows; `kwargs` as in `scanner`."""
        return self.scanner(limit=num_rows, **kwargs).to_table()

    def slice(self, start: int, end: int, columns: Columns = None) -> pa.Table:
        """Return the rows from one position to before another. Raises ValueError."""
        if start < 0:
            raise ValueError(f"start must be non-negative, got {start}")
        if end < start:
            raise ValueError(f"end ({end}) must be >= start ({start})")
        return self.scanner(columns=columns, limit=end - start, offset=start).to_table()

    def sample(
        self, num_rows: int, columns: Columns = None, randomize_order: bool = True
    ) -> pa.Table:
        """Return rows that are drawn at random, in the order of the table unless asked not to.

        Raises ValueError when there are not so many.
        """
        drawn = random.sample(range(self.count_rows()), num_rows)
        return self.take(drawn if randomize_order else sorted(drawn), columns)

    def take(self, indices: Sequence[int] | pa.Array, columns: Columns = None) -> pa.Table:
        """Return rows by position, in any order, repeated if asked.

        Raises RowNotFound, TypeError for a position that is no integer.
        """
        positions = positions_of(indices, self.count_rows())
        return take_columns(self._snapshot, positions, columns)

    def _take_rows(
        self,
        row_ids: Sequence[int] | pa.Array,
        columns: Columns = None,
        *,
        ignore_deletions: bool = False,
    ) -> pa.Table:
        """Return rows by row id, in any order; deleted rows are left out.

        Raises RowNotFound for an address of no row, NotYet when deleted rows are wanted too.
        """
        if ignore_deletions:
            raise NotYet("ignore_deletions: this is not there yet")
        return take_columns(self._snapshot, positions_of_ids(self._snapshot, row_ids), columns)

    def validate(self) -> None:
        """Raise the first thing that is wrong with this version, as an OSError."""
        from lanceref.checks.tables import check_dataset  # of every version: slow to import

        findings: list[Finding] = []
        ctx = replace(self._ctx, findings=findings)
        with plain_forms():
            check_dataset(self._snapshot.store, ctx, version=self.version, deep=False)
        if findings:
            raise InvalidTable(f"{findings[0]}")

    def take_blobs(
        self,
        blob_column: str,
        ids: Sequence[int] | pa.Array | None = None,
        addresses: Sequence[int] | pa.Array | None = None,
        indices: Sequence[int] | pa.Array | None = None,
        *,
        buffer_size: int = DEFAULT_BLOB_BUFFER_SIZE,
    ) -> list[BlobFile | None]:
        """Open blobs by row id, row address or position as files; None for a null."""
        checked_buffer_size(buffer_size)
        found = locate_blobs(self._snapshot, blob_column, ids, addresses, indices)
        return [None if blob is None else BlobFile(blob, buffer_size) for _, blob in found]

    def read_blobs(
        self,
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
        found = locate_blobs(self._snapshot, blob_column, ids, addresses, indices)
        return [(row, None if blob is None else blob.read(0, blob.size)) for row, blob in found]

    def read_blob_ranges(
        self,
        blob_column: str,
        requests: Sequence[tuple[int, int, int]],
        *,
        selector: Literal["ids", "addresses", "indices"],
        io_buffer_size: int | None = None,
        preserve_order: bool | None = None,
    ) -> list[tuple[int, int, bytes | None]]:
        """Return number, row address and bytes for each request: row, offset and length.

        Rows are row ids, row addresses or positions, as `selector` says. Raises ValueError for a
        range that is not inside its blob.
        """
        check_buffer(io_buffer_size)
        return read_ranges(self._snapshot, blob_column, requests, selector)

    def io_stats_snapshot(self) -> IOStats:
        """Return the requests and bytes of the store up to now."""
        return replace(self._snapshot.store.stats)

    def io_stats_incremental(self) -> IOStats:
        """Return requests and bytes since the last call."""
        return self._snapshot.store.stats.incremental()

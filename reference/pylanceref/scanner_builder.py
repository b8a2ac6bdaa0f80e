"""Scanner builder: the arguments of a scan, given one by one (face).

Has the names of pylance's `ScannerBuilder`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Self
from uuid import UUID

from lanceref.search.minhash_search import MinHashQuery
from lanceref.search.projection import ColumnOrdering

from pylanceref.fragment import LanceFragment
from pylanceref.reading import Reading
from pylanceref.scan_arguments import Columns
from pylanceref.scanner import LanceScanner, ScanStatistics


class ScannerBuilder:
    """What a scan is to return, so far; each method but the last returns the builder."""

    def __init__(self, ds: Reading) -> None:
        self.ds = ds
        self._arguments: dict[str, object] = {}

    def _set(self, name: str, value: object) -> Self:
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

    def columns(self, cols: Columns = None) -> Self:
        """Set the columns, or the expressions by name. Raises TypeError."""
        if cols is not None and not isinstance(cols, list | dict):
            raise TypeError(f"columns must be a list or dict[name, expression], got {type(cols)}")
        return self._set("columns", cols)

    def filter(self, filter: object) -> Self:
        """Set the filter: SQL or an Arrow expression."""
        return self._set("filter", filter)

    def limit(self, n: int | None = None) -> Self:
        """Set how many rows at most. Raises ValueError below 0."""
        if n is not None and int(n) < 0:
            raise ValueError("Limit must be non-negative")
        return self._set("limit", n)

    def offset(self, n: int | None = None) -> Self:
        """Set how many rows are left out at first. Raises ValueError below 0."""
        if n is not None and int(n) < 0:
            raise ValueError("Offset must be non-negative")
        return self._set("offset", n)

    def batch_size(self, batch_size: int) -> Self:
        """Set how many rows a batch has at most."""
        return self._set("batch_size", batch_size)

    def batch_size_bytes(self, batch_size_bytes: int) -> Self:
        """Set about how many bytes a batch has."""
        return self._set("batch_size_bytes", batch_size_bytes)

    def strict_batch_size(self, strict_batch_size: bool = False) -> Self:
        """Set whether all batches but the last have exactly the size."""
        return self._set("strict_batch_size", strict_batch_size)

    def with_fragments(self, fragments: Iterable[LanceFragment] | None) -> Self:
        """Set which fragments are read. Raises TypeError for what is none."""
        held = None if fragments is None else list(fragments)
        for one in held or ():
            if not isinstance(one, LanceFragment):
                raise TypeError(
                    f"fragments must be an iterable of LanceFragment. Got {type(one)} instead."
                )
        return self._set("fragments", held)

    def with_row_id(self, with_row_id: bool = True) -> Self:
        """Set whether row ids are returned."""
        return self._set("with_row_id", with_row_id)

    def with_row_address(self, with_row_address: bool = True) -> Self:
        """Set whether row addresses are returned."""
        return self._set("with_row_address", with_row_address)

    def include_deleted_rows(self, flag: bool) -> Self:
        """Set whether deleted rows are returned, their id null."""
        return self._set("include_deleted_rows", flag)

    def order_by(self, orderings: list[ColumnOrdering] | None) -> Self:
        """Set the columns to order by. Raises TypeError for what is no `ColumnOrdering`."""
        for one in orderings or ():
            if not isinstance(one, ColumnOrdering):
                raise TypeError(
                    f"orderings must be a list of ColumnOrdering. Got {type(one)} instead."
                )
        return self._set("order_by", orderings)

    def late_materialization(self, late_materialization: bool | list[str]) -> Self:
        """Set which columns are read only for rows that pass the filter: all, none or some."""
        return self._set("late_materialization", late_materialization)

    def blob_handling(self, blob_handling: str | None) -> Self:
        """Set what blobs read as."""
        return self._set("blob_handling", blob_handling)

    def use_stats(self, use_stats: bool = True) -> Self:
        """Set whether statistics are used to read less."""
        return self._set("use_stats", use_stats)

    def nearest(
        self,
        column: str,
        q: object,
        k: int | None = None,
        metric: str | None = None,
        nprobes: int | None = None,
        minimum_nprobes: int | None = None,
        maximum_nprobes: int | None = None,
        refine_factor: int | None = None,
        use_index: bool = True,
        ef: int | None = None,
        query_parallelism: int | None = None,
        approx_mode: str = "normal",
        distance_range: tuple[float | None, float | None] | None = None,
        search_effort: float | None = None,
    ) -> Self:
        """Ask for the nearest vectors; None for a number means the default.

        Raises TypeError and ValueError for a query that does not fit the column.
        """
        from lanceref.search.vector_query import vector_query

        asked = {
            "column": column,
            "q": q,
            "k": k,
            "metric": metric,
            "nprobes": nprobes,
            "minimum_nprobes": minimum_nprobes,
            "maximum_nprobes": maximum_nprobes,
            "refine_factor": refine_factor,
            "use_index": use_index,
            "ef": ef,
            "query_parallelism": query_parallelism,
            "approx_mode": approx_mode,
            "distance_range": distance_range,
            "search_effort": search_effort,
        }
        given = {name: one for name, one in asked.items() if name == "q" or one is not None}
        vector_query(given, self.ds._snapshot.manifest.schema, None)
        return self._set("nearest", given)

    def row_addr_prefilter(
        self, allowlist: bytes | None = None, blocklist: bytes | None = None
    ) -> Self:
        """Set which rows alone may be found, and which may not; None for all, and for none."""
        self._set("row_addr_allowlist", allowlist)
        return self._set("row_addr_blocklist", blocklist)

    def minhash_search(self, query: MinHashQuery) -> Self:
        """Ask for texts alike. Raises TypeError for another query."""
        if not isinstance(query, MinHashQuery):
            raise TypeError(f"minhash_search expects a MinHashQuery, got {type(query).__name__}")
        return self._set("nearest", query)

    def with_index_segments(self, index_segments: Iterable[str | UUID] | None) -> Self:
        """Set which segments of an index a search asks, by their ids; None for all."""
        return self._set("index_segments", index_segments)

    def scan_stats_callback(self, callback: Callable[[ScanStatistics], object]) -> Self:
        """Set what is told at the end what was read."""
        return self._set("scan_stats_callback", callback)

    def disable_scoring_autoprojection(self, disable: bool = True) -> Self:
        """Set whether scores and distances are returned only where they are asked for."""
        return self._set("disable_scoring_autoprojection", disable)

    def full_text_search(self, query: object, columns: list[str] | None = None) -> Self:
        """Ask for rows by words."""
        return self._set("full_text_query", {"query": query, "columns": columns})

    def use_scalar_index(self, use_scalar_index: bool = True) -> Self:
        """Set whether indices are used."""
        return self._set("use_scalar_index", use_scalar_index)

    def fast_search(self, flag: bool) -> Self:
        """Set whether a search is in indexed rows only."""
        return self._set("fast_search", flag)

    def prefilter(self, prefilter: bool) -> Self:
        """Set whether a search is among the rows that pass the filter."""
        return self._set("prefilter", prefilter)

    def scan_in_order(self, scan_in_order: bool = True) -> Self:
        """Set whether rows come in the order of the table, as they always do."""
        return self._set("scan_in_order", scan_in_order)

    def batch_readahead(self, nbatches: int | None = None) -> Self:
        """Set how many batches another reader decodes at once. Raises ValueError below 1."""
        if nbatches is not None and int(nbatches) <= 0:
            raise ValueError("batch_readahead must be greater than 0")
        return self._set("batch_readahead", nbatches)

    def fragment_readahead(self, nfragments: int | None = None) -> Self:
        """Set how many fragments another reader reads at once. Raises ValueError below 0."""
        if nfragments is not None and int(nfragments) < 0:
            raise ValueError("fragment_readahead must be non-negative")
        return self._set("fragment_readahead", nfragments)

    def io_buffer_size(self, io_buffer_size: int) -> Self:
        """Set how many bytes another reader holds."""
        return self._set("io_buffer_size", io_buffer_size)

    def to_scanner(self) -> LanceScanner:
        """Return the scan. Raises what `LanceDataset.scanner` does."""
        return self.ds.scanner(**self._arguments)  # type: ignore[arg-type]

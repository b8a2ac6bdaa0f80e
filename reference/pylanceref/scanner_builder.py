"""Scanner builder: the arguments of a scan, given one by one (face).

Has the names of pylance's `ScannerBuilder`. Most steps set one argument of `LanceDataset.scanner`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Self

from lanceref.search.minhash_search import MinHashQuery
from lanceref.search.projection import ColumnOrdering

from pylanceref.fragment import LanceFragment, check_fragments
from pylanceref.reading import scanner
from pylanceref.scan_arguments import check_arguments
from pylanceref.scanner import LanceScanner
from pylanceref.signatures import parameters
from pylanceref.table_handle import OpenTable


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

"""Arguments of a scan: what pylance's scanners take, checked and made into a `LanceScanner`.

Names, defaults and errors are pylance's.

Full-text requests: the query that a caller's words mean (face).

Words are looked for in every column that has an index; words in double quotes are a phrase.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypedDict

import pyarrow as pa
from lanceref.core.errors import NotFound, NotYet, QueryRefused, SchemaRefused
from lanceref.core.integers import unsigned
from lanceref.file.schema import Field, LanceSchema, project
from lanceref.index.full_text.parameters import DocumentGranularity
from lanceref.search.full_text import FullTextQuery, MatchQuery, MultiMatchQuery, PhraseQuery
from lanceref.search.minhash_search import MinHashQuery
from lanceref.search.projection import ColumnOrdering, Projection, scan_projection, take_projection
from lanceref.search.snapshot import Snapshot
from lanceref.search.text_column import text_indices
from lanceref.table.lineage import ROW_ID
from lanceref.table.logical import BlobHandling
from lanceref.table.rows import ROW_ADDRESS, SYSTEM_COLUMNS, FragmentRows

from pylanceref.scanner import LanceScanner, ScanOptions, ScanStatistics
from pylanceref.sql.columns import Computed, bind_columns
from pylanceref.sql.filter import condition

if TYPE_CHECKING:
    from lanceref.search.vector_query import VectorQuery


Columns = Sequence[str] | Mapping[str, str] | None
"""Columns by name, expressions by the name of the result, or None for all columns."""


SystemOption = Literal["with_row_id", "with_row_address"]


class ScanArguments(TypedDict, total=False):
    """Arguments of a scan besides columns, filter, limit and offset.

    From `batch_readahead` on they only say how another reader goes about it.
    """

    batch_size: int | None
    batch_size_bytes: int | None
    strict_batch_size: bool | None
    with_row_id: bool | None
    with_row_address: bool | None
    include_deleted_rows: bool | None
    blob_handling: str | None
    order_by: Sequence[ColumnOrdering | str] | None
    late_materialization: bool | list[str] | None
    use_stats: bool | None
    nearest: object
    full_text_query: object
    minhash: object
    index_segments: object
    row_addr_allowlist: bytes | None
    row_addr_blocklist: bytes | None
    scan_stats_callback: Callable[[ScanStatistics], object] | None
    substrait_aggregate: bytes | None
    batch_readahead: int | None
    fragment_readahead: int | None
    io_buffer_size: int | None
    fast_search: bool | None
    prefilter: bool | None
    scan_in_order: bool | None
    use_scalar_index: bool | None
    disable_scoring_autoprojection: bool | None


SYSTEM_OPTIONS: tuple[tuple[SystemOption, str], ...] = (
    ("with_row_id", ROW_ID),
    ("with_row_address", ROW_ADDRESS),
)
"""Arguments that ask for system columns, and their names."""

NOT_YET = (
    "minhash",
    "substrait_aggregate",
)
"""Arguments that need what this implementation does not have yet."""


def split_arguments(given: Mapping[str, object]) -> tuple[dict[str, object], dict[str, object]]:
    """Return the arguments that a scan has, and the others."""
    known = {"filter", "limit", "offset", *ScanArguments.__annotations__}
    scan = {name: value for name, value in given.items() if name in known}
    return scan, {name: value for name, value in given.items() if name not in known}


def describe(
    snapshot: Snapshot,
    fragments: Sequence[FragmentRows],
    columns: Columns,
    filter: object,
    limit: int | None,
    offset: int | None,
    arguments: ScanArguments,
) -> LanceScanner:
    """Describe a scan of fragments.

    Raises NotFound for an unknown column, QueryRefused for an expression that does not fit,
    ValueError or TypeError for another wrong argument and for one that there is not, NotYet.
    """
    _check(limit, offset, arguments)
    nearest = _nearest(arguments, snapshot, limit, given=fragments)
    if arguments.get("include_deleted_rows"):
        snapshot, fragments = _with_deleted(snapshot, fragments, arguments)
    schema = snapshot.schema(BlobHandling.of(arguments.get("blob_handling")))
    system = [name for argument, name in SYSTEM_OPTIONS if arguments.get(argument)]
    knowing = {
        "use_stats": arguments.get("use_stats") is not False,
        "use_indices": arguments.get("use_scalar_index") is not False,
    }
    search = _full_text(arguments, snapshot) if nearest is None else nearest
    if arguments.get("index_segments") is not None and not _asks_vectors(arguments):
        raise QueryRefused("Not supported: with_index_segments is only supported for vector search")
    first = search is None or arguments.get("prefilter")
    before = _listed(filter if first else None, arguments)
    projection, computed = _projection(schema, columns if search is None else [], system)
    options = ScanOptions(
        arguments.get("batch_size"),
        arguments.get("batch_size_bytes"),
        limit,
        offset,
        None if before is None else condition(snapshot, before, **knowing),
        _early(arguments.get("late_materialization"), projection, schema),
        _orderings(arguments.get("order_by"), schema),
        computed,
        bool(arguments.get("strict_batch_size")),
        arguments.get("scan_stats_callback"),
    )
    if search is None:
        if arguments.get("fast_search") and options.condition is not None:
            fragments = options.condition.indexed(fragments)
        return LanceScanner(snapshot, fragments, projection, options)
    return _search(
        snapshot, fragments, search, (columns, system, schema), options, arguments, filter
    )


def _listed(filter: object, arguments: ScanArguments) -> object:
    """Return a filter kept to the rows that a caller lists. Raises TypeError, QueryRefused."""
    lists = arguments.get("row_addr_allowlist"), arguments.get("row_addr_blocklist")
    if lists == (None, None):
        return filter
    from lanceref.search.filter import kept_to_lists

    return kept_to_lists(filter, *lists)


def _with_deleted(
    snapshot: Snapshot, fragments: Sequence[FragmentRows], arguments: ScanArguments
) -> tuple[Snapshot, Sequence[FragmentRows]]:
    """Return the same with deleted rows among the live ones. Raises QueryRefused."""
    if not arguments.get("with_row_id"):
        raise QueryRefused("include_deleted_rows is set but with_row_id is false")
    snapshot = snapshot.with_deleted()
    by_id = {rows.fragment.id: rows for rows in snapshot.fragments}
    return snapshot, [by_id[rows.fragment.id] for rows in fragments]


def _search(
    snapshot: Snapshot,
    fragments: Sequence[FragmentRows],
    query: FullTextQuery | VectorQuery | MinHashQuery,
    wanted: tuple[Columns, list[str], LanceSchema],
    options: ScanOptions,
    arguments: ScanArguments,
    filter: object,
) -> LanceScanner:
    """Describe a search; `wanted` are columns, system columns and the schema."""
    from pylanceref.search_scanner import filter_after, shown  # a search needs much more

    columns, system, schema = wanted
    added, fast = not arguments.get("disable_scoring_autoprojection"), arguments.get("fast_search")
    after = None if arguments.get("prefilter") else filter
    if isinstance(query, FullTextQuery):
        from lanceref.search.text_search import TextSearch

        from pylanceref.search_scanner import FullTextScanner

        words = TextSearch(snapshot, query, fast=bool(fast))
        result = shown(schema, columns, system, words.found, added=added)
        bound = filter_after(snapshot, after, words.found)
        return FullTextScanner(snapshot, fragments, result, options, words, bound)
    from pylanceref.search_scanner import DISTANCE, NearestScanner, found_fields, with_query_index

    if isinstance(query, MinHashQuery):
        from lanceref.search.minhash_search import DEFAULT_LIMIT, MinHashSearch

        limit = options.limit
        count = (DEFAULT_LIMIT if limit is None else limit) + (options.offset or 0)
        alike = MinHashSearch(snapshot, fragments, query, count, fast=bool(fast))
        result = shown(schema, columns, system, [DISTANCE], added=added)
        bound = filter_after(snapshot, after, [DISTANCE])
        return NearestScanner(snapshot, fragments, result, options, alike, bound)
    from lanceref.search.vector_search import VectorSearch, segment_ids

    fields = found_fields(query)
    if query.batch:
        columns = with_query_index(columns, schema)
    result = shown(schema, columns, system, fields, added=added)
    chosen = arguments.get("index_segments")
    ids = None if chosen is None else segment_ids(chosen)
    search = VectorSearch(snapshot, query, fragments, fast=bool(fast), chosen=ids)
    bound = filter_after(snapshot, after, fields)
    return NearestScanner(snapshot, fragments, result, options, search, bound)


def _nearest(
    arguments: ScanArguments,
    snapshot: Snapshot,
    limit: int | None,
    *,
    given: Sequence[FragmentRows],
) -> VectorQuery | MinHashQuery | None:
    """Return the query for vectors, or for texts alike, None when there is none.

    Raises QueryRefused, TypeError.
    """
    if arguments.get("nearest") is None:
        return None
    from lanceref.search.vector_query import vector_query

    if isinstance(arguments["nearest"], MinHashQuery):
        if arguments.get("include_deleted_rows"):
            raise QueryRefused("Cannot include deleted rows in a MinHash search")
        return arguments["nearest"]
    if given is not snapshot.fragments and not arguments.get("prefilter"):
        raise QueryRefused("This operation is not supported for fragment scan")
    if arguments.get("include_deleted_rows"):
        raise QueryRefused("Cannot include deleted rows in a nearest neighbor search")
    schema = snapshot.schema(BlobHandling.DECLARED)
    return vector_query(arguments["nearest"], schema, limit)


def _asks_vectors(arguments: ScanArguments) -> bool:
    """Whether vectors are searched, not texts alike."""
    nearest = arguments.get("nearest")
    return nearest is not None and not isinstance(nearest, MinHashQuery)


def _full_text(arguments: ScanArguments, snapshot: Snapshot) -> FullTextQuery | None:
    """Return the full-text query, None when there is none. Raises QueryRefused, TypeError."""
    if arguments.get("full_text_query") is None:
        return None
    from pylanceref.scan_arguments import full_text_query

    if arguments.get("include_deleted_rows"):
        raise QueryRefused("Cannot include deleted rows in an FTS search")
    return full_text_query(arguments["full_text_query"], snapshot)


def _check(limit: object, offset: object, arguments: ScanArguments) -> None:
    for name in arguments.keys() - ScanArguments.__annotations__.keys():
        raise TypeError(f"scanner() got an unexpected keyword argument {name!r}")
    for name in NOT_YET:
        if arguments.get(name) is not None:
            raise NotYet(f"{name}: this is not there yet")
    batch_size = arguments.get("batch_size")
    for name, value, least in (("Limit", limit, 0), ("Offset", offset, 0)):
        if value is None:
            continue
        if not isinstance(value, int):
            raise TypeError(f"{name.lower()}: {value!r} cannot be interpreted as an integer")
        if value < least:
            raise ValueError(f"{name} must be non-negative")
    if batch_size is not None and not 1 <= unsigned(batch_size) < 1 << 32:
        raise ValueError(
            f"Invalid user input: batch_size must be between 1 and 4294967295, got {batch_size}"
        )
    if (arguments.get("batch_readahead") or 1) <= 0 or arguments.get("batch_readahead") == 0:
        raise ValueError("batch_readahead must be greater than 0")
    if (arguments.get("fragment_readahead") or 0) < 0:
        raise ValueError("fragment_readahead must be non-negative")
    if arguments.get("strict_batch_size") and arguments.get("batch_size_bytes"):
        raise ValueError("strict_batch_size cannot be combined with a byte limit")


def _projection(
    schema: LanceSchema, columns: Columns, system: list[str]
) -> tuple[Projection, Computed | None]:
    """Return what is read, and the expressions over it."""
    if columns is not None and not isinstance(columns, list | Mapping):
        kind = type(columns)
        raise TypeError(f"columns must be a list or dict[name, expression], got {kind}")
    if not isinstance(columns, Mapping):
        return scan_projection(schema, columns, system), None
    every = (*schema.arrow, *(pa.field(one, pa.uint64()) for one in SYSTEM_COLUMNS))
    known = pa.schema(every, schema.metadata or None)
    computed = bind_columns({**columns, **{name: name for name in system}}, known)
    return take_projection(schema, sorted(computed.paths)), computed


def _early(
    late: bool | list[str] | None, projection: Projection, schema: LanceSchema
) -> tuple[Field, ...]:
    """Return the columns that are read for every row: only those the caller does not want late."""
    if isinstance(late, list):
        try:
            ids = {field.id for field in project(schema, late)}
        except NotFound as error:
            raise SchemaRefused(f"{error}") from error
        return tuple(field for field in projection.fields if field.id not in ids)
    return projection.fields if late is False else ()


def _orderings(
    given: Sequence[ColumnOrdering | str] | None, schema: LanceSchema
) -> tuple[ColumnOrdering, ...]:
    found = []
    for one in given or ():
        ordering = ColumnOrdering(one) if isinstance(one, str) else one
        if not isinstance(ordering, ColumnOrdering):
            raise TypeError(f"orderings must be a list of ColumnOrdering. Got {type(one)} instead.")
        try:
            project(schema, [ordering.column_name])
        except NotFound as error:
            raise QueryRefused(f"Column {ordering.column_name} not found") from error
        found.append(ordering)
    return tuple(found)


NO_COLUMN = (
    "Cannot perform full text search unless an INVERTED index has been created on at least one "
    "column"
)


def full_text_query(given: object, snapshot: Snapshot) -> FullTextQuery | None:
    """Return the query that a caller gives: text, a query, or both words and columns by name.

    Raises QueryRefused, TypeError.
    """
    columns: Sequence[str] | None = None
    query = given
    if isinstance(given, Mapping):
        unknown = given.keys() - {"query", "columns"}
        if "query" not in given or unknown:
            raise TypeError("full_text_search() takes 'query' and 'columns'")
        query, columns = given["query"], given.get("columns")
    if isinstance(query, FullTextQuery):
        return query
    if not isinstance(query, str):
        return None
    if columns is not None and not columns:
        raise QueryRefused(NO_COLUMN)
    return _of_text(query, columns, snapshot)


def _of_text(text: str, columns: Sequence[str] | None, snapshot: Snapshot) -> FullTextQuery:
    phrase = len(text) > 2 and text[0] == text[-1] == '"'
    if phrase and columns is not None and len(columns) > 1:
        raise QueryRefused("Phrase queries cannot be used with multiple columns.")
    granularity = None
    if columns is None:
        columns, granularity = _indexed(snapshot)
    if not columns:
        raise QueryRefused(NO_COLUMN)
    if phrase and len(columns) > 1:
        raise QueryRefused("the column must be specified in the query")
    if phrase:
        return PhraseQuery(text[1:-1], columns[0], document_granularity=granularity)
    if len(columns) == 1:
        return MatchQuery(text, columns[0], document_granularity=granularity)
    return MultiMatchQuery(text, list(columns))


def _indexed(snapshot: Snapshot) -> tuple[list[str], DocumentGranularity | None]:
    """Return the columns with a full-text index; those where rows are documents if there are."""
    found: dict[bool, list[str]] = {False: [], True: []}
    for path in snapshot.indices.by_path:
        for per_element in {one.list_elements for one in text_indices(snapshot, path)}:
            found[per_element].append(path)
    return found[False], DocumentGranularity.ROW if found[True] else None

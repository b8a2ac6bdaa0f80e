"""Arguments of a scan: what pylance's scanners take, checked and made into a `LanceScanner` (face).

A full-text query given as text searches for its words in every column that has an index.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

from lanceref.core.errors import NotFound, QueryRefused, SchemaRefused
from lanceref.core.integers import unsigned
from lanceref.file.schema import Field, LanceSchema
from lanceref.file.schema_view import project
from lanceref.index.full_text.parameters import DocumentGranularity
from lanceref.search.minhash_search import MinHashQuery
from lanceref.search.snapshot import Projection, Snapshot, scan_projection, take_projection
from lanceref.search.text_column import text_indices
from lanceref.table.lineage import ROW_ID
from lanceref.table.logical import BlobHandling
from lanceref.table.rows import ROW_ADDRESS, FragmentRows

from pylanceref.query import FullTextQuery, MatchQuery, MultiMatchQuery, PhraseQuery
from pylanceref.scanner import ColumnOrdering, LanceScanner, ScanOptions, ScanStatistics
from pylanceref.sql.columns import Computed, bind_columns
from pylanceref.sql.filters import all_columns, bind_filter, condition

if TYPE_CHECKING:
    from lanceref.search.vector_search import VectorQuery

    from pylanceref.search_scanner import SearchScanner

Columns = Sequence[str] | Mapping[str, str] | None
"""Columns by name, expressions by the name of the result, or None for all columns."""


def blob_handling(name: str | None) -> BlobHandling:
    """Return the handling of blobs that a name stands for. Raises ValueError."""
    if name == "all_binary":
        return BlobHandling.BYTES
    if name not in (None, "blobs_descriptions", "all_descriptions"):
        known = "all_binary, all_descriptions, blobs_descriptions"
        raise ValueError(f"Invalid blob_handling: {name}. Expected one of: {known}")
    return BlobHandling.DESCRIPTIONS


class ScanArguments(TypedDict, total=False):
    """Arguments of a scan; from `batch_readahead` on they only tune another reader or a search."""

    columns: Columns
    filter: object
    limit: int | None
    offset: int | None
    batch_size: int | None
    batch_size_bytes: int | None
    strict_batch_size: bool | None
    with_row_id: bool | None
    with_row_address: bool | None
    include_deleted_rows: bool | None
    blob_handling: str | None
    order_by: Sequence[ColumnOrdering | str] | None
    late_materialization: bool | list[str] | None
    nearest: object
    full_text_query: object
    scan_stats_callback: Callable[[ScanStatistics], object] | None
    batch_readahead: int | None
    use_stats: bool | None
    fragment_readahead: int | None
    io_buffer_size: int | None
    fast_search: bool | None
    prefilter: bool | None
    scan_in_order: bool | None
    use_scalar_index: bool | None
    disable_scoring_autoprojection: bool | None


SCAN_ARGUMENTS = ScanArguments.__annotations__.keys()

SAME_OPTIONS = SCAN_ARGUMENTS & {*ScanOptions.__match_args__}.difference({"order_by"})
"""Options that are arguments as they are."""

SYSTEM_OPTIONS = {"with_row_id": ROW_ID, "with_row_address": ROW_ADDRESS}
"""Names of system columns by the arguments that ask for them."""


def system_columns(arguments: Mapping[str, object]) -> list[str]:
    """Return the names of the system columns that arguments ask for."""
    return [name for option, name in SYSTEM_OPTIONS.items() if arguments.get(option)]


def check_arguments(arguments: ScanArguments) -> None:
    """Raise TypeError, ValueError for an unknown argument, or one of a wrong type or size."""
    for name in arguments.keys() - SCAN_ARGUMENTS:
        raise TypeError(f"scanner() got an unexpected keyword argument {name!r}")
    columns, batch_size = arguments.get("columns"), arguments.get("batch_size")
    if columns is not None and not isinstance(columns, list | Mapping):
        raise TypeError(f"columns must be a list or dict[name, expression], got {type(columns)}")
    for name, value in (("Limit", arguments.get("limit")), ("Offset", arguments.get("offset"))):
        if value is not None and not isinstance(value, int):
            raise TypeError(f"{name.lower()}: {value!r} cannot be interpreted as an integer")
        if value is not None and value < 0:
            raise ValueError(f"{name} must be non-negative")
    if batch_size is not None and not 1 <= unsigned(batch_size) < 1 << 32:
        raise ValueError(f"batch_size must be between 1 and 4294967295, got {batch_size}")
    if (readahead := arguments.get("batch_readahead")) is not None and readahead <= 0:
        raise ValueError("batch_readahead must be greater than 0")
    if (arguments.get("fragment_readahead") or 0) < 0:
        raise ValueError("fragment_readahead must be non-negative")
    if arguments.get("strict_batch_size") and arguments.get("batch_size_bytes"):
        raise ValueError("strict_batch_size cannot be combined with a byte limit")
    for one in arguments.get("order_by") or ():
        if not isinstance(one, ColumnOrdering | str):
            raise TypeError(f"orderings must be a list of ColumnOrdering. Got {type(one)} instead.")


def describe(
    snapshot: Snapshot, fragments: Sequence[FragmentRows], arguments: ScanArguments
) -> LanceScanner:
    """Describe a scan of fragments.

    Raises NotFound for an unknown column, QueryRefused for an expression that does not fit,
    ValueError or TypeError for another wrong argument and for one that there is not.
    """
    check_arguments(arguments)
    every = snapshot, fragments

    def again(others: Mapping[str, object]) -> LanceScanner:
        return describe(*every, {**arguments, **others})  # type: ignore[typeddict-item]

    search = _search(arguments, snapshot, fragments)
    if arguments.get("include_deleted_rows"):
        if search is not None:
            raise QueryRefused("Cannot include deleted rows in a search")
        if not arguments.get("with_row_id") and ROW_ID not in (arguments.get("columns") or ()):
            raise QueryRefused("include_deleted_rows is set but with_row_id is false")
        snapshot = snapshot.with_deleted()
        by_id = {rows.fragment.id: rows for rows in snapshot.fragments}
        fragments = [by_id[rows.fragment.id] for rows in fragments]
    schema = snapshot.schema(blob_handling(arguments.get("blob_handling")))
    columns = arguments.get("columns") if search is None else []
    projection, computed = _projection(schema, columns, system_columns(arguments))
    before = arguments.get("filter") if search is None or arguments.get("prefilter") else None
    bound = None
    if before is not None:
        uses_indices = arguments.get("use_scalar_index") is not False
        bound = condition(snapshot, before, use_indices=uses_indices)
    early = _early(arguments.get("late_materialization"), projection, schema)
    order = _orderings(arguments.get("order_by"), schema)
    same = {name: arguments.get(name) for name in SAME_OPTIONS}
    options = ScanOptions(bound, early, order, computed, again, **same)  # type: ignore[arg-type]
    if search is not None:
        return _search_scanner(snapshot, fragments, search, schema, options, arguments)
    if arguments.get("fast_search") and bound is not None:
        fragments = bound.indexed(fragments)
    return LanceScanner(snapshot, fragments, projection, options)


def _search(
    arguments: ScanArguments, snapshot: Snapshot, fragments: Sequence[FragmentRows]
) -> FullTextQuery | VectorQuery | MinHashQuery | None:
    """Return the query of a search, None for a scan. Raises QueryRefused, TypeError."""
    nearest = arguments.get("nearest")
    if nearest is None:
        return full_text_query(arguments.get("full_text_query"), snapshot)
    if isinstance(nearest, MinHashQuery):
        return nearest
    if fragments is not snapshot.fragments and not arguments.get("prefilter"):
        raise QueryRefused("This operation is not supported for fragment scan")
    from pylanceref.nearest import vector_query

    return vector_query(nearest, snapshot.schema(BlobHandling.DECLARED), arguments.get("limit"))


def _search_scanner(
    snapshot: Snapshot,
    fragments: Sequence[FragmentRows],
    query: FullTextQuery | VectorQuery | MinHashQuery,
    schema: LanceSchema,
    options: ScanOptions,
    arguments: ScanArguments,
) -> SearchScanner:
    """Describe a search."""
    from lanceref.search.minhash_search import DEFAULT_LIMIT, MinHashSearch
    from lanceref.search.text_search import TextSearch
    from lanceref.search.vector_search import VectorSearch

    from pylanceref import search_scanner as scanners  # a search needs much more than a scan

    columns, fast = arguments.get("columns"), bool(arguments.get("fast_search"))
    search: TextSearch | VectorSearch | MinHashSearch
    added = [scanners.DISTANCE]
    if isinstance(query, FullTextQuery):
        search = TextSearch(snapshot, query, fast=fast)
        added = search.found
    elif isinstance(query, MinHashQuery):
        limit = DEFAULT_LIMIT if options.limit is None else options.limit
        count = limit + (options.offset or 0)
        search = MinHashSearch(snapshot, fragments, query, count, fast=fast)
    else:
        search = VectorSearch(snapshot, query, fragments, fast=fast)
        if query.batch:
            added = [scanners.QUERY_INDEX, *added]
            first = scanners.QUERY_INDEX.name  # the number of the query comes before all columns
            asked = [field.name for field in schema.fields] if columns is None else columns
            names = [first, *(one for one in asked if one != first)]
            columns = {first: first, **columns} if isinstance(columns, Mapping) else names
    scores = not arguments.get("disable_scoring_autoprojection")
    result = scanners.shown(schema, columns, system_columns(arguments), added, added=scores)
    after = None if arguments.get("prefilter") else arguments.get("filter")
    rows = all_columns(snapshot.schema(BlobHandling.DESCRIPTIONS), added)
    bound = None if after is None else bind_filter(after, rows)
    given = snapshot, fragments, result.read, options, result, search, bound
    return scanners.SearchScanner(*given)


def _projection(
    schema: LanceSchema, columns: Columns, system: list[str]
) -> tuple[Projection, Computed | None]:
    """Return what is read, and the expressions over it."""
    if not isinstance(columns, Mapping):
        return scan_projection(schema, columns, system), None
    known = all_columns(schema).with_metadata(schema.metadata or None)
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
    given: Iterable[ColumnOrdering | str] | None, schema: LanceSchema
) -> tuple[ColumnOrdering, ...]:
    found = tuple(ColumnOrdering(one) if isinstance(one, str) else one for one in given or ())
    for one in found:
        try:
            project(schema, [one.column_name])
        except NotFound as error:
            raise QueryRefused(f"Column {one.column_name} not found") from error
    return found


def full_text_query(given: object, snapshot: Snapshot) -> FullTextQuery | None:
    """Return a query given as text, or as words and columns. Raises QueryRefused, TypeError."""
    columns: Sequence[str] | None = None
    granularity, query = None, given
    if isinstance(given, Mapping):
        if "query" not in given or given.keys() - {"query", "columns"}:
            raise TypeError("full_text_search() takes 'query' and 'columns'")
        query, columns = given["query"], given.get("columns")
    if isinstance(query, FullTextQuery):
        return query
    if not isinstance(query, str):
        return None
    is_phrase = len(query) > 2 and query[0] == query[-1] == '"'
    if columns is None:
        found: dict[bool, list[str]] = {False: [], True: []}
        for path in snapshot.indices.by_path:
            for per_element in {one.list_elements for one in text_indices(snapshot, path)}:
                found[per_element].append(path)
        columns = found[False]
        granularity = DocumentGranularity.ROW if found[True] else None
    elif is_phrase and len(columns) > 1:
        raise QueryRefused("Phrase queries cannot be used with multiple columns.")
    if not columns:
        raise QueryRefused(
            "Cannot perform full text search unless an INVERTED index has been created on at least "
            "one column"
        )
    if is_phrase and len(columns) > 1:
        raise QueryRefused("the column must be specified in the query")
    if is_phrase:
        return PhraseQuery(query[1:-1], columns[0], document_granularity=granularity)
    if len(columns) == 1:
        return MatchQuery(query, columns[0], document_granularity=granularity)
    return MultiMatchQuery(query, list(columns))

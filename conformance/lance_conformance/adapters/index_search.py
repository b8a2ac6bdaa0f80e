"""The operation `index.search` of implementations with pylance's API.

Both adapters run this code over their own module. Whether an index was used follows from the plan
of the scan; a full-text query always uses one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from lance_conformance.adapters.server import Message, Operation, write_table

TYPES = [
    *("BTREE", "BITMAP", "LABEL_LIST", "NGRAM", "ZONEMAP", "BLOOMFILTER", "INVERTED"),
    *("FM", "JSON", "RTREE"),
]
"""Types of indices that have cases, without those of vectors."""

VECTOR_TYPES = ["IVF_FLAT", "IVF_PQ", "IVF_SQ", "IVF_RQ"]
VECTOR_TYPES += ["IVF_HNSW_FLAT", "IVF_HNSW_PQ", "IVF_HNSW_SQ"]
"""Types of vector indices."""

INDEX_PLAN_STEPS = ("ScalarIndexQuery", "MaterializeIndex", "ANNSubIndex")
"""Steps of a plan that use an index."""

_NEAREST_OPTIONS = {"k": "k", "metric": "metric", "refine": "refine_factor", "ef": "ef"}
"""Options of a vector search: names in requests, and in pylance."""

_SYSTEM_COLUMN_OPTIONS = {"_rowid": "with_row_id", "_rowaddr": "with_row_address"}


def operations(module: Any, queries: Any) -> dict[str, Operation]:
    """Return `index.search` over a module, and the module with its query classes."""

    def search(request: Message) -> Message:
        version = int(request["version"]) if "version" in request else None
        opened = module.dataset(request["uri"], version=version)
        scanner = opened.scanner(**scan_arguments(opened, request, queries))
        body = write_table(request["out"], scanner.to_table())
        if "filter" in request or "nearest" in request:
            plan = scanner.explain_plan()
            body["used"] = any(step in plan for step in INDEX_PLAN_STEPS)
        return body

    return {"index.search": search}


def capabilities(
    types: list[str] = TYPES, *, vectors: bool = True, filters: bool = True
) -> Message:
    """Return the claim for `operations`, optionally without vector indices or filters."""
    every = [*types, *VECTOR_TYPES] if vectors else types
    claimed = {"types": every, "filter": filters, "text": True, "nearest": vectors}
    return {"index.search": claimed}


def scan_arguments(opened: Any, request: Mapping[str, Any], queries: Any) -> Message:
    """Return the scan arguments of a request."""
    arguments: Message = {_SYSTEM_COLUMN_OPTIONS[name]: True for name in request.get("with", ())}
    if "columns" in request:
        arguments["columns"] = request["columns"]
    if "filter" in request:
        arguments["filter"] = request["filter"]["sql"]
    if "limit" in request:
        arguments["limit"] = int(request["limit"])
    if "text" in request:
        arguments["full_text_query"] = text_query(request["text"], queries)
    arguments["use_scalar_index"] = request.get("use_index", True)
    if "nearest" in request:
        arguments["nearest"] = _nearest(opened, request["nearest"], arguments)
        arguments["prefilter"] = True
    return arguments


def _nearest(opened: Any, nearest: Message, others: Mapping[str, Any]) -> Message:
    """Return a vector search; a given number of partitions is both minimum and maximum."""
    type_ = opened.schema.field(nearest["column"]).type
    while hasattr(type_, "value_type"):
        type_ = type_.value_type
    query = np.array(nearest["q"], type_.to_pandas_dtype())
    arguments = {
        _NEAREST_OPTIONS[name]: value for name, value in nearest.items() if name in _NEAREST_OPTIONS
    }
    arguments |= {"column": nearest["column"], "q": query, "use_index": others["use_scalar_index"]}
    if "nprobes" in nearest:
        arguments["nprobes"] = nearest["nprobes"]
    if "range" in nearest:
        arguments["distance_range"] = tuple(float(end) for end in nearest["range"])
    return arguments


def text_query(query: Mapping[str, Mapping[str, Any]], queries: Any) -> Any:
    """Return a full-text query as an object of the classes of `queries`."""
    ((kind, arguments),) = query.items()
    return _QUERY_BUILDERS[kind](dict(arguments), queries)


def _query_class(name: str) -> Callable[[Message, Any], Any]:
    def build(arguments: Message, queries: Any) -> Any:
        if "operator" in arguments:
            arguments["operator"] = queries.FullTextOperator(arguments["operator"].upper())
        return getattr(queries, name)(**arguments)

    return build


def _boost(arguments: Message, queries: Any) -> Any:
    parts = (text_query(arguments[name], queries) for name in ("positive", "negative"))
    return queries.BoostQuery(*parts, negative_boost=float(arguments.get("negative_boost", "0.5")))


def _boolean(arguments: Message, queries: Any) -> Any:
    parts = [
        (getattr(queries.Occur, occur.upper()), text_query(one, queries))
        for occur, many in arguments.items()
        for one in many
    ]
    return queries.BooleanQuery(parts)


_QUERY_BUILDERS: dict[str, Callable[[Message, Any], Any]] = {
    "match": _query_class("MatchQuery"),
    "phrase": _query_class("PhraseQuery"),
    "multi_match": _query_class("MultiMatchQuery"),
    "combined": _query_class("CombinedFieldsQuery"),
    "boost": _boost,
    "boolean": _boolean,
}
"""Builder of a query by its kind."""

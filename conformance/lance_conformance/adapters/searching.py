"""The operation that asks an index, of an implementation that has pylance's names.

Both adapters run this code over their own module. Whether an index was asked is read from the plan
of the scan; a full-text query has none without.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from lance_conformance.adapters.skeleton import Message, Operation, write_table

TYPES = [
    *("BTREE", "BITMAP", "LABEL_LIST", "NGRAM", "ZONEMAP", "BLOOMFILTER", "INVERTED"),
    *("FM", "JSON", "RTREE"),
]
"""Types of indices that have cases, besides those of vectors."""

VECTOR_TYPES = ["IVF_FLAT", "IVF_PQ", "IVF_SQ", "IVF_RQ"]
VECTOR_TYPES += ["IVF_HNSW_FLAT", "IVF_HNSW_PQ", "IVF_HNSW_SQ"]
"""Types of vector indices."""

ASKED = ("ScalarIndexQuery", "MaterializeIndex", "ANNSubIndex")
"""Steps of a plan that ask an index."""

_NEAREST = {"k": "k", "metric": "metric", "refine": "refine_factor", "ef": "ef"}
"""What may be asked besides of a search for vectors: names of requests, and of pylance."""

_WITH = {"_rowid": "with_row_id", "_rowaddr": "with_row_address"}


def operations(module: Any, queries: Any) -> dict[str, Operation]:
    """Return `index.search` over a module, and the one that has its classes of queries."""

    def search(request: Message) -> Message:
        version = int(request["version"]) if "version" in request else None
        opened = module.dataset(request["uri"], version=version)
        scanner = opened.scanner(**scan_arguments(opened, request, queries))
        body = write_table(request["out"], scanner.to_table())
        if "filter" in request or "nearest" in request:
            plan = scanner.explain_plan()
            body["used"] = any(step in plan for step in ASKED)
        return body

    return {"index.search": search}


def capabilities(
    types: list[str] = TYPES, *, vectors: bool = True, filters: bool = True
) -> Message:
    """Return the claim that goes with `operations`, with vector indices or filters or without."""
    every = [*types, *VECTOR_TYPES] if vectors else types
    claimed = {"types": every, "filter": filters, "text": True, "nearest": vectors}
    return {"index.search": claimed}


def scan_arguments(opened: Any, request: Mapping[str, Any], queries: Any) -> Message:
    """Return the arguments of a scan of a dataset that a request asks for."""
    arguments: Message = {_WITH[name]: True for name in request.get("with", ())}
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


def _nearest(opened: Any, asked: Message, others: Mapping[str, Any]) -> Message:
    """Return a search for vectors; a given number of partitions is both least and most."""
    type_ = opened.schema.field(asked["column"]).type
    while hasattr(type_, "value_type"):
        type_ = type_.value_type
    query = np.array(asked["q"], type_.to_pandas_dtype())
    arguments = {_NEAREST[name]: value for name, value in asked.items() if name in _NEAREST}
    arguments |= {"column": asked["column"], "q": query, "use_index": others["use_scalar_index"]}
    if "nprobes" in asked:
        arguments["nprobes"] = asked["nprobes"]
    if "range" in asked:
        arguments["distance_range"] = tuple(float(end) for end in asked["range"])
    return arguments


def text_query(told: Mapping[str, Mapping[str, Any]], queries: Any) -> Any:
    """Return a full-text query as an object of the classes of `queries`."""
    ((kind, given),) = told.items()
    return _KINDS[kind](dict(given), queries)


def _words(name: str) -> Callable[[Message, Any], Any]:
    def make(given: Message, queries: Any) -> Any:
        if "operator" in given:
            given["operator"] = queries.FullTextOperator(given["operator"].upper())
        return getattr(queries, name)(**given)

    return make


def _boost(given: Message, queries: Any) -> Any:
    parts = (text_query(given[name], queries) for name in ("positive", "negative"))
    return queries.BoostQuery(*parts, negative_boost=float(given.get("negative_boost", "0.5")))


def _boolean(given: Message, queries: Any) -> Any:
    parts = [
        (getattr(queries.Occur, occur.upper()), text_query(one, queries))
        for occur, many in given.items()
        for one in many
    ]
    return queries.BooleanQuery(parts)


_KINDS: dict[str, Callable[[Message, Any], Any]] = {
    "match": _words("MatchQuery"),
    "phrase": _words("PhraseQuery"),
    "multi_match": _words("MultiMatchQuery"),
    "combined": _words("CombinedFieldsQuery"),
    "boost": _boost,
    "boolean": _boolean,
}
"""What makes a query, by its kind."""

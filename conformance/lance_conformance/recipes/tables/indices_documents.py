"""Cases of full-text indices whose documents are no plain texts, and of several columns at once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import pyarrow as pa

from lance_conformance.recipes.indexed import Steps, made
from lance_conformance.recipes.model import Positive
from lance_conformance.recipes.scores import bm25
from lance_conformance.recipes.tables.indices_text import TOLERANCE, Query, match

_LISTS = pa.array([["a fox", "dog fox"], ["fox dog", None], None, [], ["a dog"]])


def _steps(columns: Mapping[str, pa.Array], version: str, *, by_element: bool = False) -> Steps:
    """Return what writes columns and a full-text index on each."""

    def write(module: Any, uri: str) -> None:
        count = len(next(iter(columns.values())))
        table = pa.table({"id": pa.array(range(count), pa.int64()), **columns})
        dataset = module.write_dataset(table, uri, data_storage_version=version)
        parameters = {}
        if by_element:
            element = import_module(f"{module.__name__}.query").DocumentGranularity.LIST_ELEMENT
            parameters = {"document_granularity": element}
        for name in columns:
            dataset.create_scalar_index(name, "INVERTED", **parameters)
            dataset = module.dataset(uri)

    return write


def _case(
    slug: str,
    title: str,
    query: Query,
    steps: Steps,
    found: Mapping[str, pa.Array],
    clause: str,
    version: str = "2.1",
    by: str = "oracle",
) -> Positive:
    return Positive(
        id=f"index/any/inverted/{slug}",
        title=title,
        clauses=(clause,),
        make=made(steps, pa.table(found), by=by),
        version=version,
        kind="index-search",
        args={"text": query, "columns": ["id"]},
        index="INVERTED",
        order="any",
        tolerance=TOLERANCE,
    )


def _found(scores: Mapping[int, float]) -> dict[str, pa.Array]:
    return {
        "id": pa.array(scores.keys(), pa.int64()),
        "_score": pa.array(scores.values(), pa.float32()),
    }


_ELEMENTS = {0: ["fox"], 1: ["dog", "fox"], 2: ["fox", "dog"], 3: [], 4: ["dog"]}
"""The tokens of the elements: two of row 0, two of row 1, one of them null, and one of row 4."""

_ROWS = {0: ["fox", "dog", "fox"], 1: ["fox", "dog"], 4: ["dog"]}

_ELEMENT_ROWS = {
    "id": pa.array([0, 0, 1], pa.int64()),
    "_doc_index": pa.array([[0], [1], [0]], pa.list_(pa.uint32())),
    "_score": pa.array([bm25(_ELEMENTS, ["fox"], row) for row in range(3)], pa.float32()),
}

_JSON = pa.array(
    ['{"a":"quick fox","n":3}', '{"a":"fox","b":{"x":["dog",true]}}', None, '{"n":3}'],
    pa.json_(),
)

_MEMBERS = {
    0: ["a,str,quick", "a,str,fox", "n,number,3"],
    1: ["a,str,fox", "b.x,str,dog", "b.x,bool,true"],
    3: ["n,number,3"],
}

_LEFT = {0: ["fox", "dog"], 1: ["fox"], 2: ["bear"]}
_RIGHT = {0: ["bear"], 1: ["fox", "fox"], 2: ["fox", "bear", "dog"]}
_TWO = {
    "c": pa.array([" ".join(one) for one in _LEFT.values()]),
    "d": pa.array([" ".join(one) for one in _RIGHT.values()]),
}


def _best() -> dict[int, float]:
    """Return the scores of `fox` by the better column."""
    return {row: max(bm25(_LEFT, ["fox"], row), bm25(_RIGHT, ["fox"], row)) for row in range(3)}


def _combined() -> dict[int, float]:
    """Return the scores of `fox` over both columns as one; in each of them two rows hold it."""
    lengths = {row: len(_LEFT[row]) + len(_RIGHT[row]) for row in range(3)}
    mean = sum(lengths.values()) / 3
    weight = math.log((3 - 2 + 0.5) / (2 + 0.5) + 1)
    found = {}
    for row, length in lengths.items():
        often = _LEFT[row].count("fox") + _RIGHT[row].count("fox")
        found[row] = weight * 2.2 * often / (often + 1.2 * (0.25 + 0.75 * length / mean))
    return found


_BOTH = {"query": "fox", "columns": ["c", "d"]}

POSITIVES = (
    _case("elements", "every element of a list is a document", match("fox"),
          _steps({"c": _LISTS}, "2.1", by_element=True), _ELEMENT_ROWS,
          "L.index.fts.documents.list"),
    _case("lists", "the elements of a list are one document", match("fox"),
          _steps({"c": _LISTS}, "2.1"),
          _found({row: bm25(_ROWS, ["fox"], row) for row in (0, 1)}),
          "L.index.fts.documents.list"),
    _case("own-elements", "elements in an index of the reference", match("fox"),
          _steps({"c": _LISTS}, "2.1", by_element=True), _ELEMENT_ROWS,
          "L.index.fts.documents.list", by="reference"),
    _case("json", "paths, types and values of a JSON document are its tokens",
          match("a,str,fox"), _steps({"c": _JSON}, "2.2"),
          _found({0: bm25(_MEMBERS, ["a,str,fox"], 0),
                  1: bm25(_MEMBERS, ["a,str,fox"], 1)}),
          "L.index.fts.documents.json", version="2.2"),
    _case("multi-match", "the better of two columns counts", {"multi_match": _BOTH},
          _steps(_TWO, "2.1"), _found(_best()), "L.index.fts.multi-match"),
    _case("combined", "two columns count as one", {"combined": _BOTH},
          _steps(_TWO, "2.1"), _found(_combined()), "L.index.fts.combined"),
)  # fmt: skip

"""Index queries: random queries on indexed columns of two tables, by both implementations.

Each query runs with and without the indices.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pyarrow as pa
from lanceref_testing.conditions import (
    compare,
    compare_geometry,
    compare_list,
    compare_text,
    contains_word_part,
    either,
    null_test,
)
from pylanceref.sql.strict import is_text

from lance_conformance.campaigns.histories.index_rules import is_json
from lance_conformance.campaigns.histories.values import TOKENS, column
from lance_conformance.campaigns.histories.view import View
from lance_conformance.guarded_call import guarded

Query = str
"""Arguments of `to_table` as source text; the variable `use_index` enables indices."""

QUERIES_PER_INDEX, ALL = 3, 1000
"""Queries of each index after each step; more rows than a table has."""


def draw_queries(random: Random, view: View) -> Iterator[Query]:
    """Yield queries for every index of a table: filters on its column, or searches.

    None if a cleanup of another table has removed files of an index: both implementations then
    refuse such queries.
    """
    segments = view.dataset._snapshot.indices.segments
    inherited = [one for one in segments if one.entry.HasField("base_id")]
    if any(not one.has(file.path) for one in inherited for file in one.entry.files):
        return
    scalar = "columns=['_rowaddr'], use_scalar_index=use_index"
    for _, path, kind in [one for one in view.indices for _ in range(QUERIES_PER_INDEX)]:
        words = " ".join(random.choices(TOKENS, k=random.choice((1, 1, 2))))
        if kind == "INVERTED":
            search = {"query": words, "columns": [path]}
            yield f"full_text_query={search}, {scalar}"
        elif kind == "MINHASHLSH":
            nearest = f"lance.query.MinHashQuery({words!r}, {path!r})"
            yield f"nearest={nearest}, columns=['_rowaddr', '_distance'], limit={ALL}"
        elif kind.startswith("IVF"):
            yield _nearest(random, path, kind)
        else:
            yield f"filter={_filter(random, view, path)!r}, {scalar}"


def _filter(random: Random, view: View, path: str) -> str:
    """Return a condition on an indexed column and, sometimes, on another one."""
    condition = _maybe_negated(random, view, path)
    others = {one for _, one, kind in view.indices if one != path and not kind.startswith("IVF")}
    if others and random.random() < 0.3:
        return either(
            random, condition, _maybe_negated(random, view, random.choice(sorted(others)))
        )
    return condition


def _maybe_negated(random: Random, view: View, path: str) -> str:
    """Return a condition or, sometimes, its negation, which the oracle evaluates wrongly by FM."""
    condition = condition_on(random, path, view.type_of(path))
    if random.random() >= 0.2 or (path, "FM") in [(one, kind) for _, one, kind in view.indices]:
        return condition
    return f"not ({condition})"


def condition_on(random: Random, path: str, kind: pa.DataType) -> str:
    """Return a condition on a column of any type except vectors."""
    if random.random() < 0.1:
        return null_test(random, path)
    of = column(kind)
    if pa.types.is_list(kind):
        return compare_list(random, path, of, nulls=0.1)
    if pa.types.is_binary(kind):
        return compare_geometry(random, path, of)
    leaf = random.choice((compare, compare_text, contains_word_part)) if is_text(kind) else compare
    return leaf(random, f"json_get_int({path}, 'a')" if is_json(kind) else path, of)


def _nearest(random: Random, path: str, kind: str) -> Query:
    """Return a search for nearest vectors by exact distances, without row ids where ties matter."""
    k = random.choice((3, ALL))
    nearest = {"column": path, "q": [random.randrange(25) for _ in range(8)], "k": k}
    nearest |= {"nprobes": 10, "refine_factor": ALL // k}
    if "HNSW" in kind:
        nearest["ef"] = ALL
    columns = ["_distance"] if k < ALL else ["_rowaddr", "_distance"]
    return f"nearest={{**{nearest}, 'use_index': use_index}}, columns={columns}"


def query_differences(
    seed: str, view: View, roots: Sequence[Path], readers: Sequence[ModuleType]
) -> Iterator[str]:
    """Yield the queries of indices that have different results.

    Each runs on both tables by both readers, with and without the indices.
    """
    datasets = {
        f"{root.name} by {module.__name__}": (module, module.dataset(str(root / view.name)))
        for root in roots
        for module in readers
    }
    for query in draw_queries(Random(seed), view):
        runs: dict[str, list[str]] = {}
        for name, (module, dataset) in datasets.items():
            for use_index in (False, True):
                result = _run_query(module, dataset, query, use_index)
                runs.setdefault(result, []).append(f"{name}, {'index' if use_index else 'rows'}")
        if len(runs) > 1:
            results = "; ".join(f"{', '.join(names)}: {result}" for result, names in runs.items())
            yield f"{view.name}: {query}: {results}"


def _run_query(module: ModuleType, dataset: Any, query: Query, use_index: bool) -> str:
    """Return the rows as text, in ascending order, or `refused` for any error."""

    def run() -> list[tuple[object, ...]]:
        arguments = eval(f"dict({query})", {"lance": module, "use_index": use_index})
        table = dataset.to_table(**arguments)
        return sorted(zip(*(table[name].to_pylist() for name in arguments["columns"]), strict=True))

    result = guarded(run)
    return "refused" if result.error else str(result.value)

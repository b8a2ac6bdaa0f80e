"""Full-text part: the oracle and the reference find the same documents, with the same scores.

Either implementation builds the indices of a random table, deletes, adds and updates rows,
optimizes the indices and compacts fragments. After every step both run the same random queries.
Rows must be equal, scores equal to 1e-5 and descending. Otherwise the difference must be a
published divergence, which its effect identifies while the rest of the result is equal: results
without a limit, without replaced rows, or of covered rows alone.

Divergences: D.index.fts-fuzzy-elements, D.index.fts-null-texts, D.index.fts-compacted-ids,
D.index.fts-replaced-texts
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any, TypeAlias

import pyarrow as pa
from lanceref.core.errors import NotYet
from lanceref_testing import texts
from pylanceref import query as classes
from pylanceref.query import BooleanQuery, BoostQuery, FullTextQuery, MultiMatchQuery

from lance_conformance.campaigns.runner import Outcome, Part, Plan, Session
from lance_conformance.guarded_call import REFUSALS, guarded
from lance_conformance.oracle import lance
from lance_conformance.specification.known_divergences import id_of

Result: TypeAlias = list[tuple[int, object, float]] | str
"""Number, element and score of rows, by number; or an error."""

Scan: TypeAlias = dict[str, object]
"""Arguments of a scan without the query."""

Pair: TypeAlias = tuple[Result, Result]
Run: TypeAlias = Callable[[Scan], Pair]
"""Results of the oracle and of the reference, and a function that returns them."""

TOLERANCE = 1e-5

OUTSIDE = {
    "injected BM25 scorer is missing compound FTS token": "refused only with the rows outside",
    "expected a string array, got LargeBinary": "JSON refused only with the rows outside",
}
"""Errors of the oracle with rows outside the index, and the sign of each in the known list."""

QUERIES = 10
"""Queries after each step of a table."""

COUNTS = ("asked", "found", "refused", "not yet known")
"""Counts of queries, besides those of divergences."""


def equal(expected: Result, found: Result, *, limited: bool) -> bool:
    """Return whether two results are equal; with a limit, rows of the lowest score may differ."""
    if isinstance(expected, str) or isinstance(found, str):
        return False
    least = min((score for *_, score in expected), default=0.0) if limited else -float("inf")
    margin = 2 * TOLERANCE * max(1.0, abs(least)) if limited else 0.0
    first, second = ([one for one in rows if one[2] > least + margin] for rows in (expected, found))
    if len(expected) != len(found) or [one[:2] for one in first] != [one[:2] for one in second]:
        return False
    scores = [sorted(score for *_, score in rows) for rows in (expected, found)]
    pairs = [(a[2], b[2]) for a, b in zip(first, second, strict=True)]
    pairs += list(zip(*scores, strict=True))
    return all(abs(a - b) <= TOLERANCE * max(1.0, abs(a)) for a, b in pairs)


STEPS: dict[str, Callable[[Any, Random, str], object]] = {
    "delete": lambda table, rng, _: table.delete(f"i % 7 = {rng.randint(0, 6)}"),
    "insert": lambda table, rng, family: table.insert(
        texts.rows(family, rng.choice([1, 20, 60]), rng, rng.randint(1, 9) * 1000)
    ),
    "update": lambda table, rng, _: table.update(
        {"s": f"'{texts.REPLACEMENT}'"}, f"i % 11 = {rng.randint(0, 10)}"
    ),
    "optimize": lambda table, _, __: table.optimize.optimize_indices(),
    "delta": lambda table, rng, _: table.optimize.optimize_indices(
        num_indices_to_merge=rng.choice([0, 0, 2, 10])
    ),
    "compact": lambda table, _, __: table.optimize.compact_files(),
}
"""Operations between queries."""


class TableHistory:
    """One table of a family, its operations, and the counts and differences of its queries."""

    def __init__(self, family: str, seed: int, folder: Path) -> None:
        self._family, self._path = family, str(folder / f"{family}_{seed}")
        self._rng = Random(f"{seed} {family}")
        self._both = lance(), import_module("pylanceref")
        self.counts = Counter(dict.fromkeys(COUNTS, 0))
        self.differences, self.steps = list[str](), list[str]()

    def run(self, queries: int) -> None:
        """Write the table, and run `queries` queries at each of its four steps."""
        rng, family = self._rng, self._family
        first = rng.choice(self._both)
        first.write_dataset(
            texts.rows(family, rng.choice([40, 150, 300]), rng, 0),
            self._path,
            max_rows_per_file=rng.choice([30, 1000]),
            enable_stable_row_ids=rng.random() < 0.3,
        )
        parameters = texts.parameters(family, rng)
        self._build_indices(rng.choice(self._both), parameters)
        self.steps.append(f"{first.__name__} {parameters}")
        for number in range(4):
            if number:
                step, writer = rng.choice(list(STEPS)), rng.choice(self._both)
                STEPS[step](writer.dataset(self._path), rng, family)
                self.steps.append(f"{writer.__name__} {step}")
            for _ in range(queries):
                self._compare(rng.randrange(1 << 30))

    def _build_indices(self, writer: ModuleType, parameters: dict[str, object]) -> None:
        """Build the indices of the table."""
        per_element = self._rng.random() < 0.3
        for column in "stlj":
            options = dict(parameters)
            if column == "l" and per_element:
                options["document_granularity"] = _classes(writer).DocumentGranularity.LIST_ELEMENT
            writer.dataset(self._path).create_scalar_index(column, "INVERTED", **options)

    def _compare(self, seed: int) -> None:
        """Run a query by both implementations, and compare the results."""
        scan, query = (
            _draw_scan(Random(seed)),
            texts.draw_query(self._family, classes, Random(seed)),
        )
        assert isinstance(query, FullTextQuery)

        def run(scan: Scan) -> Pair:
            return self._run(self._both[0], seed, scan), self._run(self._both[1], seed, scan)

        expected, result = run(scan)
        self.counts["asked"] += 1
        if isinstance(result, str) and result.startswith(NotYet.__name__):
            self.counts["not yet known"] += 1
        elif isinstance(expected, str) and isinstance(result, str):
            self.counts["refused"] += 1
        elif equal(expected, result, limited="limit" in scan):
            self.counts["found"] += bool(result)
        elif sign := self._sign(query, scan, run, (expected, result)):
            self.counts[id_of("queries/full_text", sign)] += 1
        else:
            self.differences.append(
                f"step {len(self.steps)}: {query} {scan}\n"
                f"    oracle    {str(expected)[:300]}\n    reference {str(result)[:300]}"
            )

    def _run(self, module: ModuleType, seed: int, scan: Scan) -> Result:
        """Return the result of one implementation."""
        query = texts.draw_query(self._family, _classes(module), Random(seed))
        arguments = {"full_text_query": query, "columns": ["i", "_score"], **scan}
        call = guarded(lambda: module.dataset(self._path).to_table(**arguments), REFUSALS)
        if call.error:
            return call.error
        table = call.value
        assert isinstance(table, pa.Table)
        scores = table["_score"].to_pylist()
        if sorted(scores, reverse=True) != scores:
            return f"scores are not descending: {scores}"
        has_elements = "_doc_index" in table.schema.names
        elements = map(str, table["_doc_index"].to_pylist()) if has_elements else [0] * len(scores)
        rows = zip(table["i"].to_pylist(), elements, scores, strict=True)
        return sorted(rows, key=lambda row: (row[0], str(row[1])))

    def _sign(self, query: FullTextQuery, scan: Scan, run: Run, pair: Pair) -> str | None:
        """Return the sign of the divergence of two different results, or None."""
        expected, result = pair
        if isinstance(result, str):
            return None
        if isinstance(expected, str):
            is_covered = equal(*run({**scan, "fast_search": True}), limited="limit" in scan)
            signs = (sign for error, sign in OUTSIDE.items() if is_covered and error in expected)
            return next(signs, None)
        limit = scan.get("limit")
        unlimited = run({name: one for name, one in scan.items() if name != "limit"})
        if isinstance(limit, int) and not equal(_best(unlimited[1], limit), result, limited=True):
            return None
        dataset = lance().dataset(self._path)
        if equal(*unlimited, limited=False):
            if self._family == "raw" and _is_compound(query) and "prefilter" not in scan:
                return "equal without a limit, compound query over raw texts"
            is_compacted = any(step.endswith(" compact") for step in self.steps)
            is_lost = dataset.has_stable_row_ids and is_compacted and len(expected) < len(result)
            return "equal without a limit, rows lost after compaction" if is_lost else None
        segments = [one["name"] for one in dataset.list_indices()]
        rows = dataset.to_table(columns=["i"], filter=f"s = '{texts.REPLACEMENT}'")
        others = [_exclude(one, {*rows["i"].to_pylist()}) for one in unlimited]
        is_known = dataset.has_stable_row_ids and len(set(segments)) < len(segments)
        return "equal but for replaced rows" if is_known and equal(*others, limited=False) else None


def _classes(module: ModuleType) -> ModuleType:
    return import_module(f"{module.__name__}.query")


def _is_compound(query: object) -> bool:
    if isinstance(query, BoostQuery):
        return _is_compound(query.positive) or _is_compound(query.negative)
    return isinstance(query, BooleanQuery | MultiMatchQuery)


def _best(result: Result, limit: int) -> Result:
    """Return the rows with the best scores, by number."""
    if isinstance(result, str):
        return result
    best = sorted(result, key=lambda row: -row[2])[:limit]
    return sorted(best, key=lambda row: (row[0], str(row[1])))


def _exclude(result: Result, rows: set[int]) -> Result:
    return result if isinstance(result, str) else [one for one in result if one[0] not in rows]


FILTERED = {"filter": "i % 3 = 1", "prefilter": True}


def _draw_scan(rng: Random) -> Scan:
    """Return further arguments of a scan."""
    more: list[Scan] = [FILTERED, {"filter": "i % 3 = 1"}, {**FILTERED, "limit": 4}]
    return rng.choice([{}, {}, {}, {"limit": rng.choice([1, 5, 20])}, *more, {"fast_search": True}])


def full_text(plan: Plan) -> Iterator[Session]:
    """Open the part: tables of every family, with consecutive seeds."""
    tables = -(-plan.count // len(texts.FAMILIES))
    seeds = range(plan.seed, plan.seed + tables)
    yield Session([f"{family}/{seed}" for seed in seeds for family in texts.FAMILIES], run_case)


def run_case(case: str) -> Outcome:
    """Run the history of a case in a temporary folder."""
    family, _, seed = case.partition("/")
    with tempfile.TemporaryDirectory() as folder:
        history = TableHistory(family, int(seed), Path(folder))
        history.run(QUERIES)
    if history.differences:
        details = "; ".join(history.steps), *history.differences
        return Outcome("differed", details, history.counts)
    divergences = [name for name in history.counts if name.startswith("D.")]
    return Outcome("known" if divergences else "agreed", divergences, history.counts)


PARTS = (Part("full_text", 56, full_text),)

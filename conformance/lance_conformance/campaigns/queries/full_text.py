"""Full-text part: the oracle and the reference find the same documents, with the same scores.

Random tables get indices from one of the two and live on: rows are deleted, added and updated,
indices brought up to date, fragments compacted, by either. At every step both are asked the same
random questions. Rows must be the same, scores equal to 1e-5, and fall from row to row; where they
are not, it must be a published divergence: each is recognised by what it does, and the rest of the
answer has to be the same: the rows that are asked for without a limit, rows that were never
replaced, rows that an index covers. What is left has no name, and is a difference.

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
from pylanceref import query as names
from pylanceref.query import BooleanQuery, BoostQuery, FullTextQuery, MultiMatchQuery

from lance_conformance.campaigns.runner import Outcome, Part, Plan, Session
from lance_conformance.guarded_call import REFUSALS, guarded
from lance_conformance.known_divergences import id_of
from lance_conformance.oracle import lance

Found: TypeAlias = list[tuple[int, object, float]] | str
"""Number, element and score of rows, by number; or why there are none."""

Scan: TypeAlias = dict[str, object]
"""Arguments of a scan beside the query."""

TOLERANCE = 1e-5

OUTSIDE = {
    "injected BM25 scorer is missing compound FTS token": "refused only with the rows outside",
    "expected a string array, got LargeBinary": "JSON refused only with the rows outside",
}
"""Errors of the oracle where rows lie outside the index -> the sign of each."""

QUESTIONS = 10
"""Questions at each step of a table."""

RESULTS = ("asked", "found", "refused", "not yet known")
"""What questions are counted as, beside the divergences."""


def equal(wanted: Found, found: Found, *, limited: bool) -> bool:
    """Return whether two answers are the same; of equal last ones any may be within a limit."""
    if isinstance(wanted, str) or isinstance(found, str):
        return False
    least = min((score for *_, score in wanted), default=0.0) if limited else -float("inf")
    margin = 2 * TOLERANCE * max(1.0, abs(least)) if limited else 0.0
    own = [one for one in wanted if one[2] > least + margin]
    other = [one for one in found if one[2] > least + margin]
    if len(wanted) != len(found) or [one[:2] for one in own] != [one[:2] for one in other]:
        return False
    mine, theirs = (sorted(score for *_, score in rows) for rows in (wanted, found))
    pairs = [(a[2], b[2]) for a, b in zip(own, other, strict=True)]
    pairs += list(zip(mine, theirs, strict=True))
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
"""What is done to a table between questions."""


class Life:
    """One table of a family: what was done to it, and what its questions came to."""

    def __init__(self, family: str, seed: int, folder: Path) -> None:
        self._family, self._path = family, str(folder / f"{family}_{seed}")
        self._rng = Random(f"{seed} {family}")
        self._both = lance(), import_module("pylanceref")
        self.counts = Counter(dict.fromkeys(RESULTS, 0))
        self.differences, self.steps = list[str](), list[str]()

    def live(self, questions: int) -> None:
        """Write the table, and ask so many questions at each of its four steps."""
        rng, family = self._rng, self._family
        first = rng.choice(self._both)
        first.write_dataset(
            texts.rows(family, rng.choice([40, 150, 300]), rng, 0),
            self._path,
            max_rows_per_file=rng.choice([30, 1000]),
            enable_stable_row_ids=rng.random() < 0.3,
        )
        given = texts.parameters(family, rng)
        self._index(rng.choice(self._both), given)
        self.steps.append(f"{first.__name__} {given}")
        for number in range(4):
            if number:
                step, writer = rng.choice(list(STEPS)), rng.choice(self._both)
                STEPS[step](writer.dataset(self._path), rng, family)
                self.steps.append(f"{writer.__name__} {step}")
            for _ in range(questions):
                self._ask(rng.randrange(1 << 30))

    def _index(self, writer: ModuleType, given: dict[str, object]) -> None:
        """Build the indices of the table."""
        per_element = self._rng.random() < 0.3
        for column in "stlj":
            own = dict(given)
            if column == "l" and per_element:
                own["document_granularity"] = _names(writer).DocumentGranularity.LIST_ELEMENT
            writer.dataset(self._path).create_scalar_index(column, "INVERTED", **own)

    def _ask(self, seed: int) -> None:
        """Ask both a question."""
        scan, query = _scan(Random(seed)), texts.question(self._family, names, Random(seed))
        assert isinstance(query, FullTextQuery)

        def ask(scan: Scan) -> tuple[Found, Found]:
            return self._answer(self._both[0], seed, scan), self._answer(self._both[1], seed, scan)

        wanted, found = ask(scan)
        self.counts["asked"] += 1
        if isinstance(found, str) and found.startswith(NotYet.__name__):
            self.counts["not yet known"] += 1
        elif isinstance(wanted, str) and isinstance(found, str):
            self.counts["refused"] += 1
        elif equal(wanted, found, limited="limit" in scan):
            self.counts["found"] += bool(found)
        elif sign := self._sign(query, scan, ask, wanted, found):
            self.counts[id_of("queries/full_text", sign)] += 1
        else:
            self.differences.append(
                f"step {len(self.steps)}: {query} {scan}\n"
                f"    oracle    {str(wanted)[:300]}\n    reference {str(found)[:300]}"
            )

    def _answer(self, module: ModuleType, seed: int, scan: Scan) -> Found:
        """Return what one of the two finds."""
        query = texts.question(self._family, _names(module), Random(seed))
        asked = {"full_text_query": query, "columns": ["i", "_score"], **scan}
        told = guarded(lambda: module.dataset(self._path).to_table(**asked), REFUSALS)
        if told.error:
            return told.error
        table = told.value
        assert isinstance(table, pa.Table)
        scores = table["_score"].to_pylist()
        if sorted(scores, reverse=True) != scores:
            return f"scores do not fall: {scores}"
        has_elements = "_doc_index" in table.schema.names
        elements = map(str, table["_doc_index"].to_pylist()) if has_elements else [0] * len(scores)
        rows = zip(table["i"].to_pylist(), elements, scores, strict=True)
        return sorted(rows, key=lambda row: (row[0], str(row[1])))

    def _sign(
        self,
        query: FullTextQuery,
        scan: Scan,
        ask: Callable[[Scan], tuple[Found, Found]],
        wanted: Found,
        found: Found,
    ) -> str | None:
        """Return the sign of the divergence that two unequal answers show, None for no known."""
        if isinstance(found, str):
            return None
        if isinstance(wanted, str):
            covered = equal(*ask({**scan, "fast_search": True}), limited="limit" in scan)
            signs = (sign for error, sign in OUTSIDE.items() if covered and error in wanted)
            return next(signs, None)
        limit = scan.get("limit")
        whole = ask({name: one for name, one in scan.items() if name != "limit"})
        if isinstance(limit, int) and not equal(_best(whole[1], limit), found, limited=True):
            return None
        dataset = lance().dataset(self._path)
        if equal(*whole, limited=False):
            if self._family == "raw" and _is_compound(query) and "prefilter" not in scan:
                return "equal without a limit, compound query over raw texts"
            compacted = any(step.endswith(" compact") for step in self.steps)
            lost = dataset.has_stable_row_ids and compacted and len(wanted) < len(found)
            return "equal without a limit, rows lost after compaction" if lost else None
        segments = [one["name"] for one in dataset.list_indices()]
        rows = dataset.to_table(columns=["i"], filter=f"s = '{texts.REPLACEMENT}'")
        left = [_without(answer, {*rows["i"].to_pylist()}) for answer in whole]
        known = dataset.has_stable_row_ids and len(set(segments)) < len(segments)
        return "equal but for replaced rows" if known and equal(*left, limited=False) else None


def _names(module: ModuleType) -> ModuleType:
    return import_module(f"{module.__name__}.query")


def _is_compound(query: object) -> bool:
    if isinstance(query, BoostQuery):
        return _is_compound(query.positive) or _is_compound(query.negative)
    return isinstance(query, BooleanQuery | MultiMatchQuery)


def _best(answer: Found, limit: int) -> Found:
    """Return the best rows of an answer, by number."""
    if isinstance(answer, str):
        return answer
    kept = sorted(answer, key=lambda row: -row[2])[:limit]
    return sorted(kept, key=lambda row: (row[0], str(row[1])))


def _without(answer: Found, rows: set[int]) -> Found:
    return answer if isinstance(answer, str) else [one for one in answer if one[0] not in rows]


FILTERED = {"filter": "i % 3 = 1", "prefilter": True}


def _scan(rng: Random) -> Scan:
    """Return further arguments of a question."""
    more: list[Scan] = [FILTERED, {"filter": "i % 3 = 1"}, {**FILTERED, "limit": 4}]
    return rng.choice([{}, {}, {}, {"limit": rng.choice([1, 5, 20])}, *more, {"fast_search": True}])


def full_text(plan: Plan) -> Iterator[Session]:
    """Open the part: tables of every family, each with a seed of its own."""
    tables = -(-plan.count // len(texts.FAMILIES))
    seeds = range(plan.seed, plan.seed + tables)
    yield Session([f"{family}/{seed}" for seed in seeds for family in texts.FAMILIES], run_case)


def run_case(case: str) -> Outcome:
    """Run the table of a case in a folder of its own."""
    family, _, seed = case.partition("/")
    with tempfile.TemporaryDirectory() as folder:
        life = Life(family, int(seed), Path(folder))
        life.live(QUESTIONS)
    if life.differences:
        return Outcome("differed", ("; ".join(life.steps), *life.differences), life.counts)
    divergences = [name for name in life.counts if name.startswith("D.")]
    return Outcome("known" if divergences else "agreed", divergences, life.counts)


PARTS = (Part("full_text", 56, full_text),)

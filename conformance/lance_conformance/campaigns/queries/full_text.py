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
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from random import Random
from types import ModuleType
from typing import TypeAlias

import pyarrow as pa
from lanceref.core.errors import NotYet
from pylanceref.query import BooleanQuery, BoostQuery, FullTextQuery, MultiMatchQuery

from lance_conformance.campaigns.queries import texts
from lance_conformance.campaigns.runner import Outcome, Plan, Session
from lance_conformance.known_divergences import id_of
from lance_conformance.oracle import lance

Found: TypeAlias = list[tuple[int, object, float]] | str
"""Number, element and score of rows, by number; or why there are none."""

Scan: TypeAlias = dict[str, object]

TOLERANCE = 1e-5

MISSING = "injected BM25 scorer is missing compound FTS token"


@dataclass(frozen=True, slots=True)
class History:
    """What became of a table: rows whose text was replaced, by number, and what was done to it."""

    stable_ids: bool = False
    compacted: bool = False
    several_segments: bool = False
    replaced: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Question:
    """A query, further arguments, and `ask`, which asks both with other ones."""

    query: FullTextQuery
    scan: Scan
    raw: bool
    ask: Callable[[Scan], tuple[Found, Found]]


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


def published(question: Question, wanted: Found, found: Found, history: History) -> str | None:
    """Return the id of the divergence that two unequal answers show, None if it is another."""
    if isinstance(found, str):
        return None
    if isinstance(wanted, str):
        covered = question.ask({**question.scan, "fast_search": True})
        known = MISSING in wanted and equal(*covered, limited="limit" in question.scan)
        return _known("refused only with the rows outside the index") if known else None
    limit = question.scan.get("limit")
    whole = question.ask({name: one for name, one in question.scan.items() if name != "limit"})
    if isinstance(limit, int) and not equal(_best(whole[1], limit), found, limited=True):
        return None
    if equal(*whole, limited=False):
        if question.raw and _is_compound(question.query) and "prefilter" not in question.scan:
            return _known("equal without a limit, compound query over raw texts")
        lost = history.stable_ids and history.compacted and len(wanted) < len(found)
        return _known("equal without a limit, rows lost after compaction") if lost else None
    left = [_without(answer, history.replaced) for answer in whole]
    known = history.stable_ids and history.several_segments and equal(*left, limited=False)
    return _known("equal but for replaced rows") if known else None


def _known(sign: str) -> str:
    return id_of("queries/full_text", sign)


def _is_compound(query: FullTextQuery) -> bool:
    if isinstance(query, BoostQuery):
        return _is_compound(query.positive) or _is_compound(query.negative)
    return isinstance(query, BooleanQuery | MultiMatchQuery)


def _best(answer: Found, limit: int) -> Found:
    """Return the best rows of an answer, by number."""
    if isinstance(answer, str):
        return answer
    kept = sorted(answer, key=lambda row: -row[2])[:limit]
    return sorted(kept, key=lambda row: (row[0], str(row[1])))


def _without(answer: Found, rows: frozenset[int]) -> Found:
    return answer if isinstance(answer, str) else [one for one in answer if one[0] not in rows]


STEPS: dict[str, Callable[[ModuleType, str, Random, str], object]] = {
    "delete": lambda m, path, rng, _: m.dataset(path).delete(f"i % 7 = {rng.randint(0, 6)}"),
    "insert": lambda m, path, rng, family: m.dataset(path).insert(
        texts.rows(family, rng.choice([1, 20, 60]), rng, rng.randint(1, 9) * 1000)
    ),
    "update": lambda m, path, rng, _: m.dataset(path).update(
        {"s": f"'{texts.REPLACEMENT}'"}, f"i % 11 = {rng.randint(0, 10)}"
    ),
    "optimize": lambda m, path, rng, _: m.dataset(path).optimize.optimize_indices(),
    "delta": lambda m, path, rng, _: m.dataset(path).optimize.optimize_indices(
        num_indices_to_merge=rng.choice([0, 0, 2, 10])
    ),
    "compact": lambda m, path, rng, _: m.dataset(path).optimize.compact_files(),
}
"""What is done to a table between questions."""


QUESTIONS = 10
"""Questions at each step of a table."""

RESULTS = ("asked", "found", "refused", "not yet known")
"""What questions are counted as, beside the divergences."""


@dataclass(slots=True)
class Life:
    """One table of a family: what was done to it, and what its questions came to."""

    family: str
    counts: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(RESULTS, 0)))
    differences: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)


@contextmanager
def full_text(plan: Plan) -> Iterator[Session]:
    """Open the part: tables of every family, each with a seed of its own."""
    tables = -(-plan.count // len(texts.FAMILIES))
    seeds = range(plan.seed, plan.seed + tables)
    cases = [f"{family}/{seed}" for seed in seeds for family in texts.FAMILIES]
    yield Session(cases, run_case)


def run_case(case: str) -> Outcome:
    """Run the table of a case in a folder of its own."""
    family, _, seed = case.partition("/")
    with tempfile.TemporaryDirectory() as folder:
        life = run_table(int(seed), family, Path(folder), QUESTIONS)
    if life.differences:
        return Outcome("differed", ("; ".join(life.steps), *life.differences), life.counts)
    divergences = [name for name in life.counts if name.startswith("D.")]
    return Outcome("known" if divergences else "agreed", divergences, life.counts)


def run_table(seed: int, family: str, folder: Path, questions: int) -> Life:
    """Let a table live, and ask so many questions at each of its four steps."""
    life, rng = Life(family), Random(f"{seed} {family}")
    both = (lance(), import_module("pylanceref"))
    path = str(folder / f"{family}_{seed}")
    first = rng.choice(both)
    first.write_dataset(
        texts.rows(family, rng.choice([40, 150, 300]), rng, 0),
        path,
        max_rows_per_file=rng.choice([30, 1000]),
        enable_stable_row_ids=rng.random() < 0.3,
    )
    given = texts.parameters(family, rng)
    _index(rng.choice(both), path, given, rng)
    life.steps.append(f"{first.__name__} {given}")
    for number in range(4):
        if number:
            step = rng.choice(list(STEPS))
            writer = rng.choice(both)
            STEPS[step](writer, path, rng, family)
            life.steps.append(f"{writer.__name__} {step}")
        for _ in range(questions):
            _ask(life, path, rng.randrange(1 << 30))
    return life


def _index(writer: ModuleType, path: str, given: dict[str, object], rng: Random) -> None:
    """Build the indices of a table."""
    per_element = rng.random() < 0.3
    for column in "stlj":
        own = dict(given)
        if column == "l" and per_element:
            granularity = import_module(f"{writer.__name__}.query").DocumentGranularity
            own["document_granularity"] = granularity.LIST_ELEMENT
        writer.dataset(path).create_scalar_index(column, "INVERTED", **own)


def _ask(life: Life, path: str, seed: int) -> None:
    """Ask both a question."""
    scan = _scan(Random(seed))
    names = import_module("pylanceref.query")
    query = texts.question(life.family, names, Random(seed))
    assert isinstance(query, FullTextQuery)

    def ask(scan: Scan) -> tuple[Found, Found]:
        theirs, ours = (_answer(one, path, life.family, seed, scan) for one in _both())
        return theirs, ours

    wanted, found = ask(scan)
    life.counts["asked"] += 1
    if isinstance(found, str) and found.startswith(NotYet.__name__):
        life.counts["not yet known"] += 1
    elif isinstance(wanted, str) and isinstance(found, str):
        life.counts["refused"] += 1
    elif not equal(wanted, found, limited="limit" in scan):
        question = Question(query, scan, life.family == "raw", ask)
        known = published(question, wanted, found, _history(path, life.steps))
        if known is not None:
            life.counts[known] += 1
            return
        life.differences.append(
            f"step {len(life.steps)}: {texts.told(query)} {scan}\n"
            f"    oracle    {str(wanted)[:300]}\n    reference {str(found)[:300]}"
        )
    else:
        life.counts["found"] += bool(found)


def _history(path: str, steps: list[str]) -> History:
    """Return what became of a table."""
    dataset = lance().dataset(path)
    columns = [one["name"] for one in dataset.list_indices()]
    rows = dataset.to_table(columns=["i"], filter=f"s = '{texts.REPLACEMENT}'")
    return History(
        stable_ids=dataset.has_stable_row_ids,
        compacted=any(step.endswith(" compact") for step in steps),
        several_segments=len(set(columns)) < len(columns),
        replaced=frozenset(rows["i"].to_pylist()),
    )


def _both() -> tuple[ModuleType, ModuleType]:
    return lance(), import_module("pylanceref")


def _scan(rng: Random) -> Scan:
    """Return further arguments of a question."""
    return rng.choice(
        [
            {},
            {},
            {},
            {"limit": rng.choice([1, 5, 20])},
            {"filter": "i % 3 = 1", "prefilter": True},
            {"filter": "i % 3 = 1"},
            {"filter": "i % 3 = 1", "prefilter": True, "limit": 4},
            {"fast_search": True},
        ]
    )


def _answer(module: ModuleType, path: str, family: str, seed: int, scan: Scan) -> Found:
    """Return what one of the two finds."""
    names = import_module(f"{module.__name__}.query")
    try:
        query = texts.question(family, names, Random(seed))
        table: pa.Table = module.dataset(path).to_table(
            full_text_query=query, columns=["i", "_score"], **scan
        )
    except (OSError, ValueError, NotImplementedError) as error:
        return f"{type(error).__name__}: {error}"
    scores = table["_score"].to_pylist()
    if sorted(scores, reverse=True) != scores:
        return f"scores do not fall: {scores}"
    elements = table["_doc_index"].to_pylist() if "_doc_index" in table.schema.names else None
    places = [0] * len(scores) if elements is None else [str(one) for one in elements]
    rows = zip(table["i"].to_pylist(), places, scores, strict=True)
    return sorted(rows, key=lambda row: (row[0], str(row[1])))

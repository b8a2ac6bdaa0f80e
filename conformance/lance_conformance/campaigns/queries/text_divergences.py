"""Text divergences: which published divergence makes two answers of full-text searches differ.

Each is recognised by what it does, and the rest of the answer has to be the same: the rows that are
asked for without a limit, rows that were never replaced, rows that an index covers. What is left
has no name, and is a difference.

Divergences: D.index.fts-fuzzy-elements, D.index.fts-null-texts, D.index.fts-compacted-ids,
D.index.fts-replaced-texts
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from pylanceref.query import BooleanQuery, BoostQuery, FullTextQuery, MultiMatchQuery

from lance_conformance.known_divergences import id_of

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

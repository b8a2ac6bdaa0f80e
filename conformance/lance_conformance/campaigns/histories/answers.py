"""Answers: what the indices of two tables say, asked by both implementations, and the rows do.

Questions are drawn for the columns that the indices are over.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pyarrow as pa
from lanceref_testing.conditions import (
    begun,
    compared,
    either,
    labelled,
    null_test,
    placed,
    spelled,
)
from pylanceref.sql.strict import is_text

from lance_conformance.campaigns.histories.index_rules import is_json
from lance_conformance.campaigns.histories.values import TOKENS, column
from lance_conformance.campaigns.histories.view import View
from lance_conformance.guarded_call import guarded

Question = str
"""Arguments of `to_table` in words; `use_index` says whether indices are asked."""

EACH = 3
"""Questions to each index after each step."""

ALL = 1000
"""More rows than a table has."""


def questions(random: Random, view: View) -> Iterator[Question]:
    """Yield questions to every index of a table: filters on its column, or what is to be found.

    None where a cleanup of the table that an index lies in has taken files of it: then both refuse
    what they would answer without it.
    """
    segments = view.found._snapshot.indices.segments
    inherited = [one for one in segments if one.entry.HasField("base_id")]
    if any(not one.has(file.path) for one in inherited for file in one.entry.files):
        return
    scalar = "columns=['_rowaddr'], use_scalar_index=use_index"
    for _, path, kind in [one for one in view.indices for _ in range(EACH)]:
        words = " ".join(random.choices(TOKENS, k=random.choice((1, 1, 2))))
        if kind == "INVERTED":
            question = {"query": words, "columns": [path]}
            yield f"full_text_query={question}, {scalar}"
        elif kind == "MINHASHLSH":
            asked = f"lance.query.MinHashQuery({words!r}, {path!r})"
            yield f"nearest={asked}, columns=['_rowaddr', '_distance'], limit={ALL}"
        elif kind.startswith("IVF"):
            yield _nearest(random, path, kind)
        else:
            yield f"filter={_filter(random, view, path)!r}, {scalar}"


def _filter(random: Random, view: View, path: str) -> str:
    """Return a condition on a column with an index and, sometimes, another one."""
    condition = _denied(random, view, path)
    others = {one for _, one, kind in view.indices if one != path and not kind.startswith("IVF")}
    if others and random.random() < 0.3:
        return either(random, condition, _denied(random, view, random.choice(sorted(others))))
    return condition


def _denied(random: Random, view: View, path: str) -> str:
    """Return a condition or, sometimes, its opposite, which the oracle asks of FM wrongly."""
    condition = condition_on(random, path, view.type_of(path))
    if random.random() >= 0.2 or (path, "FM") in [(one, kind) for _, one, kind in view.indices]:
        return condition
    return f"not ({condition})"


def condition_on(random: Random, path: str, kind: pa.DataType) -> str:
    """Return a condition on a column of any type but vectors."""
    if random.random() < 0.1:
        return null_test(random, path)
    of = column(kind)
    if pa.types.is_list(kind):
        return labelled(random, path, of, nulls=0.1)
    if pa.types.is_binary(kind):
        return placed(random, path, of)
    leaf = random.choice((compared, begun, spelled)) if is_text(kind) else compared
    return leaf(random, f"json_get_int({path}, 'a')" if is_json(kind) else path, of)


def _nearest(random: Random, path: str, kind: str) -> Question:
    """Return the way to the nearest vectors by their exact distances; rows as near are alike."""
    most = random.choice((3, ALL))
    asked = {"column": path, "q": [random.randrange(25) for _ in range(8)], "k": most}
    asked |= {"nprobes": 10, "refine_factor": ALL // most}
    if "HNSW" in kind:
        asked["ef"] = ALL
    columns = ["_distance"] if most < ALL else ["_rowaddr", "_distance"]
    return f"nearest={{**{asked}, 'use_index': use_index}}, columns={columns}"


def answered_differently(
    seed: str, view: View, roots: Sequence[Path], readers: Sequence[ModuleType]
) -> Iterator[str]:
    """Yield questions to the indices of a table that have more than one answer.

    Each is asked of both tables by both readers, with and without the indices.
    """
    opened = {
        f"{root.name} by {module.__name__}": (module, module.dataset(str(root / view.name)))
        for root in roots
        for module in readers
    }
    for question in questions(Random(seed), view):
        by_answer: dict[str, list[str]] = {}
        for who, (module, found) in opened.items():
            for use_index in (False, True):
                answer = _answer(module, found, question, use_index)
                by_answer.setdefault(answer, []).append(
                    f"{who}, {'index' if use_index else 'rows'}"
                )
        if len(by_answer) > 1:
            shown = "; ".join(f"{', '.join(who)}: {answer}" for answer, who in by_answer.items())
            yield f"{view.name}: {question}: {shown}"


def _answer(module: ModuleType, found: Any, question: Question, use_index: bool) -> str:
    """Return what is reported of the rows found, in ascending order, or that there are none.

    How implementations word an error is their own.
    """

    def ask() -> list[tuple[object, ...]]:
        asked = eval(f"dict({question})", {"lance": module, "use_index": use_index})
        table = found.to_table(**asked)
        return sorted(zip(*(table[name].to_pylist() for name in asked["columns"]), strict=True))

    told = guarded(ask)
    return "refused" if told.error else str(told.value)

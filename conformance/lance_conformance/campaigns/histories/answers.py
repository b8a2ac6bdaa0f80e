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

from lance_conformance.campaigns.guarded import guarded
from lance_conformance.campaigns.histories.index_rules import is_json, is_text, is_vector
from lance_conformance.campaigns.histories.values import KEYS, TOKENS, WORDS
from lance_conformance.campaigns.histories.view import View

Question = str
"""Arguments of `to_table` in words; `use_index` says whether indices are asked."""

EACH = 3
"""Questions to each index after each step."""

ALL = 1000
"""More rows than a table has."""


def questions(random: Random, view: View) -> Iterator[Question]:
    """Yield questions to every index of a table: filters on its column, or what is to be found."""
    for _, path, kind in view.indices:
        for _ in range(EACH):
            if kind == "INVERTED":
                yield f"full_text_query={_full_text(random, path)}, {ADDRESSES}, {SCALAR}"
            elif kind == "MINHASHLSH":
                yield f"nearest=lance.query.MinHashQuery({_words(random)!r}, {path!r}), {LIKENESS}"
            elif kind.startswith("IVF"):
                yield _nearest(random, path, kind)
            else:
                yield f"filter={_filter(random, view, path)!r}, {ADDRESSES}, {SCALAR}"


ADDRESSES = "columns=['_rowaddr']"
SCALAR = "use_scalar_index=use_index"
LIKENESS = f"columns=['_rowaddr', '_distance'], limit={ALL}"


def _filter(random: Random, view: View, path: str) -> str:
    """Return a condition on a column with an index and, sometimes, another one."""
    condition = _denied(random, view, path)
    others = sorted(
        {one for _, one, kind in view.indices if one != path and not is_vector(view.type_of(one))}
    )
    if others and random.random() < 0.3:
        second = _denied(random, view, random.choice(others))
        condition = f"({condition}) {random.choice(('and', 'or'))} ({second})"
    return condition


def _denied(random: Random, view: View, path: str) -> str:
    """Return a condition or, sometimes, its opposite, which the oracle asks of FM wrongly."""
    condition = _condition(random, path, view.type_of(path))
    if (path, "FM") in [(one, kind) for _, one, kind in view.indices]:
        return condition
    return f"not ({condition})" if random.random() < 0.2 else condition


def _full_text(random: Random, path: str) -> dict[str, object]:
    return {"query": _words(random), "columns": [path]}


def _words(random: Random) -> str:
    return " ".join(random.choices(TOKENS, k=random.choice((1, 1, 2))))


def _nearest(random: Random, path: str, kind: str) -> Question:
    """Return the way to the nearest vectors by their exact distances; rows as near are alike."""
    most = random.choice((3, ALL))
    asked = {"column": path, "q": [random.randrange(25) for _ in range(8)], "k": most}
    asked |= {"nprobes": 10, "refine_factor": ALL // most}
    if "HNSW" in kind:
        asked["ef"] = ALL
    columns = ["_distance"] if most < ALL else ["_rowaddr", "_distance"]
    return f"nearest={{**{asked}, 'use_index': use_index}}, columns={columns}"


def _condition(random: Random, path: str, kind: pa.DataType) -> str:
    if random.random() < 0.1:
        return f"{path} is {random.choice(('', 'not '))}null"
    if is_json(kind):
        path, kind = f"json_get_int({path}, 'a')", pa.int64()
    if pa.types.is_binary(kind):
        return _of_points(random, path)
    if pa.types.is_list(kind):
        return _of_list(random, path, kind.value_type)
    if is_text(kind) and random.random() < 0.5:
        return _of_text(random, path)
    if pa.types.is_boolean(kind):
        return random.choice((path, f"{path} = true", f"{path} = false"))
    first, second, third = (literal(random, kind) for _ in range(3))
    return random.choice(
        (
            f"{path} = {first}",
            f"{path} {random.choice(('<', '<=', '>', '>=', '!='))} {first}",
            f"{path} between {first} and {second}",
            f"{path} {random.choice(('', 'not '))}in ({first}, {second}, {third})",
        )
    )


def _of_text(random: Random, path: str) -> str:
    word = random.choice((*WORDS[1:4], *TOKENS))
    return random.choice(
        (f"contains({path}, '{word}')", f"starts_with({path}, '{word}')", f"{path} like '{word}%'")
    )


def _of_points(random: Random, path: str) -> str:
    x, y = random.randrange(18), random.randrange(9)
    box = f"POLYGON(({x} {y}, {x + 4} {y}, {x + 4} {y + 3}, {x} {y + 3}, {x} {y}))"
    shape = random.choice((box, box, f"POINT({x} {y})"))
    how = random.choice(("st_intersects", "st_within", "st_coveredby"))
    return f"{how}({path}, st_geomfromtext('{shape}'))"


def _of_list(random: Random, path: str, kind: pa.DataType) -> str:
    one, other = literal(random, kind), literal(random, kind)
    if random.random() < 0.1:
        other = "null"
    given = random.choice((f"[{one}]", f"[{one}, {other}]"))
    return random.choice(
        (
            f"array_has({path}, {one})",
            f"array_has_any({path}, {given})",
            f"array_has_all({path}, {given})",
        )
    )


def literal(random: Random, kind: pa.DataType) -> str:
    """Return the text of a value that rows of a column may have."""
    if is_text(kind):
        return repr(random.choice((*WORDS, *TOKENS)))
    if pa.types.is_date(kind):
        return f"date '19{random.randrange(70, 98)}-0{random.randrange(1, 10)}-15'"
    if pa.types.is_floating(kind):
        return str(random.randrange(100) / 4)
    return str(random.randrange(KEYS))


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
        told = {
            f"{who}, {'index' if use_index else 'rows'}": _answer(
                module, found, question, use_index
            )
            for who, (module, found) in opened.items()
            for use_index in (False, True)
        }
        if len(set(told.values())) > 1:
            by_answer: dict[str, list[str]] = {answer: [] for answer in told.values()}
            for who, answer in told.items():
                by_answer[answer].append(who)
            shown = "; ".join(f"{', '.join(who)}: {answer}" for answer, who in by_answer.items())
            yield f"{view.name}: {question}: {shown}"


def _answer(module: ModuleType, found: Any, question: Question, use_index: bool) -> str:
    """Return what is reported of the rows found, in ascending order, or that there are none.

    How implementations word an error is their own.
    """
    told = guarded(lambda: _rows(module, found, question, use_index))
    return "refused" if told.error else str(told.value)


def _rows(
    module: ModuleType, found: Any, question: Question, use_index: bool
) -> list[tuple[object, ...]]:
    asked = eval(f"dict({question})", {"lance": module, "use_index": use_index})
    table = found.to_table(**asked)
    return sorted(zip(*(table[name].to_pylist() for name in asked["columns"]), strict=True))
